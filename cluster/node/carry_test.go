package node

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// local makes a store that is of no cluster, with the session ref, and returns the heads of the session.
func local(t *testing.T, dir string) []session.Head {
	t.Helper()
	s, err := session.Open(dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, err := s.Create(ref, owner)
	for i := range 3 {
		err = errors.Join(err, appendTo(x, fmt.Sprint("alone ", i)))
	}
	_, bad := x.Events().Append(t.Context(), log.Batch{Data: []byte(`{"type":"note","text":"x"}` + "\n")})
	err = errors.Join(err, bad, x.SetControl(ctxabi.BudgetFile, []byte("8000\n")))
	if err != nil {
		t.Fatal(err)
	}
	return headsOf(t, x)
}

func headsOf(t *testing.T, x *session.Session) []session.Head {
	t.Helper()
	heads, err := x.Heads()
	if err != nil {
		t.Fatal(err)
	}
	return heads
}

// equal fails the test unless hosts show the same session.
func equal(t *testing.T, a, b *session.Session) {
	t.Helper()
	if one, other := headsOf(t, a), headsOf(t, b); !slices.Equal(one, other) {
		t.Errorf("heads %v and %v", one, other)
	}
	for _, name := range []string{ctxabi.MessagesFile, ctxabi.EventsFile, ctxabi.BudgetFile, log.ArrivalsFile(ctxabi.MessagesFile)} {
		if content(t, a, name) != content(t, b, name) {
			t.Errorf("%s differs", name)
		}
	}
}

// gone fails the test if the host shows the session ref.
func (m *mounted) gone() {
	m.r.t.Helper()
	m.enter()
	if x, err := m.s.Session(ref); !errors.Is(err, ctxabi.ErrNotFound) {
		m.r.t.Errorf("%s has %v, %v", m.Name(), x, err)
	}
}

// A session comes into the cluster, is used on other hosts, leaves it, and comes back, and is the same all the time.
func TestASessionIsPublishedAndWithdrawn(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	heads := local(t, dir)
	a, b := r.mount("a", dir, strict), r.mount("b", t.TempDir(), strict)
	x := a.open(ref)
	if err := appendTo(x, "not in the cluster"); !errors.Is(err, ctxabi.ErrDenied) {
		t.Errorf("append to a session of one host: %v", err)
	}
	b.gone()
	for round := range 2 {
		if err := a.Publish(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		y := b.open(ref)
		equal(t, x, y)
		if round == 0 && !slices.Equal(heads, headsOf(t, y)) {
			t.Errorf("heads were %v, and are %v", heads, headsOf(t, y))
		}
		if err := appendTo(y, fmt.Sprint("on b ", round)); err != nil {
			t.Fatal(err)
		}
		x = a.open(ref)
		if err := appendTo(x, fmt.Sprint("on a ", round)); err != nil {
			t.Fatal(err)
		}
		y = b.open(ref)
		equal(t, x, y)
		heads = headsOf(t, y)
		if err := a.Withdraw(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(heads, headsOf(t, x)) {
			t.Errorf("heads were %v, and are %v", heads, headsOf(t, x))
		}
		if err := appendTo(y, "too late"); err == nil {
			t.Error("b appends to what was withdrawn")
		}
		b.gone()
		if err := appendTo(x, fmt.Sprint("alone again ", round)); err != nil {
			t.Fatal(err)
		}
		a.stop()
		a = r.mount("a", dir, strict)
		x = a.open(ref)
		if err := errors.Join(appendTo(x, fmt.Sprint("and later ", round)), x.SetControl(ctxabi.BudgetFile, []byte("9000\n"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Publish(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	equal(t, x, b.open(ref))
	c := r.mount("c", t.TempDir(), strict) // reads all of the journal
	equal(t, x, c.open(ref))
	if err := appendTo(c.open(ref), "on c"); err != nil {
		t.Fatal(err)
	}
	equal(t, a.open(ref), c.open(ref))
}

// A fork, which is made whole on one host, is there on the other.
func TestAForkIsOnAllHosts(t *testing.T) {
	r := newRig(t)
	a, b := r.mount("a", t.TempDir(), strict), r.mount("b", t.TempDir(), strict)
	x := a.create(ref)
	if err := appendTo(x, "one"); err != nil {
		t.Fatal(err)
	}
	to := ref
	to.Session = "s2"
	f, _, err := a.s.Fork(x, -1, to, owner)
	if err != nil {
		t.Fatal(err)
	}
	y := b.open(to)
	equal(t, f, y)
	if err := appendTo(y, "two"); err != nil {
		t.Fatal(err)
	}
	equal(t, a.open(to), b.open(to))
}

var errKilled = errors.New("killed here")

// killed carries the session ref of a host, which is killed at the n-th step and started again. It returns the host,
// and whether there was such a step.
func (r *rig) killed(m *mounted, n int, carry func(m *mounted) error) (*mounted, bool) {
	r.t.Helper()
	m.step = func(string) error {
		if n--; n == 0 {
			return errKilled
		}
		return nil
	}
	err := carry(m)
	if err != nil && !errors.Is(err, errKilled) {
		r.t.Fatal(err)
	}
	name, dir := m.Name(), m.dir
	m.stop()
	return r.mount(name, dir, strict), err != nil
}

// Wherever a host dies while it publishes a session or withdraws one, the session is whole in one of both places, and
// the same verb finishes it.
func TestAHostDiesWhileItCarriesASession(t *testing.T) {
	for n, more := 1, true; more; n++ {
		r := newRig(t)
		dir := t.TempDir()
		heads := local(t, dir)
		a, b := r.mount("a", dir, strict), r.mount("b", t.TempDir(), strict)
		publish := func(m *mounted) error { return m.Publish(t.Context(), m.open(ref)) }
		withdraw := func(m *mounted) error { return m.Withdraw(t.Context(), m.open(ref)) }
		var one, other bool
		a, one = r.killed(a, n, publish)
		if !slices.Equal(heads, headsOf(t, a.open(ref))) {
			t.Errorf("step %d of publish: other heads on a", n)
		}
		b.enter()
		if y, err := b.s.Session(ref); err == nil {
			equal(t, a.open(ref), b.open(y.Ref()))
		}
		if err := publish(a); err != nil {
			t.Fatalf("step %d of publish: %v", n, err)
		}
		b.enter() // a look waits for half a second alone
		equal(t, a.open(ref), b.open(ref))
		if err := appendTo(b.open(ref), "on b"); err != nil {
			t.Fatal(err)
		}
		heads = headsOf(t, b.open(ref))
		a, other = r.killed(a, n, withdraw)
		if !slices.Equal(heads, headsOf(t, a.open(ref))) {
			t.Errorf("step %d of withdraw: other heads on a", n)
		}
		b.enter()
		if y, err := b.s.Session(ref); err == nil {
			equal(t, a.open(ref), b.open(y.Ref()))
			if err := b.Withdraw(t.Context(), y); other && n > 2 && !errors.Is(err, ctxabi.ErrConflict) {
				t.Errorf("step %d of withdraw: b withdraws, too: %v", n, err)
			} else if err == nil {
				b.stop() // it was faster
				continue
			}
		}
		if err := withdraw(a); err != nil {
			t.Fatalf("step %d of withdraw: %v", n, err)
		}
		b.gone()
		if err := appendTo(a.open(ref), "alone"); err != nil {
			t.Errorf("step %d of withdraw: %v", n, err)
		}
		if more = one || other; n > 20 {
			t.Fatal("it never ends")
		}
	}
}
