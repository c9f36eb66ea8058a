package verdicts

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/result"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Report is what an output says of tests and errors.
type Report struct {
	Passed, Failed, Errors, Skipped int
	Counted                         bool     // it has counts
	Good, Bad                       bool     // it says that all went well, or that something failed
	Names                           []string // of what failed, the first maxNames
	Why                             string   // the line that says why, if there is one
}

// Bounds of a report.
const (
	maxNames = 12
	maxName  = 80
	maxWhy   = 160
	maxRead  = 64 << 10 // bytes of each end of an output
)

// reading is a report on its way.
type reading struct {
	Report
	unit     int // failures of what has no counts: files, packages
	rank     int // of Why
	named    map[string]bool
	compiles int // errors of compilers
}

// Read returns what an output says.
func Read(output string) Report {
	r := reading{named: map[string]bool{}}
	output = ends(output)
	compress.EachLine(output, func(_ int, line string) {
		if len(line) < 3 || len(line) > 2000 {
			return
		}
		plain := strings.TrimSpace(uncoloured(line))
		if plain == "" {
			return
		}
		low := ""
		for _, i := range rulesAt()[plain[0]] {
			rule := &rules[i]
			if low == "" {
				low = strings.ToLower(plain)
			}
			if !rule.mayHold(low) {
				continue
			}
			if m := rule.re().FindStringSubmatch(plain); m != nil {
				rule.take(&r, m)
				if rule.last {
					return
				}
			}
		}
		if _, tells := result.FailureLine(plain); tells && !bare().MatchString(plain) {
			r.why(1, plain)
		}
	})
	if !r.Counted && len(r.Names) > 0 {
		r.Bad = true
	}
	if r.compiles > 0 {
		r.Errors = max(r.Errors, r.compiles)
		r.Bad = true
	}
	r.Bad = r.Bad || r.Failed > 0 || r.Errors > 0
	r.Good = r.Good || r.Counted && !r.Bad
	return r.Report
}

// bare matches lines that only say that something failed, or what follows.
var bare = lazy.Regexp(`^(?:\W*FAIL(?:ED)?\W*|.*:|Traceback .*)$`)

// ends returns both ends of a long output.
func ends(s string) string {
	if len(s) <= 2*maxRead {
		return s
	}
	return s[:maxRead] + "\n" + s[len(s)-maxRead:]
}

// uncoloured returns a line without the codes of a terminal.
func uncoloured(line string) string {
	for {
		i := strings.Index(line, "\x1b[")
		if i < 0 {
			return line
		}
		j := i + 2
		for j < len(line) && (line[j] >= '0' && line[j] <= '9' || line[j] == ';') {
			j++
		}
		line = line[:i] + line[min(j+1, len(line)):]
	}
}

// leaves drops the names of tests that only hold others: TestA of TestA/one.
func (r *Report) leaves() []string {
	return slices.DeleteFunc(slices.Clone(r.Names), func(n string) bool {
		return slices.ContainsFunc(r.Names, func(m string) bool { return strings.HasPrefix(m, n+"/") })
	})
}
