package tend

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/cluster/peers/peerstest"
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
	ctx    = context.Background()
	ref    = ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s1"}
	owner  = disk.Owner{UID: 1000, GID: 1000, Mode: 0o700}
	writer = disk.Writer{UID: 1000, PID: 77}
	id     = strings.Repeat("ab", 16)
)

// subject is the journal of the session ref.
var subject = host.SubjectOf(ref, id)

// tb is what tests and random tests have in common.
type tb interface {
	Helper()
	Error(...any)
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}

// rig is a cluster of hosts, each with a store that has the session ref, and a maintainer.
type rig struct {
	t       tb
	servers *fake.Servers
	net     *peerstest.Network
	nodes   []*node
	tender  *Tender
	dir     string
	now     time.Time     // of the day
	up      time.Duration // of the maintainer's machine
	boot    string
}

// node is a host and its store, as long as it runs.
type node struct {
	r      *rig
	name   string
	disk   *sessiontest.Disk
	engine *fake.Host
	shelf  *Shelf
	h      *host.Host
	s      *session.Store
	x      *session.Session
}

func newRig(t tb, dir string, hosts ...string) *rig {
	r := &rig{t: t, servers: fake.New(), net: peerstest.NewNetwork(), dir: dir, now: time.Unix(1_700_000_000, 0)}
	made := names.NewReplica(r.servers.Host("first"), "first", names.SubjectOf(ref), names.Options{})
	if _, err := made.Commit(ctx, names.CreateSession{Agent: ref.Agent, Session: ref.Session, ID: id, Owner: names.Owner(owner)}); err != nil {
		t.Fatal(err)
	}
	for _, name := range hosts {
		r.add(name)
	}
	r.newTender()
	return r
}

// newTender starts the maintainer anew, on what it remembers.
func (r *rig) newTender() {
	r.tender = New(Options{Engine: r.servers.Maintenance(), Host: "maintenance", Dir: r.dir, Now: func() time.Time { return r.now },
		Uptime: func() (string, time.Duration) { return r.boot, r.up }})
}

func (r *rig) add(name string) *node {
	n := &node{r: r, name: name, disk: sessiontest.New(), engine: r.servers.Host(name)}
	r.nodes = append(r.nodes, n)
	n.start()
	return n
}

