package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func TestDerivedLinesGrow(t *testing.T) {
	dir := t.TempDir()
	s, x := sessiontest.Session(t, dir, session.Options{})
	if lines, err := x.DerivedLines("swap/notes"); lines != nil || err != nil {
		t.Errorf("nothing yet: %q, %v", lines, err)
	}
	var want [][]byte
	for i := range 20 {
		var more [][]byte
		for k := range i % 4 {
			more = append(more, fmt.Appendf(nil, `{"line":%d,"of":%d}`, k, i))
		}
		if err := x.AppendDerived("swap/notes", more...); err != nil {
			t.Fatal(err)
		}
		want = append(want, more...)
	}
	check := func(what string) {
		t.Helper()
		if got, err := x.DerivedLines("swap/notes"); err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
	check("appended")
	s.Close()
	s, x = sessiontest.Session(t, dir, session.Options{ReadOnly: true})
	check("after a restart")
	if err := x.AppendDerived("swap/notes", []byte("x")); !errors.Is(err, ctxabi.ErrReadOnly) {
		t.Errorf("where the store is open for reading only: %v", err)
	}
	s.Close()

	// A line that was torn, or is another one, is gone; those around it are not.
	_, x = sessiontest.Session(t, dir, session.Options{})
	file := filepath.Join(x.Dir(), ".ctxfs/swap/notes")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, []byte(`{"line":1,"of":7}`), []byte(`{"line":1,"of":8}`), 1)
	if err := os.WriteFile(file, raw[:len(raw)-4], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := x.AppendDerived("swap/notes", []byte("behind what was torn")); err != nil {
		t.Fatal(err)
	}
	want = slices.DeleteFunc(want[:len(want)-1], func(line []byte) bool { return string(line) == `{"line":1,"of":7}` })
	want = append(want, []byte("behind what was torn"))
	check("torn")
	for _, name := range []string{"", "../messages.jsonl", "a/b/c"} {
		_, read := x.DerivedLines(name)
		if err := x.AppendDerived(name, nil); !errors.Is(err, ctxabi.ErrMalformed) || !errors.Is(read, ctxabi.ErrMalformed) {
			t.Errorf("%q: %v, %v", name, err, read)
		}
	}
}

// Whatever stands there, reading fails no session and gives no line that was not written.
func FuzzDerivedLines(f *testing.F) {
	f.Add([]byte("\n364b3fb7 x\n"))
	f.Add([]byte("\n\n00000000 \n364b3fb7 x"))
	f.Add([]byte("zzzzzzzz x\n-1234567 y\n"))
	mem := sessiontest.New()
	s, err := session.Open("/store", session.Options{VFS: mem})
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	owner := disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700}
	ref := ctxabi.Ref{UID: owner.UID, Agent: "a", Session: "s"}
	if err := s.EnsureAgent(ref, owner); err != nil {
		f.Fatal(err)
	}
	x, err := s.Create(ref, owner)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, err := mem.OpenFile(x.Dir()+"/.ctxfs/lines", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > 0 {
			if _, err := out.Write(raw); err != nil {
				t.Fatal(err)
			}
		}
		out.Close()
		lines, err := x.DerivedLines("lines")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if len(line) == 0 || bytes.IndexByte(line, '\n') >= 0 || !bytes.Contains(raw, line) {
				t.Fatalf("%q of %q", line, raw)
			}
		}
		if err := x.AppendDerived("lines", []byte("one more")); err != nil {
			t.Fatal(err)
		}
		again, err := x.DerivedLines("lines")
		if err != nil || !slices.EqualFunc(again, append(lines, []byte("one more")), bytes.Equal) {
			t.Fatalf("%q became %q, %v", lines, again, err)
		}
	})
}
