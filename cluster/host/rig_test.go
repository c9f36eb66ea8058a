package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/peers/peerstest"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func TestMain(m *testing.M) { suite.Main(m) }

var (
	ref    = ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s1"}
	owner  = disk.Owner{UID: 1000, GID: 1000, Mode: 0o700}
	writer = disk.Writer{UID: 1000, PID: 77}
	id     = strings.Repeat("ab", 16)
)

// tb is what tests and random tests have in common.
type tb interface {
	Helper()
	Error(...any)
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}

// rig is a cluster of hosts, each with a store that has the session ref.
type rig struct {
	t       tb
	servers *fake.Servers
	net     *peerstest.Network
	nodes   []*node
}

// node is a host and its store, as long as it runs.
type node struct {
	r      *rig
	name   string
	fs     vfs.FS
	dir    string
	disk   *sessiontest.Disk // nil: the store is in a directory of the system
	engine *fake.Host
	h      *Host
	s      *session.Store
	x      *session.Session

	followers bool                              // the host may not read from leaders, as one of some owners alone
	wrap      func(engine.Engine) engine.Engine // what the host's engine does beside the fake; nil: nothing
}

// followers is an engine that refuses to read from leaders.
type followers struct{ *fake.Host }

func (f followers) Read(ctx context.Context, s engine.Subject, r engine.Range) ([]engine.Entry, error) {
	if r.Leader {
		return nil, engine.ErrDenied
	}
	return f.Host.Read(ctx, s, r)
}

// newRig returns a cluster of hosts with disks in memory.
func newRig(t tb, names ...string) *rig {
	r := &rig{t: t, servers: fake.New(), net: peerstest.NewNetwork()}
	for _, name := range names {
		disk := sessiontest.New()
		r.add(&node{name: name, fs: disk, disk: disk, dir: "/store"})
	}
	return r
}

// add adds a host and starts it.
func (r *rig) add(n *node) *node {
	n.r, n.engine = r, r.servers.Host(n.name)
	r.nodes = append(r.nodes, n)
	n.start()
	return n
}

// start starts the host on what its disk has.
func (n *node) start() { n.startWith(nil) }

func (n *node) startWith(handlers map[journal.Kind]replica.Handler) {
	var e engine.Engine = n.engine
	if n.followers {
		e = followers{n.engine}
	}
	if n.wrap != nil {
		e = n.wrap(e)
	}
	n.h = New(Options{Name: n.name, Handlers: handlers, Engine: e, Peers: n.r.net.Host(n.name), Pause: func(context.Context, time.Duration) {}})
	o := session.Options{VFS: n.fs, Committer: n.h}
	if n.disk != nil {
		o.Now = n.disk.Now
	}
	var err error
	if n.s, err = session.Open(n.dir, o); err != nil {
		n.r.t.Fatalf("%s: %v", n.name, err)
	}
	n.h.Attach(n.s)
	if n.x, err = n.s.Session(ref); errors.Is(err, ctxabi.ErrNotFound) {
		// What package names will do: the session comes to be here with the id that it has elsewhere.
		if err = n.s.ApplyName(session.NameChange{Kind: session.CreateSession, Ref: ref, Owner: owner, ID: id}); err == nil {
			n.x, err = n.s.Session(ref)
		}
	}
	if err != nil {
		n.r.t.Fatalf("%s: %v", n.name, err)
	}
	n.r.net.Join(n.name, n.h)
}

// stop ends the host in good order.
func (n *node) stop() {
	n.r.net.Join(n.name, nil)
	n.h.Close()
	if err := n.s.Close(); err != nil {
		n.r.t.Errorf("%s: %v", n.name, err)
	}
}

// kill ends the host as SIGKILL does.
func (n *node) kill() {
	n.r.net.Join(n.name, nil)
	n.disk.Kill()
	n.h.Close()
	n.s.Close()
}

func message(text string) []byte { return fmt.Appendf(nil, `{"role":"user","content":%q}`+"\n", text) }

func event(text string) []byte { return fmt.Appendf(nil, `{"type":"note","text":%q}`+"\n", text) }

// content is a file of the session.
func (n *node) content(name string) string {
	b, err := vfs.ReadFile(n.fs, n.x.Dir()+"/"+name)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(b)
}

