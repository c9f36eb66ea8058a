package pack

import (
	"slices"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// fold decides which records of the journal a pack shows. Records are
// messages, and tool events without a twin among them, in one order; what is
// called a line here is a record's place in that order. It is a pure fold
// over the index: it looks at weights, roles and which call a result answers,
// never at a record's bytes, and its state after n records does not depend on
// when somebody looked in between.
//
// The live records are those from the boundary on. Whenever the journal
// weighs more than its room, one compaction moves the boundary forward to the
// start of a group (a call with all that came before its last result), so
// far that the journal falls to its low mark. The leading system records stand
// in the head (lead.go). Behind the boundary stay the first user record and, unless the live ones
// begin with a user record, the last user record. Where the number of iterations
// is bounded, each move that this takes is a compaction, too.
type fold struct {
	rules foldRules // never change

	// exactly counts the tokens of all records as they are shown before the first compaction; nil: weights decide that one, too.
	exactly func() (int64, bool)
	// images says what the images of the record at a line cost; nil: nothing.
	images func(line int) int
	// idle says whether the user record at a line says nothing by itself; nil: none does.
	idle func(line int) bool

	n               int    // records folded so far
	total           sums   // over all of them
	shown           int64  // what they would weigh as a pack shows them, scaled
	pictures        int64  // of that, their images
	lead            lead   // the system and developer records that it begins with
	opening         int    // the first user record
	skipped         int    // user records before the first that says something
	first           anchor // that one
	last            anchor // the newest user record
	starts          []start
	odd             []odd // results that came when there was little or much room, of those from the boundary before on
	settledWeight   int64 // what the journal came to when the boundary was moved last, its zones filled
	settledShown    int64 // what shown was then
	surplus         int64 // before the first compaction: what the records weigh more than they have tokens
	held            int64 // the settledWeight of the compaction before, and the record that brought that one; 0: none was
	heldAt          int
	orphans         int            // length of the run of results without a known call that ends at n
	turns           int            // assistant records
	newest          [turnCalls]int // the last results of the turn that goes on, by the remainder of their number
	calls           int            // results of that turn
	compactions     int
	cuts            []int     // the boundary after each of them
	compacted       int       // the record whose arrival brought the last compaction, or 0
	previous        int       // the boundary before it
	moved           string    // why it was: byRoom, byIterations or byTurn
	leftBy          string    // why the boundary moved last; "": it never did
	settledUser     anchor    // the newest user record when it was
	iteration       int       // the one that goes on, counted from 1; 0 before the first
	opened          bool      // by a user record, and no assistant has answered yet
	requests        []request // the first of the user and the newest ones
	settledRequests []request // what they were when the last compaction was
}

// Reasons of compactions.
const (
	byRoom       = "compaction"
	byIterations = "max_iterations"
	byTurn       = "turn_end" // results of turns that are over take less; the boundary stays
)

// sums add up over records from the first on.
type sums struct {
	bytes  int64                         // of the lines, newlines included
	weight int64                         // of the records in full
	events struct{ bytes, weight int64 } // of these, the events'
}

// plus is s and one more record.
func (s sums) plus(e ctxabi.Entry) sums {
	bytes, weight := int64(e.Len)+1, int64(e.Weight)
	s.bytes, s.weight = s.bytes+bytes, s.weight+weight
	if e.Role == ctxabi.Event {
		s.events.bytes, s.events.weight = s.events.bytes+bytes, s.events.weight+weight
	}
	return s
}

// minus is what s has more than t.
func (s sums) minus(t sums) sums {
	s.bytes, s.weight = s.bytes-t.bytes, s.weight-t.weight
	s.events.bytes, s.events.weight = s.events.bytes-t.events.bytes, s.events.weight-t.events.weight
	return s
}

// anchor is a record and what lies before it.
type anchor struct {
	line   int // 0: there is none
	weight int // in full
	before sums
}

// start is a record at which the live part may begin. starts[0] is the boundary.
type start struct {
	line   int
	shown  int64 // weight shown by all records before it
	before sums
	isUser bool
	user   anchor // the last user record before it
	// iteration is the one that the record belongs to; 0: none.
	iteration int
}

// orphansTogether is how many results without a known call in a row stay with the record before them.
const orphansTogether = 32

// clone gives a fold that goes on by itself.
func (f *fold) clone() *fold {
	g := *f
	g.starts, g.requests = slices.Clone(f.starts), slices.Clone(f.requests)
	g.exactly, g.idle, g.images, g.odd = nil, nil, nil, slices.Clone(f.odd)
	g.cuts = slices.Clip(f.cuts) // an append to one does not write into the other
	return &g
}

// add folds one more record.
func (f *fold) add(e ctxabi.Entry) {
	f.n++
	line, weight := f.n, int(e.Weight)
	before, shownBefore := f.total, f.shown
	f.total = before.plus(e)
	if e.Role == ctxabi.Assistant {
		f.turns++
	}
	f.noteRequest(e, line)
	leads := f.lead.n == line-1 && isLeading(e) && f.lead.takes(f.rules.leadCap)
	if leads {
		f.shown += f.lead.add(weight, &f.rules)
	}
	if f.rules.room == 0 && f.rules.iterations == 0 {
		f.noteUser(e, line, before)
		return
	}
	if !leads {
		rule := f.rules.share(e)
		if record.IsResult(e) && f.rules.room > 0 {
			own := false
			if rule, own = f.arriving(weight); own {
				f.odd = append(f.odd, odd{line: line, weight: weight, rule: rule})
			}
		}
		f.shown += f.scaled(rule.shown(weight))
		if e.Flags&ctxabi.HasImages != 0 && f.images != nil {
			if n := f.images(line); n <= f.rules.image { // else they are not shown
				f.shown, f.pictures = f.shown+f.scaled(n), f.pictures+f.scaled(n)
			}
		}
	}
	if f.startsHere(e, line) {
		f.iterate(e)
		f.starts = append(f.starts, start{line: line, shown: shownBefore, before: before, isUser: record.IsUser(e), user: f.last, iteration: f.iteration})
	}
	f.noteUser(e, line, before)
	f.noteCall(e, line)
	boundary := f.boundary()
	if f.rules.iterations > 0 && f.live() > f.rules.iterations {
		f.dropIterations()
	}
	switch {
	case f.rules.room == 0:
	case f.weight() > f.rules.room && !f.fitsExactly():
		f.compact()
	case record.IsUser(e) && f.compacted != line:
		f.endTurn()
	}
	if f.compacted == line {
		f.previous, f.settledUser = boundary, f.last
		f.settledRequests = slices.Clone(f.requests)
	}
}

// fitsExactly says whether all records fit by an exact count, as long as there was no compaction.
func (f *fold) fitsExactly() bool {
	if f.boundary() != 1 || f.exactly == nil || f.compactions > 0 {
		return false
	}
	n, ok := f.exactly()
	if !ok {
		return false
	}
	f.surplus = f.shown - f.pictures - n
	return f.weight() <= f.rules.room
}

// iterate notes whether record e begins an iteration: one answer of the assistant with its calls and
// their results, and before it what the user said to bring it about. Events and results begin none.
func (f *fold) iterate(e ctxabi.Entry) {
	switch {
	case record.IsUser(e) && !f.opened:
		f.iteration++
		f.opened = true
	case e.Role == ctxabi.Assistant:
		if !f.opened {
			f.iteration++
		}
		f.opened = false
	}
}

// live counts the iterations of which something is live.
func (f *fold) live() int { return f.iteration - max(1, f.starts[0].iteration) + 1 }

// dropIterations moves the boundary to the start of an iteration, so far that the step asked for has left.
func (f *fold) dropIterations() {
	from := f.iteration - max(1, f.rules.iterations+1-f.rules.step) + 1
	to := slices.IndexFunc(f.starts, func(s start) bool { return s.iteration >= from })
	if to > 0 {
		f.age()
		f.moveTo(to, f.after(to), byIterations)
	}
}

// moveTo makes starts[to] the boundary.
func (f *fold) moveTo(to int, after int64, why string) {
	if f.compacted != f.n {
		f.held, f.heldAt = f.settledWeight, f.compacted
	}
	if f.compacted, f.moved = f.n, why; to > 0 {
		f.leftBy = why
	}
	f.compactions++
	old, _ := f.oddAt(f.boundary())
	f.odd = slices.Clone(f.odd[old:])
	f.starts = append(f.starts[:0], f.starts[to:]...)
	f.cuts = append(f.cuts, f.starts[0].line)
	f.settledWeight, f.settledShown = after, f.shown
}

func (f *fold) noteUser(e ctxabi.Entry, line int, before sums) {
	if !record.IsUser(e) {
		return
	}
	f.last = anchor{line, int(e.Weight), before}
	if f.opening == 0 {
		f.opening = line
	}
	if f.first.line > 0 {
		return
	}
	if f.idle != nil && f.skipped < maxSkipped && e.Len <= 2*compress.MaxIdle && f.idle(line) {
		f.skipped++
		return
	}
	f.first = f.last
}

// maxSkipped is how many user records are read to find the first that says something.
const maxSkipped = 32

// request is what a user asked and the last record of the assistant that followed; 0: none did yet.
type request struct{ user, answer int }

// maxRequests is how many requests a fold remembers: the first, and the newest.
const maxRequests = 33

func (f *fold) noteRequest(e ctxabi.Entry, line int) {
	switch {
	case record.IsUser(e):
		if len(f.requests) == maxRequests {
			f.requests = slices.Delete(f.requests, 1, 2)
		}
		f.requests = append(f.requests, request{user: line})
	case e.Role == ctxabi.Assistant && len(f.requests) > 0:
		f.requests[len(f.requests)-1].answer = line
	}
}

// startsHere says whether the live part may begin at this record, and takes
// back the starts between a call and the result that just came.
func (f *fold) startsHere(e ctxabi.Entry, line int) bool {
	if len(f.starts) == 0 {
		return true
	}
	if line == f.lead.n {
		return false
	}
	if !record.IsResult(e) {
		f.orphans = 0
		return true
	}
	if f.rules.anywhere {
		return true
	}
	call := int(e.CallOf)
	switch {
	case call >= f.starts[0].line: // its call is live: nothing between them is a start
		last := len(f.starts)
		for last > 1 && f.starts[last-1].line > call {
			last--
		}
		if last < len(f.starts) { // what was said between them opened nothing
			f.iteration, f.opened = f.starts[last-1].iteration, false
		}
		f.starts = f.starts[:last]
		return false
	case call > 0: // its call was compacted before it came
		return true
	}
	f.orphans++
	return f.orphans%orphansTogether == 0
}

// weight is what the journal weighs now.
func (f *fold) weight() int64 {
	if len(f.starts) == 0 {
		return 0
	}
	if f.boundary() == 1 {
		return f.shown - f.surplus
	}
	return f.settledWeight + f.shown - f.settledShown
}

// boundary is the first live record.
func (f *fold) boundary() int {
	if len(f.starts) == 0 {
		return 1
	}
	return f.starts[0].line
}
