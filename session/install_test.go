package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// A session that somebody else fills is there whole, with the id that it was told, or not at all.
func TestASessionIsInstalledWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, session.Options{})
	const id = "00112233445566778899aabbccddeeff"
	failed := errors.New("no more")
	_, err := s.Install(refA, home, id, func(dir string) error {
		if _, err := os.Stat(filepath.Join(dir, ctxabi.StateFile)); err != nil {
			t.Error(err)
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("who fails: %v", err)
	}
	if _, err := s.Session(refA); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("what failed is there: %v", err)
	}
	x, err := s.Install(refA, home, id, func(dir string) error {
		return os.WriteFile(filepath.Join(dir, ctxabi.StateFile), []byte("done\n"), 0o600)
	})
	if err != nil || x.ID() != id || x.State() != "done" {
		t.Fatalf("%v, %v", x, err)
	}
	appendTo(t, x.Messages(), a1+"\n")
	if _, err := s.Install(refA, home, id, func(string) error { t.Error("it is filled"); return nil }); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("a name that is taken: %v", err)
	}
	other := refA
	other.Session = "later"
	_, err = s.Install(other, home, id, func(string) error {
		_, err := s.Create(other, home)
		return err
	})
	if !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("a name that is taken meanwhile: %v", err)
	}
	bad := refA
	bad.Session = ".."
	if _, err := s.Install(bad, home, id, func(string) error { return nil }); err == nil {
		t.Error("a name that leads elsewhere")
	}
	if left := s.Unowned(time.Now().Add(time.Hour)); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
	look := openStore(t, dir, session.Options{ReadOnly: true})
	if _, err := look.Install(other, home, id, func(string) error { return nil }); !errors.Is(err, ctxabi.ErrReadOnly) {
		t.Errorf("in a store that is only read: %v", err)
	}
	verified(t, s, refA)
}

// The rows behind a byte are those of whole commits, as they stand in their file.
func TestRowsBehindAByte(t *testing.T) {
	s := openStore(t, t.TempDir(), session.Options{})
	x := create(t, s, refA)
	l := x.Messages()
	if rows, end, err := l.RowsBehind(0, 100); rows != nil || end != 0 || err != nil {
		t.Errorf("of an empty log: %q, %d, %v", rows, end, err)
	}
	var ends, places []int64 // behind each commit: of the log, of its rows
	file := filepath.Join(x.Dir(), session.ArrivalsFile)
	for range 200 {
		appendTo(t, l, a1+"\n"+a2+"\n")
		fi, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		ends, places = append(ends, l.Len()), append(places, fi.Size())
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	size := ends[0]
	for from := range ends[:199] {
		for _, c := range []struct {
			most int64
			want int // commits
		}{{0, 1}, {size, 1}, {2*size - 1, 1}, {2 * size, min(2, 199-from)}, {1 << 40, 199 - from}} {
			rows, end, err := l.RowsBehind(ends[from], c.most)
			if want := from + c.want; err != nil || end != ends[want] || string(rows) != string(raw[places[from]:places[want]]) {
				t.Fatalf("behind commit %d, at most %d bytes: to %d, %v, want %d", from, c.most, end, err, ends[want])
			}
		}
	}
	for _, from := range []int64{1, size - 1, size + 1, ends[199] - 1, ends[199] + 1} {
		if rows, _, err := l.RowsBehind(from, 100); !errors.Is(err, ctxabi.ErrMalformed) || rows != nil {
			t.Errorf("behind byte %d: %q, %v", from, rows, err)
		}
	}
	raw[places[100]+3] ^= 1 // a row is damaged
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if rows, _, err := l.RowsBehind(ends[50], 1<<40); !errors.Is(err, ctxabi.ErrIO) || rows != nil {
		t.Errorf("past a damaged row: %d bytes, %v", len(rows), err)
	}
	if _, end, err := l.RowsBehind(ends[101], 1<<40); err != nil || end != ends[199] {
		t.Errorf("behind a damaged row: to %d, %v", end, err)
	}
}
