package result

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// Bounds of the fields of JSON.
const (
	fieldLevel = 12  // objects and items of lists before a field that is read
	fieldValue = 200 // bytes of a value
	shownValue = 60  // bytes of a value that a line shows
)

// Field is a field of a JSON text with a value that is no object.
type Field struct {
	Path  string // its name behind those around it and the positions of lists: "payments.1.amount"
	Value string
	Level int // objects around it and items of lists before it; [TopLevel] at least

	items bool // Value is the number of items of a list
}

// TopLevel is the level of the fields of an object that is in no other one.
const TopLevel = 2

// Name returns the name of the field without those around it.
func (f *Field) Name() string { names := f.names(); return names[len(names)-1] }

// Label returns the name of the field behind that of the object around it.
func (f *Field) Label() string {
	names := f.names()
	return strings.Join(names[max(0, len(names)-2):], ".")
}

// names returns the names in the path; at least one.
func (f *Field) names() []string {
	names := slices.DeleteFunc(strings.Split(f.Path, "."), func(part string) bool {
		_, err := strconv.Atoi(part)
		return err == nil
	})
	if len(names) == 0 {
		return []string{""}
	}
	return names
}

// Top reports whether the field belongs to the object itself.
func (f *Field) Top() bool { return !strings.Contains(f.Path, ".") }

// Class is what the name of a field says about its value. Lines show the fields of lower classes
// first.
type Class int

// Classes of fields.
const (
	ClassError Class = iota
	ClassID          // it identifies the object
	ClassStatus
	ClassOtherID
	ClassAmount
	ClassDate
	ClassText
	ClassOther
)

// classWords are the last words of the names of fields, by their classes.
var classWords = func() map[string]Class {
	classes := map[string]Class{}
	for class, words := range map[Class]string{
		ClassError:  "error errors failure exception",
		ClassID:     "id uuid key number slug name title path url code reference ref",
		ClassStatus: "status state result ok success passed failed outcome conclusion phase",
		ClassAmount: "total amount price balance cost sum count quantity fee charge refund",
		ClassDate:   "date time due deadline until start end expires expiry day",
		ClassText:   "message msg reason type kind version user email detail details description note notes",
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

// IsCode reports whether a value looks like an id: one word of letters and digits, no date.
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

// IsID reports whether a field or an argument of this name identifies an object: reservation_id,
// userId.
func IsID(name string) bool {
	words := compress.NameWords(name)
	return len(words) > 0 && slices.Contains(idWords, words[len(words)-1])
}

var idWords = []string{"id", "uuid", "number", "key", "slug"}

// JoinFields appends fields to a line as "name value" pairs, separated by commas, as far as the
// line fits: errors first, then those of the outer levels, of one level those of the lower classes.
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
		part := strings.TrimSpace(f.Label() + " " + compress.Clip(f.Value, shownValue))
		with := part
		if line != "" {
			with = line + ", " + part
		}
		if !seen[part] && fits(with) {
			line, seen[part] = with, true
		}
	}
	return line
}

// FieldsIn returns the fields of a JSON document, of JSON lines, of JSON in a text, or of both ends
// of a long one, and the text before them. It returns none if text is not JSON for the most part.
func FieldsIn(text string) (head string, fields []Field) {
	text = strings.TrimSpace(text)
	start := jsonStart(text)
	if start < 0 || (len(text)-start)*2 < len(text) {
		return "", nil
	}
	return text[:start], readFields(text[start:])
}

// Set reports whether the field has a value of its own: no number of items.
func (f *Field) Set() bool { return !f.items }

// jsonStart returns where JSON begins in the first half of a text: an object with a field, or a
// list of values. It returns -1 if there is none.
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

// readFields returns the fields of JSON documents with their values: of a list its number of items.
// It omits empty values and fields beyond fieldLevel, and reads invalid JSON as far as it is clear.
func readFields(text string) []Field {
	r := fieldReader{open: []openValue{{list: true}}} // of documents
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
				r.key = compress.Clip(value, shownValue)
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
			if word := text[at:end]; gjson.Valid(word) { // other words are no JSON
				r.value(word)
			}
			at = end
		}
	}
	return r.fields
}

// fieldReader collects the fields of JSON from its first byte to its last.
type fieldReader struct {
	open   []openValue // objects and lists around the next value, the outermost one first
	key    string      // name of the next value
	fields []Field
}

// openValue is an object or a list whose end was not read yet.
type openValue struct {
	list  bool
	key   string
	items int // of a list, so far
}

// count counts an item of the innermost list.
func (r *fieldReader) count() {
	if last := &r.open[len(r.open)-1]; last.list {
		last.items++
	}
}

func (r *fieldReader) begin(list bool) {
	r.count()
	r.open = append(r.open, openValue{list: list, key: r.key})
	r.key = ""
}

func (r *fieldReader) end() {
	if len(r.open) == 1 {
		return
	}
	last := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	if r.key = ""; last.list && last.items > 1 {
		r.add(Field{Path: last.key, Value: fmt.Sprintf("[%d items]", last.items), items: true})
	}
}

func (r *fieldReader) value(value string) {
	r.count()
	r.add(Field{Path: r.key, Value: compress.Clip(value, fieldValue)})
	r.key = ""
}

// add appends a field, whose path has only its name.
func (r *fieldReader) add(f Field) {
	path := ""
	for i, around := range r.open {
		if f.Level += max(1, around.items); f.Level > fieldLevel || f.Value == "" || f.Value == "null" {
			return
		}
		if around.key != "" {
			path += strings.ReplaceAll(around.key, ".", "_") + "."
		}
		if i > 0 && around.list {
			path += strconv.Itoa(around.items-1) + "."
		}
	}
	f.Path = strings.TrimSuffix(path+strings.ReplaceAll(f.Path, ".", "_"), ".")
	r.fields = append(r.fields, f)
}

// stringEnd returns the end of the JSON string that begins at a byte of text, or that of the text.
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
