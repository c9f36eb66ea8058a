package transcript

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A FIFO without a writer kept an import waiting for ever.
func TestFIFOIsRefused(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "run.jsonl")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(fifo, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fifo, link, "/dev/zero"} {
		all, err := Find([]string{name}, strings.NewReader(""))
		if err == nil || !strings.Contains(err.Error(), name+" is not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
		all.Close()
		if _, _, err := keptIn(name); err == nil {
			t.Errorf("%s may be a transcript", name)
		}
		if _, err := ReadFile(name); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func TestDescriptorsAreOpened(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("/dev/fd", strconv.Itoa(int(r.Fd())))
	f, err := OpenFile(name) // before the last writer closes
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w.Close()
	buf := make([]byte, 8)
	if n, err := f.Read(buf); string(buf[:n]) != "text" || err != nil {
		t.Errorf("%q, %v", buf[:n], err)
	}
}
