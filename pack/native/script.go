package native

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/calls"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Speaker is whose turn it is.
type Speaker uint8

const (
	bySystem Speaker = iota
	byDeveloper
	byNote // text that ctxfs takes from the history or from a stored file: it has the user's role
	ByUser
	byAssistant
	byTools // results of the calls in the turn before
)

// Line is a record, or a note, on its way into a script.
type Line struct {
	Address   record.Address
	Role      ctxabi.Role
	Note      string   // not a record: this text, with the marks of its label
	Quote     int      // of a note: notes that follow each other under one number are one text
	Day       string   // of the record and those that follow; "": as before
	Shown     string   // as pack.md shows it, where it is cut
	Instead   []string // in the place of its results, where some are references
	Lead      bool     // in the head
	Past      bool     // behind the boundary
	Carried   bool     // its images are shown
	Restores  []string // of a compacted record: only its calls with these ids, for results that follow
	Unthought bool     // its thinking is left out: it would use too much of the budget
	Tokens    int      // that it takes in pack.md
	Contents  []record.Portion
}

// Slot is a part of a turn: of a portion of a line, or, with line -1, a text alone.
type Slot struct {
	kind    record.PortionKind
	Line, n int
	id      string // of the call, as providers take it
	name    string // of the tool, likewise
	front   string // stands before the content's text
	quoted  bool   // the content's text is quoted: nobody said it in that role
	Text    string // in its place
	failed  bool
	refused []providers // of each image: those that do not get it
	plain   bool        // of a call: not as the item that it is
}

// Turn is what one speaker says at once.
type Turn struct {
	By    Speaker
	Slots []Slot
	lead  bool // of a leading record: it stands in the head
	past  bool // of records behind the boundary
	quote int  // see Line.Quote
	tail  bool // may be another one when the next record has come
}

// Script is the conversation without its texts. In it each call has its result, right behind the turn that made
// it, in the order of the calls; a turn of the assistant ends with its calls, but for what a model said between the items of one response.
//
// A call whose result has not come is open. While it is, what others than the assistant say stands behind the results
// to come. When the assistant speaks again, the missing ones are given up for good and have
// a text in their place; one that comes after that is a text of its own. So the next record changes
// nothing but what stands behind the first open call: the tail.
type Script struct {
	Lines   []Line
	Turns   []Turn
	Repairs []Repair
	Bound   int // tokens that the conversation takes at most in any rendering
	marks   ctxabi.Marks
}

// scripter makes a script.
type scripter struct {
	Script
	ids      calls.IDs       // of the calls so far, as providers take them
	itemIDs  map[string]bool // of the items so far
	unpaired int             // the line whose results had no call last

	pairs calls.Pairs

	open     []openCall // the turn that makes them is the last one
	answered int        // of these
	own      int        // of the answered ones, those of a provider's own tools
	items    bool       // the open calls were items: what else the model said in the same response may follow them
	waiting  []Turn     // what was said since

	day string // that the next text of the user or result of a tool names; "": none
}

type openCall struct {
	pair   int // number of the call in pairs
	call   Slot
	answer *Slot
}

// NewScript makes the script of lines of a session with these marks.
func NewScript(lines []Line, marks ctxabi.Marks) *Script {
	w := scripter{Script: Script{Lines: lines, marks: marks}, ids: calls.IDs{}, itemIDs: map[string]bool{}, unpaired: -1}
	for i := range lines {
		w.line(i)
	}
	w.close(true)
	w.leftReasoning()
	w.chooseImages()
	s := w.Script // and nothing of what it took to make it
	s.Turns = slices.Clone(s.Turns)
	return &s
}

// extra returns what the record takes natively beyond its tokens in pack.md.
func (l *Line) extra() (n int) {
	for i := range l.Contents {
		if !l.Unthought || l.Contents[i].Kind != record.ThoughtPortion {
			n += l.Contents[i].Extra
		}
		if l.Carried {
			n += l.Contents[i].Cost
		}
	}
	return n
}

func (w *scripter) line(i int) {
	l := &w.Lines[i]
	w.Bound += l.Tokens
	if l.Note != "" {
		w.note(l)
		return
	}
	if l.Restores != nil && !w.restores(l) {
		return
	}
	w.day = cmp.Or(l.Day, w.day)
	w.Bound += record.FrameTokens
	w.Bound += l.extra()
	if l.Role == ctxabi.Assistant {
		w.assistant(i)
		return
	}
	results := false
	for n := range l.Contents {
		if l.Contents[n].Kind == record.ResultPortion {
			results = true
			w.result(i, n)
		}
	}

	t := Turn{By: ByUser, past: l.Past}
	switch l.Role {
	case ctxabi.System:
		t.By, t.lead = bySystem, l.Lead
		w.Bound += extraSystem
	case ctxabi.Developer:
		t.By, t.lead = byDeveloper, l.Lead
		w.Bound += extraSystem
	}
	t.Slots = w.slots(i)
	if len(t.Slots) == 0 && !results {
		w.repair(l.Address, "replaced an empty message with a placeholder")
		w.Bound += extraNothing
		t.Slots = []Slot{{Line: -1, Text: record.EmptyMessage}}
	}
	if l.Role == ctxabi.User && len(t.Slots) > 0 && w.day != "" {
		t.Slots = slices.Insert(t.Slots, 0, Slot{Line: -1, Text: strings.TrimSuffix(w.date(), "\n")})
	}
	if len(t.Slots) > 0 {
		w.say(t)
	}
}

