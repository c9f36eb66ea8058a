package pack

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// speaker is whose turn it is.
type speaker uint8

const (
	bySystem speaker = iota
	byDeveloper
	byNote // what ctxfs says of records that are left out
	byUser
	byAssistant
	byTools // results of the calls in the turn before
)

// scriptLine is a record, or a note, on its way into a script.
type scriptLine struct {
	at       record.Address
	role     ctxabi.Role
	note     string   // not a record: this text
	shown    string   // as pack.md shows it, where it is cut
	instead  []string // in the place of its results, where some are references
	lead     bool     // in the head
	past     bool     // behind the boundary
	carried  bool     // its images are shown
	tokens   int      // that it takes in pack.md
	contents []record.Portion
}

// slot is a part of a turn: of a portion of a line, or, with line -1, a text alone.
type slot struct {
	kind    record.PortionKind
	line, n int
	id      string // of the call, as providers take it
	name    string // of the tool, likewise
	front   string // stands before the content's text
	text    string // in its place
	failed  bool
}

// scriptTurn is what one speaker says at once.
type scriptTurn struct {
	by    speaker
	slots []slot
	lead  bool // of a leading record: it stands in the head
	past  bool // of records behind the boundary
	tail  bool // may be another one when the next record has come
}

// script is the conversation without its texts. In it each call has its result, right behind the turn that made
// it, in the order of the calls; a turn of the assistant ends with its calls.
//
// A call whose result has not come is open. While it is, what others than the assistant say stands behind the results
// to come. When the assistant speaks again, the missing ones are given up for good and have
// a text in their place; one that comes after that is a text of its own. So the next record changes
// nothing but what stands behind the first open call: the tail.
type script struct {
	lines   []scriptLine
	turns   []scriptTurn
	repairs []repair
	bound   int // tokens that the conversation takes at most in any rendering
}

// scripter makes a script.
type scripter struct {
	script
	ids      map[string]bool // of the calls so far, as providers take them
	unpaired int             // the line whose results had no call last

	given map[string]string // the tools of calls that have their results, by the id in the record

	open     []openCall   // the turn that makes them is the last one
	answered int          // of these
	waiting  []scriptTurn // what was said since
}

type openCall struct {
	id     string // in the record
	call   slot
	answer *slot
}

// write makes the script of lines.
func write(lines []scriptLine) *script {
	w := scripter{script: script{lines: lines}, ids: map[string]bool{}, given: map[string]string{}, unpaired: -1}
	for i := range lines {
		w.line(i)
	}
	w.close(true)
	s := w.script // and nothing of what it took to make it
	s.turns = slices.Clone(s.turns)
	return &s
}

// size is about how many bytes s takes. The texts of records are not its own.
func (s *script) size() int {
	n := len(s.lines)*int(unsafe.Sizeof(scriptLine{})) + len(s.turns)*int(unsafe.Sizeof(scriptTurn{})) + len(s.repairs)*128
	for i := range s.turns {
		for k := range s.turns[i].slots {
			n += int(unsafe.Sizeof(slot{})) + len(s.turns[i].slots[k].front)
		}
	}
	return n
}

// What a record takes natively beyond its tokens in pack.md, at most. A heading there takes five or more.
const (
	extraRecord   = 3
	extraNote     = 6  // a note has no heading
	extraSystem   = 6  // systemSays
	extraNothing  = 6  // a text in the place of one that is empty
	extraStrange  = 16 // the text in front of what is not a message
	extraUnpaired = 24 // the text in front of a result without call
	extraNoResult = 10 // the text in the place of a result
)

