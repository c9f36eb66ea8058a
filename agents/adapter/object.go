package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Object is a JSON object that keeps the order of its keys and the bytes of
// its values.
type Object []Field

// Field is a key and its value. It is an alias, so that objects are written {{"type", v}, {"text", w}} in all packages.
type Field = struct {
	Key   string
	Value json.RawMessage
}

// The nesting that encoding/json takes, counted as [ctxabi.EachField] counts:
// its decoder reads the values of an object one by one.
const (
	maxNesting       = 10_000
	MaxObjectNesting = maxNesting + 1
)

var errNotObject = errors.New("not a JSON object, or there is text after it")

// ParseObject reads an object. Its values share raw's memory: json.Unmarshal into
// one of them, or into a list that has it, writes there.
// It returns an error if raw is not exactly one object, or nests too deep.
func ParseObject(raw []byte) (Object, error) {
	var o Object
	ok := ctxabi.EachField(raw, MaxObjectNesting, func(key, value []byte) {
		if o == nil {
			o = make(Object, 0, 8)
		}
		o = append(o, Field{keyOf(key), value[:len(value):len(value)]})
	})
	if !ok {
		return nil, errNotObject
	}
	return o, nil
}

// keyOf is what a key of valid JSON means.
func keyOf(quoted []byte) (key string) {
	if key, ok := plainText(quoted); ok {
		return key
	}
	json.Unmarshal(quoted, &key)
	if strings.ContainsRune(key, utf8.RuneError) {
		return halves(quoted)
	}
	return key
}

// plainText returns the text of a JSON string in which each byte is a character
// of ASCII and stands for itself, as in most keys and names.
func plainText(quoted []byte) (text string, ok bool) {
	if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' || !isPlain(quoted[1:len(quoted)-1]) {
		return "", false
	}
	return string(quoted[1 : len(quoted)-1]), true
}

func isPlain[T string | []byte](text T) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Get returns the value of key, the last one where it comes twice, and nil without one.
func (o Object) Get(key string) json.RawMessage {
	if i := o.last(key); i >= 0 {
		return o[i].Value
	}
	return nil
}

// last returns where key stands last; -1: nowhere. Who asks for each key of an object uses places.
func (o Object) last(key string) int {
	i := len(o) - 1
	for i >= 0 && o[i].Key != key {
		i--
	}
	if Passed != nil {
		Passed(len(o) - i)
	}
	return i
}

// Passed is told how many keys a look-up passes; nil but in tests.
var Passed func(keys int)

// Places maps each key of an object to the position of its last value, so that looking up all keys
// takes linear time.
type Places struct {
	O  Object
	at map[string]int // nil while there are few
}

// fewKeys is how many keys are looked through one by one.
const fewKeys = 32

func (o Object) Places() Places {
	p := Places{O: o}
	if len(o) > fewKeys {
		p.at = make(map[string]int, len(o))
		for i, f := range o {
			p.at[f.Key] = i
		}
	}
	return p
}

// Last is Object.last.
func (p *Places) Last(key string) int {
	if p.at == nil {
		return p.O.last(key)
	}
	if i, ok := p.at[key]; ok {
		return i
	}
	return -1
}

// Get is Object.Get.
func (p *Places) Get(key string) json.RawMessage {
	if i := p.Last(key); i >= 0 {
		return p.O[i].Value
	}
	return nil
}

// Add appends a field.
func (p *Places) Add(f Field) {
	if p.O = append(p.O, f); p.at != nil {
		p.at[f.Key] = len(p.O) - 1
	} else if len(p.O) > fewKeys {
		*p = p.O.Places()
	}
}

// Has reports whether there is a value of key, null included.
func (o Object) Has(key string) bool { return o.Get(key) != nil }

