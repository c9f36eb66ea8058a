package runs

import (
	"slices"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/result"
)

// Setting is what a call sets: fields of an object that its ids name.
type Setting struct {
	tool   string
	ids    []result.Field
	fields []result.Field
}

// SettingOf returns what a call sets; ok is false if the call reads, checks, or makes something,
// works on a file, or names no object.
func SettingOf(tool, arguments string) (s Setting, ok bool) {
	verbs := verbsOf(tool)
	other := func(w string) bool { return readingVerbs[w] || makingVerbs[w] || checkingVerbs[w] }
	if len(verbs) < 2 || slices.ContainsFunc(verbs, other) {
		return s, false
	}
	fields, isObject := fieldsOf(arguments)
	if !isObject {
		return s, false
	}

	s.tool = tool
	for i := range fields {
		switch f := fields[i]; {
		case slices.Contains(compress.PathKeys, f.Path):
			return s, false
		case result.IsID(f.Name()) || result.IsCode(f.Value):
			s.ids = append(s.ids, f)
		default:
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
