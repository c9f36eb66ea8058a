package result

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// class is what a line of a log says, the more telling ones last.
type class uint8

const (
	classNone class = iota
	classWarning
	classTrace   // where it failed: a frame, a place in a source file
	classDetail  // what a test said, whether it failed or not
	classMessage // what went wrong
	className    // what failed: a test, a target
	classSummary // how many, and how it ended
)

// lineRule is one way to tell what a line says, by what the common tools print. A line is of it if
// it begins with one of begins, has one of has, or is so, and has none of hasNot. Words are
// compared in small letters. The rules are tried in their order.
type lineRule struct {
	class               class
	begins, has, hasNot []string
	is                  func(line, low string) bool // low is line in small letters
	example             string
}

var lineRules = []lineRule{
	{class: classSummary, has: []string{"0 failed", "0 errors", "0 failures", "no errors", "0 warnings"}, hasNot: []string{" 10 ", "error:"}, example: "12 passed, 0 failed"},
	{class: className, is: namesFailure, example: "--- FAIL: TestRefresh (0.01s)"},
	{class: className, is: numberedFailure, example: "1) refuses an empty cart"},
	{
		class: classMessage,
		begins: []string{"e  ", "panic:", "fatal", "expected", "actual", "received", "got:", "want:", "assert", "left:", "right:", "caused by", "thread '", "note: expected",
			"+ expected", "traceback", "npm err", "npm error", "make: ***", "undefined reference", "segmentation fault", "killed"},
		example: "panic: runtime error: index out of range",
	},
	{
		class: classMessage,
		has: []string{"error", "exception", "panicked", "failure", "fatal", "assertion", "not found", "no such file", "permission denied", "refused", "cannot ", "can't ", "unable to",
			"undefined", "traceback", "timed out", "timeout exceeded", "segfault", "core dumped", "denied", "invalid", "unexpected", "mismatch", "crashloop", "oomkilled", "abort", "critical",
			", want ", " expected ", "unresolved", "conflict"},
		is:      func(line, _ string) bool { return strings.Contains(line, "FAIL") || strings.Contains(line, " != ") },
		example: "cart.go:12: undefined: total",
	},
	{class: classDetail, is: goMessage, example: "cart_test.go:41: Total() = 6 items"},
	{
		class:   classSummary,
		begins:  []string{"exit", "command exited", "process exited"},
		has:     []string{"exit code", "exit status", "returncode", "exited with", "process-done", "test result:", "tests:", "# fail", "# pass", "failed in ", "build failed", "build successful", "could not compile", " problems ("},
		is:      func(_, low string) bool { return counted(low, " passed") || counted(low, " failed") },
		example: "====== 5 failed, 12 passed in 3.10s ======",
	},
	{class: classWarning, begins: []string{"warning", "warn"}, has: []string{"warning:", "deprecat", " warn "}, example: "npm WARN deprecated glob@7.2.3"},
	{class: classTrace, begins: []string{"at ", "file \"", "--> ", "> ", "in function"}, has: []string{"stack backtrace"}, example: "at Object.<anonymous> (src/cart.test.js:12:5)"},
}

// classify returns what a line of a log says.
func classify(line string) class {
	r := ruleOf(line)
	if r == nil || r.class == classSummary && compress.IsNoise(strings.TrimSpace(line)) { // "test_12 passed"
		return classNone
	}
	return r.class
}

// ruleOf returns the first of lineRules that a line is of; nil if it is of none.
func ruleOf(line string) *lineRule {
	line = strings.TrimSpace(line)
	if len(line) < 2 || len(line) > 2000 {
		return nil
	}
	low := strings.ToLower(line)
	for i := range lineRules {
		if r := &lineRules[i]; r.holds(line, low) {
			return r
		}
	}
	return nil
}

func (r *lineRule) holds(line, low string) bool {
	return (r.is != nil && r.is(line, low) || anyOf(r.begins, low, strings.HasPrefix) || anyOf(r.has, low, strings.Contains)) && !anyOf(r.hasNot, low, strings.Contains)
}

func anyOf(words []string, line string, of func(line, word string) bool) bool {
	for _, w := range words {
		if of(line, w) {
			return true
		}
	}
	return false
}

// failureMarks are how test runners begin a line with the name of what failed.
var failureMarks = []string{"--- fail", "failed ", "fail ", "fail\t", "fail:", "not ok ", "error: test_", "● ", "✕ ", "✖ ", "✗ ", "× ", "error "}

// namesFailure reports whether a line names a test or a target that failed.
func namesFailure(line, low string) bool {
	switch {
	case len(line) > 6 && anyOf(failureMarks, low, strings.HasPrefix),
		strings.HasPrefix(line, "[FAIL]"), strings.HasPrefix(line, "[  FAILED  ]"),
		strings.HasPrefix(line, "test ") && strings.HasSuffix(line, "... FAILED"),
		strings.HasSuffix(line, " FAILED"), strings.HasSuffix(line, " FAIL"),
		strings.HasPrefix(line, "ERROR ") && strings.Contains(line, "::"),
		strings.Contains(line, "::") && strings.Contains(line, " FAILED"),
		strings.HasPrefix(line, "____") && strings.HasSuffix(line, "____"),
		strings.HasPrefix(line, "---- ") && strings.HasSuffix(line, " ----"):
		return true
	}
	return false
}

// counted reports whether a number stands before what: "5 failed".
func counted(s, what string) bool {
	at := strings.Index(s, what)
	return at > 0 && s[at-1] >= '0' && s[at-1] <= '9'
}

// goMessage reports whether a line is what t.Errorf prints: "cart_test.go:41: Total() = 6, want 7".
func goMessage(s, _ string) bool {
	at := strings.Index(s, "_test.go:")
	return at > 0 && at < 80 && strings.Contains(s[at+9:], ": ")
}

// numberedFailure reports whether a line is a mocha, jest or rspec one: "1) refuses an empty cart".
func numberedFailure(s, _ string) bool {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n > 0 && n < 4 && strings.HasPrefix(s[n:], ") ") && len(s) < 160
}

// FailureLine reports whether a line of a log names a failed test or item, and whether it contains
// an error message.
func FailureLine(line string) (names, tells bool) {
	c := classify(line)
	return c == className, c == classMessage
}
