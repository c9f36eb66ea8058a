package runs

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/result"
)

// Bounds of an output.
const (
	readEnds  = 16 << 10 // bytes that are read at each end
	lastLines = 8        // lines in which words of failure count
	maxSaid   = 200      // bytes of the text that a run keeps
	maxPart   = 120      // bytes of one of its lines
	longLine  = 2000     // bytes; a longer line says nothing
)

// verdict is what an output says about its run.
type verdict struct {
	passed, failed bool
	runner         bool   // a runner or a compiler says so, not only a word of failure
	said           string // the lines that say it
}

// reading collects the lines of an output that say something about its run.
type reading struct {
	verdict
	pass, count, ran              string // summaries
	name, cause, vague, exception string // of failures
	empty                         bool   // no test ran
}

// judge reads the output of a command.
func judge(output, command string) verdict {
	lines := informative(output)
	web := slices.ContainsFunc(httpWords, func(w string) bool { return strings.Contains(command, w) })
	var r reading
	for i, line := range lines {
		if c, ok := countsIn(line); ok {
			r.figures(line, c)
			continue
		}
		if line == "OK" && r.ran != "" {
			r.pass = r.ran + " " + line
			continue
		}
		s := signOf(line, i >= len(lines)-lastLines)
		if s == 0 && web && i == len(lines)-1 && statusRule.line().MatchString(line) {
			s = causes
		}
		r.take(line, s)
	}

	if !r.failed {
		return verdict{passed: r.pass != "", runner: r.pass != "", said: r.pass}
	}
	if r.cause = first(r.cause, r.exception); r.cause == "" {
		r.cause = firstTelling(lines)
	}
	if r.name == "" && (r.cause == "" || r.count != "") {
		r.name = r.vague
	}
	r.said = joined(r.name, r.cause, r.count)
	return r.verdict
}

// figures takes a summary line.
func (r *reading) figures(line string, c counts) {
	switch {
	case c.failed > 0:
		r.count, r.failed, r.runner = line, true, true
	case c.total > 0 && strings.HasPrefix(line, "Ran "):
		r.ran = line
	case c.passed > 0, c.total > 0 && (strings.HasPrefix(line, "OK") || strings.Contains(line, "Failures: 0") || strings.Contains(line, "0 failures")):
		r.pass = line
	}
}

// take takes a line with a sign.
func (r *reading) take(line string, s sign) {
	switch s {
	case noTests:
		r.empty, r.pass = true, ""
	case cut:
		r.pass, r.ran = "", "" // what the rest said is not known
	case passes:
		if !r.empty {
			r.pass = line
		}
	case fails:
		r.vague = first(r.vague, line)
	case names:
		r.name = first(r.name, line)
	case causes:
		if isException(line) {
			r.exception = line
		} else {
			r.cause = first(r.cause, line)
		}
	}
	if s >= fails && s <= causes {
		r.failed = true
		r.runner = r.runner || signOf(line, false) == s
	}
}

// first returns the first text that is not empty.
func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// joined returns distinct lines in one.
func joined(lines ...string) string {
	var out []string
	for _, line := range lines {
		if line != "" && !slices.Contains(out, line) {
			out = append(out, compress.Clip(line, maxPart))
		}
	}
	return compress.Clip(strings.Join(out, " | "), maxSaid)
}

// firstTelling returns the first line that tells what went wrong.
func firstTelling(lines []string) string {
	for _, line := range lines {
		if _, tells := result.FailureLine(line); tells && !strings.HasSuffix(line, ":") && strings.Contains(line, " ") {
			return line
		}
	}
	return ""
}

// isException reports whether a line is the last one of a traceback. The last traceback counts.
func isException(line string) bool {
	word, _, ok := strings.Cut(line, ": ")
	return ok && !strings.Contains(word, " ") && (strings.HasSuffix(word, "Error") || strings.HasSuffix(word, "Exception"))
}

// informative returns the lines of an output that contain words, without colors and blanks.
func informative(output string) (lines []string) {
	if len(output) > 2*readEnds {
		output = output[:readEnds] + "\n" + output[len(output)-readEnds:]
	}
	for line := range strings.Lines(output) {
		if i := strings.LastIndexByte(strings.TrimRight(line, "\r\n"), '\r'); i >= 0 {
			line = line[i+1:] // a progress bar
		}
		line = strings.TrimSpace(withoutColors(line))
		if len(line) > longLine || strings.IndexFunc(line, isWordRune) < 0 || strings.Trim(line, "()[]<>") == "no output" {
			continue
		}
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// withoutColors returns a line without the escape sequences of a terminal.
func withoutColors(line string) string {
	for {
		i := strings.Index(line, "\x1b[")
		if i < 0 {
			return line
		}
		j := i + 2
		for j < len(line) && (isDigit(line[j]) || line[j] == ';') {
			j++
		}
		line = line[:i] + line[min(j+1, len(line)):]
	}
}

// lastWords returns the last line of an output, or all of a short one.
func lastWords(output string) string {
	lines := slices.Compact(informative(output))
	if len(lines) == 0 {
		return ""
	}
	if all := strings.Join(lines, " | "); len(all) <= maxPart {
		return all
	}
	return compress.Clip(lines[len(lines)-1], maxPart)
}