func (w *scripter) line(i int) {
	l := &w.lines[i]
	w.bound += l.tokens
	if l.note != "" {
		w.bound += extraNote
		w.say(scriptTurn{by: byNote, slots: []slot{{line: -1, text: l.note}}, past: l.past})
		return
	}
	w.bound += extraRecord
	for n := range l.contents {
		w.bound += l.contents[n].Extra
		if l.carried {
			w.bound += l.contents[n].Cost
		}
	}
	if l.role == ctxabi.Assistant {
		w.assistant(i)
		return
	}
	for n := range l.contents {
		if l.contents[n].Kind == record.ResultPortion {
			w.result(i, n)
		}
	}
	t := scriptTurn{by: byUser, past: l.past}
	switch l.role {
	case ctxabi.System:
		t.by, t.lead = bySystem, l.lead
		w.bound += extraSystem
	case ctxabi.Developer:
		t.by, t.lead = byDeveloper, l.lead
		w.bound += extraSystem
	}
	results := false
	for n, c := range l.contents {
		s := slot{kind: c.Kind, line: i, n: n}
		switch {
		case c.Kind == record.ResultPortion:
			results = true
			continue
		case c.Kind == record.TextPortion && c.Unknown:
			s.front = "[Record " + l.at.String() + " is not a message]\n"
			w.bound += extraStrange
			w.repair(l.at, "it is not a message: it stands as a text of the user")
		case c.Kind == record.TextPortion && c.Blank:
			continue
		case c.Kind == record.TextPortion && l.role == ctxabi.Tool: // results that were too many
			s.front = "[Results of calls]\n"
			w.bound += extraStrange
		case c.Kind == record.DataPortion && (!l.carried || t.by != byUser):
			s.kind, s.text = record.TextPortion, c.Text
		}
		t.slots = append(t.slots, s)
	}
	if len(t.slots) == 0 && !results {
		w.repair(l.at, "it says nothing: a text in its place says so")
		w.bound += extraNothing
		t.slots = []slot{{line: -1, text: record.NothingSaid}}
	}
	if len(t.slots) > 0 {
		w.say(t)
	}
}

// say adds a turn that is not the assistant's.
func (w *scripter) say(t scriptTurn) {
	if len(w.open) > 0 {
		w.waiting = append(w.waiting, t)
		return
	}
	w.turns = append(w.turns, t)
}

// assistant adds what an assistant says. Calls alone, before any result, are made in parallel with those before.
func (w *scripter) assistant(i int) {
	l := &w.lines[i]
	callsAlone := !slices.ContainsFunc(l.contents, func(c record.Portion) bool {
		return c.Kind == record.ResultPortion || c.Kind == record.ThoughtPortion || c.Kind == record.DataPortion || c.Kind == record.TextPortion && !c.Blank
	})
	if len(w.open) > 0 && !(callsAlone && w.answered == 0 && len(w.waiting) == 0) {
		w.close(false)
	}
	t := scriptTurn{by: byAssistant, past: l.past}
	results := false
	for n, c := range l.contents {
		s := slot{kind: c.Kind, line: i, n: n}
		switch {
		case c.Kind == record.CallPortion || c.Kind == record.TextPortion && c.Blank:
			continue
		case c.Kind == record.ResultPortion:
			results = true
			continue
		case c.Kind == record.DataPortion:
			s.kind, s.text = record.TextPortion, c.Text
		}
		t.slots = append(t.slots, s)
	}
	at := len(w.turns)
	if len(w.open) > 0 {
		at--
	} else {
		w.turns = append(w.turns, t)
	}
	calls := 0
	for n, c := range l.contents {
		if c.Kind == record.CallPortion {
			w.call(at, i, n)
			calls++
		}
	}
	switch {
	case len(w.turns[at].slots) > 0:
	case results:
		w.turns = w.turns[:at]
	default:
		w.repair(l.at, "it says nothing: a text in its place says so")
		w.bound += extraNothing
		w.turns[at].slots = []slot{{line: -1, text: record.NothingSaid}}
	}
	for n, c := range l.contents {
		if c.Kind == record.ResultPortion {
			w.repair(l.at, "the assistant gives a result: it counts as the tool's")
			w.result(i, n)
		}
	}
}

