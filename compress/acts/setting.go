package acts

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/compress"
)

// Setting is what a call sets: fields of an object that its ids name.
type Setting struct {
	tool   string
	ids    []leaf
	fields []leaf
}

// SettingOf returns what a call sets; ok is false if the call reads or makes something, works on a
// file, or names no object.
func SettingOf(tool, arguments string) (s Setting, ok bool) {
	verbs := verbsOf(tool)
	if len(verbs) == 0 || slices.ContainsFunc(verbs, func(w string) bool { return reading[w] || making[w] }) {
		return s, false
	}
	leaves, isObject := leavesOf(arguments)
	if !isObject {
		return s, false
	}
	s.tool = tool
	for _, l := range leaves {
		switch {
		case slices.Contains(compress.PathKeys, l.path):
			return s, false
		case isID(l.name()) || isCode(l.value):
			s.ids = append(s.ids, l)
		default:
			s.fields = append(s.fields, l)
		}
	}
	return s, len(s.ids) > 0 && len(s.fields) > 0
}

// isCode reports whether a value looks like an id: a word with capitals and digits.
func isCode(value string) bool {
	return len(value) < 48 && strings.IndexFunc(value, unicode.IsUpper) >= 0 && strings.ContainsAny(value, "0123456789") &&
		!strings.ContainsAny(value, " \t\n")
}

// Replaces reports whether s sets all its fields to other values than the earlier t, for the same
// object. A field that t does not set, or sets to the same value, may name another object.
func (s *Setting) Replaces(t *Setting) bool {
	if s.tool != t.tool || !slices.Equal(s.ids, t.ids) {
		return false
	}
	return !slices.ContainsFunc(s.fields, func(l leaf) bool {
		return !slices.ContainsFunc(t.fields, func(old leaf) bool { return old.path == l.path && old.value != l.value })
	})
}

// reading are verbs in the names of tools that change nothing.
var reading = compress.WordSet(`get list search find read fetch query lookup view show check calculate compute think reason plan describe count
	browse open ask retrieve grep glob ls cat web status info help load select inspect watch wait sleep recall remember todo todos task tasks screenshot
	snapshot validate verify test tests estimate compare summarize translate measure scan sample poll ping trace profile benchmark analyze analyse`)

// making are verbs of tools that make something, whose id the call does not know.
var making = compress.WordSet("add book create insert make new order post register send start submit")

// verbsOf returns the words in the name of a tool among which its verb is. A tool with a name of one word is a program (python, think):
// it has none.
func verbsOf(tool string) []string {
	if i := strings.LastIndex(tool, "__"); i >= 0 { // mcp__server__tool
		tool = tool[i+2:]
	}
	words := wordsOf(tool)
	if len(words) < 2 {
		return nil
	}
	return words[:2]
}
