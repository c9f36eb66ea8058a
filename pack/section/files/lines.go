package files

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/pack/prefix"
)

// Lines implements [prefix.Section]: files that a structured tool changed, then those that only
// commands name, each newest first.
func (s *State) Lines(in prefix.LineInput) (lines []prefix.Line) {
	for _, structured := range []bool{true, false} {
		for _, f := range slices.Backward(s.list) {
			if f.at > 0 == structured {
				lines = append(lines, f.line(in))
			}
		}
	}
	return lines
}

// line returns the file in one line:
//
//	a.go: written at 12, 1204 bytes; edited 2 times, last at 15; at 20: gofmt -w a.go
func (f *file) line(in prefix.LineInput) prefix.Line {
	var did []string
	short := ""
	if f.wroteAt > 0 {
		short = "written at " + in.Where(f.wroteAt)
		if f.size >= 0 {
			short += fmt.Sprintf(", %d bytes", f.size)
		}
		did = append(did, short)
	}
	switch {
	case f.at == 0 || f.action == written:
	case f.action == moved:
		short = "moved to " + f.to + " at " + in.Where(f.at)
		did = append(did, short)
	case f.action == edited && f.edits > 1:
		short = "edited at " + in.Where(f.at)
		did = append(did, fmt.Sprintf("edited %d times, last at %s", f.edits, in.Where(f.at)))
	default:
		short = actionNames[f.action] + " at " + in.Where(f.at)
		did = append(did, short)
	}
	if f.commandAt > 0 {
		at := "last command at " + in.Where(f.commandAt)
		if f.failed {
			at += ", failed"
		}
		if f.commandAt >= f.at {
			short = at + ": " + f.command
		}
		did = append(did, at+": "+f.command)
	}
	return prefix.Line{Name: f.path, Full: f.path + ": " + strings.Join(did, "; "), Short: f.path + ": " + short, At: max(f.at, f.commandAt)}
}
