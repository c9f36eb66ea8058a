package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/cluster/peers/peerstest"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

func TestMain(m *testing.M) { suite.Main(m) }

var (
	ref   = ctxabi.Ref{UID: uint32(os.Getuid()), Agent: "coder", Session: "s1"}
	owner = disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700}
)

// rig is a cluster of nodes of this process.
type rig struct {
	t       *testing.T
	servers *fake.Servers
	net     *peerstest.Network
}

func newRig(t *testing.T) *rig { return &rig{t, fake.New(), peerstest.NewNetwork()} }

// mounted is a node with its store.
type mounted struct {
	*Node
	r      *rig
	engine *fake.Host
	s      *session.Store
	dir    string
}

// mount returns a node that runs on the store in dir until the test ends, or its end is called.
func (r *rig) mount(name, dir string, change ...func(*Setup)) *mounted {
	r.t.Helper()
	m := &mounted{r: r, engine: r.servers.Host(name), dir: dir}
	o := Setup{Name: name, Cluster: "c1", Engine: m.engine, Peers: r.net.Host(name), Owners: m.engine.Owners, Timeout: 2 * time.Second}
	for _, f := range change {
		f(&o)
	}
	m.Node = New(o)
	var err error
	if m.s, err = session.Open(dir, session.Options{Committer: m.Node, Parts: m.Parts()}); err != nil {
		r.t.Fatal(err)
	}
	if err := m.Attach(m.s); err != nil {
		r.t.Fatal(err)
	}
	r.net.Join(name, m)
	r.t.Cleanup(m.stop)
	return m
}

// stop ends the node in good order.
func (m *mounted) stop() {
	if m.Node == nil {
		return
	}
	m.r.net.Join(m.Name(), nil)
	if err := errors.Join(m.Close(), m.s.Close()); err != nil {
		m.r.t.Error(err)
	}
	m.Node = nil
}

func (m *mounted) enter() {
	m.r.t.Helper()
	if err := m.Enter(m.r.t.Context(), ref); err != nil {
		m.r.t.Fatalf("%s: %v", m.Name(), err)
	}
}

// open returns a session as a look-up in the mount finds it, once this host knows of it: Enter waits for a bounded time.
func (m *mounted) open(ref ctxabi.Ref) *session.Session {
	m.r.t.Helper()
	m.enter()
	x, err := m.s.Session(ref)
	for end := time.Now().Add(time.Minute); errors.Is(err, ctxabi.ErrNotFound) && time.Now().Before(end); x, err = m.s.Session(ref) {
		m.enter()
	}
	if err == nil {
		err = m.Look(m.r.t.Context(), x)
	}
	if err != nil {
		m.r.t.Fatalf("%s: %v", m.Name(), err)
	}
	return x
}

func (m *mounted) create(ref ctxabi.Ref) *session.Session {
	m.r.t.Helper()
	m.enter()
	x, err := m.s.Create(ref, owner)
	if err != nil {
		m.r.t.Fatalf("%s: %v", m.Name(), err)
	}
	return x
}

func appendTo(x *session.Session, text string) error {
	_, err := x.Messages().Append(context.Background(), log.Batch{Data: fmt.Appendf(nil, `{"role":"user","content":%q}`+"\n", text)})
	return err
}

func content(t *testing.T, x *session.Session, name string) string {
	t.Helper()
	b, err := vfs.ReadFile(vfs.OS, x.Dir()+"/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func strict(o *Setup) { o.Freshness = 0 }

// What one host makes, appends, sets, renames and removes is what another one shows.
func TestHostsShowTheSame(t *testing.T) {
	r := newRig(t)
	a, b := r.mount("a", t.TempDir(), strict), r.mount("b", t.TempDir(), strict)
	x := a.create(ref)
	if err := appendTo(x, "one"); err != nil {
		t.Fatal(err)
	}
	if err := x.SetControl(ctxabi.BudgetFile, []byte("8000\n")); err != nil {
		t.Fatal(err)
	}
	if owners := b.Owners(t.Context()); len(owners) != 1 || owners[0] != (ctxabi.Ref{UID: ref.UID}) {
		t.Errorf("b knows of %v", owners)
	}
	y := b.open(ref)
	if y.ID() != x.ID() || !strings.Contains(content(t, y, ctxabi.MessagesFile), "one") || content(t, y, ctxabi.BudgetFile) != "8000\n" {
		t.Errorf("b has %q and the budget %q", content(t, y, ctxabi.MessagesFile), content(t, y, ctxabi.BudgetFile))
	}
	if err := appendTo(y, "two"); err != nil {
		t.Fatal(err)
	}
	if got := content(t, a.open(ref), ctxabi.MessagesFile); strings.Count(got, "\n") != 2 || got != content(t, y, ctxabi.MessagesFile) {
		t.Errorf("a has %q", got)
	}
	if _, err := b.s.Create(ref, owner); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("a name that another host has given: %v", err)
	}
	to := ref
	to.Session = "s2"
	if err := b.s.Rename(ref.Path(), to.Path()); err != nil {
		t.Fatal(err)
	}
	if got := a.open(to); got != x || x.Ref() != to {
		t.Errorf("a calls it %v", x.Ref())
	}
	if err := appendTo(x, "three"); err != nil {
		t.Errorf("after a rename elsewhere: %v", err)
	}
	if err := a.s.Remove(to); err != nil {
		t.Fatal(err)
	}
	b.enter()
	if _, err := b.s.Session(to); !errors.Is(err, ctxabi.ErrNotFound) || !y.Removed() {
		t.Errorf("b has what a has removed: %v", err)
	}
	if err := appendTo(y, "four"); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("append to what was removed elsewhere: %v", err)
	}
}

