package suite

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// example is the listing for the tests that run in a process of their own.
const example = "internal/suite TestExample\nother TestElsewhere\n"

func TestMain(m *testing.M) {
	if os.Getenv("CTXFS_SUITE_EXAMPLE") != "" {
		listing = example
	}
	Main(m)
}

// run runs TestExample in a process of its own and returns what it prints and its status.
func run(t *testing.T, example string, env ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestExample$", "-test.v", "-rapid.nofailfile")
	cmd.Env = append(os.Environ(), "CTXFS_MATRIX=", "CTXFS_SOAK=", "CTXFS_RANDOM=", "CTXFS_SEED=", "CTXFS_SUITE_EXAMPLE="+example)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestExample is what the example says, in a process that run made.
func TestExample(t *testing.T) {
	switch os.Getenv("CTXFS_SUITE_EXAMPLE") {
	case "":
		return
	case "matrix":
		Matrix(t, "it needs a ship")
		fmt.Println("it ran")
	case "subtest":
		t.Run("in port", func(t *testing.T) { Matrix(t, "it needs a ship") })
	case "no ship":
		Matrix(t, "it needs a ship")
		t.Skip("there is no ship")
	case "unlisted":
		listing = ""
		Matrix(t, "it needs a ship")
	case "never asks":
	case "pick":
		fmt.Println("picked", Pick(t, "short", "long"))
	case "check", "check that fails late":
		calls := 0
		defer func() { fmt.Println(calls, "inputs") }()
		Check(t, 7, func(rt *rapid.T) {
			n := rapid.Uint64().Draw(rt, "n")
			calls++
			if os.Getenv("CTXFS_SUITE_EXAMPLE") != "check" && calls >= 7 && n > 9 {
				rt.Fatalf("%d is too large", n)
			}
		})
	case "seed":
		fmt.Println("seed", Seed())
		rapid.Check(t, func(rt *rapid.T) { fmt.Print(rapid.Uint64().Draw(rt, "n"), " ") })
	}
}

func TestATestForTheMatrixRunsThereAlone(t *testing.T) {
	for _, c := range []struct {
		example, matrix string
		code            int
		want            string
	}{
		{"matrix", "", 0, "in make test-matrix: it needs a ship"},
		{"matrix", "1", 0, "it ran"},
		{"subtest", "", 0, "in make test-matrix: it needs a ship"},
		{"subtest", "1", 0, "--- PASS: TestExample/in_port"},
		{"unlisted", "", 1, `make test-matrix does not run TestExample: internal/suite/matrix.txt needs the line "internal/suite TestExample"`},
		{"unlisted", "1", 1, "make test-matrix does not run TestExample"},
		{"never asks", "", 0, "PASS: TestExample"},
		{"never asks", "1", 1, "FAIL: internal/suite/matrix.txt lists internal/suite TestExample, which does not exist or has no long form"},
		{"pick", "", 0, "picked short"},
		{"pick", "1", 0, "picked long"},
	} {
		out, code := run(t, c.example, "CTXFS_MATRIX="+c.matrix)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%s, CTXFS_MATRIX=%s: status %d, want %d and %q:\n%s", c.example, c.matrix, code, c.code, c.want, out)
		}
		if c.matrix == "" && strings.Contains(out, "it ran") {
			t.Errorf("%s ran outside of the matrix:\n%s", c.example, out)
		}
	}
}

// Who is not root has an excuse: containers and disks are root's.
func TestTheMatrixDoesNotSkipInSilence(t *testing.T) {
	out, code := run(t, "no ship", "CTXFS_MATRIX=1")
	if said := strings.Contains(out, "TestExample was skipped, and nothing else runs it"); said != (os.Getuid() == 0) || (code == 1) != said {
		t.Errorf("status %d:\n%s", code, out)
	}
}

func TestAShortCheckIsTheBeginningOfTheLongOne(t *testing.T) {
	if out, code := run(t, "check"); code != 0 || !strings.Contains(out, "\n7 inputs\n") {
		t.Errorf("status %d:\n%s", code, out)
	}
	if out, code := run(t, "check", "CTXFS_MATRIX=1"); code != 0 || !strings.Contains(out, "\n100 inputs\n") {
		t.Errorf("status %d:\n%s", code, out)
	}
	// What fails with the last of the inputs is made smaller all the same.
	out, code := run(t, "check that fails late")
	if code != 1 || !strings.Contains(out, "10 is too large") || strings.Contains(out, "flaky") {
		t.Errorf("status %d:\n%s", code, out)
	}
}

func TestRandomChoicesAreTheSameUnlessAskedOtherwise(t *testing.T) {
	inputs := func(env ...string) string {
		t.Helper()
		out, code := run(t, "seed", env...)
		line := regexp.MustCompile(`(?m)^seed \d+\n[0-9 ]+`).FindString(out)
		if numbers := strings.Fields(line); code != 0 || len(numbers) != 102 || numbers[2] == numbers[3] {
			t.Fatalf("status %d:\n%s", code, out)
		}
		return line
	}
	usual := inputs()
	if again := inputs(); again != usual {
		t.Errorf("two runs differ:\n%s\n%s", usual, again)
	}
	if seven := inputs("CTXFS_SEED=7"); seven == usual || seven != inputs("CTXFS_SEED=7") || !strings.HasPrefix(seven, "seed 7\n") {
		t.Errorf("CTXFS_SEED=7: %s", seven)
	}
	if a, b := inputs("CTXFS_RANDOM=1"), inputs("CTXFS_RANDOM=1"); a == usual || a == b {
		t.Errorf("CTXFS_RANDOM=1: %s\n%s", a, b)
	}
	if out, code := run(t, "seed", "CTXFS_SEED=0"); code == 0 || !strings.Contains(out, "CTXFS_SEED=0 is not a positive number") {
		t.Errorf("status %d:\n%s", code, out)
	}
}

func TestSkippedTestsOfTheMatrix(t *testing.T) {
	defer func(old string) { listing = old }(listing)
	listing = example
	t.Setenv("CTXFS_MATRIX", "1")
	for _, name := range []string{"test.run", "test.skip"} { // of this process, which has read them
		value := flag.Lookup(name).Value
		defer func(old string) { value.Set(old) }(value.String())
		value.Set("")
	}
	skip := flag.Lookup("test.skip").Value

	skip.Set("^TestOther$")
	if len(matrixProblems()) != 1 {
		t.Error("a listed test did not run, and there is no problem")
	}
	skip.Set("^TestExample$")
	if problems := matrixProblems(); len(problems) != 0 {
		t.Errorf("-skip leaves out the listed test: %q", problems)
	}
}

func TestPlain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plain")
	t.Setenv("CTXFS_PLAIN", file)
	for _, name := range []string{"one", "two"} {
		t.Run(name, func(t *testing.T) {
			Plain(t, "one goroutine")
			if raceEnabled {
				t.Error("runs under the race detector")
			}
		})
	}

	want := ""
	if raceEnabled {
		want = strings.Repeat("internal/suite TestPlain\n", 2)
	}
	if got, _ := os.ReadFile(file); string(got) != want {
		t.Errorf("the file of skipped tests is %q, want %q", got, want)
	}
}

func TestListed(t *testing.T) {
	got := listed("pack TestA\npack/recipe TestB\npack TestC\n\n", "pack")
	if len(got) != 2 || !got["TestA"] || !got["TestC"] {
		t.Errorf("got %v", got)
	}
}
