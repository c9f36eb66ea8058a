package result

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// Numbers of the line for JSON.
const (
	foldLevel = 12 // of the fields that are read
	foldValue = 60 // bytes of a value
)

// jsonField is a field of a JSON text with a value that is no object.
type jsonField struct {
	key, value string // the key behind that of the object around it
	name       string // the key alone
	level, at  int    // objects around it and items of lists before it, and its place
}

// foldJSON returns the identifying fields and the status of JSON as "key value" pairs, others after
// them, as many as fit in limit tokens, or all of it if that fits: of one document, of JSON lines, of JSON in a text, or of both
// ends of a long one. It returns "" if text is not JSON for the most part.
func foldJSON(text string, limit int) string {
	text = strings.TrimSpace(text)
	start := jsonStart(text)
	if start < 0 || (len(text)-start)*2 < len(text) {
		return ""
	}
	if isJSON(text) {
		if line := strings.Join(strings.Fields(text), " "); compress.Fits(line, limit) {
			return line
		}
	}
	fields := readFields(text[start:])
	if len(fields) == 0 {
		return ""
	}

	slices.SortStableFunc(fields, func(a, b jsonField) int {
		return cmp.Or(a.rank()-b.rank(), a.at-b.at)
	})
	line := compress.Clip(strings.Join(strings.Fields(text[:start]), " "), foldHead)
	seen := map[string]bool{}
	for _, f := range fields {
		part := strings.TrimSpace(f.key + " " + f.value)
		if seen[part] || f.value == "" {
			continue
		}
		if line != "" {
			part = ", " + part
		}
		switch {
		case compress.Fits(line+part, limit):
			line += part
			seen[strings.TrimPrefix(part, ", ")] = true
		case line == "":
			line = compress.ClipWords(part, limit)
		}
	}
	return line
}

// jsonStart returns where JSON begins in the first half of a text: an object with a field, or a list
// of values. It returns -1 if there is none.
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

// foldRanks are the ranks of names of fields. An error comes first, then what identifies an object
// and how it is.
var foldRanks = func() map[string]int {
	ranks := map[string]int{}
	for rank, names := range []string{
		"error errors error_message failure exception",
		"id name key number title path url order_id reservation_id",
		"status state result ok success passed failed outcome conclusion phase",
		"total count amount price message msg code reason type kind version user email date",
	} {
		for name := range strings.FieldsSeq(names) {
			ranks[name] = rank
		}
	}
	return ranks
}()

// rank returns how late a field is shown: those of the outer levels first, and of one level what
// identifies it.
func (f *jsonField) rank() int {
	low := strings.ToLower(f.name)
	rank, known := foldRanks[low]
	switch {
	case f.value == "null" || f.value == "":
		return maxRank
	case known && (rank > 0 || f.value != "false" && f.value != "0"):
	case strings.HasSuffix(low, "_id") || strings.HasSuffix(f.name, "Id"):
		rank = 2
	default:
		rank = 5
	}
	if rank == 0 {
		return 0
	}
	return 10*max(1, f.level) + rank
}

// maxRank is the rank of a field without a value.
const maxRank = 1 << 30

// readFields returns the fields of JSON documents with their values: of a list its number of items. It
// leaves out fields beyond foldLevel and reads invalid JSON as far as it is clear.
func readFields(text string) (fields []jsonField) {
	type level struct {
		list  bool
		key   string
		items int // of a list, so far
	}
	open := []level{{list: true}} // of documents
	key := ""
	add := func(key, value string) {
		f := jsonField{key: key, name: key, value: value, at: len(fields)}
		parent := ""
		for i := len(open) - 1; i >= 0; i-- {
			if f.level += max(1, open[i].items); f.level > foldLevel {
				return
			}
			parent = cmp.Or(parent, open[i].key)
		}
		switch {
		case key == "":
			f.key, f.name = parent, parent
		case parent != "":
			f.key = parent + "." + key
		}
		fields = append(fields, f)
	}
	item := func() {
		if last := &open[len(open)-1]; last.list {
			last.items++
		}
	}
	for at := 0; at < len(text); {
		switch c := text[at]; {
		case c == '{' || c == '[':
			item()
			open = append(open, level{list: c == '[', key: key})
			key = ""
			at++
		case c == '}' || c == ']':
			at++
			if len(open) == 1 {
				break
			}
			last := open[len(open)-1]
			open = open[:len(open)-1]
			if key = ""; last.list && last.items > 1 {
				add(last.key, fmt.Sprintf("[%d items]", last.items))
			}
		case c == '"':
			end := stringEnd(text, at)
			value := gjson.Parse(text[at:end]).String()
			at = end
			rest := strings.TrimLeft(text[at:], " \t\r\n")
			if strings.HasPrefix(rest, ":") && !open[len(open)-1].list {
				key = compress.Clip(value, foldValue)
				at = len(text) - len(rest) + 1
				break
			}
			item()
			add(key, compress.Clip(strings.Join(strings.Fields(value), " "), foldValue))
			key = ""
		case c == ',' || c == ':' || c == ' ' || c == '\t' || c == '\n' || c == '\r':
			at++
		default:
			end := at
			for end < len(text) && strings.IndexByte(",:{}[]\" \t\r\n", text[end]) < 0 {
				end++
			}
			item()
			add(key, compress.Clip(text[at:end], foldValue))
			key, at = "", end
		}
	}
	return fields
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
