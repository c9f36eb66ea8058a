package kept

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/node"
	"github.com/ctxfs/ctxfs/cluster/peers/peerstest"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { suite.Main(m) }

// cluster is servers and nodes of this process.
type cluster struct {
	t       *testing.T
	servers *fake.Servers
	net     *peerstest.Network
}

func newCluster(t *testing.T) *cluster {
	harness.NeedRoot(t) // the sessions are of another user
	return &cluster{t, fake.New(), peerstest.NewNetwork()}
}

// mounted is a node with its store.
type mounted struct {
	*node.Node
	t *testing.T
	s *session.Store
}

// mount returns a new node that has read the owner's journal.
func (c *cluster) mount(name string) *mounted {
	c.t.Helper()
	e := c.servers.Host(name)
	m := &mounted{node.New(node.Setup{Name: name, Cluster: "c1", Engine: e, Peers: c.net.Host(name), Owners: e.Owners, Timeout: time.Minute}), c.t, nil}
	var err error
	m.s, err = session.Open(c.t.TempDir(), session.Options{Committer: m.Node, Parts: m.Parts()})
	if err == nil {
		err = m.Attach(m.s)
	}
	must(c.t, err)
	c.net.Join(name, m.Node)
	c.t.Cleanup(func() { c.net.Join(name, nil); m.Close(); m.s.Close() })
	must(c.t, m.Enter(c.t.Context(), Owner))
	return m
}

// open returns a session as who looks it up finds it.
func (m *mounted) open(name string) *session.Session {
	m.t.Helper()
	ref := Owner
	ref.Session = name
	x, err := m.s.Session(ref)
	must(m.t, err)
	must(m.t, m.Look(m.t.Context(), x))
	return x
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// add appends a record to a log.
func add(l *log.Log, record string) error {
	_, err := l.Append(context.Background(), log.Batch{Data: []byte(record + "\n"), Writer: disk.Writer{UID: Owner.UID, PID: 77}})
	return err
}

func message(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

// create returns a new session.
func (m *mounted) create(name string) *session.Session {
	m.t.Helper()
	ref := Owner
	ref.Session = name
	x, err := m.s.Create(ref, disk.Owner{UID: Owner.UID, GID: 1000, Mode: 0o700})
	must(m.t, err)
	return x
}

// present makes the journals of this version.
func (c *cluster) present() []Journal {
	t, m := c.t, c.mount("a")
	x := m.create(Owner.Session)
	for i := range 3 {
		must(t, add(x.Messages(), message(fmt.Sprintf("message %d of this version", i))))
		must(t, add(x.Events(), fmt.Sprintf(`{"type":"note","text":"event %d of this version"}`, i)))
	}
	must(t, x.SetControl(ctxabi.BudgetFile, []byte("8000\n")))
	must(t, x.SetControl(ctxabi.StateFile, []byte("active\n")))
	must(t, x.SetControl(ctxabi.PinnedDir+"/a.md", []byte("pinned\n")))
	must(t, x.MakeChild("rev"))
	must(t, x.SetControl(ctxabi.ChildPath("rev", ctxabi.ChildAgent), []byte("critic\n")))
	return []Journal{c.journal(engine.Subject{Owner: host.Subject(x).Owner}), c.journal(host.Subject(x))}
}

// later makes the journals of a later version: each session has a message of this one, something that this one does not
// know, and a message behind it.
func (c *cluster) later() []Journal {
	m := c.mount("a")
	var list []Journal
	for name, unknown := range map[string]func(at journal.Position) (engine.Header, []byte){
		LaterEntry: func(journal.Position) (engine.Header, []byte) {
			return engine.Header{"Ctx-V": fmt.Sprint(journal.Version + 1), "Ctx-I": "2", "Ctx-Later": "what this is, a later version says"}, []byte("a form of its own")
		},
		LaterRow: func(at journal.Position) (engine.Header, []byte) {
			header, payload, _, err := journal.Seal(at, "later", ctxabi.FormatVersion, []journal.Row{{Kind: 'q', Content: []byte("a kind of its own"), Body: []byte("body")}})
			must(c.t, err)
			return header, payload
		},
		LaterForm: func(at journal.Position) (engine.Header, []byte) {
			header, payload, _, err := journal.Seal(at, "later", ctxabi.FormatVersion, []journal.Row{{Kind: journal.Output, Content: []byte("\xc8a form of its own")}})
			must(c.t, err)
			return header, payload
		},
	} {
		x := m.create(name)
		must(c.t, add(x.Messages(), message("of this version")))
		j := c.journal(host.Subject(x))
		at := journal.Start(j.Subject)
		for _, e := range j.Entries {
			var err error
			_, at, err = journal.Open(at, e)
			must(c.t, err)
		}
		header, payload := unknown(at)
		j.Entries = append(j.Entries, engine.Entry{ID: "later-1-1", Header: header, Payload: payload},
			engine.Entry{ID: "later-1-2", Header: engine.Header{"Ctx-V": fmt.Sprint(journal.Version + 1), "Ctx-I": "3"}, Payload: []byte("more of it")})
		list = append(list, j)
	}
	slices.SortFunc(list, func(a, b Journal) int { return strings.Compare(a.Subject.Session, b.Subject.Session) })
	return append([]Journal{c.journal(engine.Subject{Owner: list[0].Subject.Owner})}, list...)
}

// journal returns a journal as it is now.
func (c *cluster) journal(s engine.Subject) Journal {
	list, err := enginetest.ReadAll(c.t.Context(), c.servers.Host("reader"), s, 0)
	must(c.t, err)
	return Journal{s, list}
}

// shown is what a host shows of a session.
func shown(t *testing.T, m *mounted, x *session.Session) string {
	t.Helper()
	var b strings.Builder
	for _, l := range []*log.Log{x.Messages(), x.Events()} {
		data := make([]byte, l.Len())
		must(t, vfs.ReadFull(l, data, 0))
		fmt.Fprintf(&b, "%s\n%s", l.Name(), data)
	}
	for _, name := range []string{ctxabi.BudgetFile, ctxabi.StateFile, ctxabi.PinnedDir + "/a.md", ctxabi.ChildPath("rev", ctxabi.ChildAgent)} {
		data, err := os.ReadFile(x.Dir() + "/" + name)
		must(t, err)
		fmt.Fprintf(&b, "%s\n%s", name, data)
	}
	heads, err := x.Heads()
	must(t, err)
	fmt.Fprintf(&b, "heads\n%v\n", heads)
	if problems, err := check.Verify(t.Context(), m.s, x.Ref()); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	return b.String()
}

// isToMake reports whether journals with a name are to be made: it is asked for, and there are none. What is there stays.
func isToMake(name string) bool {
	_, err := files.Open("testdata/" + name + ".jsonl")
	return err != nil && os.Getenv("CTXFS_UPDATE") == "1"
}

// keepFile keeps a file of testdata.
func keepFile(t *testing.T, name string, data []byte) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join("testdata", name), data, 0o644))
}

