package runs

import (
	"slices"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/result"
	"github.com/ctxfs/ctxfs/compress/toolcall"
)

// Setting is what a call sets: fields of an object that its ids name.
type Setting struct {
	tool   string
	ids    []result.Field
	fields []result.Field
}

// SettingOf returns what a call sets; ok is false if the call reads, runs, or makes something, works
// on a file, or names no object.
func SettingOf(tool, arguments string) (s Setting, ok bool) {
	if compress.KindOf(tool) != compress.ActingTool || len(compress.NameWords(compress.BareName(tool))) < 2 ||
		len(toolcall.FileUses(tool, arguments)) > 0 {
		return s, false
	}
	s.tool = tool
	fields, _ := fieldsOf(arguments)
	for _, f := range fields {
		if result.IsID(f.Name()) || result.IsCode(f.Value) {
			s.ids = append(s.ids, f)
		} else {
			s.fields = append(s.fields, f)
		}
	}
	return s, len(s.ids) > 0 && len(s.fields) > 0
}

// Replaces reports whether s sets all its fields to other values than the earlier t, for the same
// object. A field that t does not set, or sets to the same value, may name another object.
func (s *Setting) Replaces(t *Setting) bool {
	if s.tool != t.tool || !slices.Equal(s.ids, t.ids) {
		return false
	}
	return !slices.ContainsFunc(s.fields, func(f result.Field) bool {
		return !slices.ContainsFunc(t.fields,
			func(old result.Field) bool { return old.Path == f.Path && old.Value != f.Value })
	})
}
