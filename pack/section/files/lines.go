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
				lines = append(lines, s.line(f, in))
			}
		}
	}
	return lines
}

// line formats a file as one line, with its events in chronological order:
//
//	a.go: written at 12, 1204 bytes; edited 2 times, last at 15; a command at 20: gofmt -w a.go
func (s *State) line(f *file, in prefix.LineInput) prefix.Line {
	var did []string
	short := ""
	add := func(text, full string) { short, did = text, append(did, full) }
	command := func() {
		at := "a command at " + in.Where(f.commandAt) + f.end + ": " + f.command
		add(at, at)
	}
	if f.wroteAt > 0 {
		text := "written at " + in.Where(f.wroteAt)
		if f.size >= 0 {
			text += fmt.Sprintf(", %d bytes", f.size)
		}
		add(text, text)
	}
	if f.commandAt > 0 && f.commandAt < f.at {
		command()
	}

	name, alone := s.nameOf(f)
	switch at := in.Where(f.at); {
	case f.at == 0 || f.action == written:
	case f.edits > 1 && !alone:
		add("edited at "+at, "edited, last at "+at)
	case f.action == edited && f.edits > 1:
		add("edited at "+at, fmt.Sprintf("edited %d times, last at %s", f.edits, at))
	case f.action == moved:
		add("moved to "+f.to+" at "+at, "moved to "+f.to+" at "+at)
	default:
		add(actionNames[f.action]+" at "+at, actionNames[f.action]+" at "+at)
	}
	if f.commandAt > 0 && f.commandAt >= f.at {
		command()
	}
	return prefix.Line{Name: name, Full: name + ": " + strings.Join(did, "; "), Short: name + ": " + short,
		At: max(f.at, f.commandAt)}
}

// nameOf returns the path of f, or its absolute path if another entry has the same path. alone is
// false if another entry may refer to the same file, because one of the two has no absolute path.
func (s *State) nameOf(f *file) (name string, alone bool) {
	name, alone = f.path, true
	for _, other := range s.list {
		if other == f {
			continue
		}
		if other.path == f.path && f.full != "" {
			name = f.full
		}
		if f.full == "" && strings.HasSuffix(other.full, "/"+f.path) || other.full == "" &&
			strings.HasSuffix(f.full, "/"+other.path) {
			alone = false
		}
	}
	return name, alone
}
