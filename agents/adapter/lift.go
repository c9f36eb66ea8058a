package adapter

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// A format whose records are made of pieces of its source records keeps a
// source record in the rest of a stamp as it stood, and leaves out of it
// what stands in the session already. The last key of such a rest says where:
//
//	{"kind":"ActionEvent","source":"agent","action":{"kind":"FileEditorAction"},
//	 "@":{"thought":"content","action.file_text":"tool_calls.0.arguments.file_text"}}
//
// To the left stands a path in the source record; to the right one in the
// session's record, or
//
//	"@ID.path"      in the source record of that id
//	"@ID.path[:3]"  the first three elements of the list there, which stand in front of the others
//	["ID","ID"]     a list of source records
//
// A path goes into lists by numbers, and into a string that is JSON as
// if it were that JSON. Nothing is left out unless the same value stands there,
// so that a format need not know how to put a source record together again.
const LiftKey = "@"

const (
	minLift   = 40 // bytes of JSON below which a value is not worth a path
	liftDepth = 10 // how deep values are compared; what lies deeper stands where it is
)

// Lifter finds values of a source record that a record already holds, so that they can be replaced
// by a path.
type Lifter struct {
	places map[string]string // of values, by placeKey

	base     map[string][]gjson.Result // lists of an earlier source record, by their paths there
	baseName string                    // its "@ID"

	earlier *Lifter // searched after places; may be nil
}

// place returns where a value stands, "" for nowhere.
func (l *Lifter) place(key string) string {
	if at := l.places[key]; at != "" || l.earlier == nil {
		return at
	}
	return l.earlier.place(key)
}

func NewLifter() *Lifter { return &Lifter{places: map[string]string{}} }

// Add makes known the values in v, which is compact. name is the path of v;
// "" is the session's own record.
func (l *Lifter) Add(name string, v json.RawMessage) { l.note(name, gjson.ParseBytes(v), 0) }

func (l *Lifter) note(path string, v gjson.Result, depth int) {
	if len(v.Raw) < minLift || depth > liftDepth {
		return
	}
	if key, ok := placeKey(v); ok && path != "" && l.places[key] == "" {
		l.places[key] = path
	}
	if v.Type == gjson.String {
		if inner := strings.TrimLeft(v.Str, " \t\r\n"); strings.HasPrefix(inner, "{") && json.Valid([]byte(v.Str)) {
			v = gjson.Parse(v.Str)
		} else {
			return
		}
	}
	eachChild(v, func(key string, child gjson.Result) { l.note(joinPath(path, key), child, depth+1) })
}

// placeKey is what two values have in common that mean the same: of a string
// what it means, of others their bytes. ok is false for a string of which gjson cannot say it.
func placeKey(v gjson.Result) (key string, ok bool) {
	if v.Type != gjson.String {
		return v.Raw, true
	}
	return `"` + v.Str, !strings.ContainsRune(v.Str, '\ufffd')
}

// eachChild calls do with what paths reach in v.
func eachChild(v gjson.Result, do func(key string, child gjson.Result)) {
	switch {
	case v.IsArray():
		i := 0
		v.ForEach(func(_, child gjson.Result) bool {
			do(strconv.Itoa(i), child)
			i++
			return true
		})
	case v.IsObject():
		last := lastKeys(v)
		i := 0
		v.ForEach(func(key, child gjson.Result) bool {
			if isPathKey(key.Str) && last[key.Str] == i {
				do(key.Str, child)
			}
			i++
			return true
		})
	}
}

// lastKeys returns the place at which each key stands last: a path means that one.
func lastKeys(v gjson.Result) map[string]int {
	last := map[string]int{}
	i := 0
	v.ForEach(func(key, _ gjson.Result) bool {
		last[key.Str] = i
		i++
		return true
	})
	return last
}

