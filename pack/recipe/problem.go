package recipe

import (
	"fmt"
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

// Unwrap gives the errors of files that could not be read.
func (p Problems) Unwrap() (errs []error) {
	for _, q := range p {
		if q.err != nil {
			errs = append(errs, q.err)
		}
	}
	return errs
}
