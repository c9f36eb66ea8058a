package gctest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/gc/world"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/pack/swap"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// fire is a session that everybody uses at once while a collector takes away what it may, in one process.
type fire struct {
	t       *testing.T
	ctx     context.Context
	store   *session.Store
	x       *session.Session
	builder *builder.Builder

	counts sync.Map // of what was done, by name

	mu      sync.Mutex
	records map[string]bool // that are in the log for good; guarded by mu
	roots   map[string]bool // ids of blobs that a record names, stored after that; guarded by mu
}

func (f *fire) did(what string) {
	n, _ := f.counts.LoadOrStore(what, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

func (f *fire) number(what string) int64 {
	n, ok := f.counts.Load(what)
	if !ok {
		return 0
	}
	return n.(*atomic.Int64).Load()
}

// gone reports whether an error means that something went between being found and being opened, which may be.
func gone(err error) bool {
	return errors.Is(err, ctxabi.ErrNotFound) || errors.Is(err, os.ErrNotExist)
}

func (f *fire) say(text string) error {
	line := harness.Message("user", text)
	_, err := f.x.Messages().Append(context.Background(), log.Batch{Data: []byte(line)})
	if err == nil {
		f.mu.Lock()
		f.records[line] = true
		f.mu.Unlock()
		f.did("append")
	}
	return err
}

// keep stores a blob unless it is there.
func (f *fire) keep(content string) error {
	id := harness.BlobID(content)
	if _, err := f.x.Blob(id); err == nil {
		return nil
	}
	s, err := f.x.NewBlobStage(id, disk.Writer{})
	if err != nil {
		return err
	}
	defer s.Release()
	if _, err := s.WriteAt([]byte(content), 0); err != nil {
		return err
	}
	f.did("store")
	return s.Flush()
}

// read reads a blob through a handle that stays open while others sweep.
func (f *fire) read(id string) error {
	file, err := f.x.OpenBlob(id)
	if err != nil {
		return err
	}
	defer file.Close()
	fi, err := file.Stat()
	if err != nil {
		return err
	}
	for range 3 {
		sum := sha256.New()
		if _, err := io.Copy(sum, io.NewSectionReader(file, 0, fi.Size())); err != nil {
			return err
		}
		if got := "sha256-" + hex.EncodeToString(sum.Sum(nil)); got != id {
			return fmt.Errorf("%s reads as %s", id, got)
		}
		time.Sleep(time.Millisecond)
	}
	f.did("read a blob")
	return nil
}

// writer appends; what a record of it names is stored for good.
func (f *fire) writer(rng *rand.Rand) error {
	text := fmt.Sprintf("step %d\n%s", rng.Int64(), strings.Repeat(fmt.Sprintf("func f%d() { return }\n", rng.IntN(9)), 100))
	if rng.IntN(3) > 0 {
		return f.say(text)
	}
	content := fmt.Sprint("report ", rng.IntN(500))
	id := harness.BlobID(content)
	if err := f.say("see context/dedup/blob/" + id); err != nil {
		return err
	}
	if err := f.keep(content); err != nil {
		return err
	}
	f.mu.Lock()
	f.roots[id] = true
	f.mu.Unlock()
	f.did("root")
	return f.checkRoots()
}

// checkRoots reads some of what is named.
func (f *fire) checkRoots() error {
	f.mu.Lock()
	var some []string
	for id := range f.roots {
		if some = append(some, id); len(some) == 3 {
			break
		}
	}
	f.mu.Unlock()
	for _, id := range some {
		if err := f.read(id); err != nil {
			return fmt.Errorf("a record names it: %w", err)
		}
	}
	return nil
}

// pinner has a pin name a blob for a while: as long as it does the blob stays, then it may go.
func (f *fire) pinner(rng *rand.Rand, pin string) error {
	content := fmt.Sprint("plan ", rng.Int64())
	id := harness.BlobID(content)
	if err := f.x.SetControl(pin, []byte("the plan is "+id)); err != nil {
		return err
	}
	if err := f.keep(content); err != nil {
		return err
	}
	for range 5 {
		if err := f.read(id); err != nil {
			return fmt.Errorf("%s names it: %w", pin, err)
		}
	}
	f.did("pin")
	return nil
}

// litterer stores what nobody names.
func (f *fire) litterer(rng *rand.Rand) error {
	content := fmt.Sprint("litter ", rng.Int64())
	if err := f.keep(content); err != nil {
		return err
	}
	if err := f.read(harness.BlobID(content)); err != nil && !gone(err) {
		return err
	}
	return nil
}

// reader reads packs, those of before, chunks and blobs of the history.
func (f *fire) reader(rng *rand.Rand) error {
	b, err := f.builder.Current(f.ctx, f.x)
	if err != nil {
		return err
	}
	f.builder.Opened(f.x, b, builder.Opening{File: ctxabi.PackFile, At: time.Now()})
	f.did("pack")
	s, err := f.x.Served()
	if err != nil {
		return err
	}
	for _, p := range s.Packs() {
		data, err := s.Pack(p.ID)
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != p.SHA256 {
			return fmt.Errorf("the pack %s has other bytes than its row says", p.ID)
		}
		f.did("pack of before")
	}
	if _, err := f.builder.Notes(f.ctx, f.x); err != nil {
		return err
	}
	f.did("notes")
	for _, tree := range []func(context.Context, *session.Session, string) (*swap.Nodes, error){f.builder.Swap, f.builder.Dedup} {
		nodes, err := tree(f.ctx, f.x, "")
		if err != nil {
			return err
		}
		for i := range min(3, len(nodes.IDs)) {
			id := nodes.IDs[(i*7919+rng.IntN(len(nodes.IDs)))%len(nodes.IDs)]
			n, _ := nodes.Find(id)
			if n.Ref == (ctxabi.ContentRef{}) {
				continue // a blob that a user stored
			}
			if _, err := f.x.OpenContent(n.Ref); err != nil {
				return err
			}
			f.did("chunk")
		}
	}
	return nil
}

func TestCollectUnderFire(t *testing.T) {
	store, err := session.Open(filepath.Join(t.TempDir(), "store"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ref := ctxabi.Ref{UID: harness.Self(), Agent: "coder", Session: "s1"}
	x, err := store.Create(ref, disk.Owner{UID: harness.Self(), GID: uint32(os.Getgid()), Mode: 0o700})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.SetControl(ctxabi.PolicyFile, []byte(atOnce)); err != nil {
		t.Fatal(err)
	}
	packs, err := builder.NewBuilder(builder.Config{Budget: 4000})
	if err != nil {
		t.Fatal(err)
	}
	defer packs.Close()
	collector := world.New(store, packs, gc.Options{})
	defer collector.Close()

	ctx, stop := context.WithTimeout(context.Background(), underFire(t))
	defer stop()
	f := &fire{t: t, ctx: context.Background(), store: store, x: x, builder: packs, records: map[string]bool{}, roots: map[string]bool{}}
	for i := range 20 {
		if err := f.say(fmt.Sprint("before ", i)); err != nil {
			t.Fatal(err)
		}
	}
	before := history(t, x)
	sweep := func(*rand.Rand) error {
		_, err := collector.Sweep(f.ctx, ref)
		if err == nil {
			_, err = collector.Round(f.ctx)
		}
		f.did("sweep")
		return err
	}
	fork := func(rng *rand.Rand) error { // takes blobs along while they go
		to := ref
		to.Session = fmt.Sprintf("f%d", rng.Int64())
		if _, _, err := store.Fork(x, 5, to, disk.Owner{UID: harness.Self(), GID: uint32(os.Getgid()), Mode: 0o700}); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
		return store.Remove(to)
	}
	everything := []string{"append", "store", "root", "pin", "read a blob", "pack", "sweep"}
	begun := time.Now()
	goOn := func() bool { // on a machine that is too busy for all of it, until each was done once
		undone := func(what string) bool { return f.number(what) == 0 }
		return ctx.Err() == nil || slices.ContainsFunc(everything, undone) && time.Since(begun) < harness.Patience
	}
	var wg sync.WaitGroup
	for i, work := range []func(*rand.Rand) error{
		f.writer, f.writer, f.reader, f.reader, f.litterer, sweep, sweep, fork,
		func(r *rand.Rand) error { return f.pinner(r, "context/pinned/plan.md") },
		func(r *rand.Rand) error { return f.pinner(r, ctxabi.HandoffFile) },
	} {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			for goOn() && !t.Failed() {
				if err := work(rng); err != nil {
					t.Errorf("worker %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()

	for _, what := range everything {
		if f.number(what) == 0 {
			t.Errorf("nobody did this: %s", what)
		}
	}
	after := history(t, x)
	if !bytes.HasPrefix(after, before) {
		t.Error("the beginning of the history has changed")
	}
	lines := harness.Lines(t, string(after))
	if n := f.number("append"); len(lines) != int(n) {
		t.Errorf("%d records, %d were written", len(lines), n)
	}
	for _, line := range lines {
		if !f.records[line+"\n"] {
			t.Errorf("nobody wrote %.80q", line)
		}
	}
	for id := range f.roots {
		if err := f.read(id); err != nil {
			t.Errorf("a record names it: %v", err)
		}
	}
	// What was derived all the while, from caches that went and came, is what is derived from the history alone.
	fresh, err := builder.NewBuilder(builder.Config{Budget: 4000})
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	for _, name := range []string{ctxabi.SummaryFile, ctxabi.FactsFile, ctxabi.DecisionsFile, ctxabi.TodoFile, ctxabi.RefsFile} {
		had, want := notesOf(t, packs, x, name), notesOf(t, fresh, x, name)
		if had != want {
			t.Errorf("%s is\n%s\nfrom the history alone\n%s", name, had, want)
		}
	}
	// What nobody names goes, now that nobody is in the way: first the packs, of which the last may name a plan
	// before the last one, then what only they named.
	for range 2 {
		if _, err := collector.Sweep(f.ctx, ref); err != nil {
			t.Error(err)
		}
	}
	named := len(f.roots) + 2 // and those of the pins
	if n := len(x.Blobs()); n > named {
		t.Errorf("%d blobs are left, %d are named", n, named)
	}
	totals := collector.Totals()
	if totals.Removed == 0 || totals.Freed == 0 {
		t.Errorf("nothing went: %+v", totals)
	}
	f.counts.Range(func(what, n any) bool { t.Logf("%-15v %d", what, n.(*atomic.Int64).Load()); return true })
	if a, err := x.Messages().Archived(); err != nil {
		t.Error(err)
	} else {
		t.Logf("%d removed, %d bytes; %d archived parts", totals.Removed, totals.Freed, a.Parts)
	}
}

func notesOf(t *testing.T, b *builder.Builder, x *session.Session, name string) string {
	t.Helper()
	v, err := b.Notes(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	return string(v.File(name))
}

// history reads a log whole, and checks its chain.
func history(t *testing.T, x *session.Session) []byte {
	t.Helper()
	problems, err := check.Verify(context.Background(), x.Store(), x.Ref())
	if err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	b := make([]byte, x.Messages().Len())
	if _, err := x.Messages().ReadAt(b, 0); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return b
}
