package adapter

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Tree is a JSON value that is taken apart as far as it is looked into.
type Tree struct {
	Raw    json.RawMessage // of what was not taken apart
	keys   []string        // of an object, as they stand, quoted
	names  []string
	Childs []*Tree // of an object or a list
	Kind   byte    // '{' or '[' when it was taken apart
	inner  *Tree   // of a string that is JSON, once it was looked into

	places map[string]int // where each of the first placed names stands last; nil while nobody asked
	placed int
}

func (t *Tree) Open() {
	if t.Kind != 0 {
		return
	}
	v := gjson.ParseBytes(t.Raw)
	switch {
	case v.IsObject():
		t.Kind = '{'
	case v.IsArray():
		t.Kind = '['
	default:
		return
	}
	v.ForEach(func(key, child gjson.Result) bool {
		if t.Kind == '{' {
			t.keys, t.names = append(t.keys, key.Raw), append(t.names, key.Str)
		}
		t.Childs = append(t.Childs, &Tree{Raw: json.RawMessage(child.Raw)})
		return true
	})
}

// Child returns what one element of a path leads to, nil for nothing.
func (t *Tree) Child(key string) *Tree {
	if t.Kind == 0 && len(t.Raw) > 0 && t.Raw[0] == '"' {
		if t.inner == nil {
			if s := gjson.ParseBytes(t.Raw).Str; json.Valid([]byte(s)) {
				t.inner = &Tree{Raw: json.RawMessage(s)}
			} else {
				return nil
			}
		}
		return t.inner.Child(key)
	}
	t.Open()
	switch t.Kind {
	case '[':
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(t.Childs) {
			return t.Childs[i]
		}
	case '{':
		if i := t.last(key); i >= 0 {
			return t.Childs[i]
		}
	}
	return nil
}

// get returns the value at path, which may go into strings that are JSON.
func (t *Tree) get(path string) json.RawMessage {
	if path != "" {
		for key := range strings.SplitSeq(path, ".") {
			if t = t.Child(key); t == nil {
				return nil
			}
		}
	}
	return t.Bytes()
}

// At returns the value at path. It does not parse JSON inside strings.
func (t *Tree) At(path string) json.RawMessage {
	for key := range strings.SplitSeq(path, ".") {
		if t.Open(); t.Kind == 0 {
			return nil
		}
		if t = t.Child(key); t == nil {
			return nil
		}
	}
	return t.Bytes()
}

// maxPlaces bounds the length of a list that a path may make.
const maxPlaces = 1 << 16

// Put puts v at path, and gives false when there is no such place.
func (t *Tree) Put(path string, v json.RawMessage) bool {
	if path == "" {
		*t = Tree{Raw: v}
		return true
	}
	for key := range strings.SplitSeq(path, ".") {
		t.Open()
		i, isNumber := 0, false
		if n, err := strconv.Atoi(key); err == nil {
			i, isNumber = n, true
		}
		if t.Kind == 0 { // nothing, or null: it is made
			if len(t.Raw) > 0 && t.Raw[0] != 'n' {
				return false
			}
			t.Kind = '{'
			if isNumber {
				t.Kind = '['
			}
		}
		if (t.Kind == '[') != isNumber || isNumber && (i < 0 || i > maxPlaces+len(t.Childs)) {
			return false
		}
		if t.Kind == '{' {
			if i = t.last(key); i < 0 {
				i = len(t.names)
				t.keys, t.names = append(t.keys, string(Raw(key))), append(t.names, key)
			}
		}
		for len(t.Childs) <= i {
			t.Childs = append(t.Childs, &Tree{Raw: json.RawMessage("null")})
		}
		t = t.Childs[i]
	}
	*t = Tree{Raw: v}
	return true
}

// Cut removes the value at path: a key from an object; in a list null replaces it.
func (t *Tree) Cut(path string) (v json.RawMessage) {
	path, key := "", path
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		path, key = key[:i], key[i+1:]
	}
	if path != "" {
		for key := range strings.SplitSeq(path, ".") {
			if t.Open(); t.Kind == 0 {
				return nil
			}
			if t = t.Child(key); t == nil {
				return nil
			}
		}
	}
	if t.Open(); t.Kind == 0 {
		return nil
	}
	found := t.Child(key)
	if found == nil {
		return nil
	}
	v = found.Bytes()
	if t.Kind == '[' {
		*found = Tree{Raw: json.RawMessage("null")}
		return v
	}
	for i := len(t.names) - 1; i >= 0; i-- { // every value of a key that comes twice: the last one counts
		if t.names[i] == key {
			t.shorten(i)
		}
	}
	return v
}

// last returns where key stands last among the names; -1: nowhere.
func (t *Tree) last(key string) int {
	if len(t.names) <= fewKeys {
		i := len(t.names) - 1
		for i >= 0 && t.names[i] != key {
			i--
		}
		return i
	}
	if t.places == nil {
		t.places, t.placed = make(map[string]int, len(t.names)), 0
	}
	for ; t.placed < len(t.names); t.placed++ {
		t.places[t.names[t.placed]] = t.placed
	}
	if i, ok := t.places[key]; ok {
		return i
	}
	return -1
}

// shorten drops the name at i.
func (t *Tree) shorten(i int) {
	t.keys, t.names, t.Childs = slices.Delete(t.keys, i, i+1), slices.Delete(t.names, i, i+1), slices.Delete(t.Childs, i, i+1)
	t.places = nil
}

func (t *Tree) Bytes() json.RawMessage {
	var b bytes.Buffer
	t.write(&b)
	return b.Bytes()
}

func (t *Tree) write(b *bytes.Buffer) {
	if t.Kind == 0 {
		b.Write(t.Raw)
		return
	}
	b.WriteByte(t.Kind)
	for i, c := range t.Childs {
		if i > 0 {
			b.WriteByte(',')
		}
		if t.Kind == '{' {
			b.WriteString(t.keys[i])
			b.WriteByte(':')
		}
		c.write(b)
	}
	b.WriteByte(t.Kind + 2) // '}' and ']'
}
