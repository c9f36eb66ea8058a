package codex

import (
	"encoding/json"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// Surroundings is the rest in the stamp of the event that keeps what stands around items.
type Surroundings struct {
	As     string          `json:"as"`               // how the bodies stand in the file
	In     int             `json:"in,omitempty"`     // which element the body is, counted from 1; 0: the items stand in none
	Text   bool            `json:"text,omitempty"`   // the input was a text
	Fields json.RawMessage `json:"fields,omitempty"` // of the body, without its input and its instructions
}

// Around records the fields around the items that follow; it returns the error of the output.
func (r *Reader) Around(rest Surroundings, at int) error {
	s := adapter.Stamp{Format: r.Format, IDs: []string{adapter.SourceID(adapter.Raw(rest), 0)}, At: []int{at}, Rest: adapter.Raw(rest)}
	if r.In.Seen(r.Chain, s.IDs[0]) {
		return nil
	}
	return r.Out.Record(adapter.Record{Chain: r.Chain, Event: true, Line: adapter.Raw(adapter.Object{{"type", adapter.Raw(r.Format + adapter.DocumentEvent)}, {adapter.StampKey, adapter.Raw(s)}})})
}

// IsItem reports whether an object is an item that ctxfs can convert to a message part.
func IsItem(o adapter.Object) bool {
	_, ok := codexPieceOf(o)
	return ok
}

// Item reads an item, or keeps what is none; it returns the error of the output.
func (r *Reader) Item(where string, raw json.RawMessage, at int) error {
	raw = adapter.CompactJSON(raw)
	s := adapter.Stamp{Format: r.Format, IDs: []string{r.Counter.ID(raw)}, At: []int{at}}
	o, err := adapter.ParseObject(raw)
	l := codexLine{whole: o, kind: ItemLine, bare: true, payload: o, itemType: o.Text("type")}
	if _, ok := r.piece(l, at); (err != nil || !ok) && !r.In.Seen(r.Chain, s.IDs[0]) {
		r.Out.Loss(adapter.Loss{Where: where, What: "is not an item that a session has a form for; kept in an event"})
	}
	return r.line(l, raw, s)
}
