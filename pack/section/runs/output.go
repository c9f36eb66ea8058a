package runs

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/result"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Bounds of an output.
const (
	readEnds  = 16 << 10 // bytes that are read at each end
	lastLines = 8        // lines in which the message of an error counts
	maxLine   = 120      // bytes of a line that is quoted
	maxReason = 240      // bytes of the lines of a failure
	longLine  = 2000     // bytes; a longer line says nothing
)

// verdict is what an output says about its run, the stronger statements last.
type verdict uint8

const (
	silent verdict = iota
	passes         // a runner or a compiler says that it succeeded
	unsure         // no test ran, or a part of the output is missing
	errs           // one of the last lines is an error message
	fails          // a runner or a compiler says that it failed
)

// rule recognizes one kind of line.
type rule struct {
	verdict verdict
	has     string // substrings separated by "|"; a lower-cased line without any of them is skipped
	line    func() *regexp.Regexp
}

// rules are matched against lines without surrounding blanks. The first match decides.
var rules = []rule{
	{unsure, "no test|ran 0 tests|collected 0", lazy.Regexp(`(?i)\bno tests? (?:to run|ran|found|files|were (?:run|found|executed))` +
		`|\[no test files\]|^Ran 0 tests|^collected 0 items`)},
	{unsure, "truncated|omitted|...", lazy.Regexp(`(?i)\boutput truncated\b` +
		`|\[?\.\.\. ?\[?\d[\d,]* (?:more )?(?:characters|lines|bytes)|\b(?:characters|lines) (?:truncated|omitted)\b`)},

	{passes, "ok", lazy.Regexp(`^ok\s+\S+\s+(?:\(cached\)|[\d.]+m?s)`)}, // go
	{passes, "success", lazy.Regexp(`^(?:\[INFO\] )?BUILD SUCCESS|^Successfully (?:installed|built|tagged) |\b[Cc]ompiled successfully\b`)},
	{passes, "finished", lazy.Regexp("^Finished (?:`\\w+` profile|dev|release|test)\\b")},                             // cargo
	{passes, "] ", lazy.Regexp(`^\[[\w./-]+ (?:\(root-commit\) )?[0-9a-f]{7,40}\] \S`)},                               // git commit
	{passes, " -> ", lazy.Regexp(`^(?:\* \[new (?:tag|branch)\]|\+? ?[0-9a-f]{7,}\.\.\.?[0-9a-f]{7,})\s+\S+ -> \S+`)}, // git push

	{fails, "fail", lazy.Regexp(`^--- FAIL: \S|^FAIL\s+\S+(?:\s+(?:[\d.]+s|\[\w+ failed\])|\.(?:test|spec)\.)` + // go, vitest
		`|^test \S+ \.\.\. FAILED$|^(?:\[\w+\] )?BUILD FAIL|^FAILED \(|^test result: FAILED`)},
	{fails, "::|test", lazy.Regexp(`^(?:FAILED|ERROR) \S+::\S|^\S+::\S+ (?:FAILED|ERROR)\b|^(?:FAIL|ERROR): test`)}, // Python
	{fails, "●|✖|✗|✕|×|not ok", lazy.Regexp(`^● .+ ?› .|^[✖✗✕×] \S|^not ok \d|^● \w[\w ]+$`)},                       // JavaScript, TAP
	{fails, ": ", lazy.Regexp(`^(?:vet: )?\S+\.\w+:\d+:\d+: (?:fatal )?(?:error|undefined|cannot|invalid|syntax|missing|expected|undeclared)` +
		`|^\S+\.go:\d+:\d+: .|^\w+_test\.go:\d+: .*(?:want|expected|=|!)|^\S+:\d+: (?:fatal )?error: |^panic: .`)},
	{fails, "error", lazy.Regexp(`\berror TS\d+: |^error\[E\d+\]: `)},

	{errs, "error|fatal|e: ", lazy.Regexp(`^(?:[\w./-]+: )?(?i:fatal error|error|e)(?:\[[\w-]+\])?: \D|^error \D|^(?i:fatal): .` +
		`|^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)\b: .|^npm (?:ERR!|error) |^rsync error: `)},
	{errs, "not|no such|refused|denied", lazy.Regexp(`(?i)\bcommand not found\b|: not found$|is not recognized as` +
		`|\bno such file or directory\b|\bnot a git repository\b|\bconnection refused\b|\b(?:permission|access) denied\b`)},
	{errs, "timed out|segmentation fault|out of memory|failed to|unable to|could not|invalid input",
		lazy.Regexp(`(?i)\b(?:timed out|segmentation fault|out of memory|(?:failed to|unable to|could not) \w+|invalid input)\b`)},
	{errs, "curl: |conflict|make|traceback|fail|[rejected]", lazy.Regexp(`^curl: \(\d+\)|^CONFLICT \(|^g?make(?:\[\d+\])?: \*\*\* ` +
		`|^Traceback \(most recent|^(?:FAIL|FAILED|FAILURE)\b[:! ]*$|^! \[rejected\]`)},
}

