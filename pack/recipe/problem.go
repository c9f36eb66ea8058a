package recipe

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a recipe, or, as a warning, unwise.
type Problem struct {
	Origin
	Text string // one sentence: what is wrong, what is allowed
	err  error  // of reading a file, or nil
}

// String is "context.yaml:7:5: unknown key ...".
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// Problems are all that is wrong with a recipe, in the order of files and lines.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors of files that could not be read.
func (p Problems) Unwrap() (errs []error) {
	for _, q := range p {
		if q.err != nil {
			errs = append(errs, q.err)
		}
	}
	return errs
}

// didYouMean returns a hint at the candidate that word was meant to be, or "".
func didYouMean(word string, candidates []string) string {
	best, least := "", (min(len(word), 24)+2)/3+1
	for _, c := range candidates {
		if d := distance(word, c); d < least {
			best, least = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" did you mean %q?", best)
}

// distance is the number of edits (Levenshtein) between two words.
func distance(a, b string) int {
	if len(a) > 40 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal, row[j+1] = row[j+1], min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

func (l *loader) add(p Problem) {
	if !slices.ContainsFunc(l.problems, func(q Problem) bool { return q.Origin == p.Origin && q.Text == p.Text }) && len(l.problems) < maxProblems {
		l.problems = append(l.problems, p)
	}
}

// said reports whether something is wrong at a place already.
func (l *loader) said(at Origin) bool {
	return slices.ContainsFunc(l.problems, func(p Problem) bool { return p.Origin == at })
}
