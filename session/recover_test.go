package session_test

import (
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// put replaces a file of a closed store.
func put(t testing.TB, v vfs.FS, name string, data []byte) {
	t.Helper()
	f, err := v.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, v vfs.FS, name string) []byte {
	t.Helper()
	f, err := v.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, fi.Size())
	f.ReadAt(b, 0)
	return b
}

// closed makes a session with records, one commit each, and closes its store.
func closed(t testing.TB, d *sessiontest.Disk, records ...string) (dir string) {
	t.Helper()
	s, err := session.Open("/store", session.Options{VFS: d, Now: d.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, err := s.Create(refA, home)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(r + "\n"), Writer: root}); err != nil {
			t.Fatal(err)
		}
	}
	return x.Dir()
}

func quarantined(t testing.TB, d *sessiontest.Disk, dir, prefix string) (all []byte) {
	t.Helper()
	entries, _ := d.ReadDir(path.Join(dir, session.QuarantineDir))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			all = append(all, get(t, d, path.Join(dir, session.QuarantineDir, e.Name()))...)
		}
	}
	return all
}

func TestTailsFoundAtOpen(t *testing.T) {
	good := a1 + "\n" + a2 + "\n"
	for _, c := range []struct {
		name       string
		change     func(data, rows []byte) ([]byte, []byte)
		want       string
		quarantine string
		reported   string
		problems   bool // Verify finds something
	}{
		{"nothing wrong", func(d, r []byte) ([]byte, []byte) { return d, r }, good, "", "", false},
		{"half a record behind the last row", func(d, r []byte) ([]byte, []byte) { return append(d, a3[:9]...), r }, good, a3[:9], "9 bytes at the end", false},
		{"a record behind the last row", func(d, r []byte) ([]byte, []byte) { return append(d, a3+"\n"...), r }, good + a3 + "\n", "", "", false},
		{"a record and half of one", func(d, r []byte) ([]byte, []byte) { return append(d, a3+"\n{"...), r }, good + a3 + "\n", "{", "1 bytes at the end", false},
		{"a complete record without its newline", func(d, r []byte) ([]byte, []byte) { return append(d, a3...), r }, good, a3, "bytes at the end", false},
		{"a bad line between records", func(d, r []byte) ([]byte, []byte) { return append(d, "nope\n"+a3+"\n"...), r }, good + "nope\n" + a3 + "\n", "", "1 lines after byte", true},
		{"zeros", func(d, r []byte) ([]byte, []byte) { return append(d, make([]byte, 5000)...), r }, good, strings.Repeat("\x00", 5000), "5000 bytes", false},
		{"zeros instead of the last record", func(d, r []byte) ([]byte, []byte) {
			return append(d[:len(a1)+1], make([]byte, len(a2)+1)...), r
		}, a1 + "\n", strings.Repeat("\x00", len(a2)+1), "bytes at the end", false},
		{"the last record is cut", func(d, r []byte) ([]byte, []byte) { return d[:len(d)-4], r }, a1 + "\n", a2[:len(a2)-3], "bytes at the end", false},
		{"the last record is gone", func(d, r []byte) ([]byte, []byte) { return d[:len(a1)+1], r }, a1 + "\n", "", "", false},
		{"all data is gone", func(d, r []byte) ([]byte, []byte) { return nil, r }, "", "", "2 arrival rows had no data", false},
		{"the last row is torn", func(d, r []byte) ([]byte, []byte) { return d, r[:len(r)-30] }, good, "", "", false},
		{"the last row is torn at its newline", func(d, r []byte) ([]byte, []byte) { return d, r[:len(r)-1] }, good, "", "", false},
		{"the last row is zeros", func(d, r []byte) ([]byte, []byte) { return d, append(r[:len(r)/2+20], make([]byte, 150)...) }, good, "", "", false},
		{"all rows are gone", func(d, r []byte) ([]byte, []byte) { return d, nil }, good, "", "", false},
		{"rows are garbage", func(d, r []byte) ([]byte, []byte) { return d, []byte("x\ny\nz\n") }, good, "", "3 arrival rows", false},
		{"the last record was edited by hand", func(d, r []byte) ([]byte, []byte) { return bytes.Replace(d, []byte("two"), []byte("TWO"), 1), r },
			a1 + "\n" + strings.Replace(a2, "two", "TWO", 1) + "\n", "", "were changed after they were appended", true},
		{"an inner record was edited by hand", func(d, r []byte) ([]byte, []byte) { return bytes.Replace(d, []byte("one"), []byte("ONE"), 1), r },
			strings.Replace(good, "one", "ONE", 1), "", "", true},
		{"an inner record was broken by hand", func(d, r []byte) ([]byte, []byte) { return bytes.Replace(d, []byte("role"), []byte("rule"), 1), r },
			strings.Replace(good, "role", "rule", 1), "", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := sessiontest.New()
			dir := closed(t, d, a1, a2)
			data, rows := c.change(get(t, d, path.Join(dir, ctxabi.MessagesFile)), get(t, d, path.Join(dir, session.ArrivalsFile)))
			put(t, d, path.Join(dir, ctxabi.MessagesFile), data)
			put(t, d, path.Join(dir, session.ArrivalsFile), rows)

			look := openStore(t, "/store", session.Options{VFS: d, Now: d.Now, ReadOnly: true})
			y, _ := look.Session(refA)
			if got := content(t, y.Messages()); got != c.want {
				t.Errorf("read-only sees %q, want %q", got, c.want)
			}
			if again := get(t, d, path.Join(dir, ctxabi.MessagesFile)); !bytes.Equal(again, data) {
				t.Error("a read-only look changed the log")
			}

			s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
			x, _ := s.Session(refA)
			if err := x.Messages().Open(); err != nil {
				t.Fatal(err)
			}
			if got := content(t, x.Messages()); got != c.want {
				t.Errorf("the log is %q, want %q", got, c.want)
			}
			if got := string(quarantined(t, d, dir, ctxabi.MessagesFile)); got != c.quarantine {
				t.Errorf("quarantine holds %q, want %q", got, c.quarantine)
			}
			if got := string(x.Errors()); !strings.Contains(got, c.reported) || c.reported == "" && got != "" {
				t.Errorf("reported %q, want %q", got, c.reported)
			}
			if problems, err := check.Verify(ctx, s, refA); err != nil || (len(problems) > 0) != c.problems {
				t.Errorf("verify: %v %v", problems, err)
			}
			if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(a3 + "\n"), Writer: root}); err != nil {
				t.Errorf("the session is blocked: %v", err)
			}
			s.Close()
			rows = get(t, d, path.Join(dir, session.ArrivalsFile))
			s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
			x, _ = s.Session(refA)
			if got := content(t, x.Messages()); got != c.want+a3+"\n" {
				t.Errorf("after a second open: %q", got)
			}
			if !bytes.Equal(rows, get(t, d, path.Join(dir, session.ArrivalsFile))) {
				t.Error("a second open changed the arrivals")
			}
		})
	}
}

