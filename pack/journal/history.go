package journal

import (
	"slices"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Fold decides which records of the journal a pack shows. Records are
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
// begin with a user record, the last user record. An image weighs what it costs in native renderings, wherever its
// record stands, as long as it is shown there. Where the number of iterations
// is bounded, each move that this takes is a compaction, too.
type Fold struct {
	Rules Rules // never change

	// exactly counts the tokens of all records as they are shown before the first compaction; nil: weights decide that one, too.
	exactly func() (int64, bool)
	// images is what the images of the record at a line cost; nil: nothing.
	images func(line int) int
	// arguments returns the weight of the call arguments in the record at a line if body is 0.
	// Otherwise it returns an upper bound of the record's weight with its arguments shortened to
	// body tokens, or 0 if the bound is unknown. If arguments is nil, no arguments are shortened.
	arguments func(line, body int) int
	// idle is whether the user record at a line says nothing by itself; nil: none does.
	idle func(line int) bool
	// summary returns the version of the summary that a compaction at record n uses. It is nil if
	// no version was delivered.
	summary func(n int) delivered
	// weightUpTo returns the total weight of the records up to a place, inclusive. It is nil if no
	// version was delivered.
	weightUpTo func(to int) int64

	N               int    // records folded so far
	Total           Sums   // over all of them
	shown           int64  // what they would weigh as a pack shows them, scaled
	beyond          int64  // of that, what native renderings take beyond pack.md: see beyondAt
	imagesFrom      int    // the first record whose images may be shown; 0: there is none
	Lead            Lead   // the system and developer records that it begins with
	Opening         int    // the first user record
	skipped         int    // user records before the first that says something
	First           Anchor // that one
	Last            Anchor // the newest user record
	starts          []start
	odd             []odd // results and calls that a compaction may shorten, of those from the boundary before on
	settledWeight   int64 // what the journal came to when the boundary was moved last, its zones filled
	settledShown    int64 // what shown was then
	settledWords    int64 // of settledWeight, what the user's words have beyond their share: see wordsBeyond
	words           int64 // what lines with the user's words take, of all records: see wordsOf
	surplus         int64 // before the first compaction: what the records weigh more than they have tokens
	call            int64 // the usual size of a call; see noteAnswer
	answered        int64 // what shown was when the assistant answered last
	held            int64 // the settledWeight of the compaction before, and the record that brought that one; 0: none was
	heldAt          int
	orphans         int            // length of the run of results without a known call that ends at n
	Turns           int            // assistant records
	newest          [turnCalls]int // the last results of the turn that goes on, by the remainder of their number
	calls           int            // results of that turn
	Compactions     int
	Cuts            []int     // the boundary after each of them
	Compacted       int       // the record whose arrival brought the last compaction, or 0
	Previous        int       // the boundary before it
	Moved           string    // reason of the last compaction, one of the constants below; see Reason
	LeftBy          string    // why the boundary moved last; "": it never did
	SettledUser     Anchor    // the newest user record when it was
	iteration       int       // the one that goes on, counted from 1; 0 before the first
	opened          bool      // by a user record, and no assistant has answered yet
	Requests        []request // the first of the user and the newest ones
	SettledRequests []request // what they were when the last compaction was
	past            []*Fold   // the generations of what is behind the boundary, see generations.go
	from            int       // the first place of the newest of them
	minor           bool      // the boundary moved last by a minor compaction
	asked           requests  // state of the summary requests
}

// Reasons of compactions.
const (
	byRoom       = "compaction"
	minorReason  = "minor compaction" // what stands behind the boundary stays
	ByIterations = "max_iterations"
	byTurn       = "turn_end"        // results of turns that are over take less; the boundary stays
	byShares     = "shorter_results" // results take less before the boundary moves; it stays
	bySummary    = "summary"         // a version of the summary was delivered

	// byLateSummary: a version of the summary covers compacted records. It need not free tokens.
	byLateSummary = "late summary"
)

// Sums add up over records from the first on.
type Sums struct {
	Bytes  int64                         // of the lines, newlines included
	Weight int64                         // of the records in full
	Events struct{ Bytes, Weight int64 } // of these, the events'
}

// plus is s and one more record.
func (s Sums) plus(e ctxabi.Entry) Sums {
	bytes, weight := int64(e.Len)+1, int64(e.Weight)
	s.Bytes, s.Weight = s.Bytes+bytes, s.Weight+weight
	if e.Role == ctxabi.Event {
		s.Events.Bytes, s.Events.Weight = s.Events.Bytes+bytes, s.Events.Weight+weight
	}
	return s
}

// minus is what s has more than t.
func (s Sums) minus(t Sums) Sums {
	s.Bytes, s.Weight = s.Bytes-t.Bytes, s.Weight-t.Weight
	s.Events.Bytes, s.Events.Weight = s.Events.Bytes-t.Events.Bytes, s.Events.Weight-t.Events.Weight
	return s
}

// Anchor is a record and what lies before it.
type Anchor struct {
	Line   int // 0: there is none
	Weight int // in full
	Before Sums
	images int // tokens of those that may be shown
	turn   int // how many user records there are up to it
}

// start is a record at which the live part may begin. starts[0] is the boundary.
type start struct {
	line   int
	shown  int64 // weight shown by all records before it
	words  int64 // Fold.words before it
	before Sums
	isUser bool
	user   Anchor // the last user record before it
	// iteration is the one that the record belongs to; 0: none.
	iteration int
}

// OrphansTogether is how many results without a known call in a row stay with the record before them.
const OrphansTogether = 32

// clone returns a fold that goes on by itself.
func (f *Fold) clone() *Fold {
	g := *f
	g.starts, g.Requests = slices.Clone(f.starts), slices.Clone(f.Requests)
	g.exactly, g.idle, g.images, g.arguments, g.summary, g.weightUpTo = nil, nil, nil, nil, nil, nil
	g.odd = slices.Clone(f.odd)
	g.Cuts, g.past = slices.Clip(f.Cuts), slices.Clip(f.past) // an append to one does not write into the other
	return &g
}

// add folds one more record.
func (f *Fold) add(e ctxabi.Entry) {
	f.N++
	line, weight := f.N, int(e.Weight)
	before, shownBefore := f.Total, f.shown
	f.Total = before.plus(e)
	if e.Role == ctxabi.Assistant {
		f.Turns++
	}
	f.noteRequest(e, line)
	f.noteLoop(e)
	f.noteCovered()
	leads := f.Lead.N == line-1 && isLeading(e) && f.Lead.takes(f.Rules.leadCap)
	if leads {
		f.shown += f.Lead.add(weight, &f.Rules)
	}
	if f.Rules.room == 0 && f.Rules.iterations == 0 {
		f.noteUser(e, line, before, 0)
		return
	}
	images := 0
	if !leads {
		images = f.show(e)
	}
	if f.startsHere(e, line) {
		f.iterate(e)
		f.starts = append(f.starts, start{line: line, shown: shownBefore, words: f.words, before: before, isUser: record.IsUser(e), user: f.Last, iteration: f.iteration})
	}
	f.noteUser(e, line, before, images)
	if record.IsUser(e) {
		f.words += f.scaled(wordsOf(weight))
	}
	f.noteCall(e, line)
	f.noteAnswer(e)
	boundary := f.Boundary()
	if f.Rules.iterations > 0 && f.live() > f.Rules.iterations {
		f.dropIterations()
	}
	switch {
	case f.Rules.room == 0:
	case f.weight() > f.Rules.room && !f.fitsExactly():
		f.compact()
	case f.Compacted != line && f.enter(e):
	case record.IsUser(e) && f.Compacted != line:
		f.endTurn()
	}
	if f.Compacted == line {
		f.Previous, f.SettledUser = boundary, f.Last
		f.SettledRequests = slices.Clone(f.Requests)
		if f.Boundary() > boundary {
			f.generate()
		}
	}
	f.ask(boundary)
}

// show adds what record e shows that was folded last, and returns what its images take.
func (f *Fold) show(e ctxabi.Entry) (images int) {
	line, weight, rule := f.N, int(e.Weight), f.Rules.share(e)
	if record.IsResult(e) && f.Rules.room > 0 {
		own := false
		if rule, own = f.arriving(weight); own {
			f.odd = append(f.odd, odd{line: line, weight: weight, rule: rule})
		}
	}
	o := odd{line: line, weight: weight, rule: rule}
	if o.less = f.lessOf(e, line); o.less > 0 {
		if weight > rule.above {
			o.most = f.arguments(line, bodyOf(rule))
		}
		f.odd = append(f.odd, o)
	}
	f.shown += f.scaled(o.shown(rule))
	if e.Flags&ctxabi.HasImages != 0 && f.images != nil {
		if images = f.images(line); f.Rules.HidesImages(e, images) {
			images = 0
		}
		if images > 0 && f.imagesFrom == 0 {
			f.imagesFrom = line
		}
	}
	beyond := f.scaled(f.beyondAt(line, images))
	f.shown, f.beyond = f.shown+beyond, f.beyond+beyond
	return images
}

// fitsExactly reports whether all records fit by an exact count, as long as there was no compaction.
func (f *Fold) fitsExactly() bool {
	if f.Boundary() != 1 || f.exactly == nil || f.Compactions > 0 {
		return false
	}
	n, ok := f.exactly()
	if !ok {
		return false
	}
	f.surplus = f.shown - f.beyond - n
	return f.weight() <= f.Rules.room
}

// iterate notes whether record e begins an iteration: one answer of the assistant with its calls and
// their results, and before it what the user said to bring it about. Events and results begin none.
func (f *Fold) iterate(e ctxabi.Entry) {
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
func (f *Fold) live() int { return f.iteration - max(1, f.starts[0].iteration) + 1 }

// dropIterations moves the boundary to the start of an iteration, so far that the step asked for has left.
func (f *Fold) dropIterations() {
	from := f.iteration - max(1, f.Rules.iterations+1-f.Rules.step) + 1
	to := slices.IndexFunc(f.starts, func(s start) bool { return s.iteration >= from })
	if to > 0 {
		f.age(f.Rules.tool, f.turn())
		f.moveTo(to, f.after(to, 0), ByIterations)
	}
}

// moveTo makes starts[to] the boundary.
func (f *Fold) moveTo(to int, after int64, why string) {
	if f.Compacted != f.N {
		f.held, f.heldAt = f.settledWeight, f.Compacted
	}
	if f.Compacted, f.Moved = f.N, why; to > 0 {
		f.LeftBy, f.minor, f.from = why, false, 1
	}
	f.Compactions++
	old, _ := f.oddAt(f.Boundary())
	f.odd = slices.Clone(f.odd[old:])
	f.settledWords = 0
	f.starts = append(f.starts[:0], f.starts[to:]...)
	f.Cuts = append(f.Cuts, f.starts[0].line)
	f.settledWeight, f.settledShown = after, f.shown
}

func (f *Fold) noteUser(e ctxabi.Entry, line int, before Sums, images int) {
	if !record.IsUser(e) {
		return
	}
	f.Last = Anchor{line, int(e.Weight), before, images, f.Last.turn + 1}
	if f.Opening == 0 {
		f.Opening = line
	}
	if f.First.Line > 0 {
		return
	}
	if f.idle != nil && f.skipped < maxSkipped && e.Len <= 2*derived.MaxIdle && f.idle(line) {
		f.skipped++
		return
	}
	f.First = f.Last
}

// maxSkipped is how many user records are read to find the first that says something.
const maxSkipped = 32

// request is what a user asked and the last record of the assistant that followed; 0: none did yet.
type request struct{ user, answer int }

// maxRequests is how many requests a fold remembers: the first, and the newest.
const maxRequests = 33

func (f *Fold) noteRequest(e ctxabi.Entry, line int) {
	switch {
	case record.IsUser(e):
		if len(f.Requests) == maxRequests {
			f.Requests = slices.Delete(f.Requests, 1, 2)
		}
		f.Requests = append(f.Requests, request{user: line})
	case e.Role == ctxabi.Assistant && len(f.Requests) > 0:
		f.Requests[len(f.Requests)-1].answer = line
	}
}

// startsHere reports whether the live part may begin at this record, and takes
// back the starts between a call and the result that just came.
func (f *Fold) startsHere(e ctxabi.Entry, line int) bool {
	if len(f.starts) == 0 {
		return true
	}
	if line == f.Lead.N {
		return false
	}
	if !record.IsResult(e) {
		f.orphans = 0
		return true
	}
	if f.Rules.anywhere {
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
	return f.orphans%OrphansTogether == 0
}

// weight is what the journal weighs now.
func (f *Fold) weight() int64 {
	if len(f.starts) == 0 {
		return 0
	}
	if f.Boundary() == 1 {
		return f.shown - f.surplus
	}
	return f.settledWeight + f.shown - f.settledShown
}

// Boundary is the first live record.
func (f *Fold) Boundary() int {
	if len(f.starts) == 0 {
		return 1
	}
	return f.starts[0].line
}
