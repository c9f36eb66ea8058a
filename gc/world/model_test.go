package world

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// world is a session on a real disk whose clock a test moves, beside what a sweep must leave of it,
// by rules that are written down here once more and share nothing with those of the collector.
type world struct {
	t         *rapid.T
	dir       string
	now       time.Time
	store     *session.Store
	x         *session.Session
	builder   *builder.Builder
	collector *Collector
	open      []string // paths, once for each handle

	blobs      map[string]time.Time // hex digits to when they were used last
	records    []string             // texts of the log
	written    map[string]string    // texts of files, by path
	packs      []modelPack
	last       string    // text of the last pack that was built; "" nothing is remembered
	remembered time.Time // when the builder was used last; zero: nothing is remembered
	dedup      time.Time // when the cache was written; zero: there is none
	aside      map[string]time.Time

	packTTL, swapTTL time.Duration
	minRefs          int
}

type modelPack struct {
	id, text string
	at       time.Time
}

func newWorld(t *rapid.T) *world {
	dir, err := os.MkdirTemp("", "ctxfs-model-")
	w := &world{t: t, dir: dir, now: time.Now(), blobs: map[string]time.Time{}, written: map[string]string{},
		aside: map[string]time.Time{}, packTTL: 24 * time.Hour, swapTTL: 30 * 24 * time.Hour, minRefs: 1}
	must(t, err)
	w.store, err = session.Open(filepath.Join(dir, "store"), session.Options{Now: func() time.Time { return w.now }})
	must(t, err)
	w.x, err = w.store.Create(ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s1"}, disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700})
	must(t, err)
	w.builder, err = builder.NewBuilder(builder.Config{Budget: 4000})
	must(t, err)
	w.collector = New(w.store, w.builder, gc.Options{})
	w.collector.Mounted(w)
	return w
}

func (w *world) close() {
	w.builder.Close()
	w.collector.Close()
	w.store.Close()
	os.RemoveAll(w.dir)
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// date sets the times of what was just written to a directory to that of the world's clock.
func (w *world) date(rel string) {
	must(w.t, filepath.WalkDir(filepath.Join(w.x.Dir(), rel), func(name string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(name, w.now, w.now)
	}))
}

const contents = 5

func content(i int) (hex, data string) {
	data = fmt.Sprint("content ", i)
	return ctxabi.ContentID([]byte(data))[len("sha256-"):], data
}

// says is a text that names a content, in one of the ways in which people do, or only nearly does.
func says(t *rapid.T) string {
	hex, _ := content(rapid.IntRange(0, contents-1).Draw(t, "content"))
	return rapid.SampledFrom([]string{
		"see sha256-" + hex, "context/dedup/blob/sha256-" + hex + " has it", hex + "\n" + hex, "![x](dedup/blob/sha256-" + hex + ")",
		"not " + hex[:63], "not a" + hex, "not " + hex + "0", "nothing",
	}).Draw(t, "text")
}

// named reports whether a text has the digits, with no other hex digit beside them.
func named(text, hex string) bool {
	for rest := text; ; {
		i := strings.Index(rest, hex)
		if i < 0 {
			return false
		}
		digit := func(at int) bool {
			return at >= 0 && at < len(rest) && strings.IndexByte("0123456789abcdef", rest[at]) >= 0
		}
		if !digit(i-1) && !digit(i+len(hex)) {
			return true
		}
		rest = rest[i+1:]
	}
}

func (w *world) storeBlob(t *rapid.T) {
	hex, data := content(rapid.IntRange(0, contents-1).Draw(t, "content"))
	if _, there := w.blobs[hex]; there {
		return
	}
	s, err := w.x.NewBlobStage("sha256-"+hex, disk.Writer{})
	must(t, err)
	_, err = s.WriteAt([]byte(data), 0)
	must(t, err)
	must(t, s.Flush())
	s.Release()
	must(t, os.Chtimes(filepath.Join(w.x.Dir(), ".ctxfs/blobs/sha256-"+hex), w.now, w.now))
	w.blobs[hex] = w.now
}

func (w *world) lookAtBlob(t *rapid.T) {
	hex, _ := content(rapid.IntRange(0, contents-1).Draw(t, "content"))
	_, err := w.x.Blob("sha256-" + hex)
	if _, there := w.blobs[hex]; there != (err == nil) {
		t.Fatalf("blob %s: %v, the model says %v", hex, err, there)
	}
	if err == nil {
		w.blobs[hex] = w.now
	}
}

func (w *world) say(t *rapid.T) {
	text := says(t)
	_, err := w.x.Messages().Append(context.Background(), log.Batch{Data: fmt.Appendf(nil, "{\"role\":\"user\",\"content\":%q}\n", text)})
	must(t, err)
	w.records = append(w.records, text)
}

func (w *world) write(t *rapid.T) {
	name := rapid.SampledFrom([]string{"context/pinned/rules.md", "context/pinned/other.md", ctxabi.TodoFile, ctxabi.HandoffFile, "context/scratch", "meta.json", "context/child/a/artifact/log"}).Draw(t, "file")
	text := says(t)
	if name == "meta.json" {
		text = fmt.Sprintf("{\"about\":%q}", text)
	}
	file := filepath.Join(w.x.Dir(), name)
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	if strings.HasSuffix(name, "scratch") || strings.HasSuffix(name, "log") {
		must(t, os.WriteFile(file, []byte(text), 0o600))
	} else {
		must(t, w.x.SetControl(name, []byte(text)))
	}
	w.written[name] = text
}

func (w *world) remove(t *rapid.T) {
	if len(w.written) == 0 {
		return
	}
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(w.written))).Draw(t, "file")
	must(t, os.Remove(filepath.Join(w.x.Dir(), name)))
	w.x.Touch()
	delete(w.written, name)
}