func TestALogThatIsGoneDoesNotBlockItsSession(t *testing.T) {
	d := sessiontest.New()
	dir := closed(t, d, a1, a2)
	d.Remove(path.Join(dir, ctxabi.MessagesFile))
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x, _ := s.Session(refA)
	if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(a3 + "\n")}); err != nil || content(t, x.Messages()) != a3+"\n" {
		t.Error(err)
	}
	if got := string(x.Errors()); !strings.Contains(got, "was missing") || !strings.Contains(got, "2 arrival rows") {
		t.Errorf("reported %s", got)
	}
	if rows := quarantined(t, d, dir, "arrivals"); bytes.Count(rows, []byte("\n")) != 2 {
		t.Errorf("the rows are lost: %q", rows)
	}
	verified(t, s, refA)
}

// A full disk must not keep anybody from reading.
func TestALogThatCannotBeRepairedIsServed(t *testing.T) {
	d := sessiontest.New()
	dir := closed(t, d, a1, a2)
	put(t, d, path.Join(dir, ctxabi.MessagesFile), []byte(a1+"\n"+a2+"\n{torn"))
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x, _ := s.Session(refA)
	d.Fail(sessiontest.Fault{Kind: sessiontest.ENOSPC, At: 1, Count: 1 << 30, Changes: true})
	if got := content(t, x.Messages()); got != a1+"\n"+a2+"\n" {
		t.Errorf("readers see %q", got)
	}
	for range 2 {
		if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(a3 + "\n")}); !errors.Is(err, ctxabi.ErrNoSpace) {
			t.Errorf("append: %v", err)
		}
	}
	d.Heal()
	if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(a3 + "\n")}); err != nil {
		t.Errorf("append when there is room: %v", err)
	}
	if got := content(t, x.Messages()); got != a1+"\n"+a2+"\n"+a3+"\n" {
		t.Errorf("readers see %q", got)
	}
	verified(t, s, refA)
}

