package journal

import (
	"slices"
	"strings"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Asked is what the user asked last.
type Asked struct {
	Line    int    // the record; 0: none says anything
	Text    string // of it
	To      int    // the record that it answers, where it says nothing without that
	Answers string // the part of that one
}

// AnsweredBytes is how much is repeated of what a short reply answers.
const AnsweredBytes = 320

// sense is what the user record at a place says by itself, and its text.
func (mm *Memo) sense(m record.Records, at int) (derived.Sense, string, error) {
	if int(m.At(at).Len) > 2*derived.MaxIdle { // more than the frame of a short text
		text, err := mm.Request(m, at)
		return derived.Request, text, err
	}
	raw, err := m.Record(at)
	if err != nil {
		return derived.Request, "", record.Unreadable(record.AddressOf(m, at), err)
	}
	msg := ctxabi.DecodeMessage(raw)
	if msg.Images > 0 {
		return derived.Request, msg.Text, nil
	}
	return derived.SenseOf(msg.Text), msg.Text, nil
}

// Asked finds what the user asked up to the record last: the newest of the requests that says something. A short reply is shown with
// what it answers. Where none says anything, that is the last one.
// It returns ctxabi.ErrIO when a record cannot be read.
func (mm *Memo) Asked(m record.Records, last int, requests []request) (Asked, error) {
	for i, r := range slices.Backward(requests) {
		if r.user > last {
			continue
		}
		w, text, err := mm.sense(m, r.user)
		if err != nil {
			return Asked{}, err
		}
		if w == derived.Idle {
			continue
		}
		a := Asked{Line: r.user, Text: text}
		if w == derived.Reply && i > 0 && requests[i-1].answer > 0 && !(i == 1 && len(requests) == maxRequests) { // those between may be forgotten
			s, err := record.ExcerptOf(m, requests[i-1].answer)
			if err != nil {
				return Asked{}, err
			}
			a.To, a.Answers = requests[i-1].answer, derived.Question(s.Text, AnsweredBytes)
		}
		return a, nil
	}
	text, err := mm.Request(m, last)
	return Asked{Line: last, Text: text}, err
}

// Task is what sources are chosen for: what the user asked last, behind what that answers.
// It returns ctxabi.ErrIO when a record cannot be read.
func (mm *Memo) Task(m record.Records, last int, requests []request) (string, error) {
	if last == 0 {
		return "", nil
	}
	a, err := mm.Asked(m, last, requests)
	return strings.TrimLeft(a.Answers+"\n"+a.Text, "\n"), err
}

// Request is the text of the user record at a place of m; "" for place 0.
// It returns ctxabi.ErrIO when a record cannot be read.
func (mm *Memo) Request(m record.Records, at int) (string, error) {
	if at == 0 {
		return "", nil
	}
	if text, ok := mm.requests[at]; ok {
		return text, nil
	}
	raw, err := m.Record(at)
	if err != nil {
		return "", record.Unreadable(record.AddressOf(m, at), err)
	}
	if len(mm.requests) > 2 {
		clear(mm.requests)
	}
	text := ctxabi.DecodeMessage(raw).Text
	mm.requests[at] = text
	return text, nil
}