// Text returns the string at key, "" when there is none.
func (o Object) Text(key string) string {
	v := o.Get(key)
	if len(v) == 0 || v[0] != '"' {
		return ""
	}
	s, ok := plainText(v)
	if !ok && json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// Object returns the object at key, nil when there is none.
func (o Object) Object(key string) Object {
	inner, err := ParseObject(o.Get(key))
	if err != nil {
		return nil
	}
	return inner
}

// Array returns the elements of the array at key, nil when there is none.
func (o Object) Array(key string) []json.RawMessage {
	list, _ := ParseArray(o.Get(key))
	return list
}

// ParseArray reads a list. Its elements share raw's memory.
func ParseArray(raw []byte) (list []json.RawMessage, ok bool) {
	list = []json.RawMessage{}
	ok = ctxabi.EachElement(raw, maxNesting, func(v []byte) { list = append(list, v[:len(v):len(v)]) })
	if !ok {
		return nil, false
	}
	return list, true
}

// Without is o without the keys.
func (o Object) Without(keys ...string) Object {
	rest := make(Object, 0, len(o))
next:
	for _, f := range o {
		for _, k := range keys {
			if f.Key == k {
				continue next
			}
		}
		rest = append(rest, f)
	}
	return rest
}

// With returns o with the value v at key, at the position of the old value or else at the end. v
// is what [Raw] takes.
func (o Object) With(key string, v any) Object {
	return o.WithAll(Object{{key, Raw(v)}})
}

// WithAll is o with each of the fields as With puts it there.
func (o Object) WithAll(fields Object) Object {
	with := append(make(Object, 0, len(o)+len(fields)), o...).Places()
	for _, f := range fields {
		if i := with.Last(f.Key); i >= 0 {
			with.O[i].Value = f.Value
		} else {
			with.Add(f)
		}
	}
	return with.O
}

// MarshalJSON writes the object, the bytes of its values as they are but for
// blanks between them: it is one line.
func (o Object) MarshalJSON() ([]byte, error) {
	size := 2
	for _, f := range o {
		size += len(f.Key) + len(f.Value) + 4
	}
	b := append(make([]byte, 0, size), '{')
	for i, f := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, f.Key), ':')
		var err error
		if b, err = appendCompact(b, f.Value); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Key, err)
		}
	}
	return append(b, '}'), nil
}

// appendCompact appends a value without its blanks.
func appendCompact(b []byte, value json.RawMessage) ([]byte, error) {
	if ctxabi.IsCompact(value, maxNesting) {
		return append(b, value...), nil
	}
	to := bytes.NewBuffer(b)
	if err := json.Compact(to, value); err != nil {
		return nil, err
	}
	return to.Bytes(), nil
}

// CompactJSON returns raw without white space, or raw unchanged if it is not JSON.
func CompactJSON(raw json.RawMessage) json.RawMessage {
	if ctxabi.IsCompact(raw, maxNesting) {
		return raw
	}
	var b bytes.Buffer
	b.Grow(len(raw))
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

func appendText(b []byte, text string) []byte {
	if !isPlain(text) {
		return appendHalves(b, text)
	}
	return append(append(append(b, '"'), text...), '"')
}

// appendList appends values as a list; ok is false when one is no JSON.
func appendList(b []byte, list []json.RawMessage) (with []byte, ok bool) {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendCompact(b, v); err != nil {
			return nil, false
		}
	}
	return append(b, ']'), true
}

// Raw is v as JSON, without escapes for HTML. Bytes that are JSON already, a
// [json.RawMessage], keep their escapes and digits.
func Raw(v any) json.RawMessage {
	switch v := v.(type) {
	case json.RawMessage:
		return v
	case Object:
		if b, err := v.MarshalJSON(); err == nil {
			return b
		}
	case string:
		return appendText(make([]byte, 0, len(v)+2), v)
	case []json.RawMessage:
		if v == nil {
			break
		}
		if b, ok := appendList(nil, v); ok {
			return b
		}
	case Stamp:
		if b, err := v.object().MarshalJSON(); err == nil {
			return b
		}
	}
	return encoded(v)
}

// encoded is v as encoding/json writes it, null when it cannot.
func encoded(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// At returns the value at a path of keys.
func (o Object) At(path string) json.RawMessage {
	key, inner, nested := strings.Cut(path, ".")
	if nested {
		return o.Object(key).At(inner)
	}
	return o.Get(key)
}

func (o Object) WithoutAt(path string) Object {
	key, inner, nested := strings.Cut(path, ".")
	if nested {
		return o.With(key, o.Object(key).WithoutAt(inner))
	}
	return o.Without(key)
}

// WithAt is o with v at a path of keys.
func (o Object) WithAt(path string, v any) Object {
	key, inner, nested := strings.Cut(path, ".")
	if nested {
		return o.With(key, o.Object(key).WithAt(inner, v))
	}
	return o.With(key, v)
}

func TextAt(o Object, key string) bool {
	v := o.Get(key)
	return len(v) > 0 && v[0] == '"'
}

// AppendTime appends the field ts when one of the keys holds a time as RFC 3339 writes it.
func AppendTime(record, source Object, keys ...string) Object {
	for _, key := range keys {
		if _, err := time.Parse(time.RFC3339, source.Text(key)); err == nil {
			return append(record, Field{"ts", source.Get(key)})
		}
	}
	return record
}
