package builder

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session"
)

func (d *desk) view() *NotesView {
	d.t.Helper()
	v, err := d.b.Notes(context.Background(), d.x)
	if err != nil {
		d.t.Fatal(err)
	}
	return v
}

func (v *NotesView) all() string {
	var b strings.Builder
	for _, name := range ctxabi.NoteFiles {
		b.WriteString(name + "\n" + string(v.File(name)))
	}
	return b.String()
}

func (d *desk) appendLog(l *packtest.Log, from, to int) {
	d.t.Helper()
	var records [][]byte
	for n := from; n <= to; n++ {
		raw, err := l.Record(n)
		if err != nil {
			d.t.Fatal(err)
		}
		records = append(records, raw)
	}
	d.append(records...)
}

// readCount counts which records are read.
type readCount struct {
	record.Records
	n int
}

func (r *readCount) Record(line int) ([]byte, error) {
	r.n++
	return r.Records.Record(line)
}

// Notes and packs are a function of the history: what was found may be kept, lost, torn or of another history, be in memory or not, and the
// files be read after each append or at the end.
func TestNotesDoNotDependOnWhatWasKept(t *testing.T) {
	l := packtest.NotedLog(150)
	c := Config{Budget: 20000}
	d := newDesk(t, c)
	pack := func() string {
		t.Helper()
		b, err := d.b.Current(context.Background(), d.x)
		if err != nil {
			t.Fatal(err)
		}
		return b.ID + string(b.Markdown)
	}
	for n := 1; n <= l.Len(); n += 37 {
		d.appendLog(l, n, min(n+36, l.Len()))
		d.view()
		pack()
	}
	notes, md := d.view().all(), pack()
	if !strings.Contains(notes, "stage-147.example.com") || !strings.Contains(md, record.BlockHeading+"user's words (messages:1-") {
		t.Fatalf("nothing to compare:\n%s", notes)
	}
	kept := filepath.Join(d.x.Dir(), ctxabi.InternalDir, statesName)
	same := func(what string) {
		t.Helper()
		if got := pack(); got != md {
			t.Errorf("%s: another pack", what)
		}
		if got := d.view().all(); got != notes {
			t.Errorf("%s: other notes:\n%s\nwant\n%s", what, got, notes)
		}
	}
	d.restart(c)
	same("a restart")
	d.b.Forget(d.x.ID())
	same("forgotten")
	d.builder(c)
	same("a second builder")
	data, err := os.ReadFile(kept)
	if err != nil || len(data) == 0 {
		t.Fatalf("what was found is not kept: %v", err)
	}
	for what, damage := range map[string]func() error{
		"lost":     func() error { return os.Remove(kept) },
		"torn":     func() error { return os.Truncate(kept, int64(len(data)/2)) },
		"twice":    func() error { return os.WriteFile(kept, append(data, data...), 0o600) },
		"nonsense": func() error { return os.WriteFile(kept, []byte("nonsense\n"), 0o600) },
		"its end gone": func() error {
			return os.WriteFile(kept, data[:strings.LastIndex(string(data[:len(data)-1]), "\n")], 0o600)
		},
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		same(what + " beside a builder that knows it")
		d.b.Forget(d.x.ID())
		if err := damage(); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		same(what)
	}
}

// Records are read for notes once; a restart reads those again that came since the states were stored.
func TestRecordsAreReadForNotesOnce(t *testing.T) {
	d := newDesk(t, Config{})
	l := packtest.NotedLog(200)
	d.appendLog(l, 1, 250)
	find := func(want int) {
		t.Helper()
		tl, err := d.x.Timeline()
		if err != nil {
			t.Fatal(err)
		}
		m := &readCount{Records: tl.Messages}
		e := d.b.entry(d.x.ID())
		if _, err := e.notes.upTo(context.Background(), d.x, e, m); err != nil {
			t.Fatal(err)
		}
		if m.n > want || want > 0 && m.n == 0 {
			t.Errorf("%d records were read, want at most %d", m.n, want)
		}
	}
	find(2 * 250) // of a result its call, too
	find(0)
	d.appendLog(l, 251, 254)
	find(2 * 4)
	d.restart(Config{})
	find(2 * 4)
	d.b.Forget(d.x.ID())
	d.appendLog(l, 255, 256)
	find(2 * 6)
}

// A store that is open for reading only derives the same, and writes nothing.
func TestNotesOfAStoreThatIsOnlyRead(t *testing.T) {
	d := newDesk(t, Config{})
	d.appendLog(packtest.NotedLog(40), 1, 70)
	want := d.view().all()
	if err := d.x.RemoveDerived(statesName); err != nil {
		t.Fatal(err)
	}
	store, err := session.Open(d.dir, session.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	x, err := store.Session(deskRef)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuilder(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		v, err := b.Notes(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.all(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(d.x.Dir(), ctxabi.InternalDir, statesName)); err == nil {
		t.Error("it wrote")
	}
}

// The size of what is remembered was looked at while the first pack made it; the race detector tells.
func TestNotesAskedForBesideTheFirstPack(t *testing.T) {
	d := newDesk(t, Config{Budget: 2000})
	d.append(packtest.LongLog(20).Records()...)
	for range 50 {
		d.builder(Config{Budget: 2000})
		var both sync.WaitGroup
		both.Go(func() {
			if _, err := d.b.Current(context.Background(), d.x); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() {
			if _, err := d.b.Notes(context.Background(), d.x); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
	}
}
