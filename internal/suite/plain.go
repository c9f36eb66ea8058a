package suite

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Plain skips the test under the race detector: why names the reason. No other
// function may skip or shorten a test there, because .ci/run does not repeat
// what passed under the race detector. Plain appends the package and the name
// of a skipped test to the file that CTXFS_PLAIN names, and a later run
// without the race detector runs the tests of this file.
func Plain(t *testing.T, why string) {
	t.Helper()
	if !raceEnabled {
		return
	}

	if file := os.Getenv("CTXFS_PLAIN"); file != "" {
		name, _, _ := strings.Cut(t.Name(), "/")
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
		if err == nil {
			_, err = fmt.Fprintf(f, "%s %s\n", pkg(), name)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatalf("cannot record that %s needs a run without the race detector: %v", name, err)
		}
	}
	t.Skip("not under the race detector: " + why)
}