// start starts the host on what its disk has.
func (n *node) start() {
	n.shelf = NewShelf(ShelfOptions{Engine: n.engine, Host: n.name, Entries: 5, Now: func() time.Time { return n.r.now }})
	n.h = host.New(host.Options{Name: n.name, Engine: n.engine, Peers: n.r.net.Host(n.name), Timeout: 5 * time.Second, Pause: func(context.Context, time.Duration) {},
		Handlers: n.shelf.Handlers(), Restore: n.shelf.Restore, Parked: n.shelf.Parked})
	var err error
	if n.s, err = session.Open("/store", session.Options{VFS: n.disk, Now: n.disk.Now, Committer: n.h, Parts: n.shelf.Parts()}); err != nil {
		n.r.t.Fatalf("%s: %v", n.name, err)
	}
	n.h.Attach(n.s)
	if n.x, err = n.s.Session(ref); errors.Is(err, ctxabi.ErrNotFound) {
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
	n.s.Close()
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

func (n *node) append(text string) error {
	_, err := n.x.Messages().Append(ctx, log.Batch{Data: message(text), Writer: writer})
	return err
}

// must fails the test if there is an error.
func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// fresh brings the copies of hosts up to date.
func (r *rig) fresh(list ...*node) {
	r.t.Helper()
	for _, n := range list {
		if err := n.h.Fresh(ctx, n.x, 0); err != nil {
			r.t.Fatalf("%s: %v", n.name, err)
		}
	}
}

// snapshot has n, which becomes home, name a snapshot.
func (n *node) snapshot() {
	n.r.t.Helper()
	n.r.must(n.shelf.Snapshot(ctx, n.h, n.x))
}

// round does a round of the maintainer.
func (r *rig) round() Report {
	r.t.Helper()
	report, err := r.tender.Round(ctx)
	r.must(err)
	return report
}

// later moves all clocks on.
func (r *rig) later(d time.Duration) { r.now, r.up = r.now.Add(d), r.up+d }

// reboot starts the maintainer's machine anew, and the maintainer.
func (r *rig) reboot() {
	r.boot, r.up = r.boot+"+", 0
	r.newTender()
}

// entries returns how many entries the journal has.
func (r *rig) entries() uint64 {
	list, err := r.servers.Maintenance().Journals(ctx, subject.Shard())
	r.must(err)
	return list[subject]
}

// files is what has to be equal on all hosts.
func (n *node) files() map[string]string {
	all := map[string]string{}
	for _, name := range []string{log.ArrivalsFile(ctxabi.MessagesFile), log.ArrivalsFile(ctxabi.EventsFile), ctxabi.StateFile, ctxabi.BudgetFile,
		ctxabi.OwnNote(ctxabi.TodoFile), ctxabi.TodoFile} {
		b, err := vfs.ReadFile(n.disk, n.x.Dir()+"/"+name)
		all[name] = string(b)
		if err != nil {
			all[name] = "absent"
		}
	}
	for _, l := range []*log.Log{n.x.Messages(), n.x.Events()} {
		all[l.Name()] = content(n.r.t, l)
	}
	children, err := n.x.Children()
	n.r.must(err)
	for _, c := range children {
		all["children"] += c.Name + " " + c.Agent + "\n"
	}
	heads, err := n.x.Heads()
	n.r.must(err)
	all["heads"] = fmt.Sprint(heads)
	ix, err := n.x.Messages().Index()
	n.r.must(err)
	all["lines"] = fmt.Sprint(ix.Len())
	for line := range ix.Len() {
		all["lines"] += fmt.Sprintf(" %+v", ix.At(line+1))
	}
	sh, err := load(n.x)
	n.r.must(err)
	all["parts"] = fmt.Sprintf("%x", sh.Parts)
	at, ok := n.position()
	if all["position"] = at; !ok {
		n.r.t.Errorf("%s: no position", n.name)
	}
	return all
}

// position returns where the copy is, without what may differ between hosts.
func (n *node) position() (string, bool) {
	for x, at := range n.h.Copies {
		if x == n.x {
			return fmt.Sprintf("%d %x", at.I, at.Chain), true
		}
	}
	return "", false
}

// content returns all bytes of a log.
func content(t tb, l *log.Log) string {
	t.Helper()
	b := make([]byte, l.Len())
	if err := vfs.ReadFull(l, b, 0); err != nil {
		t.Fatalf("read %s: %v", l.Name(), err)
	}
	return string(b)
}

// agree brings all hosts up to date and holds them against each other. It returns the records, one a line.
func (r *rig) agree() string {
	r.t.Helper()
	for range 2 { // the first look of the last host may put a fence
		r.fresh(r.nodes...)
	}
	first := r.nodes[0].files()
	for _, n := range r.nodes {
		if files := n.files(); !maps.Equal(files, first) {
			for name := range first {
				if files[name] != first[name] {
					r.t.Errorf("%s has %s\n%.1500q\n%s has\n%.1500q", r.nodes[0].name, name, first[name], n.name, files[name])
				}
			}
		}
		problems, err := check.Verify(ctx, n.s, ref)
		if err != nil || len(problems) > 0 {
			r.t.Errorf("%s: %v %v", n.name, problems, err)
		}
	}
	return first[ctxabi.MessagesFile] + first[ctxabi.EventsFile]
}

// shared returns the objects of the owner.
func (r *rig) objects() []string {
	list, err := r.servers.Maintenance().Objects().List(ctx, subject.Owner, "")
	r.must(err)
	return list
}
