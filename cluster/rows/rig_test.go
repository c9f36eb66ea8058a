package rows

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/peers/peerstest"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

func TestMain(m *testing.M) { suite.Main(m) }

var (
	owner  = disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700}
	ref    = ctxabi.Ref{UID: owner.UID, Agent: "coder", Session: "s1"}
	worker = ctxabi.Ref{UID: owner.UID, Agent: "coder", Session: "w1"}
	writer = disk.Writer{UID: owner.UID, PID: 77}
)

// node is a host with a store, and what makes its packs.
type node struct {
	name string
	runs atomic.Int64 // of commands
	h    *host.Host
	s    *session.Store
	x, w *session.Session // of ref and worker
	b    *builder.Builder
}

// Run prints what no other host and no other run prints.
func (n *node) Run(_ context.Context, _, _ uint32, c source.Command) (source.Output, error) {
	text := fmt.Sprintf("Printed by %s in run %d.\n", n.name, n.runs.Add(1))
	if c.Args[0] == "sum" {
		text = "- " + strings.TrimSpace(text) + " (messages:1)\n"
	}
	return source.Output{Data: []byte(text)}, nil
}

func (n *node) Inputs(context.Context, uint32, uint32, string, []string, time.Duration) (string, bool, string) {
	return "", false, "nobody looks"
}

func (n *node) Inside(uint32) (string, bool) { return "", false }

// world is hosts that have the same two sessions.
type world struct {
	t interface {
		Helper()
		Fatal(...any)
		Fatalf(string, ...any)
		Errorf(string, ...any)
	}
	nodes   []*node
	records [][]byte
	made    int
}

func newWorld(t *testing.T, names ...string) *world {
	w := &world{t: t, records: packtest.CodingLog(400).Records()}
	servers, net := fake.New(), peerstest.NewNetwork()
	for _, name := range names {
		n := &node{name: name}
		e := servers.Host(name)
		r := New(e)
		n.h = host.New(host.Options{Name: name, Engine: e, Peers: net.Host(name), Handlers: r.Handlers()})
		dir := filepath.Join(t.TempDir(), "store")
		s, err := session.Open(dir, session.Options{Committer: r.Committer(n.h)})
		if err != nil {
			t.Fatal(err)
		}
		n.s = s
		n.h.Attach(s)
		for i, at := range []struct {
			ref ctxabi.Ref
			to  **session.Session
		}{{ref, &n.x}, {worker, &n.w}} {
			err := s.ApplyName(session.NameChange{Kind: session.CreateSession, Ref: at.ref, Owner: owner, ID: strings.Repeat(fmt.Sprint(i, "b"), 16)})
			if err == nil {
				*at.to, err = s.Session(at.ref)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if n.b, err = builder.NewBuilder(builder.Config{Budget: 4000, Generators: n, Mountpoint: "/mnt/" + name, Wait: time.Minute}); err != nil {
			t.Fatal(err)
		}
		net.Join(name, n.h)
		w.nodes = append(w.nodes, n)
	}
	t.Cleanup(w.end)
	return w
}

// end ends all hosts, once.
func (w *world) end() {
	for _, n := range w.nodes {
		n.b.Close()
		n.h.Close()
		n.s.Close()
	}
	w.nodes = nil
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) say(x *session.Session, n int) {
	for range n {
		_, err := x.Messages().Append(context.Background(), log.Batch{Data: append(slices.Clone(w.records[w.made%len(w.records)]), '\n'), Writer: writer})
		w.made++
		w.ok(err)
	}
}

// fresh brings all hosts to the end of both journals.
func (w *world) fresh() {
	w.t.Helper()
	for range 2 {
		for _, n := range w.nodes {
			w.ok(n.h.Fresh(context.Background(), n.x, 0))
			w.ok(n.h.Fresh(context.Background(), n.w, 0))
		}
	}
}

// settled returns the packs of all hosts once they are of one position: reading packs may commit something.
func (w *world) settled() []*pack.Build {
	w.t.Helper()
	for begin := time.Now(); time.Since(begin) < 5*time.Minute; time.Sleep(5 * time.Millisecond) {
		w.fresh()
		at := w.nodes[0].h.Position(w.nodes[0].x)
		var packs []*pack.Build
		busy := false
		for _, n := range w.nodes {
			b, err := n.b.Current(context.Background(), n.x)
			w.ok(err)
			packs = append(packs, b)
			report := string(b.Report)
			busy = busy || strings.Contains(report, "the summarizer works on") || strings.Contains(report, "is being stored")
		}
		time.Sleep(5 * time.Millisecond) // what is committed behind a build's back has begun
		w.fresh()
		if !busy && w.nodes[0].h.Position(w.nodes[0].x) == at {
			return packs
		}
	}
	w.t.Fatal("packs of the same position go on committing something")
	return nil
}

// equal holds all that packs are of each host against the first.
func (w *world) equal() {
	w.t.Helper()
	packs := w.settled()
	for i, n := range w.nodes[1:] {
		a, b := packs[0], packs[i+1]
		w.same(n, "pack_id", a.ID, b.ID)
		w.same(n, "pack.md", string(a.Markdown), string(b.Markdown))
		w.same(n, "pack.json", string(a.JSON()), string(b.JSON()))
		for at := 0; at <= a.Messages; at += 1 + a.Messages/4 {
			past, err := w.nodes[0].b.At(context.Background(), w.nodes[0].x, at)
			w.ok(err)
			other, err := n.b.At(context.Background(), n.x, at)
			w.ok(err)
			w.same(n, fmt.Sprint("at/", at), past.ID+string(past.Markdown), other.ID+string(other.Markdown))
		}
		w.same(n, "blobs", w.blobs(w.nodes[0]), w.blobs(n))
		for _, name := range []string{session.SummariesFile, "epoch.json", "recipe.json"} {
			sum, err := w.nodes[0].x.KeptSum(name)
			w.ok(err)
			other, err := n.x.KeptSum(name)
			w.ok(err)
			w.same(n, name, fmt.Sprint(sum), fmt.Sprint(other))
		}
	}
}

func (w *world) blobs(n *node) (all string) {
	for _, b := range n.x.Blobs() {
		all += fmt.Sprintln(b.ID, b.Size, b.Time.UnixNano())
	}
	return all
}

func (w *world) same(n *node, what, a, b string) {
	w.t.Helper()
	if a != b {
		w.t.Errorf("%s of %s is\n%s\nand of %s\n%s", what, w.nodes[0].name, a, n.name, b)
	}
}

const (
	mapped   = "sources: [{type: computed_file, id: now, generator: {command: [date]}}, {type: children}, {type: journal}]\n"
	summed   = "summarizer: {command: [sum]}\nsources: [{type: computed_file, id: now, refresh: compaction, generator: {command: [date]}}, {type: children}, {type: journal}]\n"
	wrong    = "sources: [{type: nothing}]\n"
	noRecipe = ""
)
