package result

import (
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
)

// sniffed is the number of bytes of a text from which its kind is derived.
const sniffed = 4096

// Recognise returns the kind of a result, from its content where that is clear, else from the call.
func Recognise(text string, about Hint) Kind {
	if isBinary(text) {
		return KindBinary
	}
	start := strings.TrimSpace(text[:min(len(text), sniffed)])
	tool, command := toolOf(about)
	toolKind := compress.KindOf(about.Tool)
	switch {
	case mayBeJSON(start) && isJSON(text):
		return KindJSON
	case isHTML(start):
		return KindHTML
	}

	sample := sampleOf(text)
	switch {
	case isSearchTool(tool) && strings.Count(strings.Join(sample, "\n"), "://") > 1:
		return KindSearch
	case command != "grep" && isRun(sample), share(sample, compress.IsProgress) > 0.3:
		return KindLog
	case readCommands[command] && !strings.Contains(about.Args, ".log") && !strings.Contains(about.Args, ".out"):
		return KindFile
	case isQuery(toolKind, command, sample):
		return KindText
	case toolKind == compress.ReadingTool:
		return KindFile
	case command != "" || toolKind == compress.ShellTool || toolKind == compress.CodeTool, share(sample, isFailure) > 0:
		return KindLog
	}
	return KindText
}

// Commands whose output is a file, and those whose output is a list of matches, paths, or changes.
var (
	readCommands  = compress.WordSet("cat head tail sed nl less more bat open goto scroll_down scroll_up read view set_cursors")
	queryCommands = compress.WordSet("grep rg ag ack ls find tree fd du diff git")
)

// isQuery reports whether each line of a result is one answer: a match, a path, or a change.
func isQuery(tool compress.ToolKind, command string, sample []string) bool {
	return queryCommands[command] || tool == compress.MatchTool || tool == compress.ListTool || matched(sample)
}

// sampleOf returns the first lines of a text that are not blank.
func sampleOf(text string) (sample []string) {
	lines := strings.Split(Plain(text[:min(len(text), sniffed)]), "\n")
	if len(text) > sniffed && len(lines) > 1 {
		lines = lines[:len(lines)-1]
	}
	for _, line := range lines {
		if line = strings.TrimRight(line, " \t"); line != "" {
			sample = append(sample, line)
		}
	}
	return sample
}

// share returns the part of lines for which is holds.
func share(lines []string, is func(string) bool) float64 {
	n := 0
	for _, l := range lines {
		if is(l) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(lines)))
}

// isFailure reports whether a line names or explains a failure, or sums up a run.
func isFailure(line string) bool { return classify(line) >= classMessage }

// isBinary reports whether a text is bytes rather than characters.
func isBinary(text string) bool {
	head := text[:min(len(text), sniffed)]
	bad := 0
	for i, c := range head {
		if c == 0 || c == utf8.RuneError && i < len(head)-utf8.UTFMax || c < ' ' && !strings.ContainsRune("\n\r\t\b\x1b\f", c) {
			bad++
		}
	}
	return bad*20 > len(head)
}

func isHTML(start string) bool {
	low := strings.ToLower(start[:min(len(start), 512)])
	for _, begin := range []string{"<!doctype html", "<html", "<head", "<body"} {
		if strings.HasPrefix(low, begin) {
			return true
		}
	}
	return strings.HasPrefix(low, "<?xml") && strings.Contains(low, "<html")
}

// matched reports whether most lines begin with a path and a colon, as grep prints them.
func matched(lines []string) bool {
	isMatch := func(l string) bool {
		path, rest, ok := strings.Cut(l, ":")
		isPath := strings.ContainsAny(path, "./") && !strings.ContainsAny(path, " \t(){}\"'<>=,")
		return ok && isPath && !strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "//") || l == "--"
	}
	return len(lines) > 2 && share(lines, isMatch) > 0.7
}

// runSigns are parts of lines with which test runners, compilers, and installers begin.
var runSigns = []string{
	"=== test session starts ===", "=== RUN   ", "--- FAIL: ", "TAP version 1", "collected ", "   Compiling ",
	"npm error ", "npm ERR! ",
}

// diagnostics are parts of the messages of compilers.
var diagnostics = []string{": error: ", ": warning: ", "): error ", "error["}

// isRun reports whether test runners or compilers print such lines.
func isRun(lines []string) bool {
	for _, l := range lines[:min(len(lines), 12)] {
		if anyOf(runSigns, l, strings.Contains) && !strings.ContainsAny(l, "\"`") {
			return true
		}
	}
	return share(lines, func(l string) bool { return classify(l) == className || anyOf(diagnostics, l, strings.Contains) }) > 0.08
}
