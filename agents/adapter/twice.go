package adapter

import (
	"fmt"
	"io"
)

// ReportsTwice makes an import say of which keys a transcript has two values in one object. Only the last one is carried,
// as with most readers of JSON.
func ReportsTwice(read func(*Input, Output) error) func(*Input, Output) error {
	return func(in *Input, out Output) error {
		looked := *in
		t := &Twice{R: in.R, Line: 1}
		looked.R = t
		if err := read(&looked, out); err != nil {
			return err
		}
		t.Found.Report(out.Loss)
		return nil
	}
}

// What twice remembers at most: of a key in bytes, and of how many objects and lists in each other.
const (
	twiceKey   = 256
	twiceDepth = 1000
)

// Twice is a reader that passes a transcript on and finds keys that appear twice in one JSON object.
// The transcript may be one document or lines; text that is not JSON is ignored.
type Twice struct {
	R     io.Reader
	Found Tally

	Line    int
	quoted  bool // within a string
	escaped bool // behind a backslash there
	text    []byte
	whole   bool // text is all of the last string, behind which only blanks stood
	open    []KeysOf
	deeper  int // lists and objects that are open beyond twiceDepth
}

// KeysOf are the keys of an open object; those of a list are none.
type KeysOf struct {
	list bool
	few  []string
	many map[string]bool // all of them, once few would be slow
}

func (t *Twice) Read(p []byte) (int, error) {
	n, err := t.R.Read(p)
	for _, c := range p[:n] {
		t.see(c)
	}
	return n, err
}

func (t *Twice) see(c byte) {
	if t.quoted && c != '\n' {
		switch {
		case t.escaped:
			t.escaped = false
		case c == '\\':
			t.escaped = true
		case c == '"':
			t.quoted, t.whole = false, len(t.text) < twiceKey
			return
		}
		if len(t.text) < twiceKey {
			t.text = append(t.text, c)
		}
		return
	}
	switch c {
	case '\n':
		t.Line++
		if t.quoted { // no string goes over lines: whatever this was, it is over
			t.quoted, t.escaped, t.open, t.deeper = false, false, t.open[:0], 0
		}
		return
	case ' ', '\t', '\r':
		return
	case '"':
		t.quoted, t.text = true, t.text[:0]
	case ':':
		if n := len(t.open); t.whole && n > 0 && t.deeper == 0 && t.open[n-1].Has(t.text) {
			t.Found.Add(fmt.Sprintf("line %d", t.Line), fmt.Sprintf("the key %q appears twice in one object; the last value counts", t.text))
		}
	case '{', '[':
		if len(t.open) == twiceDepth {
			t.deeper++
		} else {
			t.open = append(t.open, KeysOf{list: c == '['})
		}
	case '}', ']':
		if t.deeper > 0 {
			t.deeper--
		} else if n := len(t.open); n > 0 {
			t.open = t.open[:n-1]
		}
	}
	t.whole = false
}

// Has reports whether the object has a key already, and notes that it has.
func (k *KeysOf) Has(key []byte) bool {
	if k.list || k.many[string(key)] {
		return !k.list
	}
	if k.many != nil {
		k.many[string(key)] = true
		return false
	}
	for _, other := range k.few {
		if other == string(key) {
			return true
		}
	}
	if k.few = append(k.few, string(key)); len(k.few) > 32 {
		k.many = map[string]bool{}
		for _, key := range k.few {
			k.many[key] = true
		}
	}
	return false
}
