package archive

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/internal/vfs"
)

// viewedTail is a log without parts whose tail has size bytes, and these bytes.
func viewedTail(t *testing.T, size int) (d *Data, want []byte, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "messages.jsonl")
	want = make([]byte, size)
	for i := range want {
		want[i] = byte(i>>12) + byte(i)
	}
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := vfs.OS.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	d = &Data{at: &Location{Log: "messages.jsonl", Frames: new(Cache), Windows: new(Windows)}, tail: f}
	t.Cleanup(func() {
		if d.tail != nil {
			d.Close()
		}
	})
	if v := d.View(0, ViewLeast); v == nil {
		t.Fatal("files of the disk of temporary files cannot be mapped: TMPDIR names one whose files can")
	} else {
		v.Release()
	}
	return d, want, path
}

func TestAViewIsTheLogsBytes(t *testing.T) {
	d, want, path := viewedTail(t, 3*windowBytes)
	for _, c := range []struct {
		off  int64
		n    int
		seen bool
	}{
		{0, ViewLeast, true}, {0, windowBytes, true}, {12345, 1 << 20, true}, {windowBytes, 1 << 20, true},
		{3*windowBytes - ViewLeast, ViewLeast, true},
		{0, ViewLeast - 1, false},                     // few
		{windowBytes - 1, ViewLeast, false},           // in two windows
		{3*windowBytes - 1<<20, 1<<20 + 1, false},     // behind the end
		{3 * windowBytes, ViewLeast, false},           // likewise
		{4*windowBytes - ViewLeast, ViewLeast, false}, // in a window behind the end
	} {
		v := d.View(c.off, c.n)
		if (v != nil) != c.seen {
			t.Errorf("view of %d at %d: %v, want %v", c.n, c.off, v != nil, c.seen)
		}
		if v != nil && !bytes.Equal(v.Bytes, want[c.off:c.off+int64(c.n)]) {
			t.Errorf("view of %d at %d has other bytes", c.n, c.off)
		}
		if v != nil {
			v.Release()
		}
	}

	more := bytes.Repeat([]byte("more"), ViewLeast/4) // what is appended later is in a window that was mapped before
	if _, err := d.Write(more); err != nil {
		t.Fatal(err)
	}
	if v := d.View(3*windowBytes, len(more)); v == nil || !bytes.Equal(v.Bytes, more) {
		t.Error("what was appended cannot be viewed")
	} else {
		v.Release()
	}

	if err := os.Truncate(path, windowBytes+5); err != nil {
		t.Fatal(err)
	}
	if v := d.View(windowBytes-1<<20, 1<<20); v == nil {
		t.Error("what is left cannot be viewed")
	} else {
		v.Release()
	}
	if d.View(windowBytes, ViewLeast) != nil || d.View(2*windowBytes, ViewLeast) != nil {
		t.Error("what was cut off can be viewed")
	}
}

func TestWhatIsSealedIsNotViewed(t *testing.T) {
	d, want, _ := viewedTail(t, windowBytes)
	d.base = 1000
	if d.View(0, ViewLeast) != nil || d.View(999, ViewLeast) != nil {
		t.Error("sealed bytes can be viewed")
	}
	if v := d.View(1000, ViewLeast); v == nil || !bytes.Equal(v.Bytes, want[:ViewLeast]) {
		t.Error("the tail cannot be viewed, or has other bytes")
	} else {
		v.Release()
	}
	d.at.Windows = nil
	if d.View(1000, ViewLeast) != nil {
		t.Error("a log without windows is mapped")
	}
}

func TestFewWindowsAreKept(t *testing.T) {
	d, want, _ := viewedTail(t, (maxWindows+3)*windowBytes)
	c := d.at.Windows
	first := d.View(0, ViewLeast)
	for i := range int64(maxWindows + 3) {
		v := d.View(i*windowBytes, ViewLeast)
		if v == nil {
			t.Fatal("no view of window ", i)
		}
		v.Release()
	}
	if n := c.recent.Len(); n != maxWindows {
		t.Errorf("%d windows are kept, want %d", n, maxWindows)
	}
	if _, kept := c.recent.Peek(windowKey{d.tail, 0}); kept || !first.w.gone || !bytes.Equal(first.Bytes, want[:ViewLeast]) {
		t.Error("a view does not outlive its window's place among the recent ones")
	}
	first.Release()

	last := d.View((maxWindows+2)*windowBytes, ViewLeast)
	if c.Tick(); c.recent.Len() != maxWindows {
		t.Errorf("%d windows that were used are left", c.recent.Len())
	}
	if c.Tick(); c.recent.Len() != 0 || !last.w.gone {
		t.Errorf("%d windows that nobody used are left", c.recent.Len())
	}
	if !bytes.Equal(last.Bytes, want[(maxWindows+2)*windowBytes:][:ViewLeast]) {
		t.Error("a view that somebody has is gone")
	}
	last.Release()

	v := d.View(0, ViewLeast)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	d.tail = nil
	if c.recent.Len() != 0 || !bytes.Equal(v.Bytes, want[:ViewLeast]) {
		t.Error("a log that is closed leaves windows, or takes views away")
	}
	v.Release()
	if v.w.users != 0 || !v.w.gone {
		t.Errorf("after the last view: %d users, gone: %v", v.w.users, v.w.gone)
	}
}

// Somebody cuts the file while a view is on its way to a reader: the system call fails, and nobody is
// killed.
func TestAViewOfWhatWasCutOffIsAnErrorOfTheSystemCall(t *testing.T) {
	d, _, path := viewedTail(t, windowBytes)
	v := d.View(windowBytes-ViewLeast, ViewLeast)
	if v == nil {
		t.Fatal("no view")
	}
	defer v.Release()
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if n, err := w.Write(v.Bytes[:4096]); n != 0 || err == nil {
		t.Errorf("%d bytes were written, %v; want an error", n, err)
	}
}
