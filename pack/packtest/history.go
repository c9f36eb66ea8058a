package packtest

import (
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/log"
)

// History is both logs of a session in memory, in the order of their arrival.
type History struct {
	Messages, Events *Log
	Tools            []ctxabi.EventPlace
	named            map[string]int // call id → last message that names it
	Arrived          []Arrived
}

// Arrived is how long everything was when a record had arrived.
type Arrived struct{ Messages, Events, Tools int }

func NewHistory() *History {
	return &History{Messages: NewLog(), Events: &Log{MemLog: log.NewMemLog(ctxabi.EventsFile)}, named: map[string]int{}}
}

func (h *History) Message(raw []byte) {
	h.Messages.Append(raw)
	if h.Messages.At(h.Messages.Len()).Flags&ctxabi.Damaged == 0 {
		m := ctxabi.DecodeMessage(raw)
		for _, c := range m.Calls {
			h.named[c.ID] = h.Messages.Len()
		}
		for _, r := range m.Results {
			h.named[r.CallID] = h.Messages.Len()
		}
		h.named[m.CallID] = h.Messages.Len()
	}
	h.note()
}

func (h *History) Event(raw []byte) {
	h.Events.Append(raw)
	if ev, ok := ctxabi.DecodeToolEvent(raw); ok {
		line := h.named[ev.CallID]
		if ev.CallID == "" || line == 0 || line <= h.Messages.Len()-1024 {
			h.Tools = append(h.Tools, ctxabi.EventPlace{Line: int32(h.Events.Len()), After: int32(h.Messages.Len())})
		}
	}
	h.note()
}

func (h *History) note() {
	h.Arrived = append(h.Arrived, Arrived{h.Messages.Len(), h.Events.Len(), len(h.Tools)})
}

func (h *History) Len() int { return len(h.Arrived) }

// Until returns both logs as they were with the first n records, the places of tool events among them, and the head of
// the events up to the last of these.
func (h *History) Until(n int) (messages, events *Log, tools []ctxabi.EventPlace, eventsHead string) {
	var a Arrived
	if n > 0 {
		a = h.Arrived[n-1]
	}
	messages = h.Messages.Prefix(a.Messages)
	if a.Tools > 0 {
		tools, events = h.Tools[:a.Tools], h.Events.Prefix(a.Events)
		eventsHead = h.Events.Prefix(int(h.Tools[a.Tools-1].Line)).Head()
	}
	return messages, events, tools, eventsHead
}
