package node

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/log"
)

// within waits until look returns "": hosts wait for the cluster for a bounded time, and show what they have then.
func within(t *testing.T, what string, look func() (wrong string)) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		wrong := look()
		if wrong == "" {
			return
		}
		if time.Now().After(end) {
			t.Errorf("%s: %s", what, wrong)
			return
		}
	}
}

// A space that was made in the store beside the mount was seen by other hosts only if nobody had looked for it before,
// and no agent could be made in it.
func TestASpaceThatWasLookedForBeforeItWasMade(t *testing.T) {
	r := newRig(t)
	a, b := r.mount("a", t.TempDir()), r.mount("b", t.TempDir())
	space := ctxabi.Ref{Space: "team"}
	for _, m := range []*mounted{a, b} {
		if err := m.Enter(t.Context(), space); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := a.s.CreateSpace(space.Space, owner.GID)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Enter(t.Context(), space); err != nil {
		t.Fatal(err)
	}
	within(t, "b", func() string {
		err := b.Enter(t.Context(), space)
		if list := b.s.Spaces(); err != nil || len(list) != 1 || list[0].Name != space.Space || list[0].GID != owner.GID {
			return fmt.Sprintf("it has the spaces %v, %v; a made %s", list, err, dir)
		}
		return ""
	})
	in := ctxabi.Ref{Space: "other", Agent: "coder", Session: "s1"}
	if err := a.Enter(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if _, err := a.s.CreateSpace(in.Space, owner.GID); err != nil {
		t.Fatal(err)
	}
	if _, err := a.s.Create(in, owner); err != nil {
		t.Errorf("a session in a space that was just made: %v", err)
	}
}

// A child whose session another host renamed or removed, one that had never read the parent, lost its session and its
// result.
func TestAChildKeepsItsSessionWhateverHostMovesIt(t *testing.T) {
	r := newRig(t)
	a, b := r.mount("a", t.TempDir(), strict), r.mount("b", t.TempDir(), strict)
	parent := a.create(ref)
	in := ctxabi.Ref{UID: ref.UID, Agent: "rev", Session: "r1"}
	work := a.create(in)
	if _, err := work.Messages().Append(t.Context(), log.Batch{Data: []byte(`{"role":"assistant","content":"the answer"}` + "\n")}); err != nil {
		t.Fatal(err)
	}
	err := parent.MakeChild("c")
	for name, text := range map[string]string{ctxabi.ChildAgent: "rev\n", ctxabi.ChildSession: "r1\n"} {
		err = errors.Join(err, parent.SetControl(ctxabi.ChildPath("c", name), []byte(text)))
	}
	if err != nil {
		t.Fatal(err)
	}
	result := func(m *mounted, what string) {
		t.Helper()
		within(t, m.Name()+" "+what, func() string {
			x, err := m.s.Session(ref)
			if err != nil {
				m.enter()
				return err.Error()
			}
			m.Look(t.Context(), x)
			if data, _, _, err := x.ChildFile("c", ctxabi.ChildResult); err != nil || string(data) != "the answer\n" {
				return fmt.Sprintf("the result is %q, %v", data, err)
			}
			return ""
		})
	}
	result(a, "at first")
	b.open(in)
	to := in
	to.Session = "moved"
	if err := b.s.Rename(in.Path(), to.Path()); err != nil {
		t.Fatal(err)
	}
	result(a, "after a rename on b")
	c := r.mount("c", t.TempDir(), strict)
	c.open(to)
	if err := c.s.Remove(to); err != nil {
		t.Fatal(err)
	}
	a.enter()
	result(a, "after a removal on c")
	result(b, "after a removal on c")
	within(t, "a", func() string {
		a.enter()
		if x, err := a.open(ref).Child("c"); err != nil || x.Linked || x.Status != "error" {
			return fmt.Sprintf("the child is %+v, %v", x, err)
		}
		return ""
	})
}

// What a user trusts on one host did not count on another one that had not entered his home, as for a session in a
// shared space.
func TestWhatAUserTrustsCountsOnAllHosts(t *testing.T) {
	r := newRig(t)
	a, b := r.mount("a", t.TempDir(), strict), r.mount("b", t.TempDir(), strict)
	a.create(ref)
	row := `{"path":"home/0/agent/coder/context.yaml","sha256":"` + strings.Repeat("0", 64) + `"}` + "\n"
	if err := a.s.SetTrust(ref.UID, owner.GID, []byte(row)); err != nil {
		t.Fatal(err)
	}
	if err := a.keeper.Adopt(t.Context(), ctxabi.Ref{UID: ref.UID}, ctxabi.TrustFile); err != nil {
		t.Fatal(err)
	}
	within(t, "b", func() string {
		if data, err := b.s.Trust(ref.UID); err != nil || string(data) != row {
			return fmt.Sprintf("it has %q, %v", data, err)
		}
		return ""
	})
}
