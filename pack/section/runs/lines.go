package runs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/pack/prefix"
)

// recentRecords is the number of records after which a failure counts less than later results.
const recentRecords = 200

// Bytes of the command that ended a failure, and of the reason of a failure that is over.
const (
	maxBy  = 80
	maxWhy = 120
)

// Lines implements [prefix.Section]. The groups are, in this order: recent open failures, calls
// that act outside of the workspace, other results, old open failures, failures that another
// command ended, and look-ups. Each group lists the newest run first.
func (s *State) Lines(in prefix.LineInput) (lines []prefix.Line) {
	groups := []func(r *run) bool{
		func(r *run) bool { return r.open() && r.at > in.At-recentRecords },
		func(r *run) bool { return r.external && r.outcome != failed },
		func(r *run) bool { return !r.external && r.outcome != failed },
		func(r *run) bool { return r.open() && r.at <= in.At-recentRecords },
		func(r *run) bool { return r.outcome == failed && !r.open() },
		func(r *run) bool { return true },
	}
	for i, of := range groups {
		for _, r := range slices.Backward(s.list) {
			if !r.reading && r.lookUp == (i == len(groups)-1) && of(r) {
				lines = append(lines, r.line(in))
			}
		}
	}
	return lines
}

// line returns the run in one line.
func (r *run) line(in prefix.LineInput) prefix.Line {
	l := prefix.Line{Name: r.name, At: max(r.at, r.byAt), External: r.external, Least: r.lookUp}
	l.Short = r.name + ": " + r.state(in)
	if r.byAt > 0 {
		l.Short = r.name + ": failed at " + in.Where(r.at) + ", over since " + in.Where(r.byAt)
	}

	var b strings.Builder
	b.WriteString(r.name + ": ")
	if r.failedAt > 0 {
		b.WriteString("failed at " + in.Where(r.failedAt))
		if r.why != "" {
			b.WriteString(": " + compress.Clip(r.why, maxWhy))
		}
		b.WriteString("; ")
	}
	b.WriteString(r.state(in))
	if n := len(r.fails); n > 1 {
		fmt.Fprintf(&b, ", %d times", n)
	}
	switch {
	case r.said != "":
		b.WriteString(": " + r.said)
	case r.outcome == ended || r.outcome == exitZero:
		b.WriteString(", no output")
	}
	if r.args != "" {
		b.WriteString(" (arguments: " + r.args + ")")
	}
	b.WriteString(r.since(in))
	l.Full = b.String()
	return l
}

// since returns the success that ended the failure; "" for none.
func (r *run) since(in prefix.LineInput) string {
	if r.byAt == 0 {
		return ""
	}
	return "; over since " + in.Where(r.byAt) + ": " + compress.Clip(withoutCD(r.by), maxBy)
}

// withoutCD returns a command line without the change of directory before it.
func withoutCD(line string) string {
	if strings.HasPrefix(line, "cd ") {
		if _, rest, ok := strings.Cut(line, " && "); ok {
			return rest
		}
	}
	return line
}

// state returns the outcome and the address of the result.
func (r *run) state(in prefix.LineInput) string {
	at := " at " + in.Where(r.at)
	switch r.outcome {
	case passed:
		return "passed" + at
	case failed:
		if r.exit != "" {
			return "failed" + at + ", exit " + r.exit
		}
		return "failed" + at
	case answered:
		return "result" + at
	case exitZero:
		return "exit 0" + at
	case unfinished:
		return "unfinished" + at
	}
	return "ended" + at
}
