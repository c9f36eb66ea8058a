package cluster

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/node"
	"github.com/ctxfs/ctxfs/cluster/rows"
	"github.com/ctxfs/ctxfs/cluster/tend"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
)

// tended is a node of a cluster with its store, without a mount.
type tended struct {
	t *testing.T
	*node.Node
	s *session.Store
}

func startNode(t *testing.T, c *servers.Cluster, name string) *tended {
	e := c.Open(t, name)
	n := &tended{t: t, Node: node.New(node.Setup{Name: name, Cluster: "test", Engine: e, Owners: e.Owners, Timeout: time.Minute})}
	var err error
	if n.s, err = session.Open(t.TempDir(), session.Options{Committer: n.Node, Parts: n.Parts()}); err != nil {
		t.Fatal(err)
	}
	if err := n.Attach(n.s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close(); n.s.Close() })
	return n
}

// open returns a session as who looks it up finds it.
func (n *tended) open(ref ctxabi.Ref) *session.Session {
	n.t.Helper()
	if err := n.Enter(n.t.Context(), ref); err != nil {
		n.t.Fatal(err)
	}
	x, err := n.s.Session(ref)
	if err == nil {
		err = n.Fresh(n.t.Context(), x, 0)
	}
	if err != nil {
		n.t.Fatalf("%s: %v", n.Name(), err)
	}
	return x
}

// lines returns n messages of about size bytes, of words.
func lines(t *testing.T, x *session.Session, n, size int) {
	t.Helper()
	for range n {
		text := make([]byte, 0, size)
		for len(text) < size {
			text = fmt.Appendf(text, "word%d ", rand.IntN(50000))
		}
		data := fmt.Appendf(nil, `{"role":"user","content":%q}`+"\n", text)
		if _, err := x.Messages().Append(t.Context(), log.Batch{Data: data, Writer: disk.Writer{UID: x.Ref().UID}}); err != nil {
			t.Fatal(err)
		}
	}
}

// A session of which the journal has the end alone opens on a host that never saw it, and a parked one goes
// on on two hosts at once.
func TestASessionIsTrimmedParkedAndGoesOn(t *testing.T) {
	suite.Matrix(t, "three servers, and a session of 20 MB")
	c := servers.Start(t)
	ref := ctxabi.Ref{UID: uint32(os.Getuid()), Agent: "coder", Session: "s1"}
	a := startNode(t, c, "a")
	if err := a.Enter(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	x, err := a.s.Create(ref, disk.Owner{UID: ref.UID, GID: uint32(os.Getgid()), Mode: 0o700})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.SetControl(ctxabi.BudgetFile, []byte("4000\n")); err != nil {
		t.Fatal(err)
	}
	lines(t, x, 20, 1<<20)
	maintenance := c.Open(t, "maintenance")
	handlers := rows.New(maintenance).Handlers()
	keeper := tend.New(tend.Options{Engine: maintenance, Host: "maintenance", Dir: t.TempDir(), Handlers: handlers, ParkAfter: -1, CollectAfter: -1})
	round := func(k *tend.Tender, done func(tend.Report) bool) {
		t.Helper()
		for end := time.Now().Add(3 * time.Minute); ; {
			report, err := k.Round(t.Context())
			if err == nil && done(report) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%+v, %v", report, err)
			}
			time.Sleep(200 * time.Millisecond)
		}
	}
	round(keeper, func(r tend.Report) bool { return r.Trimmed > 0 })
	lines(t, x, 3, 1000)

	began := time.Now()
	b := startNode(t, c, "b")
	y := b.open(ref)
	opened := time.Since(began)
	last := make([]byte, 1000)
	if err := vfs.ReadFull(y.Messages(), last, y.Messages().Len()-1000); err != nil {
		t.Fatal(err)
	}
	t.Logf("a host that never saw it: open after %v, tail read after %v", opened, time.Since(began))
	same(t, a, b, x, y)

	parker := tend.New(tend.Options{Engine: maintenance, Host: "maintenance", Dir: t.TempDir(), Handlers: handlers, ParkAfter: time.Nanosecond, CollectAfter: time.Hour})
	round(parker, func(r tend.Report) bool { return r.Parked > 0 })
	if list, err := maintenance.Journals(t.Context(), (engine.Subject{Session: x.ID()}).Shard()); err != nil || len(list) != 0 {
		t.Errorf("parked, and the servers have %v, %v", list, err)
	}
	z := startNode(t, c, "z").open(ref)
	if z.Messages().Len() != x.Messages().Len() {
		t.Errorf("a host opens a parked session with %d bytes of %d", z.Messages().Len(), x.Messages().Len())
	}
	var both sync.WaitGroup
	for _, s := range []*session.Session{x, y} {
		both.Go(func() { lines(t, s, 5, 100) })
	}
	both.Wait()
	same(t, a, b, x, y)
	if n, err := x.Messages().Lines(); err != nil || n != 33 {
		t.Errorf("%d records, %v", n, err)
	}
}

// same fails the test unless two hosts have the same, after both have looked.
func same(t *testing.T, a, b *tended, x, y *session.Session) {
	t.Helper()
	for _, n := range []struct {
		*tended
		x *session.Session
	}{{a, x}, {b, y}} {
		if err := n.Fresh(t.Context(), n.x, 0); err != nil {
			t.Fatal(err)
		}
		if problems, err := check.Verify(t.Context(), n.s, n.x.Ref()); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v", n.Name(), problems, err)
		}
	}
	one, err := x.Heads()
	other, failed := y.Heads()
	if err != nil || failed != nil || fmt.Sprint(one) != fmt.Sprint(other) {
		t.Errorf("heads: %v, %v, %v, %v", one, other, err, failed)
	}
	if x.State() != y.State() {
		t.Errorf("states: %q, %q", x.State(), y.State())
	}
}
