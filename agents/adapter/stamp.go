package adapter

import (
	"bytes"
	"encoding/json"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Stamp is the field "import" of a record: where it comes from.
type Stamp struct {
	Format string          `json:"format"`
	IDs    []string        `json:"ids"`            // of the source records in it
	At     []int           `json:"at"`             // the places of these in the source, counted from 0
	File   int             `json:"file,omitempty"` // which of the transcripts that the session is made of; whoever imports sets it
	Rest   json.RawMessage `json:"rest,omitempty"` // what the record has no other place for
}

// StampKey is the key of a record's stamp.
const StampKey = "import"

// readStamp is what a line says of its stamp.
type readStamp struct {
	line []byte // the one that was read
	s    Stamp
	ok   bool
}

// Stamp returns the record's stamp; ok is false when it has none of this shape.
// Its rest shares the line's memory.
func (r Record) Stamp() (s Stamp, ok bool) {
	r = r.stamped()
	return r.stamp.s, r.stamp.ok
}

// stamped is the record with its stamp read, so that nobody reads it again
// while the record has this line.
func (r Record) stamped() Record {
	if c := r.stamp; c != nil && len(c.line) == len(r.Line) && (len(c.line) == 0 || &c.line[0] == &r.Line[0]) {
		return r
	}
	r.stamp = &readStamp{line: r.Line}
	r.stamp.s, r.stamp.ok = parseStamp(r.field(StampKey))
	return r
}

func parseStamp(raw []byte) (s Stamp, ok bool) {
	o, err := ParseObject(raw)
	if err != nil {
		return s, false
	}
	rest := o.Get("rest")
	if rest != nil {
		o = o.Without("rest") // it may be large
	}
	if json.Unmarshal(Raw(o), &s) != nil {
		return Stamp{}, false
	}
	if rest != nil {
		s.Rest = rest
	}
	return s, s.Format != "" && len(s.IDs) > 0
}

// field is the value of key in the record, nil without one.
func (r Record) field(key string) (value json.RawMessage) {
	ok := ctxabi.EachField(r.Line, MaxObjectNesting, func(k, v []byte) {
		if string(k[1:len(k)-1]) == key || bytes.IndexByte(k, '\\') >= 0 && keyOf(k) == key {
			value = v[:len(v):len(v)]
		}
	})
	if !ok {
		return nil
	}
	return value
}

// object is the stamp as encoding/json has it.
func (s Stamp) object() Object {
	o := Object{{"format", Raw(s.Format)}, {"ids", encoded(s.IDs)}, {"at", encoded(s.At)}}
	if s.File != 0 {
		o = append(o, Field{"file", Raw(s.File)})
	}
	if len(s.Rest) > 0 {
		o = append(o, Field{"rest", s.Rest})
	}
	return o
}
