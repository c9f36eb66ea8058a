package main

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
	if s := screenOf(f); s != (screen{}) {
		t.Errorf("a file is %+v", s)
	}
	if s := screenOf(&bytes.Buffer{}); s != (screen{}) {
		t.Errorf("a buffer is %+v", s)
	}
}
