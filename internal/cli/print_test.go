package cli

import (
	"bytes"
	"os"
	"testing"
)

func TestScreenOfWhatIsNoTerminal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s := ScreenOf(f); s != (Screen{}) {
		t.Errorf("a file is %+v", s)
	}
	if s := ScreenOf(&bytes.Buffer{}); s != (Screen{}) {
		t.Errorf("a buffer is %+v", s)
	}
}