// slots returns the contents of line i as those of a turn, without results.
func (w *scripter) slots(i int) (slots []Slot) {
	l := &w.Lines[i]
	for n, c := range l.Contents {
		s := Slot{kind: c.Kind, Line: i, n: n}
		switch {
		case c.Kind == record.ResultPortion, c.Kind == record.TextPortion && c.Blank && !c.Unknown:
			continue
		case c.Kind == record.TextPortion && c.Unknown:
			s.front = "[Record " + l.Address.String() + ", not a valid message]\n"
			s.quoted = true
			w.Bound += extraStrange + QuoteTokens
			w.repair(l.Address, "shown as quoted user text, because it is not a valid message")
		case c.Kind == record.TextPortion && l.Role == ctxabi.Tool: // results that were too many
			s.front, s.quoted = "[Results of calls]\n", true
			w.Bound += extraStrange + QuoteTokens
		case c.Kind == record.DataPortion && !record.ShowsImages(l.Role):
			s.kind, s.Text = record.TextPortion, c.Text
			w.noImages(l)
		case c.Kind == record.DataPortion && !l.Carried:
			s.kind, s.Text = record.TextPortion, c.Text
		}
		slots = append(slots, s)
	}
	return slots
}

// restores reports whether the calls of a compacted record are restored for a live result: not
// while other calls wait for results, which the restored ones would end, or for a call that has a
// result.
func (w *scripter) restores(l *Line) bool {
	if len(w.open) > 0 || slices.ContainsFunc(l.Restores, w.pairs.Known) {
		return false
	}
	w.repair(l.Address, "the call of a live result was compacted: it is restored")
	return true
}

// date returns the line that names the day of what follows, once for each day. An assistant's message
// has none, because a model that finds dates in its own messages writes them, too.
func (w *scripter) date() (line string) {
	if w.day != "" {
		line = "[Day: " + w.day + "]\n"
	}
	w.day = ""
	return line
}

// note adds a note to the text of notes before it, or begins one.
func (w *scripter) note(l *Line) {
	note := Slot{Line: -1, Text: l.Note}
	if last := len(w.Turns) - 1; last >= 0 && len(w.open) == 0 && w.Turns[last].By == byNote && w.Turns[last].quote == l.Quote {
		w.Turns[last].Slots = append(w.Turns[last].Slots, note)
		return
	}
	w.Bound += MessageTokens
	w.say(Turn{By: byNote, Slots: []Slot{note}, past: l.Past, quote: l.Quote})
}

// say adds a turn that is not the assistant's.
func (w *scripter) say(t Turn) {
	if len(w.open) > 0 {
		w.waiting = append(w.waiting, t)
		return
	}
	w.Turns = append(w.Turns, t)
}

// goesOn reports whether a line of the assistant may belong to the turn whose calls are open.
func (w *scripter) goesOn(l *Line) bool {
	callsAlone := !slices.ContainsFunc(l.Contents, func(c record.Portion) bool {
		return c.Kind == record.ResultPortion || c.Kind == record.ThoughtPortion || c.Kind == record.DataPortion || c.Kind == record.TextPortion && !c.Blank
	})
	return len(w.waiting) == 0 && (callsAlone && w.answered == 0 || w.items && w.answered == w.own)
}

