package adapter

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// tree is a JSON value that is taken apart as far as it is looked into.
type tree struct {
	raw    json.RawMessage // of what was not taken apart
	keys   []string        // of an object, as they stand, quoted
	names  []string
	childs []*tree // of an object or a list
	kind   byte    // '{' or '[' when it was taken apart
	inner  *tree   // of a string that is JSON, once it was looked into

	places map[string]int // where each of the first placed names stands last; nil while nobody asked
	placed int
}

func (t *tree) open() {
	if t.kind != 0 {
		return
	}
	v := gjson.ParseBytes(t.raw)
	switch {
	case v.IsObject():
		t.kind = '{'
	case v.IsArray():
		t.kind = '['
	default:
		return
	}
	v.ForEach(func(key, child gjson.Result) bool {
		if t.kind == '{' {
			t.keys, t.names = append(t.keys, key.Raw), append(t.names, key.Str)
		}
		t.childs = append(t.childs, &tree{raw: json.RawMessage(child.Raw)})
		return true
	})
}

// child returns what one element of a path leads to, nil for nothing.
func (t *tree) child(key string) *tree {
	if t.kind == 0 && len(t.raw) > 0 && t.raw[0] == '"' {
		if t.inner == nil {
			if s := gjson.ParseBytes(t.raw).Str; json.Valid([]byte(s)) {
				t.inner = &tree{raw: json.RawMessage(s)}
			} else {
				return nil
			}
		}
		return t.inner.child(key)
	}
	t.open()
	switch t.kind {
	case '[':
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(t.childs) {
			return t.childs[i]
		}
	case '{':
		if i := t.last(key); i >= 0 {
			return t.childs[i]
		}
	}
	return nil
}

// get returns the value at path, which may go into strings that are JSON.
func (t *tree) get(path string) json.RawMessage {
	if path != "" {
		for key := range strings.SplitSeq(path, ".") {
			if t = t.child(key); t == nil {
				return nil
			}
		}
	}
	return t.bytes()
}

// at is the value at path as it stands; it goes into no strings.
func (t *tree) at(path string) json.RawMessage {
	for key := range strings.SplitSeq(path, ".") {
		if t.open(); t.kind == 0 {
			return nil
		}
		if t = t.child(key); t == nil {
			return nil
		}
	}
	return t.bytes()
}

// maxPlaces bounds the length of a list that a path may make.
const maxPlaces = 1 << 16

// put puts v at path, and gives false when there is no such place.
func (t *tree) put(path string, v json.RawMessage) bool {
	if path == "" {
		*t = tree{raw: v}
		return true
	}
	for key := range strings.SplitSeq(path, ".") {
		t.open()
		i, isNumber := 0, false
		if n, err := strconv.Atoi(key); err == nil {
			i, isNumber = n, true
		}
		if t.kind == 0 { // nothing, or null: it is made
			if len(t.raw) > 0 && t.raw[0] != 'n' {
				return false
			}
			t.kind = '{'
			if isNumber {
				t.kind = '['
			}
		}
		if (t.kind == '[') != isNumber || isNumber && (i < 0 || i > maxPlaces+len(t.childs)) {
			return false
		}
		if t.kind == '{' {
			if i = t.last(key); i < 0 {
				i = len(t.names)
				t.keys, t.names = append(t.keys, string(Raw(key))), append(t.names, key)
			}
		}
		for len(t.childs) <= i {
			t.childs = append(t.childs, &tree{raw: json.RawMessage("null")})
		}
		t = t.childs[i]
	}
	*t = tree{raw: v}
	return true
}

// cut removes what stands at path: a key from an object; in a list null takes its place.
func (t *tree) cut(path string) (v json.RawMessage) {
	path, key := "", path
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		path, key = key[:i], key[i+1:]
	}
	if path != "" {
		for key := range strings.SplitSeq(path, ".") {
			if t.open(); t.kind == 0 {
				return nil
			}
			if t = t.child(key); t == nil {
				return nil
			}
		}
	}
	if t.open(); t.kind == 0 {
		return nil
	}
	found := t.child(key)
	if found == nil {
		return nil
	}
	v = found.bytes()
	if t.kind == '[' {
		*found = tree{raw: json.RawMessage("null")}
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
func (t *tree) last(key string) int {
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
func (t *tree) shorten(i int) {
	t.keys, t.names, t.childs = slices.Delete(t.keys, i, i+1), slices.Delete(t.names, i, i+1), slices.Delete(t.childs, i, i+1)
	t.places = nil
}

func (t *tree) bytes() json.RawMessage {
	var b bytes.Buffer
	t.write(&b)
	return b.Bytes()
}

func (t *tree) write(b *bytes.Buffer) {
	if t.kind == 0 {
		b.Write(t.raw)
		return
	}
	b.WriteByte(t.kind)
	for i, c := range t.childs {
		if i > 0 {
			b.WriteByte(',')
		}
		if t.kind == '{' {
			b.WriteString(t.keys[i])
			b.WriteByte(':')
		}
		c.write(b)
	}
	b.WriteByte(t.kind + 2) // '}' and ']'
}
