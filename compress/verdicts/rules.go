package verdicts

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// rule is what one tool prints. Lines are compared without the blanks around them.
type rule struct {
	has     string // a part of the line in small letters, which is looked for first
	re      func() *regexp.Regexp
	take    func(r *reading, m []string)
	last    bool // the line says nothing else
	example string

	exception bool // the line begins with the name of an exception
}

// mayHold reports whether a line, given in small letters, has what the rule looks for first.
func (r *rule) mayHold(low string) bool {
	if r.has != "" {
		return strings.Contains(low, r.has)
	}
	return !r.exception || strings.Contains(low, ": ") && exceptionWord(low)
}

// exceptionWord reports whether a line, given in small letters, has a word that names of exceptions end with.
func exceptionWord(low string) bool {
	for _, word := range []string{"error", "exception", "exit", "interrupt", "warning"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}

// Ranks of reasons.
const (
	lastException = 3
	coded         = 4
)

func num(s string) int { n, _ := strconv.Atoi(s); return n }

// counts returns what takes counts from a summary that comes once a run.
func (r *reading) counts(passed, failed, errors, skipped int) {
	r.Counted = true
	r.Passed += passed
	r.Failed += failed
	r.Errors += errors
	r.Skipped += skipped
}

// counted takes "2 failed, 9 passed" from a line, in any order.
func counted(r *reading, m []string) {
	var c [4]int
	for _, part := range summaryPart().FindAllStringSubmatch(m[0], -1) {
		switch strings.ToLower(part[2]) {
		case "passed", "passing":
			c[0] += num(part[1])
		case "failed", "failing", "failures", "failure":
			c[1] += num(part[1])
		case "error", "errors":
			c[2] += num(part[1])
		case "skipped", "pending", "ignored":
			c[3] += num(part[1])
		}
	}
	r.counts(c[0], c[1], c[2], c[3])
}

func named(r *reading, m []string)      { r.name(m[1]) }
func bad(r *reading, _ []string)        { r.Bad = true }
func good(r *reading, _ []string)       { r.Good = true }
func errorCount(r *reading, m []string) { r.Errors += num(m[1]); r.Bad = r.Bad || num(m[1]) > 0 }

func compiler(r *reading, m []string) {
	r.compiles++
	r.why(2, m[0])
}

// name notes the name of something that failed.
func (r *reading) name(name string) {
	name = strings.TrimSpace(name)
	if name == "" || r.named[name] {
		return
	}
	r.named[name] = true
	if len(r.Names) < maxNames {
		r.Names = append(r.Names, compress.Clip(name, maxName))
	}
}

// why notes a reason, if none of a higher rank is known. Of the same rank the first counts, of exceptions the last.
func (r *reading) why(rank int, line string) {
	if rank > r.rank || rank == r.rank && rank == lastException {
		r.rank, r.Why = rank, compress.Clip(strings.Join(strings.Fields(line), " "), maxWhy)
	}
}

var summaryPart = lazy.Regexp(`(?i)(\d+) (passed|passing|failed|failing|failures?|errors?|skipped|pending|ignored)`)

var rules = []rule{
	// Go
	{"--- fail", lazy.Regexp(`^--- FAIL: (\S+)`), func(r *reading, m []string) {
		r.name(m[1])
		if !strings.Contains(m[1], "/") {
			r.counts(0, 1, 0, 0)
		}
	}, true, "--- FAIL: TestA (0.00s)", false},
	{"--- pass", lazy.Regexp(`^--- PASS: ([^\s/]+) `), func(r *reading, m []string) { r.counts(1, 0, 0, 0) }, true, "--- PASS: TestA (0.00s)", false},
	{"_test.go:", lazy.Regexp(`^\w+_test\.go:\d+: (.+)`), func(r *reading, m []string) { r.why(2, m[0]) }, true, "a_test.go:41: Total() = 6, want 7", false},
	{"ok", lazy.Regexp(`^ok\s+\S+\s+(?:\(cached\)|[\d.]+s)`), good, true, "ok  \texample.com/a\t0.01s", false},
	{"fail", lazy.Regexp(`^FAIL\s+(\S+)\s+(?:[\d.]+s|\[(?:build|setup) failed\])`), func(r *reading, m []string) {
		if r.Bad = true; strings.Contains(m[0], "[") {
			r.name(m[1] + " (build failed)")
		}
	}, true, "FAIL\texample.com/a [build failed]", false},
	{".go:", lazy.Regexp(`^(?:vet: )?\S+\.go:\d+:\d+: .+`), compiler, true, "./a.go:3:5: undefined: x", false},
	{"panic:", lazy.Regexp(`^panic: .+`), func(r *reading, m []string) { r.Bad = true; r.why(coded, m[0]) }, true, "panic: runtime error: index out of range", false},
	// Python
	{"failed ", lazy.Regexp(`^FAILED (\S+::\S+)`), named, true, "FAILED tests/a.py::test_x - AssertionError", false},
	{"error ", lazy.Regexp(`^ERROR (\S+\.py\S*)(?: - .*)?$`), named, true, "ERROR tests/a.py - ImportError", false},
	{" in ", lazy.Regexp(`^(?:=+ )?\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)\b.* in [\d.]+s?\b.*$`), counted, true, "==== 2 failed, 3 passed in 0.12s ====", false},
	{": ", lazy.Regexp(`^(?:FAIL|ERROR): (test\w* \([\w.]+\)|test\w*)`), named, true, "FAIL: test_x (mod.Case)", false},
	{"ran ", lazy.Regexp(`^Ran (\d+) tests? in`), func(r *reading, m []string) { r.counts(num(m[1]), 0, 0, 0); r.unit = num(m[1]) }, true, "Ran 5 tests in 0.001s", false},
	{"failed (", lazy.Regexp(`^FAILED \((?:failures=(\d+))?(?:, )?(?:errors=(\d+))?`), func(r *reading, m []string) {
		f, e := num(m[1]), num(m[2])
		r.counts(-min(f+e, r.unit), f, e, 0)
		r.Bad = true
	}, true, "FAILED (failures=1, errors=2)", false},
	{"", lazy.Regexp(`^((?:\w+\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning)|AssertionError): .+`), func(r *reading, m []string) {
		if !strings.HasSuffix(m[1], "Warning") {
			r.why(lastException, m[0])
		}
	}, false, "ValueError: bad", true},
	// JavaScript
	{"tests", lazy.Regexp(`^Tests:?\s+\d+ (?:failed|passed|skipped|todo).*`), counted, true, "Tests:       2 failed, 9 passed, 11 total", false},
	{"●", lazy.Regexp(`^● (.+ › .+)`), named, true, "● cart › adds", false},
	{"passing", lazy.Regexp(`^\d+ passing\b.*`), counted, true, "5 passing (10ms)", false},
	{"failing", lazy.Regexp(`^\d+ failing\b.*`), counted, true, "2 failing", false},
	{"fail", lazy.Regexp(`^FAIL +(\S+\.(?:test|spec)\.\w+)(?: > (.+))?`), func(r *reading, m []string) {
		if r.Bad = true; m[2] != "" {
			r.name(m[2])
		} else {
			r.name(m[1])
		}
	}, true, "FAIL  src/a.test.ts", false},
	{"", lazy.Regexp(`^[✖✗✕×] (.+?)(?: \(?[\d.]+ ?m?s\)?)?$`), func(r *reading, m []string) {
		if m[1] != "failing tests:" && !strings.Contains(m[1], " problem") {
			r.name(m[1])
		}
	}, false, "✖ refuses an empty cart (1.2ms)", false},
	{"not ok", lazy.Regexp(`^not ok \d+ (?:- )?(.+)`), named, true, "not ok 3 - parses", false},
	{"pass ", lazy.Regexp(`^(?:#|ℹ) pass (\d+)$`), func(r *reading, m []string) { r.counts(num(m[1]), 0, 0, 0) }, true, "# pass 5", false},
	{"fail ", lazy.Regexp(`^(?:#|ℹ) fail (\d+)$`), func(r *reading, m []string) { r.counts(0, num(m[1]), 0, 0) }, true, "# fail 1", false},
	{"problem", lazy.Regexp(`^✖ \d+ problems? \((\d+) errors?`), errorCount, true, "✖ 3 problems (2 errors, 1 warning)", false},
	{"error ts", lazy.Regexp(`^.+\(\d+,\d+\): error TS\d+: .+|^\S+:\d+:\d+ - error TS\d+: .+`), compiler, true, "src/a.ts(3,5): error TS2322: Type", false},
	{"npm err", lazy.Regexp(`^npm (?:ERR!|error) (code [A-Z]\w+|Missing script: .+)`), func(r *reading, m []string) { r.Bad = true; r.why(coded-2, m[1]) }, true, "npm ERR! code ERESOLVE", false},
	{"eresolve", lazy.Regexp(`^npm (?:ERR!|error) ERESOLVE (.+)`), func(r *reading, m []string) { r.why(coded, "ERESOLVE "+m[1]) }, true, "npm ERR! ERESOLVE unable to resolve dependency tree", false},
	// Rust
	{"test result", lazy.Regexp(`^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored`), func(r *reading, m []string) { r.counts(num(m[1]), num(m[2]), 0, num(m[3])) }, true, "test result: FAILED. 3 passed; 1 failed; 0 ignored", false},
	{"failed", lazy.Regexp(`^test (\S+) \.\.\. FAILED$`), named, true, "test a::b ... FAILED", false},
	{"error[", lazy.Regexp(`^error\[E\d+\]: .+`), compiler, true, "error[E0308]: mismatched types", false},
	{"could not compile", lazy.Regexp("^error: could not compile `[^`]+`.*"), bad, true, "error: could not compile `a` (lib) due to 2 previous errors", false},
	// Java
	{"tests run", lazy.Regexp(`^(?:\[\w+\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(.*)`), func(r *reading, m []string) {
		if strings.Contains(m[5], "Time elapsed") { // of one class; the sum follows
			return
		}
		r.counts(num(m[1])-num(m[2])-num(m[3])-num(m[4]), num(m[2]), num(m[3]), num(m[4]))
	}, true, "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0", false},
	{"[error]", lazy.Regexp(`^\[ERROR\]\s+(\w+(?:Test|IT)\w*\.\w+):\d+`), named, true, "[ERROR]   CartTest.adds:12 expected 3", false},
	{"build success", lazy.Regexp(`^(?:\[INFO\] )?BUILD SUCCESS`), good, true, "BUILD SUCCESSFUL in 3s", false},
	{"build fail", lazy.Regexp(`^(?:\[\w+\] )?BUILD FAIL`), bad, true, "[INFO] BUILD FAILURE", false},
	{" failed", lazy.Regexp(`^(\w[\w.]+ > [\w ().]+) FAILED$`), named, true, "CartTest > adds() FAILED", false},
	{"tests completed", lazy.Regexp(`^(\d+) tests completed, (\d+) failed`), func(r *reading, m []string) { r.counts(num(m[1])-num(m[2]), num(m[2]), 0, 0) }, true, "5 tests completed, 1 failed", false},
	// C
	{"tests passed,", lazy.Regexp(`^\d+% tests passed, (\d+) tests failed out of (\d+)`), func(r *reading, m []string) { r.counts(num(m[2])-num(m[1]), num(m[1]), 0, 0) }, true, "75% tests passed, 1 tests failed out of 4", false},
	{"(failed)", lazy.Regexp(`^\d+ - (\S+) \(Failed\)`), named, true, "3 - cart (Failed)", false},
	{"error: ", lazy.Regexp(`^\S+:\d+:(?:\d+:)? (?:fatal )?error: .+`), compiler, true, "a.c:3:5: error: expected ';'", false},
	{"make", lazy.Regexp(`^g?make(?:\[\d+\])?: \*\*\* .+`), func(r *reading, m []string) { r.Bad = true; r.why(1, m[0]) }, true, "make: *** [Makefile:3: all] Error 2", false},
	{"[  failed  ]", lazy.Regexp(`^\[  FAILED  \] (\w+\.\w+)`), named, true, "[  FAILED  ] Cart.Adds (0 ms)", false},
	// Others
	{"example", lazy.Regexp(`^(\d+) examples?, (\d+) failures?`), func(r *reading, m []string) { r.counts(num(m[1])-num(m[2]), num(m[2]), 0, 0) }, true, "5 examples, 1 failure", false},
	{"rspec ", lazy.Regexp(`^rspec (\S+) #`), named, true, "rspec ./spec/a_spec.rb:12 # adds", false},
	{"assertions", lazy.Regexp(`^OK \((\d+) tests?,`), func(r *reading, m []string) { r.counts(num(m[1]), 0, 0, 0) }, true, "OK (5 tests, 9 assertions)", false},
	{"assertions", lazy.Regexp(`^Tests: (\d+), Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?`), func(r *reading, m []string) {
		r.counts(num(m[1])-num(m[2])-num(m[3]), num(m[3]), num(m[2]), 0)
	}, true, "Tests: 5, Assertions: 9, Failures: 1.", false},
	{"failed:", lazy.Regexp(`^(?:Failed|Passed)!\s+- Failed:\s+(\d+), Passed:\s+(\d+), Skipped:\s+(\d+)`), func(r *reading, m []string) { r.counts(num(m[2]), num(m[1]), 0, num(m[3])) }, true, "Failed!  - Failed:     1, Passed:     4, Skipped:     0", false},
	{"found ", lazy.Regexp(`^Found (\d+) errors?\b`), errorCount, true, "Found 2 errors in 1 file", false},
	{"passed", lazy.Regexp(`^(?:\W*|[\w ]+: )?\d+ (?:tests? )?(?:passed|failed)(?:,? (?:and )?\d+ (?:tests? )?(?:passed|failed|skipped|errors?))*\W*$`), counted, true, "2 passed, 9 failed", false},
	{"error: could not find", lazy.Regexp(`^ERROR: (?:Could not find|No matching|Cannot install) .+`), func(r *reading, m []string) { r.Bad = true; r.why(coded, m[0]) }, true, "ERROR: Could not find a version that satisfies x", false},
	{"successfully", lazy.Regexp(`^Successfully (?:installed|built) `), good, true, "Successfully installed a-1.0", false},
	{"e: ", lazy.Regexp(`^E: (.+)`), func(r *reading, m []string) { r.Bad = true; r.why(coded, m[1]) }, true, "E: Unable to locate package x", false},
}
