package suite

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Mutant is a change of one file that breaks one guard. File is relative to the package of the
// test, and contains From once. It is an alias, so that lists of mutants need no field names.
type Mutant = struct{ Name, File, From, To string }

// Mutants runs go test with each mutant, and fails if the tests pass or do not run. testArgs
// returns the package of a mutant's tests and further arguments. The changed file is an overlay,
// so that no file of the repository changes.
func Mutants(t *testing.T, list []Mutant, testArgs func(m Mutant) []string) {
	for _, m := range list {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"test", "-vet=off", "-count=1", "-overlay", overlay(t, m)}, testArgs(m)...)
			data, err := exec.Command("go", args...).CombinedOutput()
			out := string(data)
			if err == nil {
				t.Errorf("the tests pass without this guard\n%s", out)
			} else if !strings.Contains(out, "--- FAIL: Test") && !strings.Contains(out, "panic:") {
				t.Errorf("the mutant did not run:\n%s", out)
			}
		})
	}
}

// overlay writes the file of a mutant and returns the list of overlays for go test.
func overlay(t *testing.T, m Mutant) (list string) {
	path, err := filepath.Abs(m.File)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.From); n != 1 {
		t.Fatalf("%s contains the guard %d times", m.File, n)
	}

	dir := t.TempDir()
	changed := filepath.Join(dir, filepath.Base(path))
	data, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	list = filepath.Join(dir, "overlay.json")
	mutated := strings.Replace(string(source), m.From, m.To, 1)
	for name, text := range map[string][]byte{changed: []byte(mutated), list: data} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return list
}