// httpStatus matches the status that an HTTP client prints as its last line, and httpWords the
// command lines of such clients.
var (
	httpStatus = lazy.Regexp(`^(?:< )?(?:HTTP/[\d.]+ )?[45]\d\d(?: [A-Z][A-Za-z ]*)?$`)
	httpWords  = lazy.Regexp(`curl|http|wget|Invoke-WebRequest|Invoke-RestMethod`)
)

// Summary lines of runners consist of summaryWords and numbers: "2 failed, 9 passed in 0.3s".
var (
	summaryWords = compress.WordSet(`passed passing pass passes failed failing fail failure failures error errors run ran test tests example
		examples suites total skipped pending ignored todo deselected selected xfailed xpassed warning warnings assertions
		measured filtered out finished in of and all time elapsed duration ok result results s ms min files file snapshots problem
		problems found generated inconclusive notrun not snapshot obsolete info done rerun reruns checked source were there
		inclusive the with completed x`)
	countPasses = lazy.Regexp(`(?i)\b[1-9]\d* (?:tests? |examples? )?pass(?:ed|ing)?\b|\bpass(?:ed|es)?(?:[:=] ?| )[1-9]` +
		`|^OK \([1-9]|\btests run: [1-9]|^[1-9]\d* (?:tests|examples?), 0 failures`)
	countFails = lazy.Regexp(`(?i)\b[1-9]\d* (?:tests? |examples? )?(?:fail(?:ed|ing|ures?)?|errors?)\b` +
		`|\b(?:fail(?:ed|ures?)?|errors?)[:=] ?[1-9]|^# fail [1-9]`)
)

// summaryOf returns what a summary line says; ok is false for a line of other words.
func summaryOf(line string) (v verdict, ok bool) {
	isLetter := func(c rune) bool { return unicode.IsLetter(c) }
	for word := range strings.FieldsFuncSeq(strings.ToLower(line), func(c rune) bool { return !isLetter(c) }) {
		if ok = summaryWords[word]; !ok {
			return silent, false
		}
	}
	switch {
	case !ok || strings.Contains(line, "%"):
		return silent, false
	case countFails().MatchString(line):
		return fails, true
	case countPasses().MatchString(line):
		return passes, true
	}
	return silent, true
}

// judge returns what the output of a command says, and the lines that say so if a runner says it: the
// last one that it passed, or the first two and the last one that it failed.
func judge(lines []string, command string) (v verdict, quote string) {
	ran := "" // a summary of unittest without its result
	said := map[verdict][]string{}
	for i, line := range lines {
		says, isSummary := summaryOf(line)
		switch {
		case line == "OK" && ran != "":
			says, line = passes, ran+line
		case isSummary:
		case i == len(lines)-1 && httpStatus().MatchString(line) && httpWords().MatchString(command):
			says = errs
		default:
			says = sayingOf(line, i >= len(lines)-lastLines)
		}
		if strings.HasPrefix(line, "Ran ") && !strings.HasPrefix(line, "Ran 0 ") && isSummary {
			ran = line + " "
		}
		v = max(v, says)
		said[says] = append(said[says], compress.Clip(line, maxLine))
	}
	switch list := said[v]; {
	case v == passes:
		quote = list[len(list)-1]
	case v == fails:
		list = append(list[:min(2, len(list)-1)], list[len(list)-1])
		quote = compress.Clip(strings.Join(slices.Compact(list), " | "), maxReason)
	}
	return v, quote
}

// sayingOf returns what a line says that is no summary; late is true for the last lines.
func sayingOf(line string, late bool) verdict {
	low := strings.ToLower(line)
	for i := range rules {
		r := &rules[i]
		has := func(part string) bool { return strings.Contains(low, part) }
		if (late || r.verdict != errs) && slices.ContainsFunc(strings.Split(r.has, "|"), has) && r.line().MatchString(line) {
			return r.verdict
		}
	}
	return silent
}

// informative returns the lines of an output that contain words, with single blanks.
func informative(output string) (lines []string) {
	if len(output) > 2*readEnds {
		output = output[:readEnds] + "\n" + output[len(output)-readEnds:]
	}
	isWord := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
	for line := range strings.Lines(result.Plain(output)) {
		line = strings.Join(strings.Fields(line), " ")
		if len(line) <= longLine && strings.ContainsFunc(line, isWord) && strings.Trim(line, "()[]<>") != "no output" {
			lines = append(lines, line)
		}
	}
	return lines
}

// lastLine returns the last of lines, or all lines if they are short.
func lastLine(lines []string) string {
	lines = slices.Compact(slices.Clone(lines))
	if all := strings.Join(lines, " | "); len(all) <= maxLine {
		return all
	}
	return compress.Clip(lines[len(lines)-1], maxLine)
}
