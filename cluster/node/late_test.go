package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
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
