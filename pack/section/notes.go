package section

import (
	"encoding/json"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
)

// findings is the section from which notes are derived: facts, decisions, references, tasks, and
// changed statements.
type findings struct {
	list []found // clones share the array: equal records append equal findings
}

// found holds the findings of one record. It is encoded as JSON.
type found struct {
	At    int               `json:"at"`
	Where derived.Position  `json:"where"`
	Role  string            `json:"role"`
	Found []derived.Finding `json:"found,omitempty"`
}

func newFindings() prefix.Section { return new(findings) }

// Apply implements [prefix.Section].
func (s *findings) Apply(r *prefix.Record) {
	list := derived.Find(noteRecord(r))
	role := r.Role.String()
	if r.Role == ctxabi.User && r.Excerpt.Result {
		role = ctxabi.Tool.String()
	}
	if len(list) > 0 || role == ctxabi.Tool.String() { // a result without findings continues its turn
		s.list = append(s.list, found{r.At, derived.Position{Event: r.Address.Event, Line: r.Address.Line}, role, list})
	}
}

func noteRecord(r *prefix.Record) derived.Record {
	x := &r.Excerpt
	n := derived.Record{Role: r.Role.String(), Text: x.Text, Result: x.Result, Failed: x.Failed, Bytes: x.Bytes,
		Answers: x.Answers, Replies: x.Replies}
	if x.Result {
		n.Tool = x.Name
	}
	if r.Role == ctxabi.Event {
		n.Type = record.CallType
		if x.Result {
			n.Type = record.ResultType
		}
	}
	for _, c := range x.Calls {
		n.Calls = append(n.Calls, derived.Call{Name: c.Name, Arguments: c.Arguments, ID: c.ID})
	}
	return n
}

// Encode implements [prefix.Section].
func (s *findings) Encode(c *coder.Coder) {
	text := ""
	if !c.Reads {
		data, _ := json.Marshal(s.list) // strings and numbers alone
		text = string(data)
	}
	if coder.Text(c, &text); c.Reads && json.Unmarshal([]byte(text), &s.list) != nil {
		c.Bad = true
	}
}

// Clone implements [prefix.Section].
func (s *findings) Clone() prefix.Section { copied := *s; return &copied }
