package suite

import (
	_ "embed"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// listing holds the tests that make test-matrix runs: a package below the
// module's root and the name of a test in each line. dist/test.sh reads it, too.
//
//go:embed matrix.txt
var listing string

// state is what the tests of this process have asked for.
var state struct {
	sync.Mutex
	asked   map[string]bool // the tests that have a form for the matrix
	skipped map[string]bool // those of them that only the matrix runs, and that were skipped in it
}

// full reports whether this run is for the full forms of tests.
func full() bool { return os.Getenv("CTXFS_MATRIX") == "1" || Soak() }

// Soak reports whether this run is for the forms of tests that take hours.
func Soak() bool { return os.Getenv("CTXFS_SOAK") == "1" }

// Matrix skips the test unless this run is the matrix: why says what keeps it
// from make test. It fails the test if matrix.txt does not list it. In the
// matrix, run as root, the package fails if the test is skipped after all.
func Matrix(tb testing.TB, why string) {
	tb.Helper()
	ask(tb)
	if !full() {
		tb.Skip("in make test-matrix: " + why)
	}
	tb.Cleanup(func() {
		if tb.Skipped() && os.Getuid() == 0 {
			state.Lock()
			defer state.Unlock()
			state.skipped[tb.Name()] = true
		}
	})
}

// Pick returns long in the matrix, else short. It fails the test if matrix.txt
// does not list it.
func Pick[T any](tb testing.TB, short, long T) T {
	tb.Helper()
	ask(tb)
	if full() {
		return long
	}
	return short
}

// Check is rapid.Check with the first n of its inputs outside of the matrix;
// there, and where -rapid.checks is given, with all of them. It fails the test
// if matrix.txt does not list it.
func Check(t *testing.T, n int, prop func(*rapid.T)) {
	t.Helper()
	ask(t)
	if full() || given("rapid.checks") {
		rapid.Check(t, prop)
		return
	}
	rapid.Check(t, firstOf(n, prop))
}

// firstOf returns a property that holds without a look once prop has held n
// times. When prop fails, or has skipped an input, it looks at all that follow:
// rapid tries smaller inputs then.
func firstOf(n int, prop func(*rapid.T)) func(*rapid.T) {
	held, failed := 0, false
	return func(t *rapid.T) {
		if held >= n && !failed {
			return
		}
		before := failed
		failed = true
		prop(t)
		failed = before || t.Failed()
		held++
	}
}

// ask notes that a test has a form for the matrix, and fails it if it is not
// listed there.
func ask(tb testing.TB) {
	tb.Helper()
	name, _, _ := strings.Cut(tb.Name(), "/")
	if !listed(listing, pkg())[name] {
		tb.Fatalf("make test-matrix does not run %s: internal/suite/matrix.txt needs the line %q", name, pkg()+" "+name)
	}
	state.Lock()
	defer state.Unlock()
	if state.asked == nil {
		state.asked, state.skipped = map[string]bool{}, map[string]bool{}
	}
	state.asked[name] = true
}

// pkg returns the package under test, by its path below the module's root.
var pkg = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		panic("suite: a test binary without build information")
	}
	name := strings.TrimSuffix(info.Path, ".test")
	return strings.TrimPrefix(strings.TrimPrefix(name, info.Main.Path), "/")
})

// listed returns the tests of a package that the lines of a listing name.
func listed(listing, pkg string) map[string]bool {
	tests := map[string]bool{}
	for line := range strings.Lines(listing) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == pkg {
			tests[fields[1]] = true
		}
	}
	return tests
}

// matrixProblems returns the reasons why this run of the matrix did not run a
// listed test of this package that -run and -skip select.
func matrixProblems() (problems []string) {
	if !full() {
		return nil
	}
	state.Lock()
	defer state.Unlock()
	run := flag.Lookup("test.run").Value.String()
	if strings.Contains(run, "/") { // subtests by hand: what they leave out may be what asks
		return nil
	}
	wanted := regexp.MustCompile(run)
	skip := flag.Lookup("test.skip").Value.String()
	skipped := func(name string) bool { return skip != "" && regexp.MustCompile(skip).MatchString(name) }
	for _, name := range slices.Sorted(maps.Keys(listed(listing, pkg()))) {
		if wanted.MatchString(name) && !skipped(name) && !state.asked[name] {
			problems = append(problems, fmt.Sprintf("internal/suite/matrix.txt lists %s %s, which does not exist or has no long form", pkg(), name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(state.skipped)) {
		problems = append(problems, fmt.Sprintf("%s was skipped, and nothing else runs it", name))
	}
	return problems
}