// call adds a call to the turn at.
func (w *scripter) call(at, i, n int) {
	l := &w.lines[i]
	c := &l.contents[n]
	s := slot{kind: record.CallPortion, line: i, n: n, id: c.ID, name: record.ToolName(c.Name)}
	if s.name != c.Name {
		w.repair(l.at, "the name of a tool that it calls is one that providers refuse: it is called %s", s.name)
	}
	if c.Broken {
		w.repair(l.at, "the arguments of a call are not an object of JSON: they stand in one as a text")
	}
	switch {
	case c.ID == "":
		w.repair(l.at, "a call has no id: it is given one")
	case w.ids[s.id]:
		w.repair(l.at, "a call has the id of an earlier one: it is given another")
	}
	if !isCallID(s.id) || w.ids[s.id] {
		s.id = fmt.Sprintf("call_%s_%d", l.at, n+1)
	}
	for w.ids[s.id] {
		s.id += "_"
	}
	w.ids[s.id] = true
	w.turns[at].slots = append(w.turns[at].slots, s)
	w.open = append(w.open, openCall{id: c.ID, call: s})
}

// isCallID says whether every provider takes an id.
func isCallID(id string) bool {
	if id == "" || len(id) > 40 {
		return false
	}
	for i := range len(id) {
		if c := id[i]; !(record.IsDigit(c) || c < 0x80 && record.IsLetter(c) || c == '-') {
			return false
		}
	}
	return true
}

// result answers an open call, or adds a text.
func (w *scripter) result(i, n int) {
	l := &w.lines[i]
	c := &l.contents[n]
	s := slot{kind: record.ResultPortion, line: i, n: n, failed: c.Failed}
	if c.Blank {
		w.repair(l.at, "a result is empty: a text in its place says so")
		w.bound += extraNothing
	}
	at := slices.IndexFunc(w.open, func(o openCall) bool {
		if c.ID == "" && c.Name != "" && record.ToolName(c.Name) != o.call.name {
			return false
		}
		return o.answer == nil && (c.ID == o.id || c.ID == "")
	})
	if at >= 0 {
		if c.ID == "" {
			w.repair(l.at, "a result names no call: it is taken for that of the first open call")
		}
		o := &w.open[at]
		s.id, s.name, o.answer = o.call.id, o.call.name, &s
		if w.answered++; w.answered == len(w.open) {
			w.close(false)
		}
		return
	}
	name, known := w.given[c.ID]
	if o := slices.IndexFunc(w.open, func(o openCall) bool { return o.id == c.ID }); o >= 0 {
		name, known = w.open[o].call.name, true
	}
	s.kind = record.TextPortion
	if known = known && c.ID != ""; known {
		s.front = "[Another result of " + name + ", for a call that has one]\n"
		w.repair(l.at, "a result came for a call that has one, or was given up: it stands as a text of the user")
	} else {
		if name = record.ToolName(c.Name); c.Name == "" {
			name = "a tool"
		}
		s.front = "[Result of " + name + ", for a call that is not shown]\n"
		w.repair(l.at, "a result has no call: it stands as a text of the user")
	}
	if i == w.unpaired {
		s.front = "[Result]\n" // the one before said it
	} else {
		w.bound += extraUnpaired + 2*ctxabi.Weight(name)
		w.unpaired = i
	}
	t := scriptTurn{by: byUser, slots: []slot{s}, past: l.past}
	for k := range c.Marks {
		t.slots = append(t.slots, slot{kind: record.TextPortion, line: -1, text: c.Marks[k]})
	}
	w.say(t)
}

const noResult = "(no result)"

// close ends the wait for the results of the open calls. At the end of the history they may still come.
func (w *scripter) close(end bool) {
	if len(w.open) == 0 {
		return
	}
	past := w.turns[len(w.turns)-1].past
	results := scriptTurn{by: byTools, past: past}
	flush := func() {
		if len(results.slots) > 0 {
			w.turns = append(w.turns, results)
			results.slots = nil
		}
	}
	for _, o := range w.open {
		w.given[o.id] = o.call.name
		s := slot{kind: record.ResultPortion, line: -1, id: o.call.id, name: o.call.name, text: noResult}
		if o.answer != nil {
			s = *o.answer
		} else {
			w.repair(w.lines[o.call.line].at, "a call has no result: a text in its place says so")
			w.bound += extraNoResult
			if end && !results.tail {
				flush()
				results.tail = true
			}
		}
		results.slots = append(results.slots, s)
	}
	tail := results.tail
	flush()
	for _, t := range w.waiting {
		t.tail = tail
		w.turns = append(w.turns, t)
	}
	w.open, w.waiting, w.answered = nil, nil, 0
}