// Without the cluster a host shows what it has, says that it may be old, and takes nothing; of what it never had it
// says so.
func TestAHostThatIsCutOffShowsWhatItHas(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	a, b := r.mount("a", t.TempDir(), strict), r.mount("b", dir, strict)
	x := a.create(ref)
	if err := appendTo(x, "one"); err != nil {
		t.Fatal(err)
	}
	y := b.open(ref)
	if since, ok := b.Behind(t.Context(), y); ok {
		t.Errorf("b is behind since %v", since)
	}
	b.engine.Cut()
	r.net.Cut("b", true)
	other := ctxabi.Ref{UID: ref.UID, Agent: "coder", Session: "s9"}
	if err := b.Enter(t.Context(), ctxabi.Ref{Space: "team"}); !errors.Is(err, ctxabi.ErrUnreachable) {
		t.Errorf("names that b has never read: %v", err)
	}
	if got := content(t, b.open(ref), ctxabi.MessagesFile); !strings.Contains(got, "one") {
		t.Errorf("b shows %q", got)
	}
	for behind := false; !behind; {
		_, behind = b.Behind(t.Context(), y)
	}
	if err := appendTo(y, "two"); !errors.Is(err, ctxabi.ErrIO) || !strings.Contains(err.Error(), "read the tail before you send it again") {
		t.Errorf("an append that the home may have taken: %v", err)
	}
	if err := appendTo(y, "two"); !errors.Is(err, ctxabi.ErrUnreachable) {
		t.Errorf("an append: %v", err)
	}
	if _, err := b.s.Create(other, owner); !errors.Is(err, ctxabi.ErrUnreachable) {
		t.Errorf("a new session: %v", err)
	}
	if err := b.s.Remove(ref); !errors.Is(err, ctxabi.ErrUnreachable) {
		t.Errorf("a removal: %v", err)
	}
	b.stop()
	b = r.mount("b", dir, strict, func(o *Setup) { o.Engine.(*fake.Host).Cut() })
	if got := content(t, b.open(ref), ctxabi.MessagesFile); !strings.Contains(got, "one") {
		t.Errorf("b shows %q after it was started anew", got)
	}
	b.engine.Heal()
	r.net.Cut("b", false)
	if err := appendTo(x, "three"); err != nil {
		t.Fatal(err)
	}
	y = b.open(ref)
	if got := content(t, y, ctxabi.MessagesFile); strings.Count(got, "\n") != 2 || strings.Contains(got, "two") {
		t.Errorf("b has %q", got)
	}
	if _, ok := b.Behind(t.Context(), y); ok {
		t.Error("b says that it is behind")
	}
}

