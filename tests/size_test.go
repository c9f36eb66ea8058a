package tests

import (
	"bytes"
	"go/scanner"
	"go/token"
	"path"
	"strings"
	"testing"
)

// A package is to be taken in at one look: at most that many files and lines of code, tests not counted.
const (
	maxFiles = 30
	maxLines = 4000 // of code: neither blank nor comment alone
)

// wide are the rooms that are flat by nature, and what they may hold.
var wide = map[string][2]int{
	"pack/builder":   {31, 4200}, // a file for each thing that packs of all hosts have to show alike
	"pack/journal":   {30, 4020}, // a file for each part of the journal
	"compress/notes": {30, 4060}, // a table of rules for each kind of note
	"fs":             {50, 7200}, // a node for each kind of file
	"cmd/ctxfs":      {68, 9000}, // a file for each verb
	"session":        {31, 4450}, // a file for each thing that a session has

	"session/log": {30, 4330}, // what holds the turns and the files of one log together
}

func TestRoomsStaySmall(t *testing.T) {
	seen := map[string][2]int{}
	for _, f := range sources(t) {
		room := path.Dir(f.name)
		if strings.HasSuffix(f.name, "_test.go") || outside(room) {
			continue
		}
		n := seen[room]
		seen[room] = [2]int{n[0] + 1, n[1] + codeLines(f.src)}
	}
	for room, n := range seen {
		most := [2]int{maxFiles, maxLines}
		if w, ok := wide[room]; ok {
			most = w
		}
		if n[0] > most[0] || n[1] > most[1] {
			t.Errorf("%s has %d files and %d lines of code, and may have %d and %d", room, n[0], n[1], most[0], most[1])
		}
	}
	for room := range wide {
		if _, ok := seen[room]; !ok {
			t.Errorf("there is no room %s", room)
		}
	}
}

// codeLines returns how many lines of a Go file have a token that is no comment.
func codeLines(src []byte) int {
	var s scanner.Scanner
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(src))
	s.Init(file, src, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue
		}
		from := file.Line(pos)
		for i := range 1 + strings.Count(text, "\n") {
			lines[from+i] = true
		}
	}
}

func TestCodeLines(t *testing.T) {
	for src, want := range map[string]int{
		"": 0, "package x\n": 1, "// a\npackage x // b\n\n/* c\nd */\n": 1, "package x\nvar a = `1\n\n2`\n": 4, "package x\nvar (\n)\n": 3,
	} {
		if got := codeLines([]byte(src)); got != want {
			t.Errorf("%q: %d lines, want %d", src, got, want)
		}
	}
}

// No file is so long that it has several jobs.
func TestFilesStayShort(t *testing.T) {
	for _, f := range sources(t) {
		if n := bytes.Count(f.src, []byte("\n")); n > 400 {
			t.Errorf("%s has %d lines, and may have 400", f.name, n)
		}
	}
}
