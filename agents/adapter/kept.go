package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// What a session has no form for is kept in an event, as far as it fits:
//
//	"<format>/line"   a line that is not a record; rest is {"text"} or {"base64"}, as it stood
//	"<format>/large"  what is larger than a record; rest is {"size","sha256"} and the "type" it named
//	"<format>/deep"   a record that is nested too deep; rest is {"record"}, the record as a string
const (
	KeptLine  = "/line"
	KeptLarge = "/large"
	KeptDeep  = "/deep"
)

// IsReserved reports whether the event type "<format>/<kind>" has a meaning of its own instead of
// storing a source record of type kind.
func IsReserved(kind string) bool {
	return slices.Contains([]string{KeptLine, KeptLarge, KeptDeep, DocumentEvent, "/other"}, "/"+kind)
}

type keptRest struct {
	Text   *string `json:"text,omitempty"`
	Base64 []byte  `json:"base64,omitempty"`
	Record string  `json:"record,omitempty"`
	Event  bool    `json:"event,omitempty"` // the record was an event
	Type   string  `json:"type,omitempty"`
	Size   int64   `json:"size,omitempty"`
	SHA256 string  `json:"sha256,omitempty"`
}

func keptEvent(chain, kind string, s Stamp, rest keptRest) Record {
	s.Rest = Raw(rest)
	return Record{Chain: chain, Event: true, Line: Raw(Object{{"type", Raw(s.Format + kind)}, {StampKey, Raw(s)}})}
}

// Keep reports a line that is no record of the format, with why in words
// ("is not JSON"), and keeps it in an event of type "<format>/line". s is the
// event's stamp; one that the session has is not reported again. A torn line
// is not kept: it comes again when it is whole. It returns the error of out.
func (l Line) Keep(in *Input, out Output, s Stamp, why string) error {
	if l.Torn && l.N > 0 && l.Sum == "" {
		out.Loss(Loss{l.Where(), "is cut off: the transcript ends in it; import again when it is whole"})
		return nil
	}
	if in.Seen(in.Chain, s.IDs[0]) {
		return nil
	}
	var rest keptRest
	kind := KeptLine
	switch text := string(l.Bytes); {
	case l.Sum != "":
		kind, rest = KeptLarge, keptRest{Type: typeIn(l.Bytes), Size: l.size, SHA256: l.Sum}
		why += "; its size and SHA-256 are kept in an event"
	case utf8.Valid(l.Bytes):
		rest.Text = &text
		why += "; kept in an event"
	default:
		rest.Base64 = l.Bytes
		why += "; kept in an event, in base64"
	}
	out.Loss(Loss{l.Where(), why})
	return out.Record(keptEvent(in.Chain, kind, s, rest))
}

// KeptLine returns the line that [Line.Keep] kept in a record; ok is false for other records.
func (r Record) KeptLine() (line []byte, ok bool) {
	s, stamped := r.Stamp()
	if !r.Event || !stamped || r.EventType() != s.Format+KeptLine {
		return nil, false
	}
	var rest keptRest
	if json.Unmarshal(s.Rest, &rest) != nil {
		return nil, false
	}
	if rest.Text != nil {
		return []byte(*rest.Text), true
	}
	return rest.Base64, rest.Base64 != nil
}

// Kept reports whether the record is an event that only keeps what a session has no form for.
func (r Record) Kept() bool {
	s, ok := r.Stamp()
	kind, is := strings.CutPrefix(r.EventType(), s.Format)
	return r.Event && ok && is && (kind == KeptLine || kind == KeptLarge || kind == KeptDeep)
}

// Abandoned reports whether the record is an event that stores a message of an abandoned branch.
func (r Record) Abandoned() bool { return r.Event && string(r.field("abandoned")) == "true" }

// Fit returns the record, or what a session takes in its place where it refuses
// the record for its size or depth; lost says then what is not carried. A
// format need not look at either.
func (r Record) Fit() (fit Record, lost string) {
	err := r.Check()
	if err == nil {
		return r, ""
	}
	s, ok := r.Stamp()
	if !ok {
		s = Stamp{Format: "unknown", IDs: []string{SourceID(r.Line, 0)}, At: []int{0}}
	}
	if len(r.Line) <= ctxabi.MaxRecord {
		fit = keptEvent(r.Chain, KeptDeep, Stamp{Format: s.Format, IDs: s.IDs, At: s.At}, keptRest{Record: string(r.Line), Event: r.Event})
		if fit.Check() == nil {
			return fit, Why(err) + "; kept in an event, as a string"
		}
	}
	rest := keptRest{Type: typeIn(r.Line), Size: int64(len(r.Line)), SHA256: contentSum(r.Line)}
	return keptEvent(r.Chain, KeptLarge, Stamp{Format: s.Format, IDs: s.IDs, At: s.At}, rest),
		Why(err) + "; its size and SHA-256 are kept in an event"
}

// Refit returns back the record that [Record.Fit] kept as a string, and any other as it is.
func (r Record) Refit() Record {
	r = r.stamped()
	s, ok := r.Stamp()
	if !r.Event || !ok || r.EventType() != s.Format+KeptDeep {
		return r
	}
	var rest keptRest
	if json.Unmarshal(s.Rest, &rest) != nil || rest.Record == "" {
		return r
	}
	return Record{Chain: r.Chain, Event: rest.Event, Line: []byte(rest.Record)}
}

func (r Record) EventType() string {
	return Object{{"type", r.field("type")}}.Text("type")
}

// Why is the sentence of a refusal, without its kind.
func Why(err error) string {
	var e *ctxabi.Error
	if errors.As(err, &e) {
		return e.Why
	}
	return err.Error()
}

// typeIn finds the type that the beginning of a JSON object names.
func typeIn(head []byte) string {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return ""
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return ""
		}
		var name string
		if key == "type" && json.Unmarshal(v, &name) == nil && len(name) <= 200 {
			return name
		}
	}
	return ""
}
