package runs

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/result"
)

// Limits for JSON texts and their values.
const (
	maxRead  = 32 << 10 // bytes of an object that fieldsOf parses
	maxWords = 4        // words of a value in the line of a look-up
	maxValue = 64       // bytes of an argument value in a line
)

// fieldsOf returns the values of a JSON object in their order; ok is false if text is not one.
func fieldsOf(text string) (fields []result.Field, ok bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxRead || !strings.HasPrefix(text, "{") || !gjson.Valid(text) {
		return nil, false
	}
	_, fields = result.FieldsIn(text)
	return slices.DeleteFunc(fields, func(f result.Field) bool { return !f.Set() }), true
}

// shown formats the states, ids, amounts, and dates of a result in at most limit bytes. It omits
// values that are words of known. From nested objects it takes only errors, states, and the last
// amount of each key. If no field qualifies, it returns the first fields.
func shown(fields []result.Field, known string, limit int) string {
	var list []result.Field
	for i, f := range fields {
		class := f.Class()
		if !f.Top() && class == result.ClassAmount && !strings.HasSuffix(f.Name(), "price") &&
			isLast(&f, fields[i+1:]) {
			f.Level = result.TopLevel
		}
		nested := f.Level > result.TopLevel && class != result.ClassError && class != result.ClassStatus
		if class != result.ClassOther && !nested && !strings.Contains(known+" ", " "+f.Value+" ") {
			list = append(list, f)
		}
	}
	if line := result.JoinFields("", list, func(line string) bool { return len(line) <= limit }); line != "" {
		return line
	}
	return arguments(fields, func(*result.Field) bool { return true }, limit)
}

// isLast reports whether no field after f has the same key.
func isLast(f *result.Field, after []result.Field) bool {
	return !slices.ContainsFunc(after, func(other result.Field) bool { return other.Key() == f.Key() })
}

// found formats the fields of a look-up result in at most limit bytes, without long texts and
// without words of known. It returns "" if text is not valid JSON. If cut is true, the text is
// truncated and only has to begin like JSON.
func found(text, known string, limit int, cut bool) string {
	head, fields := result.FieldsIn(text)
	if head != "" || !cut && !gjson.Valid(text) {
		return ""
	}
	fields = slices.DeleteFunc(fields, func(f result.Field) bool {
		long := f.Class() >= result.ClassText && strings.Count(f.Value, " ") >= maxWords
		return long || strings.Contains(known+" ", " "+f.Value+" ")
	})
	return result.JoinFields("", fields, func(line string) bool { return len(line) <= limit })
}

// arguments returns the fields that show selects in one line of at most limit bytes.
func arguments(fields []result.Field, show func(f *result.Field) bool, limit int) string {
	var b strings.Builder
	for i := range fields {
		f := &fields[i]
		if !show(f) {
			continue
		}
		part := f.Name() + " " + compress.Clip(f.Value, maxValue)
		if b.Len() > 0 {
			part = ", " + part
		}
		if b.Len()+len(part) > limit {
			b.WriteString("…")
			break
		}
		b.WriteString(part)
	}
	return b.String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
