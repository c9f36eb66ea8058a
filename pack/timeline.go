package pack

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// timeline is the history of a session that has tool events without twins
// among its messages: both in the order of their arrival. As [Records] it
// numbers them all by their place in that order, from 1, and gives calls by
// place too. It only grows at its end.
type timeline struct {
	messages, events Records
	tools            []ctxabi.EventPlace
}

func (t *timeline) Len() int { return t.messages.Len() + len(t.tools) }

// upTo counts the events among the first at places.
func (t *timeline) upTo(at int) int {
	return sort.Search(len(t.tools), func(i int) bool { return t.placeOfTool(i) > at })
}

func (t *timeline) placeOfTool(i int) int { return int(t.tools[i].After) + i + 1 }

func (t *timeline) address(at int) address {
	k := t.upTo(at)
	if k > 0 && t.placeOfTool(k-1) == at {
		return address{n: int(t.tools[k-1].Line), event: true}
	}
	return address{n: at - k}
}

// place is where a record stands; 0 when it stands nowhere.
func (t *timeline) place(a address) int {
	if !a.event {
		return a.n + sort.Search(len(t.tools), func(i int) bool { return int(t.tools[i].After) >= a.n })
	}
	i := sort.Search(len(t.tools), func(i int) bool { return int(t.tools[i].Line) >= a.n })
	if i == len(t.tools) || int(t.tools[i].Line) != a.n {
		return 0
	}
	return t.placeOfTool(i)
}

func (t *timeline) log(a address) Records {
	if a.event {
		return t.events
	}
	return t.messages
}

func (t *timeline) At(at int) ctxabi.Entry {
	a := t.address(at)
	e := t.log(a).At(a.n)
	if e.CallOf > 0 {
		e.CallOf = int32(t.place(address{int(e.CallOf), a.event}))
	}
	return e
}

func (t *timeline) Record(at int) ([]byte, error) {
	a := t.address(at)
	return t.log(a).Record(a.n)
}

// address names a record: by its number in messages.jsonl, or in events.jsonl.
type address struct {
	n     int
	event bool
}

// addressOf is the address of the record at a place of m.
func addressOf(m Records, at int) address {
	if t, ok := m.(*timeline); ok {
		return t.address(at)
	}
	return address{n: at}
}

// String is how pack.md calls the record: "12", "e7".
func (a address) String() string {
	if a.event {
		return "e" + strconv.Itoa(a.n)
	}
	return strconv.Itoa(a.n)
}

// source is the record's source string: "messages:12", "events:7".
func (a address) source() string { return fmt.Sprintf("%s:%d", a.scheme(), a.n) }

func (a address) scheme() string {
	if a.event {
		return "events"
	}
	return "messages"
}

func (a address) log() string {
	if a.event {
		return ctxabi.EventsFile
	}
	return ctxabi.MessagesFile
}

// path is where a reader finds the record decoded.
func (a address) path() string { return ctxabi.LineDir + "/" + a.String() + ".txt" }

// stretch is a run of places of a timeline by the numbers of the records there.
// Events without a place may lie in between the first and the last.
type stretch struct {
	messages, events ctxabi.Span // the zero Span: none
	count            int
}

func stretchOf(m Records, s ctxabi.Span) stretch {
	t, ok := m.(*timeline)
	if !ok {
		return stretch{messages: s, count: s.Len()}
	}
	out := stretch{count: s.Len()}
	before, upto := t.upTo(s.From-1), t.upTo(s.To)
	if from, to := s.From-before, s.To-upto; from <= to {
		out.messages = ctxabi.Span{From: from, To: to}
	}
	if before < upto {
		out.events = ctxabi.Span{From: int(t.tools[before].Line), To: int(t.tools[upto-1].Line)}
	}
	return out
}

// String is "4-9", "e3-e7" or "4-9 and e3-e7".
func (s stretch) String() string {
	events := ""
	switch {
	case s.events.From == 0:
		return s.messages.String()
	case s.events.Len() == 1:
		events = fmt.Sprintf("e%d", s.events.From)
	default:
		events = fmt.Sprintf("e%d-e%d", s.events.From, s.events.To)
	}
	if s.messages.From == 0 {
		return events
	}
	return s.messages.String() + " and " + events
}

// toolsUpTo counts the tool events among the first at places of m.
func toolsUpTo(m Records, at int) int {
	if t, ok := m.(*timeline); ok {
		return t.upTo(at)
	}
	return 0
}

// logOfPlaces is the log of messages among m.
func logOfPlaces(m Records) Records {
	if t, ok := m.(*timeline); ok {
		return t.messages
	}
	return m
}

// placeOf is where the record at an address stands in m; 0: nowhere.
func placeOf(m Records, a address) int {
	if t, ok := m.(*timeline); ok {
		return t.place(a)
	}
	if a.event {
		return 0
	}
	return a.n
}

// sourcesOf names the records of a span: "messages:1-118", "messages:1-9, events:2-4".
func sourcesOf(m Records, span ctxabi.Span) string {
	s := stretchOf(m, span)
	var out []string
	if s.messages.From > 0 {
		out = append(out, "messages:"+s.messages.String())
	}
	if s.events.From > 0 {
		out = append(out, "events:"+s.events.String())
	}
	return strings.Join(out, ", ")
}