func (w *world) readPack(t *rapid.T) {
	b, err := w.builder.Current(context.Background(), w.x)
	must(t, err)
	w.builder.Opened(w.x, b, builder.Opening{File: ctxabi.PackFile, At: w.now})
	_, err = w.x.Served()
	must(t, err)
	w.last, w.remembered = string(b.Markdown), w.now
	if n := len(w.packs); n == 0 || w.packs[n-1].id != b.ID {
		// The writer drops by itself what is an eighth of its age over its time, when the next row comes.
		if n > 0 && w.packTTL > 0 && w.packs[0].at.Before(w.now.Add(-w.packTTL-w.packTTL/8)) {
			w.packs = slices.DeleteFunc(w.packs, func(p modelPack) bool { return p.at.Before(w.now.Add(-w.packTTL)) })
		}
		w.packs = append(w.packs, modelPack{b.ID, string(b.Markdown), w.now})
	}
}

func (w *world) lookForRepeats(t *rapid.T) {
	_, err := w.builder.Dedup(context.Background(), w.x, "")
	must(t, err)
	if w.remembered.IsZero() {
		w.last = ""
	}
	w.remembered = w.now
	if _, err := os.Stat(filepath.Join(w.x.Dir(), ".ctxfs/dedup")); err == nil {
		w.date(".ctxfs/dedup")
		w.dedup = w.now
	}
}

func (w *world) openSomething(t *rapid.T) {
	hex, _ := content(rapid.IntRange(0, contents-1).Draw(t, "content"))
	rel := ctxabi.DedupBlobDir + "/sha256-" + hex
	if len(w.packs) > 0 && rapid.Bool().Draw(t, "pack") {
		rel = ctxabi.ServedDir + "/" + rapid.SampledFrom(w.packs).Draw(t, "which").id + ".md"
	}
	w.open = append(w.open, rel)
}

// Open makes the world the open files of a mount.
func (w *world) Open(session, rel string) (n int) {
	for _, path := range w.open {
		if session == w.x.ID() && (rel == "" || path == rel) {
			n++
		}
	}
	return n
}

func (w *world) closeSomething(t *rapid.T) {
	if len(w.open) == 0 {
		return
	}
	h := rapid.IntRange(0, len(w.open)-1).Draw(t, "handle")
	w.open = slices.Delete(w.open, h, h+1)
}

func (w *world) isOpen(rel string) bool {
	return slices.Contains(w.open, rel)
}

func (w *world) decide(t *rapid.T) {
	ages := map[string]time.Duration{"0": 0, "1ns": 1, "3h": 3 * time.Hour, "2d": 48 * time.Hour, "4w": 28 * 24 * time.Hour}
	names := slices.Sorted(maps.Keys(ages))
	packTTL, swapTTL := rapid.SampledFrom(names).Draw(t, "pack_ttl"), rapid.SampledFrom(names).Draw(t, "swap_ttl")
	w.minRefs = rapid.IntRange(0, 3).Draw(t, "dedup_min_refs")
	w.packTTL, w.swapTTL = ages[packTTL], ages[swapTTL]
	must(t, w.x.SetControl(ctxabi.PolicyFile, fmt.Appendf(nil, "pack_ttl=%s\nswap_ttl=%s\ndedup_min_refs=%d\n", packTTL, swapTTL, w.minRefs)))
}

func (w *world) wait(t *rapid.T) {
	w.now = w.now.Add(rapid.SampledFrom([]time.Duration{1, time.Hour, 5 * time.Hour, 26 * time.Hour, 15 * 24 * time.Hour, 31 * 24 * time.Hour}).Draw(t, "wait"))
}

// expired reports whether something was not used for an age, of which 0 is for ever.
func (w *world) expired(used time.Time, age time.Duration) bool {
	return age > 0 && w.now.Sub(used) >= age
}

// names counts what names a content.
func (w *world) names(hex string) (n int) {
	for _, text := range w.records {
		if named(text, hex) {
			n++
		}
	}
	for _, text := range w.written {
		if named(text, hex) {
			n++
		}
	}
	inPack := !w.remembered.IsZero() && named(w.last, hex)
	for _, p := range w.packs {
		inPack = inPack || named(p.text, hex)
	}
	if inPack {
		n++
	}
	return n
}

