package keeper

import (
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/names"
)

// What a host committed before another one asks is on the disk of that one when it has the answer.
func TestWhoAsksSeesWhatWasCommittedBefore(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a, b := newHost(t, servers, dir, "a"), newHost(t, servers, dir, "b")
	a.create(t, "coder", "s")
	a.commit(t, mkdir("agent/coder/memory"))
	for _, content := range []string{"one", "two", "three"} {
		a.save(t, "agent/coder/memory/m", content)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := b.k.Fresh(user, time.Now()); err != nil {
					t.Error(err)
				}
				if data, err := os.ReadFile(b.file("agent/coder/memory/m")); string(data) != content {
					t.Errorf("%q, %v; want %q", data, err, content)
				}
			})
		}
		all.Wait()
	}
	before := time.Now()
	if err := b.k.Fresh(user, before); err != nil {
		t.Fatal(err)
	}
	b.engine.Cut() // what is known since is not asked for again
	if err := b.k.Fresh(user, before); err != nil {
		t.Error(err)
	}
	if err := b.k.Fresh(user, time.Now()); !errors.Is(err, engine.ErrUnreachable) {
		t.Error(err)
	}
	a.save(t, "agent/coder/memory/m", "four")
	b.engine.Heal()
	b.commit(t, mkdir("agent/coder/memory/d"))
	b.engine.Cut() // to have committed is to know, too
	if err := b.k.Fresh(user, before.Add(time.Nanosecond)); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(b.file("agent/coder/memory/m")); string(data) != "four" {
		t.Errorf("%q, %v", data, err)
	}
}

// A file whose commit failed is committed when the cluster answers again, and beside what others made of it.
func TestWhatCouldNotBeCommittedIsCommittedLater(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a, b := newHost(t, servers, dir, "a"), newHost(t, servers, dir, "b")
	a.create(t, "coder", "s")
	a.commit(t, mkdir("agent/coder/memory"))
	a.save(t, "agent/coder/memory/m", "one")
	a.save(t, "agent/coder/memory/n", "one")
	b.enter(t)
	b.engine.Cut()
	for _, name := range []string{"m", "n"} {
		b.put(t, "agent/coder/memory/"+name, "b's")
		if _, err := b.close(t, "agent/coder/memory/"+name, Hash([]byte("one"))); !errors.Is(err, engine.ErrUnreachable) {
			t.Fatal(err)
		}
	}
	a.save(t, "agent/coder/memory/m", "a's")
	b.engine.Heal()
	if err := b.k.Fresh(user, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := b.k.Fresh(user, time.Now()); err != nil { // the first look has set the file aside
		t.Fatal(err)
	}
	a.enter(t)
	same(t, servers, a, b)
	for name, want := range map[string]string{"m": "a's", "m.ctxfs-conflict-b-1": "b's", "n": "b's"} {
		if data, err := os.ReadFile(a.file("agent/coder/memory/" + name)); string(data) != want {
			t.Errorf("%s: %q, %v; want %q", name, data, err, want)
		}
	}
	// Attributes alone are committed, too.
	if err := os.Chmod(b.file("agent/coder/memory"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(b.file("agent/coder/memory/n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"agent/coder/memory", "agent/coder/memory/n", "agent/coder/memory/none", "agent/coder/none"} {
		if err := b.k.Adopt(t.Context(), user, name); err != nil {
			t.Fatal(err)
		}
	}
	a.enter(t)
	same(t, servers, a, b)
	a.k.View(user, func(s *names.State) {
		if n, _ := s.Node("agent/coder/memory"); n.Mode != 0o700 {
			t.Errorf("%+v", n)
		}
	})
}