// A store with sessions of its own keeps them, says that they are of this host, and belongs to one cluster from then on.
func TestSessionsOfOneHostStayItsOwn(t *testing.T) {
	dir := t.TempDir()
	s, err := session.Open(dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Create(ref, owner)
	if err == nil {
		err = appendTo(x, "local")
	}
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	a := r.mount("a", dir)
	x = a.open(ref)
	if got := content(t, x, ctxabi.MessagesFile); !strings.Contains(got, "local") {
		t.Errorf("it has %q", got)
	}
	for what, err := range map[string]error{"append": appendTo(x, "more"), "setting": x.SetControl(ctxabi.BudgetFile, []byte("1000\n"))} {
		if !errors.Is(err, ctxabi.ErrDenied) || !strings.Contains(fmt.Sprint(err), "ctxfs session publish") {
			t.Errorf("%s: %v", what, err)
		}
	}
	to := ref
	to.Session = "mine"
	if err := a.s.Rename(ref.Path(), to.Path()); err != nil {
		t.Errorf("its name is of this host, too: %v", err)
	}
	if err := a.s.Remove(to); err != nil {
		t.Error(err)
	}
	b := r.mount("b", t.TempDir())
	b.enter()
	if _, err := b.s.Session(to); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("b: %v", err)
	}
	a.stop()
	if _, err := session.Open(dir, session.Options{}); !errors.Is(err, ctxabi.ErrProtected) {
		t.Errorf("a store of a cluster is opened without: %v", err)
	}
	n := New(Setup{Name: "a", Cluster: "c2", Engine: r.servers.Host("a")})
	if s, err = session.Open(dir, session.Options{Committer: n}); err != nil {
		t.Fatal(err)
	}
	if err := n.Attach(s); !errors.Is(err, ctxabi.ErrProtected) {
		t.Errorf("a store of another cluster: %v", err)
	}
	if err := errors.Join(n.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

// What nobody looks at any more is not followed, and is up to date again when somebody does.
func TestWhatNobodyLooksAtIsNotFollowed(t *testing.T) {
	r := newRig(t)
	a := r.mount("a", t.TempDir())
	b := r.mount("b", t.TempDir(), func(o *Setup) { o.Idle = 20 * time.Millisecond })
	x := a.create(ref)
	y := b.open(ref)
	for {
		if count, _ := b.Followed(); count == 0 && !b.owner(ref).follows.Load() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := appendTo(x, "one"); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(content(t, b.open(ref), ctxabi.MessagesFile), "one") {
		time.Sleep(time.Millisecond)
	}
	if b.open(ref) != y {
		t.Error("it is another session")
	}
}

// A host that follows many quiet sessions, and asks for each now and then, is not behind for it, and not ahead.
func TestManyQuietSessionsAreNotBehind(t *testing.T) {
	a := newRig(t).mount("a", t.TempDir())
	const many = 8 * host.QuietLooks
	var list []*session.Session
	for i := range many {
		other := ref
		other.Session = fmt.Sprint("s", i)
		a.create(other)
		list = append(list, a.open(other))
	}
	began := time.Now()
	for _, x := range list {
		if err := a.Fresh(t.Context(), x, 0); err != nil {
			t.Fatal(err)
		}
	}
	if count, oldest := a.Followed(); count != many || oldest.Before(began) || oldest.After(time.Now()) {
		t.Errorf("%d sessions are followed, confirmed %v before now", count, time.Since(oldest))
	}
	status := map[string]string{}
	for _, kv := range a.Status() {
		status[kv[0]] = kv[1]
	}
	if behind := status["cluster_behind_seconds"]; strings.HasPrefix(behind, "-") {
		t.Errorf("the status says that the host is %s seconds behind", behind)
	}
}

// Who removes or renames a session looks whose child it is, in all sessions of its owner. They are not followed for it.
func TestARemovalFollowsNoOtherSessions(t *testing.T) {
	r := newRig(t)
	a, b := r.mount("a", t.TempDir()), r.mount("b", t.TempDir())
	for i := range 5 {
		other := ref
		other.Session = fmt.Sprint("other", i)
		a.create(other)
	}
	a.create(ref)
	b.open(ref)
	if err := b.s.Remove(ref); err != nil {
		t.Fatal(err)
	}
	if count, _ := b.Followed(); count > 1 {
		t.Errorf("%d sessions are followed, and one was looked at", count)
	}
}

// Of two mounts with one name the one that began earlier commits nothing any more.
func TestOfTwoMountsWithOneNameTheLaterStays(t *testing.T) {
	now := time.Now()
	mine := nats.HostRow{Host: "a", Boot: "m", Since: now}
	for _, c := range []struct {
		what  string
		other nats.HostRow
		stops bool
	}{
		{"another host", nats.HostRow{Host: "b", Boot: "x", Since: now.Add(1)}, false},
		{"itself", mine, false},
		{"an earlier one", nats.HostRow{Host: "a", Boot: "x", Since: now.Add(-1)}, false},
		{"one that left", nats.HostRow{Host: "a", Boot: "x", Since: now.Add(1), Left: true}, false},
		{"a later one", nats.HostRow{Host: "a", Boot: "x", Since: now.Add(1)}, true},
		{"one of the same time", nats.HostRow{Host: "a", Boot: "l", Since: now}, false},
		{"one of the same time behind it", nats.HostRow{Host: "a", Boot: "n", Since: now}, true},
	} {
		a := newRig(t).mount("a", t.TempDir())
		x := a.create(ref)
		a.told(mine)(c.other)
		if err := appendTo(x, "one"); (err != nil) != c.stops || err != nil && !errors.Is(err, ctxabi.ErrDenied) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}