// Journals that were written once are read for ever, and go on.
func TestJournalsOfThisAndEarlierVersionsAreRead(t *testing.T) {
	if isToMake(Present) {
		c := newCluster(t)
		keepFile(t, Present+".jsonl", write(t, c.present()))
		keepFile(t, Present+".want", []byte(shownOf(t, c)))
		t.Skip("the journals of this version were made; they are read the next time")
	}
	entries, err := files.ReadDir("testdata")
	must(t, err)
	count := 0
	for _, f := range entries {
		name, is := strings.CutSuffix(f.Name(), ".want")
		if !is {
			continue
		}
		count++
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			for _, j := range Read(t, name) {
				j.Put(t, c.servers.Host("writer"))
			}
			want, err := files.ReadFile("testdata/" + f.Name())
			must(t, err)
			if got := shownOf(t, c); got != string(want) {
				t.Fatalf("a host shows\n%swant\n%s", got, want)
			}
			x := c.mount("c").open(Owner.Session)
			must(t, add(x.Messages(), message("of today")))
			y := c.mount("d").open(Owner.Session)
			if x, y := x.Messages().Len(), y.Messages().Len(); x != y {
				t.Errorf("one host has %d bytes, another one %d", x, y)
			}
		})
	}
	if count == 0 {
		t.Error("there are no journals")
	}
}

// shownOf returns what a new host shows of the session.
func shownOf(t *testing.T, c *cluster) string {
	m := c.mount("b")
	return shown(t, m, m.open(Owner.Session))
}

// What a later version has written is shown as far as it is understood, and not changed.
func TestJournalsOfALaterVersionAreNotChanged(t *testing.T) {
	c := newCluster(t)
	if isToMake(Later) {
		keepFile(t, Later+".jsonl", write(t, c.later()))
		t.Skip("the journals of a later version were made; they are read the next time")
	}
	journals := Read(t, Later)
	for _, j := range journals {
		j.Put(t, c.servers.Host("writer"))
	}
	m := c.mount("b")
	for _, name := range []string{LaterEntry, LaterRow, LaterForm} {
		x := m.open(name)
		text := make([]byte, x.Messages().Len())
		must(t, vfs.ReadFull(x.Messages(), text, 0))
		if string(text) != message("of this version")+"\n" {
			t.Errorf("%s shows %q", name, text)
		}
		for what, err := range map[string]error{
			"an append": add(x.Messages(), message("of today")), "a setting": x.SetControl(ctxabi.StateFile, []byte("active\n")), "a child": x.MakeChild("rev"),
		} {
			if !errors.Is(err, ctxabi.ErrReadOnly) || !strings.Contains(err.Error(), "newer ctxfs") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	x := m.create("of-today")
	must(t, add(x.Messages(), message("of today")))
	for _, j := range journals[1:] {
		if now := c.journal(j.Subject); len(now.Entries) != len(j.Entries) {
			t.Errorf("%s has %d entries, and had %d", j.Subject, len(now.Entries), len(j.Entries))
		}
	}
}
