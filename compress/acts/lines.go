package acts

import (
	"slices"
	"strconv"
	"strings"
)

// Options are how [State.Lines] shows acts.
type Options struct {
	Chars int                 // how many bytes the lines may take, newlines among them
	Where func(at int) string // how a place is called; nil: by its number
	Since int                 // only what was done behind this place is shown
}

// Lines returns a line for each act, the newest first, as many as o.Chars bytes hold.
func (s State) Lines(o Options) (out []string) {
	if o.Where == nil {
		o.Where = strconv.Itoa
	}
	left := o.Chars
	for _, a := range slices.Backward(s.list) {
		if a.At <= o.Since {
			break
		}
		line := a.Line(o.Where)
		if len(line)+1 > left {
			break
		}
		left -= len(line) + 1
		out = append(out, line)
	}
	return out
}

// Line returns an act in one line.
func (a *Act) Line(where func(at int) string) string {
	var b strings.Builder
	b.WriteString(a.Tool)
	if a.Object != "" {
		b.WriteString(" " + a.Object)
	}
	b.WriteString(": ")
	if a.Failed {
		b.WriteString("failed")
	} else {
		b.WriteString("done")
	}
	b.WriteString(" (" + where(a.At) + ")")
	if a.Said != "" {
		b.WriteString(": " + a.Said)
	}
	return b.String()
}
