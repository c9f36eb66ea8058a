package world

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// benchStore is a store whose clock says that all in it is old.
func benchStore(b *testing.B) (*session.Store, *builder.Builder, *Collector) {
	b.Helper()
	store, err := session.Open(filepath.Join(b.TempDir(), "store"), session.Options{Now: func() time.Time { return time.Now().Add(40 * 24 * time.Hour) }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	packs, err := builder.NewBuilder(builder.Config{})
	if err != nil {
		b.Fatal(err)
	}
	c := New(store, packs, gc.Options{})
	b.Cleanup(c.Close)
	return store, packs, c
}

func benchSession(b *testing.B, store *session.Store, name string) *session.Session {
	b.Helper()
	x, err := store.Create(ctxabi.Ref{UID: 1000, Agent: "coder", Session: name}, disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700})
	if err != nil {
		b.Fatal(err)
	}
	return x
}

// A session with 10,000 blobs, each named by one of 10,000 messages (10 MB): planned by somebody
// who never saw it, and again after that.
func BenchmarkPlanBlobs(b *testing.B) {
	store, packs, _ := benchStore(b)
	x := benchSession(b, store, "s1")
	dir := filepath.Join(x.Dir(), ".ctxfs/blobs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	var lines strings.Builder
	filler := strings.Repeat("of the words that people say ", 30)
	for i := range 10000 {
		id := ctxabi.ContentID(fmt.Appendf(nil, "blob %d", i))
		if err := os.WriteFile(filepath.Join(dir, id), fmt.Appendf(nil, "blob %d", i), 0o600); err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(&lines, "{\"role\":\"user\",\"content\":\"see %s %s\"}\n", id, filler)
	}
	if _, err := x.Messages().Append(context.Background(), log.Batch{Data: []byte(lines.String())}); err != nil {
		b.Fatal(err)
	}
	plan := func(c *Collector) {
		s, err := c.seen.Session(x.Ref())
		if err != nil {
			b.Fatal(err)
		}
		p, err := gc.MakePlan(context.Background(), s, store.Now())
		if err != nil || len(p.Go) != 0 || len(p.Stay) < 10000 {
			b.Fatalf("%d go, %d stay, %v", len(p.Go), len(p.Stay), err)
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			c := New(store, packs, gc.Options{})
			plan(c)
			c.Close()
		}
	})
	b.Run("again", func(b *testing.B) {
		c := New(store, packs, gc.Options{})
		defer c.Close()
		plan(c)
		for b.Loop() {
			plan(c)
		}
	})
}

// A round over 10,000 sessions in which nothing happens.
func BenchmarkRoundIdle(b *testing.B) {
	const idle = 10000
	store, _, c := benchStore(b)
	ref := benchSession(b, store, "s0").Ref()
	for i := 1; i < idle; i++ { // made by hand: a session is synced when it is made
		dir := filepath.Join(store.Dir(), ref.AgentHome(), "session", fmt.Sprintf("s%d", i))
		for _, d := range []string{"", "context", "context/pinned", ".ctxfs"} {
			if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
				b.Fatal(err)
			}
		}
		for name, data := range map[string]string{".ctxfs/id": fmt.Sprintf("%032x\n", i), "context/gc.policy": "pack_ttl=1d\n", "messages.jsonl": "", "events.jsonl": ""} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	if n, err := c.Round(context.Background()); err != nil || n != 0 {
		b.Fatalf("%d were swept, %v", n, err)
	}
	loaded := 0
	for b.Loop() {
		if n, err := c.Round(context.Background()); err != nil || n != 0 {
			b.Fatalf("%d were swept, %v", n, err)
		}
	}
	for range store.Loaded {
		loaded++
	}
	if loaded > 1 {
		b.Errorf("%d sessions were loaded", loaded)
	}
}
