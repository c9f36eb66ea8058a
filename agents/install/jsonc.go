package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"
)

// document is the text of JSON settings, with comments, order and blanks. It is changed in place.
type document struct {
	bom     []byte
	root    hujson.Value
	newline string
	unit    string // one step of indentation
	oneLine bool   // the settings have no line break
	colon   string // what stands behind one
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// parseJSON reads settings; blank ones are {}. It returns an error if they are no JSON object. Comments and commas behind the last
// element are allowed, as the programs allow them.
func parseJSON(text []byte) (*document, error) {
	d := &document{newline: "\n", unit: "  ", colon: " "}
	rest, ok := bytes.CutPrefix(text, byteOrderMark)
	if ok {
		d.bom = byteOrderMark
	}
	if bytes.Contains(rest, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	if len(bytes.TrimSpace(rest)) == 0 {
		rest = []byte("{}" + d.newline)
	}
	var err error
	if d.root, err = hujson.Parse(bytes.Clone(rest)); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	o, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("it is not a JSON object")
	}
	if len(o.Members) > 0 {
		in, lines := indentOf(o.Members[0].Name.BeforeExtra)
		if d.oneLine = !lines; d.oneLine && len(o.Members[0].Value.BeforeExtra) == 0 {
			d.colon = ""
		}
		if in != "" {
			d.unit = in
		}
	}
	return d, nil
}

// text returns the settings as they are to be written.
func (d *document) text() []byte { return append(bytes.Clone(d.bom), d.root.Pack()...) }

// plain returns the settings as encoding/json reads them.
func (d *document) plain() (v map[string]any, err error) {
	standard := d.root.Clone()
	standard.Standardize()
	dec := json.NewDecoder(bytes.NewReader(standard.Pack()))
	dec.UseNumber()
	if err = dec.Decode(&v); err == nil {
		if _, err = dec.Token(); err == io.EOF {
			err = nil
		}
	}
	return v, err
}

// spot is a value and the indentation of the line that it ends on.
type spot struct {
	value  *hujson.Value
	indent string
}

// member returns the member of an object; nil where it has none. It returns an error if s is no object, or has two of that name: programs
// read the one or the other.
func (s spot) member(name string) (found *hujson.Value, err error) {
	o, ok := s.value.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%q is wanted in what is not an object", name)
	}
	for i := range o.Members {
		if lit, ok := o.Members[i].Name.Value.(hujson.Literal); ok && lit.String() == name {
			if found != nil {
				return nil, fmt.Errorf("it has two members %q", name)
			}
			found = &o.Members[i].Value
		}
	}
	return found, nil
}

// at follows a path of members from the root; s.value is nil where it ends early. With create, objects are made that are not there.
func (d *document) at(path []string, create bool) (s spot, err error) {
	s = spot{&d.root, ""}
	for _, name := range path {
		v, err := s.member(name)
		if err != nil {
			return s, err
		}
		if v == nil && create {
			v = d.add(s, name, json.RawMessage("{}"))
		}
		if v == nil {
			return spot{}, nil
		}
		s = spot{v, d.inner(s)}
		if _, ok := v.Value.(*hujson.Object); !ok {
			return s, fmt.Errorf("%q is not an object", name)
		}
	}
	return s, nil
}

// inner returns the indentation of what is in s.
func (d *document) inner(s spot) string {
	var first hujson.Extra
	switch v := s.value.Value.(type) {
	case *hujson.Object:
		if len(v.Members) > 0 {
			first = v.Members[0].Name.BeforeExtra
		}
	case *hujson.Array:
		if len(v.Elements) > 0 {
			first = v.Elements[0].BeforeExtra
		}
	}
	if in, ok := indentOf(first); ok {
		return in
	}
	return s.indent + d.unit
}

