package result

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// Limits of fields.
const (
	maxLevel      = 12  // highest Level of a field
	maxValueBytes = 200 // bytes of Field.Value
	maxShownBytes = 60  // bytes of a name, and of a value in the output of JoinFields
)

// Field is a scalar in a JSON text, or the number of items of a list.
type Field struct {
	Path  string // names and list indices: "payments.0.amount"; of several items "payments.[2 of 3].amount"
	Value string // without quotes, clipped
	Level int    // enclosing objects plus the positions in enclosing lists, from TopLevel

	items bool // Value is the number of items of a list
}

// TopLevel is the level of the fields of the first outermost object.
const TopLevel = 2

// Name returns the last name in the path.
func (f *Field) Name() string { names := f.names(); return names[len(names)-1] }

// Key returns the names in the path, separated by dots. It is equal for all items of a list.
func (f *Field) Key() string { return strings.Join(f.names(), ".") }

// Label returns the last two names in the path, separated by a dot. If lists in the path have
// several items, it begins with the first of these lists: "payments[2 of 3].amount".
func (f *Field) Label() string {
	var names []string
	from := len(f.Path)
	for part := range strings.SplitSeq(f.Path, ".") {
		switch {
		case !isIndex(part) || len(names) == 0 && part[0] == '[':
			names = append(names, part)
		case part[0] == '[':
			names[len(names)-1] += part
		}
		if strings.HasPrefix(part, "[") {
			from = min(from, len(names)-1)
		}
	}
	return strings.Join(names[min(from, max(0, len(names)-2)):], ".")
}

// isIndex reports whether a part of a path is the position in a list.
func isIndex(part string) bool {
	_, err := strconv.Atoi(part)
	return err == nil || strings.HasPrefix(part, "[")
}

// names returns the path without list indices. A path without names gives one empty name.
func (f *Field) names() []string {
	names := slices.DeleteFunc(strings.Split(f.Path, "."), isIndex)
	if len(names) == 0 {
		return []string{""}
	}
	return names
}

// Top reports whether the field belongs to the outermost object.
func (f *Field) Top() bool { return !strings.Contains(f.Path, ".") }

// Class is the meaning of a field, derived from its name. JoinFields writes lower classes first.
type Class int

// Classes of fields.
const (
	ClassError Class = iota
	ClassID          // identifies the object
	ClassStatus
	ClassOtherID // identifies a related object
	ClassAmount
	ClassDate
	ClassText
	ClassOther
)

// classWords maps the last word of a name to its class.
var classWords = func() map[string]Class {
	classes := map[string]Class{}
	for class, words := range map[Class]string{
		ClassError:  "error errors failure exception",
		ClassID:     "id uuid key number slug name title path url code reference ref",
		ClassStatus: "status state result ok success passed failed outcome conclusion phase",
		ClassAmount: "total amount price balance cost sum count quantity fee charge refund",
		ClassDate:   "date time due deadline until start end expires expiry day",
		ClassText:   "message msg reason type kind version user email detail details description note notes snippet summary severity",
	} {
		for word := range strings.FieldsSeq(words) {
			classes[word] = class
		}
	}
	return classes
}()

// Class returns the class of the field.
func (f *Field) Class() Class {
	words := compress.NameWords(f.Name())
	if len(words) == 0 {
		return ClassOther
	}
	last := words[len(words)-1]
	class, known := classWords[last]
	switch {
	case (words[0] == "error" || known && class == ClassError) && f.Value != "false" && f.Value != "0":
		return ClassError
	case known && class == ClassError, !known && !(f.Top() && IsCode(f.Value)):
		return ClassOther
	case !known, class == ClassID && last == "id" && len(words) > 1:
		return ClassOtherID
	}
	return class
}

// IsCode reports whether a value looks like an id: up to 40 bytes of ASCII letters, digits, and
// - _ / . with at least one letter and two digits.
func IsCode(value string) bool {
	letters, digits := 0, 0
	for i := range len(value) {
		switch c := value[i]; {
		case '0' <= c && c <= '9':
			digits++
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letters++
		case c != '-' && c != '_' && c != '/' && c != '.':
			return false
		}
	}
	return letters > 0 && digits > 1 && len(value) <= 40
}

// IsID reports whether the name of a field or an argument ends with a word for identifiers, such as
// reservation_id or userId.
func IsID(name string) bool {
	words := compress.NameWords(name)
	return len(words) > 0 && slices.Contains(idWords, words[len(words)-1])
}

var idWords = []string{"id", "uuid", "number", "key", "slug"}

// JoinFields appends fields to line as comma-separated "label value" pairs. Errors come first, then
// the other fields by level and class. It skips pairs for which fits returns false, and repeated
// values in one list.
func JoinFields(line string, fields []Field, fits func(line string) bool) string {
	type ranked struct {
		*Field
		rank int
	}
	list := make([]ranked, len(fields))
	for i := range fields {
		f := &fields[i]
		if list[i].Field = f; f.Class() != ClassError {
			list[i].rank = 10*f.Level + int(f.Class())
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return a.rank - b.rank })

	seen := map[string]bool{}
	for _, f := range list {
		part := strings.TrimSpace(f.Label() + " " + compress.Clip(f.Value, maxShownBytes))
		with := part
		if line != "" {
			with = line + ", " + part
		}
		if same := f.Key() + " " + f.Value; !seen[same] && fits(with) {
			line, seen[same] = with, true
		}
	}
	return line
}

