package acts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// Bounds of what is kept of an object.
const (
	maxRead   = 32 << 10 // bytes of a result; a longer one is no object
	maxLeaves = 96
	maxDepth  = 6
	maxValue  = 80 // bytes
)

// object is what the newest result about a thing said. It does not change.
type object struct {
	id     leaf
	leaves []leaf
}

// leaf is a value of an object that is neither object nor list.
type leaf struct {
	path  string // "payment_history.1.amount"
	value string
}

// top returns the name of the field of the object that the leaf is in.
func (l *leaf) top() string {
	name, _, _ := strings.Cut(l.path, ".")
	return name
}

// name returns the name of the field that has the value: without numbers of lists.
func (l *leaf) name() string {
	for rest := l.path; rest != ""; {
		i := strings.LastIndexByte(rest, '.')
		if name := rest[i+1:]; strings.Trim(name, "0123456789") != "" || i < 0 {
			return name
		}
		rest = rest[:max(0, i)]
	}
	return ""
}

// leavesOf returns the values of a JSON object in their order; ok is false if text is none.
func leavesOf(text string) (leaves []leaf, ok bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxRead || !strings.HasPrefix(text, "{") || !gjson.Valid(text) {
		return nil, false
	}
	var read func(v gjson.Result, path string, depth int)
	read = func(v gjson.Result, path string, depth int) {
		if len(leaves) >= maxLeaves || depth > maxDepth {
			return
		}
		if !v.IsObject() && !v.IsArray() {
			if value := oneLine(v.String()); value != "" && v.Type != gjson.Null {
				leaves = append(leaves, leaf{path, compress.Clip(value, maxValue)})
			}
			return
		}
		n := 0
		v.ForEach(func(key, item gjson.Result) bool {
			name := strings.ReplaceAll(key.String(), ".", "_")
			if v.IsArray() {
				name = strconv.Itoa(n)
				n++
			}
			if path != "" {
				name = path + "." + name
			}
			read(item, name, depth+1)
			return len(leaves) < maxLeaves
		})
	}
	read(gjson.Parse(text), "", 0)
	return leaves, true
}

// idOf returns the field of an object by which it is called: of its own fields the first id that the arguments of the call name, or,
// for a call that makes something, the first that they do not name; else the first id. The zero leaf stands for none.
func idOf(leaves, arguments []leaf, makes bool) (first leaf) {
	for _, l := range leaves {
		if strings.Contains(l.path, ".") || !isID(l.path) {
			continue
		}
		named := slices.ContainsFunc(arguments, func(a leaf) bool { return a.value == l.value && isID(a.name()) })
		if named != makes {
			return l
		}
		if first == (leaf{}) {
			first = l
		}
	}
	return first
}

// ids end the names of fields that say which thing it is.
var ids = compress.WordSet("id uuid number key name slug")

// isID reports whether a field of that name says which thing it is: reservation_id, userId.
func isID(name string) bool {
	words := wordsOf(name)
	return len(words) > 0 && ids[words[len(words)-1]]
}

// changed returns the leaves of an object that were not there before with that value.
func changed(before, now []leaf) (out []leaf) {
	known := make(map[string]string, len(before))
	for _, l := range before {
		known[l.path] = l.value
	}
	for _, l := range now {
		if value, ok := known[l.path]; !ok || value != l.value {
			out = append(out, l)
		}
	}
	return out
}

// said returns leaves in one line of at most n bytes, in their order, those of one field together:
// "status cancelled; payment_history: payment_id card_1, amount -104".
func said(leaves []leaf, n int) string {
	var b strings.Builder
	top := ""
	for i := range leaves {
		l := &leaves[i]
		part := l.name() + " " + l.value
		switch {
		case b.Len() == 0 || l.top() != top:
			if b.Len() > 0 {
				b.WriteString("; ")
			}
			if l.path != l.top() && l.name() != l.top() {
				part = l.top() + ": " + part
			}
		default:
			b.WriteString(", ")
		}
		top = l.top()
		if b.Len()+len(part) > n {
			b.WriteString("…")
			break
		}
		b.WriteString(part)
	}
	return b.String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// wordsOf returns the words of a name in small letters: update_ticket, updateTicket.
func wordsOf(name string) []string {
	return strings.FieldsFunc(splitCase(name), func(r rune) bool { return !('a' <= r && r <= 'z') })
}

// splitCase returns a name in small letters, with a blank where a capital begins a word.
func splitCase(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			if i > 0 && 'a' <= name[i-1] && name[i-1] <= 'z' {
				b.WriteByte(' ')
			}
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}
