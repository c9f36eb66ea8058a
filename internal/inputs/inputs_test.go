package inputs

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

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