// isPathKey reports whether a path may go through a key.
func isPathKey(key string) bool {
	if key == "" || strings.ContainsAny(key, ".@[]\ufffd") {
		return false
	}
	return key[0] < '0' || key[0] > '9'
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// SetBase makes known the lists at the paths of an earlier source record, which
// the next one may begin with.
func (l *Lifter) SetBase(id string, source json.RawMessage, paths ...string) {
	l.baseName, l.base = "@"+id, map[string][]gjson.Result{}
	for _, p := range paths {
		if list := gjson.GetBytes(source, p); list.IsArray() {
			l.base[p] = list.Array()
		}
	}
}

// lift returns source without what l knows a place for: the rest of a stamp.
func (l *Lifter) lift(source json.RawMessage) json.RawMessage {
	var compact bytes.Buffer
	if json.Compact(&compact, source) != nil {
		return Raw(string(source))
	}
	v := gjson.ParseBytes(compact.Bytes())
	w := liftWriter{l: l}
	if w.value("", v, 0) {
		return Raw(Object{{LiftKey, Raw(w.from)}})
	}
	if len(w.from) == 0 && !(v.IsObject() && hasKey(v, LiftKey)) {
		return compact.Bytes()
	}
	rest := w.b.Bytes()
	if !v.IsObject() { // lifted out of a list: there is no key to say so
		return compact.Bytes()
	}
	rest = rest[:len(rest)-1]
	if len(rest) > 1 {
		rest = append(rest, ',')
	}
	rest = append(rest, `"`+LiftKey+`":`...)
	return append(append(rest, Raw(w.from)...), '}')
}

func hasKey(v gjson.Result, key string) (has bool) {
	v.ForEach(func(k, _ gjson.Result) bool {
		has = k.Str == key
		return !has
	})
	return has
}

type liftWriter struct {
	l    *Lifter
	b    bytes.Buffer
	from Object
}

// value writes v, or gives true and writes nothing when it is known.
func (w *liftWriter) value(path string, v gjson.Result, depth int) (known bool) {
	if len(v.Raw) < minLift || depth > liftDepth {
		w.b.WriteString(v.Raw)
		return false
	}
	if key, ok := placeKey(v); ok {
		if at := w.l.place(key); at != "" {
			w.from = append(w.from, Field{path, Raw(at)})
			return true
		}
	}
	switch {
	case v.IsObject():
		w.object(path, v, depth)
	case v.IsArray():
		w.list(path, v, depth)
	default:
		w.b.WriteString(v.Raw)
	}
	return false
}

func (w *liftWriter) object(path string, v gjson.Result, depth int) {
	last := lastKeys(v)
	i, first := 0, true
	w.b.WriteByte('{')
	v.ForEach(func(key, child gjson.Result) bool {
		before := w.b.Len()
		if !first {
			w.b.WriteByte(',')
		}
		w.b.WriteString(key.Raw)
		w.b.WriteByte(':')
		if !isPathKey(key.Str) || last[key.Str] != i {
			w.b.WriteString(child.Raw)
			first = false
		} else if w.value(joinPath(path, key.Str), child, depth+1) {
			w.b.Truncate(before)
		} else {
			first = false
		}
		i++
		return true
	})
	w.b.WriteByte('}')
}

func (w *liftWriter) list(path string, v gjson.Result, depth int) {
	items := v.Array()
	same := 0
	if base := w.l.base[path]; len(base) > 0 {
		for same < len(items) && same < len(base) && items[same].Raw == base[same].Raw {
			same++
		}
	}
	if same > 0 {
		w.from = append(w.from, Field{path, Raw(w.l.baseName + "." + path + "[:" + strconv.Itoa(same) + "]")})
	}
	w.b.WriteByte('[')
	for i, item := range items[same:] {
		if i > 0 {
			w.b.WriteByte(',')
		}
		if w.value(joinPath(path, strconv.Itoa(same+i)), item, depth+1) {
			w.b.WriteString("null")
		}
	}
	w.b.WriteByte(']')
}