// indentOf returns the blanks behind the last line break of an extra; ok is false where there is none.
func indentOf(x hujson.Extra) (indent string, ok bool) {
	n := bytes.LastIndexByte(x, '\n')
	if n < 0 {
		return "", false
	}
	tail := x[n+1:]
	return string(tail[:len(tail)-len(bytes.TrimLeft(tail, " \t"))]), true
}

// made returns a value as it is written at an indentation, on one line or on several.
func (d *document) made(v any, indent string, lines bool) hujson.ValueTrimmed {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if lines {
		e.SetIndent(indent, d.unit)
	}
	if err := e.Encode(v); err != nil {
		panic(err) // values are of this package
	}
	text := bytes.ReplaceAll(bytes.TrimSpace(b.Bytes()), []byte("\n"), []byte(d.newline))
	parsed, err := hujson.Parse(text)
	if err != nil {
		panic(err)
	}
	return parsed.Value
}

// add appends a member to the object s.
func (d *document) add(s spot, name string, value any) *hujson.Value {
	o := s.value.Value.(*hujson.Object)
	inner := d.inner(s)
	colon := hujson.Extra(d.colon)
	var names []hujson.Extra
	var last *hujson.Value
	if n := len(o.Members); n > 0 {
		last, colon = &o.Members[n-1].Value, o.Members[0].Value.BeforeExtra
		if !colon.IsStandard() || bytes.ContainsAny(colon, "\r\n") {
			colon = hujson.Extra(d.colon)
		}
		for _, m := range o.Members {
			names = append(names, m.Name.BeforeExtra)
		}
	}
	before, lines := d.room(names, last, &o.AfterExtra, s.indent, inner)
	m := hujson.ObjectMember{Name: hujson.Value{BeforeExtra: before, Value: hujson.String(name)}}
	m.Value = hujson.Value{BeforeExtra: bytes.Clone(colon), Value: d.made(value, inner, lines)}
	if last != nil && last.AfterExtra != nil {
		m.Value.AfterExtra = hujson.Extra{}
	}
	o.Members = append(o.Members, m)
	return &o.Members[len(o.Members)-1].Value
}

// push appends an element to the array s.
func (d *document) push(s spot, value any) {
	a := s.value.Value.(*hujson.Array)
	inner := d.inner(s)
	var extras []hujson.Extra
	var last *hujson.Value
	for i := range a.Elements {
		last, extras = &a.Elements[i], append(extras, a.Elements[i].BeforeExtra)
	}
	before, lines := d.room(extras, last, &a.AfterExtra, s.indent, inner)
	v := hujson.Value{BeforeExtra: before, Value: d.made(value, inner, lines)}
	if last != nil && last.AfterExtra != nil {
		v.AfterExtra = hujson.Extra{}
	}
	a.Elements = append(a.Elements, v)
}

// room returns what stands before a new last item, given what stands before the others, and whether it is on lines of its own. tail is what
// follows the last item; its comments now stand before the new one.
func (d *document) room(before []hujson.Extra, last *hujson.Value, tail *hujson.Extra, indent, inner string) (hujson.Extra, bool) {
	comments := bytes.TrimRight(*tail, " \t\r\n")
	lines := !d.oneLine
	if len(before) > 0 {
		_, lines = indentOf(before[0])
	}
	if !lines && len(comments) == 0 {
		switch {
		case len(before) > 1 && before[1].IsStandard():
			return bytes.Clone(before[1]), false
		case last != nil:
			return hujson.Extra(d.colon), false
		}
		return nil, false
	}
	if rest := (*tail)[len(comments):]; last != nil && bytes.ContainsRune(rest, '\n') {
		*tail = bytes.Clone(rest)
	} else {
		*tail = hujson.Extra(d.newline + indent)
	}
	return append(bytes.Clone(comments), d.newline+inner...), lines
}

