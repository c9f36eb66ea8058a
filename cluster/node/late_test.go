package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// An engine that came late keeps what any engine keeps.
func TestAnEngineThatComesLate(t *testing.T) {
	c := fake.New()
	arrived := func(e engine.Engine) engine.Engine {
		l := newLate(time.Minute)
		l.set(e)
		return l
	}
	enginetest.Run(t, enginetest.Rig{
		Host: func(_ testing.TB, name string, owners ...string) engine.Engine {
			return arrived(c.Host(name, owners...))
		},
		Maintenance: func(testing.TB) engine.Engine { return arrived(c.Maintenance()) },
	})
}

// Before it comes, calls wait: they go on when it does, and end with their contexts, or at the time limit.
func TestCallsWaitForAnEngine(t *testing.T) {
	l := newLate(time.Minute)
	l.note(errors.New("no server answers"))
	s := enginetest.NewSession("u1000")
	key := engine.Key{Owner: "u1000", Name: "b/x"}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	short := newLate(time.Millisecond)
	for what, call := range map[string]func(ctx context.Context, l *late) error{
		"Append": func(ctx context.Context, l *late) error { _, err := l.Append(ctx, s, 0, "x", nil, nil); return err },
		"Read":   func(ctx context.Context, l *late) error { _, err := l.Read(ctx, s, engine.Range{}); return err },
		"Last":   func(ctx context.Context, l *late) error { _, err := l.Last(ctx, s, true); return err },
		"Follow": func(ctx context.Context, l *late) error { _, err := l.Follow(ctx, s); return err },
		"Trim":   func(ctx context.Context, l *late) error { return l.Trim(ctx, s, 1) },
		"Attest": func(ctx context.Context, l *late) error { _, err := l.Attest(ctx, 0); return err },
		"Put":    func(ctx context.Context, l *late) error { return l.Objects().Put(ctx, key, nil) },
		"Get":    func(ctx context.Context, l *late) error { _, err := l.Objects().Get(ctx, key, 0, -1); return err },
		"Stat":   func(ctx context.Context, l *late) error { _, err := l.Objects().Stat(ctx, key); return err },
		"List":   func(ctx context.Context, l *late) error { _, err := l.Objects().List(ctx, "u1000", ""); return err },
		"Delete": func(ctx context.Context, l *late) error { return l.Objects().Delete(ctx, key) },
	} {
		if err := call(ended, l); !errors.Is(err, engine.ErrUnreachable) {
			t.Errorf("%s, whose context has ended: %v", what, err)
		}
		if err := call(t.Context(), short); !errors.Is(err, engine.ErrUnreachable) {
			t.Errorf("%s, at the time limit: %v", what, err)
		}
	}
	stored := make(chan error, 1)
	go func() {
		_, err := l.Append(t.Context(), s, 0, "x", nil, nil)
		stored <- err
	}()
	if err := l.missing(); err == nil || err.Error() != "no server answers" {
		t.Errorf("it is missing because of %v", err)
	}
	l.set(fake.New().Host("a"))
	if err := <-stored; err != nil {
		t.Error(err)
	}
	if err := l.missing(); err != nil {
		t.Errorf("it is there, and missing because of %v", err)
	}
}

// What cannot be read from a store does not keep it from being mounted: it is written anew then.
func TestWhichClusterAStoreIsOf(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, session.ClusterFile)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	is := func(want string) {
		t.Helper()
		if got, err := StoreOf(dir); got != want || err != nil {
			t.Errorf("it is of %q, %v; not of %q", got, err, want)
		}
	}
	is("")
	for content, want := range map[string]string{"": "", `{"cluster":"c1","host":"a"}`: "c1", `{"clus`: ""} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		is(want)
	}
}

// silent is an engine whose servers say nothing while on is set.
type silent struct {
	engine.Engine
	on atomic.Bool
}

func (s *silent) Last(ctx context.Context, j engine.Subject, leader bool) (engine.Entry, error) {
	if s.on.Load() {
		<-ctx.Done()
		return engine.Entry{}, engine.ErrUnreachable
	}
	return s.Engine.Last(ctx, j, leader)
}

// Without a cluster each look-up of a file waited anew, and a list of a directory with many files did not end.
func TestALookUpThatWasInVainIsNotWaitedForAgain(t *testing.T) {
	r := newRig(t)
	servers := &silent{}
	a, b := r.mount("a", t.TempDir()), r.mount("b", t.TempDir(), func(o *Setup) {
		servers.Engine, o.Engine, o.Freshness = o.Engine, servers, time.Millisecond
	})
	if err := appendTo(a.create(ref), "one"); err != nil {
		t.Fatal(err)
	}
	x := b.open(ref)
	servers.on.Store(true)
	waited := 0
	for range 100 {
		began := time.Now()
		if err := errors.Join(b.Enter(t.Context(), ref), b.Look(t.Context(), x)); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) > Bound/2 {
			waited++
		}
	}
	if waited == 0 || waited > 10 {
		t.Errorf("%d of 100 look-ups waited", waited)
	}
	servers.on.Store(false)
	if err := appendTo(a.open(ref), "two"); err != nil {
		t.Fatal(err)
	}
	within(t, "b", func() string {
		return map[bool]string{false: "it does not show what came since"}[strings.Contains(content(t, b.open(ref), ctxabi.MessagesFile), "two")]
	})
}
