package ctxabi

import (
	"fmt"
	"strings"
)

// Labeled is a part of a prompt with one label. It has no marks.
type Labeled struct {
	Label Label
	Text  string
}

// Divide divides a text of a prompt at the marks of its session. problem tells what is wrong with
// them: one that is not closed, or that opens or closes inside of other marks; "": nothing.
func (m Marks) Divide(text string) (parts []Labeled, problem string) {
	part := Labeled{}
	next := func(l Label) {
		parts = append(parts, part)
		part = Labeled{Label: l}
	}
	for line := range strings.Lines(text) {
		switch label, ends := m.ReadMark(line); {
		case ends && part.Label == Unlabeled, label != Unlabeled && part.Label != Unlabeled:
			problem = fmt.Sprintf("%q stands inside of label %d", line, part.Label)
			next(label)
		case ends, label != Unlabeled:
			next(label)
		default:
			part.Text += line
		}
	}
	if part.Label != Unlabeled {
		problem = "a mark is not closed"
	}
	return append(parts, part), problem
}