// assistant adds what an assistant says. Calls alone, before any result, are made in parallel with those before.
func (w *scripter) assistant(i int) {
	l := &w.Lines[i]
	if len(w.open) > 0 && !w.goesOn(l) {
		w.close(false)
	}
	t := Turn{By: byAssistant, past: l.Past}
	results, item := false, false
	for n, c := range l.Contents {
		s := Slot{kind: c.Kind, Line: i, n: n}
		item = item || c.Item
		switch {
		case c.Kind == record.CallPortion || c.Kind == record.TextPortion && c.Blank:
			continue
		case c.Kind == record.ResultPortion:
			results = true
			continue
		case c.Kind == record.ThoughtPortion && l.Unthought:
			w.repair(l.Address, "omitted thinking that exceeds its share of the budget")
			continue
		case c.Kind == record.ThoughtPortion && w.seenItem(&c):
			w.repair(l.Address, "omitted a repeated reasoning item")
			continue
		case c.Kind == record.DataPortion:
			s.kind, s.Text = record.TextPortion, c.Text
			w.noImages(l)
		}
		t.Slots = append(t.Slots, s)
	}
	at := len(w.Turns)
	if len(w.open) > 0 {
		at--
		w.Turns[at].Slots = append(w.Turns[at].Slots, t.Slots...)
	} else {
		w.Turns = append(w.Turns, t)
		w.items, w.own = item, 0
	}
	for n, c := range l.Contents {
		if c.Kind == record.CallPortion {
			w.call(at, i, n)
		}
	}
	switch {
	case len(w.Turns[at].Slots) > 0:
	case results || slices.ContainsFunc(l.Contents, func(c record.Portion) bool { return c.Kind == record.ThoughtPortion }):
		w.Turns = w.Turns[:at]
	default:
		w.repair(l.Address, "replaced an empty message with a placeholder")
		w.Bound += extraNothing
		w.Turns[at].Slots = []Slot{{Line: -1, Text: record.EmptyMessage}}
	}
	for n, c := range l.Contents {
		if c.Kind != record.ResultPortion {
			continue
		}
		if c.Item {
			w.own++
		} else {
			w.repair(l.Address, "moved a result from an assistant message to a tool message")
		}
		w.result(i, n)
	}
}

// result answers an open call, or adds a text.
func (w *scripter) result(i, n int) {
	l := &w.Lines[i]
	c := &l.Contents[n]
	s := Slot{kind: record.ResultPortion, Line: i, n: n, failed: c.Failed}
	day := w.date()
	if c.Blank {
		w.repair(l.Address, "replaced an empty result with a placeholder")
		w.Bound += extraNothing
	}
	pair, match := w.pairs.Result(c.ID, c.Name)
	if match == calls.Answer {
		if c.ID == "" {
			w.repair(l.Address, "assigned a result without a call id to the first open call")
		}
		o := &w.open[slices.IndexFunc(w.open, func(o openCall) bool { return o.pair == pair })]
		s.id, s.name, s.front, o.answer = o.call.id, o.call.name, day, &s
		if w.answered++; w.answered == len(w.open) {
			w.close(false)
		}
		return
	}
	s.kind, s.quoted = record.TextPortion, true
	w.Bound += QuoteTokens
	var name string
	if match != calls.None {
		name = calls.Name(w.pairs.Name(pair))
		s.front = "[Another result of " + name + " for a call that already has a result]\n"
		w.repair(l.Address, "shown as quoted user text, because the call already has a result")
	} else {
		if name = calls.Name(c.Name); c.Name == "" {
			name = "a tool"
		}
		s.front = "[Result of " + name + " without its call]\n"
		w.repair(l.Address, "shown as quoted user text, because the result has no call")
	}
	if i == w.unpaired {
		s.front = "[Result]\n" // the one before said it
	} else {
		w.Bound += extraUnpaired + 2*ctxabi.Weight(name)
		w.unpaired = i
	}
	s.front = day + s.front
	t := Turn{By: ByUser, Slots: []Slot{s}, past: l.Past}
	for k := range c.Marks {
		t.Slots = append(t.Slots, Slot{kind: record.TextPortion, Line: -1, Text: c.Marks[k]})
	}
	w.say(t)
}

const NoResult = "(no result)"

// close ends the wait for the results of the open calls. At the end of the history they may still come.
func (w *scripter) close(end bool) {
	if len(w.open) == 0 {
		return
	}
	turn := len(w.Turns) - 1
	past := w.Turns[turn].past
	results := Turn{By: byTools, past: past}
	flush := func() {
		if len(results.Slots) > 0 {
			w.Turns = append(w.Turns, results)
			results.Slots = nil
		}
	}
	w.pairs.GiveUp()
	for _, o := range w.open {
		s := Slot{kind: record.ResultPortion, Line: -1, id: o.call.id, name: o.call.name, Text: NoResult}
		if o.answer != nil {
			s = *o.answer
		} else {
			w.repair(w.Lines[o.call.Line].Address, "added a placeholder for a missing result")
			w.Bound += extraNoResult
			if end && !results.tail {
				flush()
				results.tail = true
				w.Turns[turn].tail = w.items // more of it may come
			}
		}
		results.Slots = append(results.Slots, s)
	}
	tail := results.tail
	flush()
	for _, t := range w.waiting {
		t.tail = tail
		w.Turns = append(w.Turns, t)
	}
	w.open, w.waiting, w.answered, w.own, w.items = nil, nil, 0, 0, false
}
