package tests

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	importsRapid = regexp.MustCompile(`(?m)^\s*"pgregory\.net/rapid"$`)
	fixesSeed    = regexp.MustCompile(`\b(suite|harness)\.(Main|Wrap)\(m\)|^\s*Main\(m\)`)
)

// Random tests choose the same in each run unless CTXFS_RANDOM is set, so that a failure comes back: each package that has some
// runs them through internal/suite.
func TestPackagesWithRandomTestsFixTheirSeed(t *testing.T) {
	random, fixed := map[string]bool{}, map[string]bool{}
	for _, f := range sources(t) {
		if !strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		room := path.Dir(f.name)
		random[room] = random[room] || importsRapid.Match(f.src)
		fixed[room] = fixed[room] || fixesSeed.Match(f.src)
	}
	n := 0
	for room := range random {
		if random[room] {
			n++
			if !fixed[room] && room != "internal/suite" && room != "tests/harness" {
				t.Errorf("%s has random tests, and no TestMain that calls suite.Main", room)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d packages with random tests were found", n)
	}
}
