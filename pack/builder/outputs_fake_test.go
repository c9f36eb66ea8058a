package builder

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// fakeRun is a run that ends when it is told to, or cancelled.
type fakeRun struct {
	command  source.Command
	uid      uint32
	answer   chan source.Output
	canceled bool
}

// fakeGenerators runs nothing.
type fakeGenerators struct {
	mu      sync.Mutex
	auto    func(source.Command) (source.Output, error) // answers at once, if not nil
	runs    []*fakeRun                                  // begun so far
	now     map[string]int                              // under way, by session, by user, in all
	most    map[string]int
	files   map[string]inputs // by dir
	looks   int
	lookFor time.Duration // how long a look takes
}

type inputs struct{ fingerprint, reason string }

func newFakeGenerators() *fakeGenerators {
	return &fakeGenerators{now: map[string]int{}, most: map[string]int{}, files: map[string]inputs{}}
}

func (f *fakeGenerators) Run(ctx context.Context, uid, gid uint32, c source.Command) (source.Output, error) {
	r := &fakeRun{command: c, uid: uid, answer: make(chan source.Output, 1)}
	places := []string{"session " + c.Session, fmt.Sprint("user ", uid), "all"}
	f.mu.Lock()
	f.runs = append(f.runs, r)
	auto := f.auto
	for _, p := range places {
		f.now[p]++
		f.most[p] = max(f.most[p], f.now[p])
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, p := range places {
			f.now[p]--
		}
	}()
	if auto != nil {
		return auto(c)
	}
	select {
	case out := <-r.answer:
		return out, nil
	case <-ctx.Done():
		f.mu.Lock()
		r.canceled = true
		f.mu.Unlock()
		return source.Output{Failed: "cancelled"}, nil
	}
}

func (f *fakeGenerators) Inputs(ctx context.Context, uid, gid uint32, dir string, globs []string, wait time.Duration) (string, bool, string) {
	f.mu.Lock()
	f.looks++
	takes := f.lookFor
	f.mu.Unlock()
	if takes > wait {
		time.Sleep(wait)
		return "", true, ""
	}
	time.Sleep(takes)
	f.mu.Lock()
	defer f.mu.Unlock()
	in := f.files[dir]
	return in.fingerprint, false, in.reason
}

func (f *fakeGenerators) Inside(uint32) (string, bool) { return "", false }

// set changes the fake under its lock.
func (f *fakeGenerators) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeGenerators) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.runs)
}

func (f *fakeGenerators) last() *fakeRun {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.runs[len(f.runs)-1]
}

func (f *fakeGenerators) at(i int) *fakeRun {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.runs[i]
}

// of returns the last run of a command.
func (f *fakeGenerators) of(name string) *fakeRun {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range slices.Backward(f.runs) {
		if r.command.Args[0] == name {
			return r
		}
	}
	return nil
}

func says(s string) func(source.Command) (source.Output, error) {
	return func(source.Command) (source.Output, error) { return source.Output{Data: []byte(s)}, nil }
}

func fails(why string) func(source.Command) (source.Output, error) {
	return func(source.Command) (source.Output, error) { return source.Output{Failed: why, Stderr: "boom\n"}, nil }
}

// bench is an outputs with its fake, and a store in memory.
type outputsBench struct {
	*testing.T
	disk  *sessiontest.Disk
	store *session.Store
	fake  *fakeGenerators
	o     *outputs
}

// inBubble runs a test in which time stands still unless everybody waits. The
// bubble fails a test that leaves a goroutine behind.
func inBubble(t *testing.T, test func(b *outputsBench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &outputsBench{T: t, disk: sessiontest.New()}
		b.start(session.Options{})
		defer func() { b.stop() }()
		test(b)
	})
}

func (b *outputsBench) start(o session.Options) {
	b.Helper()
	o.VFS = b.disk
	store, err := session.Open("/store", o)
	if err != nil {
		b.Fatal(err)
	}
	b.store, b.fake = store, newFakeGenerators()
	b.o = newOutputs(b.fake)
}

func (b *outputsBench) stop() {
	b.o.Close()
	b.store.Close()
}

// restart is another daemon on the same store.
func (b *outputsBench) restart(o session.Options) {
	b.Helper()
	b.stop()
	b.start(o)
}

func (b *outputsBench) session(name string) *session.Session {
	b.Helper()
	ref := ctxabi.Ref{UID: 7, Agent: "a", Session: name}
	x, err := b.store.Session(ref)
	if err == nil {
		return x
	}
	o := disk.Owner{UID: 7, GID: 7, Mode: 0o700}
	if err := b.store.EnsureAgent(ref, o); err != nil {
		b.Fatal(err)
	}
	if x, err = b.store.Create(ref, o); err != nil {
		b.Fatal(err)
	}
	return x
}

func (b *outputsBench) gather(x *session.Session, wait time.Duration, wants ...want) []made {
	return b.o.gather(context.Background(), x, 7, 7, wants, wait)
}

func (b *outputsBench) unchanged(x *session.Session, last []made, wants ...want) bool {
	return b.o.unchanged(context.Background(), x, 7, 7, wants, last, time.Second)
}

// expect compares what was made with "data", "data (stale: reason)", "(pending: reason)" or "(reason)".
func (b *outputsBench) expect(all []made, want ...string) {
	b.Helper()
	var got []string
	for _, m := range all {
		got = append(got, inWords(m))
	}
	if !slices.Equal(got, want) {
		b.Fatalf("made %q, want %q", got, want)
	}
}

func inWords(m made) string {
	s := string(m.data)
	switch {
	case m.stale:
		s += " (stale: " + m.reason + ")"
	case m.pending:
		s += "(pending: " + m.reason + ")"
	case m.reason != "":
		s += "(" + m.reason + ")"
	}
	return s
}

func (b *outputsBench) runs(n int) {
	b.Helper()
	if got := b.fake.count(); got != n {
		b.Fatalf("%d runs so far, want %d", got, n)
	}
}

// plain is a want without a cache.
func plain(name string) want {
	return want{name: name, entry: "entry", history: "1", dir: "/work",
		stages: []source.Command{{Session: "s", Args: []string{name}}}}
}

func hashed(name string) want {
	w := plain(name)
	w.cache = recipe.Cache{Strategy: recipe.CacheFileHash, InvalidateOn: []string{"**/*.go"}}
	return w
}

const behind = "; showing its previous output"

func aBitMore(s string) string { return strings.Repeat("x", source.MaxGenerated) + s }