func TestAReadOnlyLookBesideADaemonGrows(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, session.Options{})
	x := create(t, s, refA)
	x.Messages().Append(ctx, log.Batch{Data: []byte(a1 + "\n")})
	look := openStore(t, dir, session.Options{ReadOnly: true})
	y, err := look.Session(refA)
	if err != nil || content(t, y.Messages()) != a1+"\n" {
		t.Fatal(err)
	}
	if ix, err := y.Messages().Index(); err != nil || ix.Len() != 1 {
		t.Error(err)
	}
	if _, err := y.Messages().Append(ctx, log.Batch{Data: []byte(a2 + "\n")}); !errors.Is(err, ctxabi.ErrReadOnly) {
		t.Errorf("append: %v", err)
	}
	if err := y.SetControl(ctxabi.StateFile, []byte("done")); !errors.Is(err, ctxabi.ErrReadOnly) {
		t.Errorf("set: %v", err)
	}
	entries, _ := os.ReadDir(filepath.Join(x.Dir(), ".ctxfs"))
	if len(entries) != 4 {
		t.Errorf("a look left %v", entries)
	}
}

// Whatever stands in the arrivals and in the log, opening it loses no byte and blocks nobody.
func FuzzRecovery(f *testing.F) {
	d := sessiontest.New()
	dir := closed(f, d, a1, a2, a3)
	data, rows := get(f, d, path.Join(dir, ctxabi.MessagesFile)), get(f, d, path.Join(dir, session.ArrivalsFile))
	f.Add(data, rows)
	f.Add(data[:len(data)-5], rows)
	f.Add(data, rows[:len(rows)-5])
	f.Add(append(data[:40:40], make([]byte, 90)...), rows)
	f.Add([]byte("a\nb\n"+a1+"\nc"), []byte(`{"off":0,"len":3}`+"\n\n"))
	f.Fuzz(func(t *testing.T, data, rows []byte) {
		d := sessiontest.New()
		dir := closed(t, d)
		put(t, d, path.Join(dir, ctxabi.MessagesFile), data)
		put(t, d, path.Join(dir, session.ArrivalsFile), rows)
		s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
		x, err := s.Session(refA)
		if err == nil {
			err = x.Messages().Open()
		}
		if err != nil {
			t.Fatal(err)
		}
		kept := content(t, x.Messages())
		if lost := quarantined(t, d, dir, ctxabi.MessagesFile); kept+string(lost) != string(data) {
			t.Fatalf("%q became %q and %q", data, kept, lost)
		}
		if kept != "" && kept[len(kept)-1] != '\n' {
			t.Fatalf("the log ends in the middle of a line: %q", kept)
		}
		if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(a1 + "\n")}); err != nil {
			t.Fatal(err)
		}
		if ix, err := x.Messages().Index(); err != nil || ix.Len() != strings.Count(kept, "\n")+1 {
			t.Fatal(ix, err)
		}
		if _, err := check.Verify(ctx, s, refA); err != nil {
			t.Fatal(err)
		}
		head, _ := x.Messages().Head()
		s.Close()
		s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
		x, _ = s.Session(refA)
		if got := content(t, x.Messages()); got != kept+a1+"\n" {
			t.Fatalf("a second open changed the log: %q", got)
		}
		if again, _ := x.Messages().Head(); again != head {
			t.Fatal("a second open changed the chain")
		}
	})
}

// Any split of the bytes gives what one write gives.
func FuzzSplitting(f *testing.F) {
	f.Add([]byte(a1+"\n"+a2+"\n"+a3), []byte{3, 1, 40, 2})
	f.Add([]byte(a1+"\nnope\n"+a3+"\n"), []byte{1})
	f.Add([]byte(a1+"\n\n"), []byte{35, 1})
	f.Fuzz(func(t *testing.T, data, cuts []byte) {
		play := func(cuts []byte) (string, int64, error) {
			d := sessiontest.New()
			s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
			defer s.Close()
			l := create(t, s, refA).Messages()
			stage := l.NewStage(root)
			var err error
			for rest := data; len(rest) > 0 && err == nil; {
				n := len(rest)
				if len(cuts) > 0 {
					n, cuts = min(n, 1+int(cuts[0])), cuts[1:]
				}
				_, err = stage.Write(ctx, rest[:n], 0, true, arrival.Key{})
				rest = rest[n:]
			}
			size := stage.Size()
			if err == nil {
				err = stage.Flush(ctx, arrival.Key{})
			}
			stage.Release()
			return content(t, l), size, err
		}
		oneLog, oneSize, oneErr := play(nil)
		log, size, err := play(cuts)
		if log != oneLog || size != oneSize || (err == nil) != (oneErr == nil) {
			t.Fatalf("split: %q, %d staged, %v\nwhole: %q, %d staged, %v", log, size, err, oneLog, oneSize, oneErr)
		}
	})
}