// FieldsIn returns the fields of a JSON document or of JSON lines, and the text before them. It
// accepts truncated JSON. If JSON starts in the second half of text or is missing, it returns none.
func FieldsIn(text string) (head string, fields []Field) {
	text = strings.TrimSpace(text)
	start := jsonStart(text)
	if start < 0 || (len(text)-start)*2 < len(text) {
		return "", nil
	}
	return text[:start], readFields(text[start:])
}

// Set reports whether Value is a scalar rather than the number of items of a list.
func (f *Field) Set() bool { return !f.items }

// jsonStart returns the offset of the first object or list in the first half of text, or -1 if
// there is none.
func jsonStart(text string) int {
	for at := 0; at <= len(text)/2 && at < len(text); at++ {
		if text[at] != '{' && text[at] != '[' {
			continue
		}
		rest := strings.TrimLeft(text[at+1:], " \t\r\n")
		switch {
		case strings.HasPrefix(rest, `"`), text[at] == '[' && mayBeJSON(rest), at == 0 && isJSON(text):
			return at
		}
	}
	return -1
}

// readFields returns the fields of JSON documents, and the length of each list with several items.
// It skips empty and null values and levels above maxLevel. Invalid tokens do not stop it.
func readFields(text string) []Field {
	r := fieldReader{open: []openValue{{list: true}}} // documents form a list
	for at := 0; at < len(text); {
		switch c := text[at]; c {
		case '{', '[':
			r.begin(c == '[')
			at++
		case '}', ']':
			r.end()
			at++
		case '"':
			end := stringEnd(text, at)
			value := strings.Join(strings.Fields(gjson.Parse(text[at:end]).String()), " ")
			rest := strings.TrimLeft(text[end:], " \t\r\n")
			if at = end; strings.HasPrefix(rest, ":") && !r.open[len(r.open)-1].list {
				r.key = compress.Clip(value, maxShownBytes)
				at = len(text) - len(rest) + 1
				break
			}
			r.value(value)
		case ',', ':', ' ', '\t', '\n', '\r':
			at++
		default:
			end := at
			for end < len(text) && strings.IndexByte(",:{}[]\" \t\r\n", text[end]) < 0 {
				end++
			}
			if word := text[at:end]; gjson.Valid(word) {
				r.value(word)
			}
			at = end
		}
	}
	for _, list := range slices.Backward(r.open[1:]) { // the text is truncated
		r.number(&list, "…")
	}
	return r.fields
}

// fieldReader collects fields in one pass over a JSON text.
type fieldReader struct {
	open   []openValue // enclosing objects and lists, outermost first
	key    string      // name of the next value
	fields []Field
}

// openValue is an object or a list that encloses the next value.
type openValue struct {
	list  bool
	key   string
	items int    // items of the list up to the next value
	path  string // of its fields, with a dot at the end; "" above maxLevel
	first int    // index of its first field
}

// path returns the path of the next value up to its name.
func (r *fieldReader) path() string {
	last := &r.open[len(r.open)-1]
	if len(r.open) > 1 && last.list {
		return last.path + strconv.Itoa(last.items-1) + "."
	}
	return last.path
}

// number replaces the index of list by "[n of total]" in the paths of its fields.
func (r *fieldReader) number(list *openValue, total string) {
	for i := list.first; list.list && i < len(r.fields); i++ {
		f := &r.fields[i]
		index, rest, more := strings.Cut(strings.TrimPrefix(f.Path, list.path), ".")
		if n, err := strconv.Atoi(index); err == nil {
			f.Path = fmt.Sprintf("%s[%d of %s]", list.path, n+1, total)
			if more {
				f.Path += "." + rest
			}
		}
	}
}

// count increments the item count of the innermost value if it is a list.
func (r *fieldReader) count() {
	if last := &r.open[len(r.open)-1]; last.list {
		last.items++
	}
}

func (r *fieldReader) begin(list bool) {
	r.count()
	value := openValue{list: list, key: r.key, first: len(r.fields)}
	if len(r.open) <= maxLevel {
		if value.path = r.path(); r.key != "" {
			value.path += strings.ReplaceAll(r.key, ".", "_") + "."
		}
	}
	r.open = append(r.open, value)
	r.key = ""
}

func (r *fieldReader) end() {
	if len(r.open) == 1 {
		return
	}
	last := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	if r.key = ""; last.list && last.items > 1 {
		r.number(&last, strconv.Itoa(last.items))
		r.add(Field{Path: last.key, Value: fmt.Sprintf("[%d items]", last.items), items: true})
	}
}

func (r *fieldReader) value(value string) {
	r.count()
	r.add(Field{Path: r.key, Value: compress.Clip(value, maxValueBytes)})
	r.key = ""
}

// add completes the path and level of f from the enclosing values and appends it. It drops f if its
// value is empty or null or its level is above maxLevel.
func (r *fieldReader) add(f Field) {
	for i := range r.open {
		if f.Level += max(1, r.open[i].items); f.Level > maxLevel || f.Value == "" || f.Value == "null" {
			return
		}
	}
	f.Path = strings.TrimSuffix(r.path()+strings.ReplaceAll(f.Path, ".", "_"), ".")
	r.fields = append(r.fields, f)
}

// stringEnd returns the offset after the JSON string that starts at offset at. An unterminated
// string ends with the text.
func stringEnd(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
