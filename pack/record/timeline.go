package record

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Merged is the history of a session that has tool events without twins
// among its messages: both in the order of their arrival. As [Records] it
// numbers them all by their place in that order, from 1, and gives calls by
// place too. It only grows at its end.
type Merged struct {
	Messages, Events Records
	Tools            []ctxabi.EventPlace
}

func (t *Merged) Len() int { return t.Messages.Len() + len(t.Tools) }

// upTo counts the events among the first at places.
func (t *Merged) upTo(at int) int {
	return sort.Search(len(t.Tools), func(i int) bool { return t.placeOfTool(i) > at })
}

func (t *Merged) placeOfTool(i int) int { return int(t.Tools[i].After) + i + 1 }

func (t *Merged) address(at int) Address {
	k := t.upTo(at)
	if k > 0 && t.placeOfTool(k-1) == at {
		return Address{Line: int(t.Tools[k-1].Line), Event: true}
	}
	return Address{Line: at - k}
}

// PositionOf is where a record stands; 0 when it stands nowhere.
func (t *Merged) PositionOf(a Address) int {
	if !a.Event {
		return a.Line + sort.Search(len(t.Tools), func(i int) bool { return int(t.Tools[i].After) >= a.Line })
	}
	i := sort.Search(len(t.Tools), func(i int) bool { return int(t.Tools[i].Line) >= a.Line })
	if i == len(t.Tools) || int(t.Tools[i].Line) != a.Line {
		return 0
	}
	return t.placeOfTool(i)
}

func (t *Merged) Log(a Address) Records {
	if a.Event {
		return t.Events
	}
	return t.Messages
}

func (t *Merged) At(at int) ctxabi.Entry {
	a := t.address(at)
	e := t.Log(a).At(a.Line)
	if e.CallOf > 0 {
		e.CallOf = int32(t.PositionOf(Address{int(e.CallOf), a.Event}))
	}
	return e
}

// Record returns the record at a place. It returns the error of its log.
func (t *Merged) Record(at int) ([]byte, error) {
	a := t.address(at)
	return t.Log(a).Record(a.Line)
}

// Address names a record: by its number in messages.jsonl, or in events.jsonl.
type Address struct {
	Line  int
	Event bool
}

// AddressOf is the address of the record at a place of m.
func AddressOf(m Records, at int) Address {
	if t, ok := m.(*Merged); ok {
		return t.address(at)
	}
	return Address{Line: at}
}

// DayOf returns the day of the record at a place of m, as [ctxabi.DayOf] does.
// It returns ctxabi.ErrIO when the record cannot be read.
func DayOf(m Records, at int) (string, error) {
	raw, err := m.Record(at)
	if err != nil {
		return "", Unreadable(AddressOf(m, at), err)
	}
	return ctxabi.DayOf(raw), nil
}

// String is how pack.md calls the record: "12", "e7".
func (a Address) String() string {
	if a.Event {
		return "e" + strconv.Itoa(a.Line)
	}
	return strconv.Itoa(a.Line)
}

// Source is the record's source string: "messages:12", "events:7".
func (a Address) Source() string { return fmt.Sprintf("%s:%d", a.Scheme(), a.Line) }

func (a Address) Scheme() string {
	if a.Event {
		return "events"
	}
	return "messages"
}

func (a Address) Log() string {
	if a.Event {
		return ctxabi.EventsFile
	}
	return ctxabi.MessagesFile
}

// Path is where a reader finds the record decoded.
func (a Address) Path() string { return ctxabi.LineDir + "/" + a.String() + ".txt" }

// Stretch is a run of places of a timeline by the numbers of the records there.
// Events without a place may lie in between the first and the last.
type Stretch struct {
	Messages, Events ctxabi.Span // the zero Span: none
	Count            int
}

// StretchOf returns the numbers of the records at the places s of m.
func StretchOf(m Records, s ctxabi.Span) Stretch {
	t, ok := m.(*Merged)
	if !ok {
		return Stretch{Messages: s, Count: s.Len()}
	}
	out := Stretch{Count: s.Len()}
	before, upto := t.upTo(s.From-1), t.upTo(s.To)
	if from, to := s.From-before, s.To-upto; from <= to {
		out.Messages = ctxabi.Span{From: from, To: to}
	}
	if before < upto {
		out.Events = ctxabi.Span{From: int(t.Tools[before].Line), To: int(t.Tools[upto-1].Line)}
	}
	return out
}

// String is "4-9", "e3-e7" or "4-9 and e3-e7".
func (s Stretch) String() string {
	events := ""
	switch {
	case s.Events.From == 0:
		return s.Messages.String()
	case s.Events.Len() == 1:
		events = fmt.Sprintf("e%d", s.Events.From)
	default:
		events = fmt.Sprintf("e%d-e%d", s.Events.From, s.Events.To)
	}
	if s.Messages.From == 0 {
		return events
	}
	return s.Messages.String() + " and " + events
}

// ToolsUpTo counts the tool events among the first at places of m.
func ToolsUpTo(m Records, at int) int {
	if t, ok := m.(*Merged); ok {
		return t.upTo(at)
	}
	return 0
}

// MessagesOf is the log of messages among m.
func MessagesOf(m Records) Records {
	if t, ok := m.(*Merged); ok {
		return t.Messages
	}
	return m
}

// PositionIn is where the record at an address stands in m; 0: nowhere.
func PositionIn(m Records, a Address) int {
	if t, ok := m.(*Merged); ok {
		return t.PositionOf(a)
	}
	if a.Event {
		return 0
	}
	return a.Line
}

// SourcesOf names the records of a span: "messages:1-118", "messages:1-9, events:2-4".
func SourcesOf(m Records, span ctxabi.Span) string {
	s := StretchOf(m, span)
	var out []string
	if s.Messages.From > 0 {
		out = append(out, "messages:"+s.Messages.String())
	}
	if s.Events.From > 0 {
		out = append(out, "events:"+s.Events.String())
	}
	return strings.Join(out, ", ")
}