// files is what has to be equal on all hosts.
func (n *node) files() map[string]string {
	all := map[string]string{}
	for _, name := range []string{ctxabi.MessagesFile, ctxabi.EventsFile, log.ArrivalsFile(ctxabi.MessagesFile), log.ArrivalsFile(ctxabi.EventsFile),
		ctxabi.StateFile, ctxabi.BudgetFile, ctxabi.OwnNote(ctxabi.TodoFile), ctxabi.TodoFile, log.SetsFile} {
		c := n.content(name)
		if strings.HasPrefix(c, "(") {
			c = "absent"
		}
		all[name] = c
	}
	for _, c := range must(n.x.Children()) {
		all["children"] += c.Name + " "
	}
	heads, err := n.x.Heads()
	if err != nil {
		n.r.t.Errorf("%s: %v", n.name, err)
	}
	all["heads"] = fmt.Sprint(heads)
	return all
}

// agree ends all faults and holds the hosts against each other and against the journal. It returns the
// records of both logs, one a line.
func (r *rig) agree() string {
	ctx := context.Background()
	for _, n := range r.nodes {
		n.engine.Heal()
		r.net.Heal(n.name)
		r.net.Cut(n.name, false)
		if n.disk != nil {
			n.disk.Heal()
		}
	}
	r.servers.Fill(false)
	r.servers.Land()
	r.net.Land()
	for range 2 { // the first look of the last host may put a fence
		for _, n := range r.nodes {
			if err := n.h.Fresh(ctx, n.x, 0); err != nil {
				r.t.Fatalf("%s: %v", n.name, err)
			}
		}
	}
	at := r.journal(SubjectOf(ref, id))
	first := r.nodes[0].files()
	for _, n := range r.nodes {
		if files := n.files(); !maps.Equal(files, first) {
			for name := range first {
				if files[name] != first[name] {
					r.t.Errorf("%s has %s\n%.2000q\n%s has\n%.2000q", r.nodes[0].name, name, first[name], n.name, files[name])
				}
			}
		}
		if got := n.h.member(n.x).copy.Position(); got.Position != at {
			r.t.Errorf("%s is at %d %x, the journal ends at %d %x", n.name, got.I, got.Chain, at.I, at.Chain)
		}
		problems, err := check.Verify(ctx, n.s, ref)
		if err != nil || len(problems) > 0 {
			r.t.Errorf("%s: %v %v", n.name, problems, err)
		}
	}
	return first[ctxabi.MessagesFile] + first[ctxabi.EventsFile]
}

// journal reads a journal from its first entry on and returns where it ends.
func (r *rig) journal(s engine.Subject) journal.Position {
	at := journal.Start(s)
	e := r.servers.Host("reader")
	for seq := uint64(1); ; {
		list, err := e.Read(context.Background(), s, engine.Range{From: seq, Leader: true})
		if err != nil {
			r.t.Fatal(err)
		}
		if len(list) == 0 {
			return at
		}
		for _, x := range list {
			if seq = x.Seq + 1; x.ID == "" {
				continue
			}
			if _, at, err = journal.Open(at, x); err != nil {
				r.t.Fatal(err)
			}
		}
	}
}

// outcome is what an append returned.
type outcome int

const (
	stored outcome = iota
	refused
	unsure
)

func outcomeOf(err error) outcome {
	switch {
	case err == nil:
		return stored
	case errors.Is(err, ctxabi.ErrIO):
		return unsure
	}
	return refused
}

// held checks that records stand as often among lines as what their append returned allows.
func held(t tb, lines string, records map[string]outcome) {
	t.Helper()
	count := map[string]int{}
	for line := range strings.Lines(lines) {
		count[line]++
	}
	for _, line := range slices.Sorted(maps.Keys(count)) {
		if _, ok := records[line]; !ok {
			t.Errorf("nobody appended %q", line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(records)) {
		switch n := count[line]; records[line] {
		case stored:
			if n != 1 {
				t.Errorf("%q was acknowledged and stands there %d times", line, n)
			}
		case refused:
			if n != 0 {
				t.Errorf("%q was refused and stands there %d times", line, n)
			}
		default:
			if n > 1 {
				t.Errorf("%q stands there %d times", line, n)
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
