package adapter

import "encoding/json"

// responsesRest is the rest in the stamp of the event that keeps what stands around items.
type responsesRest struct {
	As     string          `json:"as"`               // how the bodies stand in the file
	In     int             `json:"in,omitempty"`     // which element the body is, counted from 1; 0: the items stand in none
	Text   bool            `json:"text,omitempty"`   // the input was a text
	Fields json.RawMessage `json:"fields,omitempty"` // of the body, without its input and its instructions
}

// around notes what stands around the items that follow.
func (r *codexReader) around(rest responsesRest, at int) error {
	s := Stamp{Format: r.format, IDs: []string{SourceID(Raw(rest), 0)}, At: []int{at}, Rest: Raw(rest)}
	if r.in.Seen(r.chain, s.IDs[0]) {
		return nil
	}
	return r.out.Record(Record{Chain: r.chain, Event: true, Line: Raw(Object{{"type", Raw(r.format + documentEvent)}, {StampKey, Raw(s)}})})
}

// item reads an item, or keeps what is none.
func (r *codexReader) item(where string, raw json.RawMessage, at int) error {
	raw = compactJSON(raw)
	s := Stamp{Format: r.format, IDs: []string{r.counter.ID(raw)}, At: []int{at}}
	o, err := ParseObject(raw)
	l := codexLine{whole: o, kind: codexItemLine, bare: true, payload: o, itemType: o.Text("type")}
	if _, ok := r.piece(l); (err != nil || !ok) && !r.in.Seen(r.chain, s.IDs[0]) {
		r.out.Loss(Loss{where, "is no item that a session has a form for; kept in an event"})
	}
	return r.line(l, raw, s)
}
