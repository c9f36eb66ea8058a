package adapter

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Shape describes the structure of the first bytes of a transcript: the paths of its keys, such as
// "$.messages[].role", and the short strings at each path. Each JSON line is a document at "$".
type Shape struct {
	keys    map[string]bool
	Strings map[string][]string
}

const (
	shapeDepth  = 6       // of the paths that are kept
	shapeTokens = 1 << 15 // that are looked at
	shapeString = 64      // bytes of the longest string that is kept
	shapeLines  = 64      // lines that are looked at one by one
)

// ShapeOf returns the shape of the beginning of a transcript, which may be cut anywhere. It skips text
// that is not JSON up to the next line.
func ShapeOf(head []byte) *Shape {
	s := &Shape{map[string]bool{}, map[string][]string{}}
	if s.walk(head) {
		return s
	}
	n := 0
	for line := range bytes.Lines(head) {
		if n++; n > shapeLines {
			break
		}
		s.walk(line)
	}
	return s
}

// walk notes one JSON value or several; ok says that there was nothing else.
func (s *Shape) walk(data []byte) (ok bool) {
	type level struct {
		path  string
		list  bool
		key   string
		value bool // of an object: a value comes next
	}
	var stack []level
	d := json.NewDecoder(bytes.NewReader(data))
	for range shapeTokens {
		t, err := d.Token()
		if err != nil {
			return d.InputOffset() >= int64(len(bytes.TrimRight(data, " \t\r\n")))
		}
		if end, is := t.(json.Delim); is && (end == '}' || end == ']') {
			stack = stack[:len(stack)-1]
			continue
		}
		path, n := "$", len(stack)
		deep := n > shapeDepth // no path from there on is kept, and each would be as long as it is deep
		if n > 0 {
			top := &stack[n-1]
			switch {
			case top.list:
				if !deep {
					path = top.path + "[]"
				}
			case !top.value:
				top.key, top.value = t.(string), true
				if n <= shapeDepth {
					s.keys[top.path+"."+top.key] = true
				}
				continue
			default:
				if top.value = false; !deep {
					path = top.path + "." + top.key
				}
			}
		}
		switch t := t.(type) {
		case json.Delim:
			stack = append(stack, level{path: path, list: t == '['})
			if len(stack) <= shapeDepth {
				s.keys[path+string(t)] = true
			}
		case string:
			if len(t) <= shapeString && len(stack) <= shapeDepth && len(s.Strings[path]) < shapeLines {
				s.Strings[path] = append(s.Strings[path], t)
			}
		}
	}
	return true
}

// Has reports whether one of the paths is there.
func (s *Shape) Has(paths ...string) bool {
	for _, p := range paths {
		if s.keys[p] {
			return true
		}
	}
	return false
}

// Says reports whether a string at the path is one of the words; a word that ends in "*" matches as
// a prefix.
func (s *Shape) Says(path string, words ...string) bool {
	for _, v := range s.Strings[path] {
		for _, w := range words {
			if start, is := strings.CutSuffix(w, "*"); v == w || is && strings.HasPrefix(v, start) {
				return true
			}
		}
	}
	return false
}
