package runs

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// Bounds of a JSON object.
const (
	maxRead   = 32 << 10 // bytes
	maxFields = 96
	maxDepth  = 5
	maxItems  = 8 // of one list, at its beginning and its end
	maxValue  = 64
)

// field is one value of a JSON object.
type field struct {
	path  string // "payment_history.1.amount"
	value string
}

// name returns the name of the field without the positions of lists.
func (f *field) name() string {
	name := ""
	for part := range strings.SplitSeq(f.path, ".") {
		if _, err := strconv.Atoi(part); err != nil {
			name = part
		}
	}
	return name
}

// top reports whether the field belongs to the object itself.
func (f *field) top() bool { return !strings.Contains(f.path, ".") }

// fieldsOf returns the values of a JSON object in their order; ok is false if text is not one.
func fieldsOf(text string) (fields []field, ok bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxRead || !strings.HasPrefix(text, "{") || !gjson.Valid(text) {
		return nil, false
	}
	appendFields(&fields, gjson.Parse(text), "", 0)
	return fields, true
}

func appendFields(fields *[]field, v gjson.Result, path string, depth int) {
	switch {
	case len(*fields) >= maxFields || depth > maxDepth || v.Type == gjson.Null:
		return
	case v.IsArray():
		all := v.Array()
		for i, item := range all {
			if i < maxItems/2 || i >= len(all)-maxItems/2 {
				appendFields(fields, item, path+"."+strconv.Itoa(i), depth+1)
			}
		}
	case v.IsObject():
		v.ForEach(func(key, item gjson.Result) bool {
			name := strings.ReplaceAll(key.String(), ".", "_")
			if path != "" {
				name = path + "." + name
			}
			appendFields(fields, item, name, depth+1)
			return len(*fields) < maxFields
		})
	default:
		if value := oneLine(v.String()); value != "" {
			*fields = append(*fields, field{path, compress.Clip(value, maxValue)})
		}
	}
}

// Last words of the names of fields that a line shows, the most important group first.
var shownFields = []struct {
	words  map[string]bool
	nested bool // fields of the parts of an object, too; of a list those of its last item
	ids    bool // fields whose value looks like an id, too
}{
	{compress.WordSet("status state success ok outcome result phase conclusion error errors"), true, false},
	{compress.WordSet("id uuid number key slug code reference ref name title url"), false, true},
	{compress.WordSet("total amount price balance cost sum count quantity fee charge refund"), true, false},
	{compress.WordSet("date time at until due deadline start end expires expiry day"), false, false},
	{compress.WordSet("message reason detail details description note notes"), false, false},
}

// idFields are last words of the names of fields and arguments that identify an object.
var idFields = compress.WordSet("id uuid number key slug")

// isID reports whether a field with this name identifies an object: reservation_id, userId.
func isID(name string) bool { return idFields[lastWord(name)] }

func lastWord(name string) string {
	words := compress.NameWords(name)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// shown returns the states, ids, amounts, and dates of a result in at most limit bytes, without
// values that a reader knows from known. Without any of them it returns the first fields.
func shown(fields []field, known string, limit int) string {
	var b strings.Builder
	used := map[string]bool{}
	for _, group := range shownFields {
		for _, top := range []bool{true, false} {
			for i := range fields {
				f := &fields[i]
				if f.top() != top || !top && (!group.nested || lastWord(f.name()) == "price" || !f.isLast(fields[i+1:])) || !group.words[lastWord(f.name())] && !(group.ids && isCode(f.value)) {
					continue
				}
				part := f.label() + " " + f.value
				if used[part] || strings.Contains(known+" ", " "+f.value+" ") || b.Len()+len(part)+2 > limit {
					continue
				}
				used[part] = true
				if b.Len() > 0 {
					b.WriteString(", ")
				}
				b.WriteString(part)
			}
		}
	}
	if b.Len() == 0 {
		return arguments(fields, func(*field) bool { return true }, limit)
	}
	return b.String()
}

// isCode reports whether a value looks like an id: one word of letters and digits, no date.
func isCode(value string) bool {
	letters, digits := 0, 0
	for i := range len(value) {
		switch c := value[i]; {
		case isDigit(c):
			digits++
		case isLetter(c):
			letters++
		case c != '-' && c != '_' && c != '/' && c != '.':
			return false
		}
	}
	return letters > 0 && digits > 1 && len(value) <= 40
}

// isLast reports whether no field after f has the same path but for positions of lists.
func (f *field) isLast(after []field) bool {
	for i := range after {
		if after[i].label() == f.label() {
			return false
		}
	}
	return true
}

// label returns the path of the field without the positions of lists: "payment_history amount".
func (f *field) label() string {
	if f.top() {
		return f.path
	}
	var names []string
	for part := range strings.SplitSeq(f.path, ".") {
		if _, err := strconv.Atoi(part); err != nil {
			names = append(names, part)
		}
	}
	return strings.Join(names[max(0, len(names)-2):], " ")
}

// arguments returns the fields that show selects in one line of at most limit bytes.
func arguments(fields []field, show func(f *field) bool, limit int) string {
	var b strings.Builder
	for i := range fields {
		f := &fields[i]
		if !show(f) {
			continue
		}
		part := f.name() + " " + f.value
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
