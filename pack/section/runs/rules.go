package runs

import (
	"regexp"
	"strings"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// sign is what a line of an output says about the run.
type sign uint8

const (
	passes  sign = iota + 1 // a runner or a compiler says that it succeeded
	fails                   // it failed; the line gives no cause
	names                   // it failed; the line names a test or a target
	causes                  // it failed; the line gives a cause
	noTests                 // no test ran
	cut                     // a part of the output is missing here
)

// rule recognizes one kind of line. A rule without anywhere applies only to the last lines of an
// output, since the words may also occur in content.
type rule struct {
	sign     sign
	anywhere bool
	has      string // substrings separated by "|"; a lower-cased line without any of them is skipped
	line     func() *regexp.Regexp
	example  string
	counter  string // a similar line that the rule must not accept
}

// rules are matched against lines without surrounding blanks. The first match decides.
var rules = []rule{
	{noTests, true, "no test", lazy.Regexp(`(?i)\bno tests? (?:to run|ran|found|files|were (?:run|found|executed))|\[no test files\]`), "ok  \tx/a\t0.01s [no tests to run]", "no test failed"},
	{noTests, true, "ran 0 tests", lazy.Regexp(`^Ran 0 tests`), "Ran 0 tests in 0.000s", "Ran 10 tests in 0.1s"},
	{noTests, true, "collected 0 items", lazy.Regexp(`^collected 0 items`), "collected 0 items", "collected 10 items"},

	{cut, true, "truncated|omitted|...", lazy.Regexp(`(?i)\boutput truncated\b|` +
		`\[?\.\.\. ?\[?\d[\d,]* (?:more )?(?:characters|lines|bytes)|` +
		`\b(?:characters|lines) (?:truncated|omitted)\b`),
		"... [output truncated: 48,211 more characters] ...", "truncated 12 rows"},

	{passes, true, "ok", lazy.Regexp(`^ok\s+\S+\s+(?:\(cached\)|[\d.]+m?s)`), "ok  \texample.com/a\t0.01s", "ok then"},
	{passes, true, "success", lazy.Regexp(`^(?:\[INFO\] )?BUILD SUCCESS|^(?:Successfully (?:installed|built|tagged)|Compiled successfully) ?|\bcompiled successfully\b`), "Successfully installed a-1.0", "Successfully contacted nobody"},
	{passes, true, "finished", lazy.Regexp("^Finished (?:`\\w+` profile|dev|release|test)\\b"), "Finished dev in 0.5s", "Finished reading"},
	{passes, true, "] ", lazy.Regexp(`^\[[\w./-]+ (?:\(root-commit\) )?[0-9a-f]{7,40}\] \S`), "[main 45ffe0a] Add retries", "[main thread] Add"},
	{passes, true, " -> ", lazy.Regexp(`^(?:\* \[new (?:tag|branch)\]|\+? ?[0-9a-f]{7,}\.\.\.?[0-9a-f]{7,})\s+\S+ -> \S+`), "* [new tag] v1 -> v1", "a -> b"},

	{names, true, "--- fail", lazy.Regexp(`^--- FAIL: \S+`), "--- FAIL: TestA (0.00s)", "--- PASS: TestA (0.00s)"},
	{fails, true, "fail", lazy.Regexp(`^FAIL\s+\S+(?:\s+(?:[\d.]+s|\[\w+ failed\])|\.(?:test|spec)\.)`), "FAIL\texample.com/a [build failed]", "FAIL-over works"},
	{names, true, "::", lazy.Regexp(`^(?:FAILED|ERROR) \S+::\S+|^\S+::\S+ (?:FAILED|ERROR)\b`), "FAILED tests/a.py::test_x - KeyError", "tests/a.py::test_x PASSED"},
	{names, true, "test", lazy.Regexp(`^(?:FAIL|ERROR): test\w*|^test \S+ \.\.\. FAILED$`), "FAIL: test_x (mod.Case)", "test a ... ok"},
	{names, true, "●|✖|✗|✕|×|not ok", lazy.Regexp(`^● .+ ?› .+|^[✖✗✕×] \S|^not ok \d+|^● \w[\w ]+$`),
		"● cart › adds", "✓ adds"},
	{causes, true, ": ", lazy.Regexp(`^(?:vet: )?\S+\.\w+:\d+:\d+: (?:fatal )?` +
		`(?:error|undefined|cannot|invalid|syntax|missing|expected|undeclared)|^\S+\.go:\d+:\d+: .`),
		"./a.go:3:5: undefined: x", "a.md:3:5 is a citation"},
	{causes, true, "error", lazy.Regexp(`\berror TS\d+: |^error\[E\d+\]: |^\S+:\d+: (?:fatal )?error: `), "src/a.ts(3,5): error TS2322: Type", "0 errors"},
	{causes, true, "_test.go:", lazy.Regexp(`^\w+_test\.go:\d+: .*(?:want|expected|=|!)`), "a_test.go:41: Total() = 6, want 7", "a_test.go:41"},
	{causes, true, "panic:", lazy.Regexp(`^panic: .`), "panic: runtime error: index out of range", "do not panic: wait"},
	{fails, true, "fail", lazy.Regexp(`^(?:\[\w+\] )?BUILD FAIL|^FAILED \(|^npm error Lifecycle|^test result: FAILED`), "FAILED (failures=1)", "FAILED state is handled"},

	{causes, false, "conflict", lazy.Regexp(`^CONFLICT \(`), "CONFLICT (content): Merge conflict in a.go", "no conflict"},
	{causes, false, "curl:", lazy.Regexp(`^curl: \(\d+\)`), "curl: (22) The requested URL returned error: 503", "curl: installed"},
	{causes, false, "not", lazy.Regexp(`(?i)\bcommand not found\b|: not found$|is not recognized as|\bno such file or directory\b|\bnot a git repository\b`), "bash: deploy-tool: command not found", "found nothing"},
	{causes, false, "npm err", lazy.Regexp(`^npm (?:ERR!|error) (?:code E[A-Z]+|[A-Z]{2,}\w* |Missing script|Could not|notarget)`), "npm error code ERESOLVE", "npm notice"},
	{fails, false, "npm err", lazy.Regexp(`^npm (?:ERR!|error) `), "npm error command failed", "npm warn deprecated"},
	{causes, false, "error", lazy.Regexp(`^(?:[\w./-]+: )?(?i:fatal error|error|e)(?:\[[\w-]+\])?: \D|^error \D`), "error: failed to push some refs", "Error: 0.05"},
	{causes, false, ": ", lazy.Regexp(`^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)\b: .`), "ValueError: bad shape", "Errors: none"},
	{causes, false, "fatal", lazy.Regexp(`^(?i:fatal): .`), "fatal: not a git repository", "non-fatal: ok"},
	{causes, false, "e: ", lazy.Regexp(`^E: [A-Z]`), "E: Unable to locate package x", "E: 5"},
	{causes, false, "refused", lazy.Regexp(`(?i)\bconnection refused\b`), "ssh: connect to host prod port 22: Connection refused", "he refused"},
	{causes, false, "denied", lazy.Regexp(`(?i)\b(?:permission|access) denied\b`), "bash: ./x: Permission denied", "denied claims are listed"},
	{causes, false, "rsync error", lazy.Regexp(`^rsync error: `), "rsync error: some files could not be transferred", "rsync done"},
	{causes, false, "timed out|segmentation fault|out of memory|failed to|unable to|could not|invalid input",
		lazy.Regexp(`(?i)\b(?:timed out|segmentation fault|out of memory|failed to \w+|unable to \w+|` +
			`could not \w+|invalid input)\b`),
		"base64: invalid input", "it has timed outputs"},
	{names, false, "make", lazy.Regexp(`^g?make(?:\[\d+\])?: \*\*\* `), "make: *** [Makefile:3: all] Error 2", "make: Nothing to be done"},
	{fails, false, "traceback", lazy.Regexp(`^Traceback \(most recent call last\)`), "Traceback (most recent call last):", "a traceback"},
	{fails, false, "fail|[rejected]", lazy.Regexp(`^(?:FAIL|FAILED|FAILURE)\b[:! ]*$|^! \[rejected\]`),
		"FAILED", "FAILED 0"},
}

// statusRule recognizes the status of an HTTP client, which prints it as its last line.
var statusRule = rule{causes, false, "", lazy.Regexp(`^(?:< )?(?:HTTP/[\d.]+ )?[45]\d\d(?: [A-Z][A-Za-z ]*)?$`), "HTTP/1.1 503 Service Unavailable", "200"}

// httpWords are parts of command lines that print the status of an HTTP request.
var httpWords = []string{"curl", "http", "wget", "Invoke-WebRequest", "Invoke-RestMethod"}

// signOf returns what a line says; late is true for the last lines of an output.
func signOf(line string, late bool) sign {
	low := ""
	for i := range rules {
		r := &rules[i]
		if !r.anywhere && !late {
			continue
		}
		if low == "" {
			low = strings.ToLower(line)
		}
		if r.mayAccept(low) && r.line().MatchString(line) {
			return r.sign
		}
	}
	return 0
}

// mayAccept is a cheap test before the regular expression: it reports whether the lower-cased line
// contains one of the substrings in r.has.
func (r *rule) mayAccept(low string) bool {
	for part := range strings.SplitSeq(r.has, "|") {
		if strings.Contains(low, part) {
			return true
		}
	}
	return false
}
