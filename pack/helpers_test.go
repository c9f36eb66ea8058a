package pack

import (
	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// Names of packtest as the tests of this package say them.
type memLog = packtest.Log

var (
	newLog    = packtest.NewLog
	logOf     = packtest.LogOf
	message   = packtest.Message
	quoteJSON = packtest.QuoteJSON
	longLog   = packtest.LongLog
	codingLog = packtest.CodingLog
	notedLog  = packtest.NotedLog
	weighing  = packtest.Weighing
	text      = packtest.Text
	history   = packtest.Messages
	document  = packtest.Document
	pure      = packtest.Pure
	called    = packtest.Called
	answered  = packtest.Answered
	golden    = packtest.Golden
)

// memHistory is a history with the input of a pack of it.
type memHistory struct{ *packtest.History }

func newHistory() *memHistory { return &memHistory{packtest.NewHistory()} }

// wholeHistory draws a session with tool events.
func wholeHistory(t *rapid.T) *memHistory { return &memHistory{packtest.WholeHistory(t)} }

func (h *memHistory) message(raw []byte) { h.Message(raw) }

func (h *memHistory) event(raw []byte) { h.Event(raw) }

func (h *memHistory) len() int { return h.Len() }

// input is that of the first n records of both logs.
func (h *memHistory) input(n, budget int, files ...blocks.File) Input {
	messages, events, tools, head := h.Until(n)
	in := inputOf(messages, budget, files...)
	if len(tools) > 0 {
		in.Tools, in.Events, in.EventsHead = tools, events, head
	}
	return in
}