// sweep is what the policy says: it is applied to the model as it stands, all at once.
func (w *world) sweep() {
	blobs := maps.Clone(w.blobs)
	maps.DeleteFunc(blobs, func(hex string, used time.Time) bool {
		return w.minRefs > 0 && w.expired(used, w.swapTTL) && w.names(hex) < w.minRefs && !w.isOpen(ctxabi.DedupBlobDir+"/sha256-"+hex)
	})
	dedup := w.dedup
	if last := dedup; !dedup.IsZero() {
		if w.remembered.After(last) {
			last = w.remembered
		}
		if w.expired(last, w.swapTTL) {
			dedup = time.Time{}
		}
	}
	packs := w.packs
	for len(packs) > 0 && w.expired(packs[0].at, w.packTTL) && !w.isOpen(ctxabi.ServedDir+"/"+packs[0].id+".md") {
		packs = packs[1:]
	}
	// Rows of one moment are told apart by nothing: they go together.
	for n := len(w.packs) - len(packs); n > 0 && len(packs) > 0 && packs[0].at.Equal(w.packs[n-1].at); n-- {
		packs = w.packs[n-1:]
	}
	if !w.remembered.IsZero() && w.expired(w.remembered, w.packTTL) {
		w.remembered, w.last = time.Time{}, ""
	}
	maps.DeleteFunc(w.aside, func(_ string, at time.Time) bool { return w.now.Sub(at) >= 30*24*time.Hour })
	w.blobs, w.dedup, w.packs = blobs, dedup, packs
}

// check compares the disk with the model.
func (w *world) check(t *rapid.T, when string) {
	var blobs []string
	for _, b := range w.x.Blobs() {
		blobs = append(blobs, b.ID[len("sha256-"):])
	}
	slices.Sort(blobs)
	if want := slices.Sorted(maps.Keys(w.blobs)); !slices.Equal(blobs, want) {
		t.Fatalf("%s the blobs are %v, the policy leaves %v", when, blobs, want)
	}
	s, err := w.x.Served()
	must(t, err)
	var rows, want []string
	for _, r := range s.Times() {
		rows = append(rows, r.ID)
		if _, err := s.Pack(r.ID); err != nil {
			t.Fatalf("%s a pack that stands in a row: %v", when, err)
		}
	}
	for _, p := range w.packs {
		want = append(want, p.id)
	}
	if !slices.Equal(rows, want) {
		t.Fatalf("%s packs.jsonl has %v, the policy leaves %v", when, rows, want)
	}
	if _, is := w.builder.Remembered(w.x); is == w.remembered.IsZero() {
		t.Fatalf("%s remembered: %v, not as the policy says", when, is)
	}
	_, err = os.Stat(filepath.Join(w.x.Dir(), ".ctxfs/dedup"))
	if (err == nil) == w.dedup.IsZero() {
		t.Fatalf("%s the cache of repeats: %v, the model says %v", when, err, w.dedup)
	}
	aside, _ := os.ReadDir(filepath.Join(w.x.Dir(), ".ctxfs/quarantine"))
	if len(aside) != len(w.aside) {
		t.Fatalf("%s %d files in the quarantine, the model has %d", when, len(aside), len(w.aside))
	}
}

// For any sequence of what users do, a sweep removes what the policy lets go, no more and no less,
// a plan says so before, and the history stays byte by byte.
func TestASweepRemovesWhatThePolicyAllows(t *testing.T) {
	removed := map[gc.Kind]int{}
	suite.Check(t, 30, func(t *rapid.T) {
		w := newWorld(t)
		defer w.close()
		sweep := func(t *rapid.T) {
			plan, err := w.collector.Plan(context.Background(), w.x.Ref())
			must(t, err)
			w.check(t, "after a plan")
			r, err := w.collector.Sweep(context.Background(), w.x.Ref())
			must(t, err)
			w.sweep()
			w.check(t, "after a sweep")
			if r.Failed.Count > 0 || r.Waiting.Count > 0 || r.Removed.Count != plan.Waiting.Count {
				t.Fatalf("planned\n%s\nswept\n%s", plan.Text(), r.Text())
			}
			for _, row := range r.Removed.Rows {
				removed[row.Kind]++
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"store": w.storeBlob, "look": w.lookAtBlob, "say": w.say, "write": w.write, "remove": w.remove, "read": w.readPack,
			"repeats": w.lookForRepeats, "aside": w.setAside, "open": w.openSomething, "close": w.closeSomething,
			"decide": w.decide, "wait": w.wait, "sweep": sweep, "sweep again": sweep,
		})
		w.litter(t)
		sweep(t)
		problems, err := check.Verify(context.Background(), w.store, w.x.Ref())
		must(t, err)
		if len(problems) > 0 {
			t.Fatalf("the history: %v", problems)
		}
		if n, err := w.x.Messages().Lines(); err != nil || n != len(w.records) {
			t.Fatalf("%d records, %d were written (%v)", n, len(w.records), err)
		}
	})
	for _, kind := range []gc.Kind{gc.Blob, gc.Packs, gc.Memory, gc.Cache, gc.Quarantine} {
		if removed[kind] == 0 && !t.Failed() {
			t.Errorf("no sweep of all of them removed a %s", kind)
		}
	}
}