// drop takes the member n out of an object, or the element n out of an array. Comments around it stay.
func (d *document) drop(in *hujson.Value, n int) {
	var gone struct{ before, after hujson.Extra }
	var prev *hujson.Value
	var next, tail *hujson.Extra
	switch v := in.Value.(type) {
	case *hujson.Object:
		gone.before, gone.after = v.Members[n].Name.BeforeExtra, v.Members[n].Value.AfterExtra
		v.Members = append(v.Members[:n:n], v.Members[n+1:]...)
		if tail = &v.AfterExtra; n < len(v.Members) {
			next = &v.Members[n].Name.BeforeExtra
		} else if n > 0 {
			prev = &v.Members[n-1].Value
		}
	case *hujson.Array:
		gone.before, gone.after = v.Elements[n].BeforeExtra, v.Elements[n].AfterExtra
		v.Elements = append(v.Elements[:n:n], v.Elements[n+1:]...)
		if tail = &v.AfterExtra; n < len(v.Elements) {
			next = &v.Elements[n].BeforeExtra
		} else if n > 0 {
			prev = &v.Elements[n-1]
		}
	}
	comments := bytes.TrimRight(gone.before, " \t\r\n")
	if !gone.after.IsStandard() {
		comments = append(bytes.Clone(comments), bytes.TrimRight(gone.after, " \t\r\n")...)
	}
	trailing := gone.after != nil
	if next != nil {
		switch {
		case len(comments) > 0:
			*next = d.joined(comments, *next)
		case n == 0 && next.IsStandard():
			*next = gone.before
		}
		return
	}
	if prev != nil && trailing && prev.AfterExtra == nil {
		prev.AfterExtra = hujson.Extra{}
	}
	if prev != nil && !trailing {
		comments = append(bytes.TrimRight(prev.AfterExtra, " \t\r\n"), comments...)
		prev.AfterExtra = nil
	}
	*tail = d.joined(comments, *tail)
	if prev == nil && len(comments) == 0 && len(bytes.TrimSpace(*tail)) == 0 {
		*tail = nil
	}
}

// joined returns comments with what follows them, which is not swallowed by the last one.
func (d *document) joined(comments []byte, rest hujson.Extra) hujson.Extra {
	first := rest[:len(rest)-len(bytes.TrimLeft(rest, " \t\r\n"))]
	if len(comments) > 0 && !bytes.ContainsRune(first, '\n') {
		return append(append(bytes.Clone(comments), d.newline...), rest...)
	}
	return append(bytes.Clone(comments), rest...)
}

// dropMember takes a member out of an object.
func (d *document) dropMember(in *hujson.Value, name string) {
	o := in.Value.(*hujson.Object)
	for i := range o.Members {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			d.drop(in, i)
			return
		}
	}
}

// bare reports whether an object or array has nothing in it or around it, not even a comment.
func bare(v *hujson.Value) bool {
	n := 0
	switch v := v.Value.(type) {
	case *hujson.Object:
		n = len(v.Members)
	case *hujson.Array:
		n = len(v.Elements)
	}
	return n == 0 && v.Clone().IsStandard()
}

// dropEmpty takes out the objects of a path that have nothing in them, from its end on.
func (d *document) dropEmpty(path []string) error {
	for n := len(path); n > 0; n-- {
		s, err := d.at(path[:n], false)
		if err != nil {
			return err
		}
		if s.value != nil {
			if !bare(s.value) {
				return nil
			}
			parent, err := d.at(path[:n-1], false)
			if err != nil {
				return err
			}
			d.dropMember(parent.value, path[n-1])
		}
	}
	return nil
}

// decode reads a value into a Go one; false where it is of another kind.
func decode(v *hujson.Value, into any) bool {
	c := v.Clone()
	c.Standardize()
	return json.Unmarshal(c.Pack(), into) == nil
}

// same reports whether a value of the settings is the Go value want.
func same(v *hujson.Value, want any) bool {
	b, err := json.Marshal(want)
	var a, z any
	return err == nil && decode(v, &a) && json.Unmarshal(b, &z) == nil && reflect.DeepEqual(a, z)
}
