package packtest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

// Update is the flag -update.
var Update = flag.Bool("update", false, "rewrite the golden files")

// Golden holds got against a file of testdata; with -update it writes the file.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *Update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s differs; run with -update if that is meant.\n--- got\n%s\n--- want\n%s", file, got, want)
	}
}
