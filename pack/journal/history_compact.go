package journal

import (
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// after returns the weight of the journal after a compaction that makes starts[i] the boundary.
// Zones fill the journal up to its low mark. tokens is the size of the delivered summary.
func (f *Fold) after(i, tokens int) int64 {
	s := f.starts[i]
	live := f.shown - s.shown
	if s.line == 1 {
		return live
	}
	kept := f.keptRecords(1, s)
	z := f.Rules.zonesWith(f.Rules.room-kept, tokens)
	if z.all() == 0 {
		return kept + live
	}
	return max(f.low(kept), kept+live+z.least())
}

// low is what a compaction brings the journal to where so much of it stays as it is: the low mark, or less where calls are so large
// that few of them would bring the next compaction.
func (f *Fold) low(kept int64) int64 {
	movable := f.movable(kept)
	free := max(movable*(1000-f.Rules.low)/1000, min(f.call*freeCalls, movable*freeMost/1000))
	return f.Rules.room - free
}

// What a compaction leaves free for: that many calls of the usual size, but no more than these thousandths of what is movable.
const (
	freeCalls = 3
	freeMost  = 400
)

// callWindow is the number of calls that the usual size of a call is the mean of, about.
const callWindow = 8

// noteAnswer notes the usual size of a call of the model: what the journal grows by from one record of the assistant to the next.
func (f *Fold) noteAnswer(e ctxabi.Entry) {
	if e.Role != ctxabi.Assistant {
		return
	}
	if f.answered > 0 {
		f.call += (max(0, f.shown-f.answered) - f.call) / callWindow
	}
	f.answered = f.shown
}

// movable is what marks and gains are shares of: the room, but no more than twice what is not kept anyway.
func (f *Fold) movable(kept int64) int64 {
	return min(f.Rules.room, 2*max(0, f.Rules.room-kept))
}

// keptRecords is what the records from a place on and before s take that stay as they are, the leading ones included.
func (f *Fold) keptRecords(from int, s start) int64 {
	first, user := f.keptImages(from, s)
	return f.keptTexts(from, s) + f.scaled(first+user)
}

// keptTexts is what they take without their images.
func (f *Fold) keptTexts(from int, s start) int64 {
	w := f.Lead.shown
	first, user := f.keptUsers(from, s)
	if first > 0 && first != user {
		w += f.scaled(min(f.First.Weight, f.Rules.firstCap))
	}
	if user > 0 {
		w += f.scaled(f.Rules.user.shown(s.user.Weight))
	}
	return w
}

// beyondAt returns the tokens that native renderings take for the record at a line beyond its text in pack.md: its images, and from
// the first record with images on its frame. Images leave no other room for frames; before them the fold does not count frames.
func (f *Fold) beyondAt(line, images int) int {
	if f.imagesFrom == 0 || line < f.imagesFrom {
		return 0
	}
	return images + record.FrameTokens
}

// ImageTurns is the number of later requests at which a compaction takes the images of a record away.
const ImageTurns = 2

// keptImages returns the tokens of the images that the two user records from a place on and
// before s show while s is the boundary. A record shows its images if fewer than ImageTurns
// requests came after it and all that is kept takes half of the room at most; the newest request,
// shotShare of it. A record that is the first and the last one counts as the last.
func (f *Fold) keptImages(from int, s start) (first, user int) {
	w := f.keptTexts(from, s)
	keeps := func(a Anchor) int {
		most := f.Rules.room / 2
		if a.Line == f.Last.Line {
			most = f.Rules.room * shotShare / 1000
		}
		if f.Last.turn-a.turn >= ImageTurns || w+f.scaled(a.images) > most {
			return 0
		}
		w += f.scaled(a.images)
		return a.images
	}

	atFirst, atUser := f.keptUsers(from, s)
	if atUser > 0 {
		user = keeps(s.user)
	}
	if atFirst > 0 && atFirst != atUser && f.First.Weight <= f.Rules.firstCap {
		first = keeps(f.First)
	}
	return first, user
}

// KeepsImages reports whether the images of the kept user record at a line are shown.
func (f *Fold) KeepsImages(line int) bool {
	for _, g := range f.past {
		if line >= g.from && line < g.Boundary() {
			g = g.settledBy(f.SettledUser)
			first, user := g.keptImages(g.from, g.starts[0])
			atFirst, atUser := g.keptUsers(g.from, g.starts[0])
			return line == atFirst && first > 0 || line == atUser && user > 0
		}
	}
	return false
}

// settled returns the fold with what keptImages looked at when the boundary was moved last.
func (f *Fold) settled() *Fold { return f.settledBy(f.SettledUser) }

func (f *Fold) settledBy(last Anchor) *Fold {
	g := *f
	g.Last = last
	return &g
}

// keptUsers returns the lines of the first user record and of the last one that
// stand from a place on and before s and are kept; they may be the same, 0 means none.
func (f *Fold) keptUsers(from int, s start) (first, user int) {
	if f.First.Line >= from && f.First.Line < s.line && f.Rules.firstCap > 0 {
		first = f.First.Line
	}
	if !s.isUser && s.user.Line >= from {
		user = s.user.Line
	}
	return first, user
}

// compact frees tokens by the first of three means that suffices: results of earlier turns take less,
// then those of the turn that goes on, and at last the boundary moves. It changes nothing if none
// frees enough.
func (f *Fold) compact() {
	before := f.weight()
	suffices := func() bool {
		gain := before - f.weight()
		return gain > 0 && gain >= f.leastGain(f.starts[0]) && f.weight() <= f.low(f.keptRecords(1, f.starts[0]))
	}

	undo := f.age(f.Rules.tool, f.turn())
	if suffices() {
		f.moveTo(0, f.weight(), byShares)
		return
	}
	undoTurn := f.age(shareRule{above: f.Rules.tool.to, to: f.Rules.tool.to}, f.N)
	if suffices() {
		f.moveTo(0, f.weight(), byShares)
		return
	}
	undoTurn()

	newest := len(f.starts) - 1
	if newest == 0 {
		undo()
		return
	}
	if to, after := f.minorTo(); to > 0 && before-after >= max(1, f.leastGain(f.starts[to])) {
		from, own := f.Boundary(), f.leaving(to)*minorShare/1000
		z := f.Rules.zonesIn(f.Rules.room - f.keptRecords(1, f.starts[to]))
		words := f.wordsBeyond(f.wordsBetween(f.starts[0], f.starts[to], from), z, own, after,
			before-f.leastGain(f.starts[to]), to)
		f.moveTo(to, after+words, byRoom)
		f.minor, f.from, f.settledWords = true, from, words
		return
	}
	d, shown := f.inUse()
	fits := func(i int) bool {
		s := f.starts[i]
		kept := f.keptRecords(1, s)
		return kept+f.shown-s.shown+f.Rules.zonesWith(f.Rules.room-kept, d.tokens).all() <= f.low(kept)
	}
	to := newest
	if fits(newest) {
		for to = 1; !fits(to); to++ {
		}
	}
	if !shown {
		to = max(to, f.startAfter(d.to)) // the version covers the records before that start
	}
	if !f.major(to, before, byRoom) {
		undo()
	}
}

// major performs a major compaction that makes starts[to] the boundary. before is the current
// weight of the journal, and why becomes f.Moved. It returns false and leaves f unchanged if the
// compaction would free less than leastGain, except for a late summary.
func (f *Fold) major(to int, before int64, why string) bool {
	d, _ := f.inUse()
	after, least := f.after(to, d.tokens), f.leastGain(f.starts[to])
	kept := f.keptRecords(1, f.starts[to])
	live := f.shown - f.starts[to].shown
	z := f.Rules.zonesWith(f.Rules.room-kept, d.tokens)
	// Shrink the derived zones until the compaction frees enough. The delivered summary keeps its
	// tokens.
	switch gain := before - min(after, max(before-least, kept+live+z.own)); {
	case why == byLateSummary:
		after, least = max(after, before), 0
	case gain <= 0 || gain < least:
		return false
	default:
		after = before - gain
	}

	words := f.wordsBeyond(f.wordsBetween(start{}, f.starts[to], 1), z, after-kept-live, after, before-least, to)
	f.moveTo(to, after+words, why)
	f.settledWords = words
	return true
}

// What lines with the user's words leave free at a compaction: a usual call, but at least and at
// most these thousandths of what is movable.
const (
	wordsLeaveLeast = 180
	wordsLeaveMost  = 220
)

// wordsFrame is the approximate size, in tokens, of the heading and marks of the user's words.
const wordsFrame = 48

// wordsBeyond returns how many tokens beyond their share the user's words receive at a compaction
// that makes starts[to] the boundary and reduces the journal to after. demand is the size of all
// their lines; the zones divide own tokens in the proportions of z. The extra tokens keep every
// message of the user in the prompt, as long as the journal stays below wordsMark and below most.
func (f *Fold) wordsBeyond(demand int64, z zoneRules, own, after, most int64, to int) int64 {
	kept := f.keptRecords(1, f.starts[to])
	if z.said == 0 {
		return 0
	}
	z = z.within(own)
	if demand > 0 {
		demand += wordsFrame
	}
	return max(0, min(demand-z.said, min(f.wordsMark(kept), most)-after))
}

// wordsMark returns the weight up to which the user's words may fill the journal.
func (f *Fold) wordsMark(kept int64) int64 {
	movable := f.movable(kept)
	return f.Rules.room - max(movable*wordsLeaveLeast/1000, min(f.call, movable*wordsLeaveMost/1000))
}

// wordsBetween is what lines with the words of the user take that leave between two starts; those
// that stay from a place on have none.
func (f *Fold) wordsBetween(s, t start, from int) int64 {
	n := t.words - s.words
	first, user := f.keptUsers(from, t)
	if first > 0 {
		n -= f.scaled(wordsOf(f.First.Weight))
	}
	if user > 0 && user != first {
		n -= f.scaled(wordsOf(t.user.Weight))
	}
	return n
}

// wordsOf is what the line with the words of a message of the user takes at most, by its weight.
func wordsOf(weight int) int { return min(weight+2, saidCaps[0]+lineTokens) }

// leaving is what the live records before starts[to] show.
func (f *Fold) leaving(to int) int64 { return f.starts[to].shown - f.starts[0].shown }

// turnCalls is how many of the last results of a turn belong to it: what is older than these counts as older than the turn.
const turnCalls = 8

func (f *Fold) noteCall(e ctxabi.Entry, line int) {
	switch {
	case record.IsUser(e):
		f.calls = 0
	case record.IsResult(e):
		f.newest[f.calls%turnCalls] = line
		f.calls++
	}
}

// turn is where what belongs to the turn that goes on begins: with the last request of the user, and of more calls than that with the last ones.
func (f *Fold) turn() int {
	if f.calls > turnCalls {
		return f.newest[f.calls%turnCalls]
	}
	return f.Last.Line
}

// endTurn makes results of the turns that are over take ToolMost tokens at most, or where less than half of the room is free what a
// result takes that comes when there is none, if that frees enough.
func (f *Fold) endTurn() {
	before := f.weight()
	rule := f.Rules.tool
	if before <= f.Rules.room/2 {
		rule = shareRule{above: ToolMost, to: ToolMost}
	}
	undo := f.age(rule, f.turn())
	if gain := before - f.weight(); gain <= 0 || gain < f.leastGain(f.starts[0]) {
		undo()
		return
	}
	f.moveTo(0, f.weight(), byTurn)
}

// age lowers the share of the results before a line to a rule, and that of earlier calls with long arguments to what shortened ones
// take. undo takes it back.
func (f *Fold) age(rule shareRule, until int) (undo func()) {
	turn, shown, surplus := f.turn(), f.shown, f.surplus
	first, _ := f.oddAt(f.Boundary())
	last, _ := f.oddAt(until)
	var aged []int
	for i := first; i < last; i++ {
		if o := &f.odd[i]; (o.less == 0 || o.line < turn) && o.shown(o.rule) > o.shown(o.lower(rule)) {
			aged = append(aged, i)
		}
	}
	if len(aged) == 0 {
		return func() {}
	}
	odds, starts := f.odd, f.starts
	f.odd, f.starts = slices.Clone(odds), slices.Clone(starts)
	k, freed := 0, int64(0)
	for i := range f.starts {
		for ; k < len(aged) && f.odd[aged[k]].line < f.starts[i].line; k++ {
			freed += f.ageOne(&f.odd[aged[k]], rule)
		}
		f.starts[i].shown -= freed
	}
	for ; k < len(aged); k++ {
		freed += f.ageOne(&f.odd[aged[k]], rule)
	}
	f.shown -= freed
	if shown > 0 {
		f.surplus = surplus * f.shown / shown // the exact count was of more
	}
	return func() { f.odd, f.starts, f.shown, f.surplus = odds, starts, shown, surplus }
}

// lower returns the share that age gives to o, where results get rule.
func (o *odd) lower(rule shareRule) shareRule {
	if o.less > 0 {
		return shareRule{above: o.less, to: o.less}
	}
	return rule
}

func (f *Fold) ageOne(o *odd, rule shareRule) (freed int64) {
	o.aged, o.was, o.rule = f.N, o.rule, o.lower(rule)
	return f.scaled(o.shown(o.was)) - f.scaled(o.shown(o.rule))
}

// beforeCompaction is the fold as its records were shown when the last compaction had not yet been.
func (f *Fold) beforeCompaction() Fold {
	g := *f
	g.odd = slices.Clone(f.odd)
	for i := range g.odd {
		if o := &g.odd[i]; o.aged == f.Compacted {
			o.rule = o.was
		}
	}
	return g
}

// leastGain is what a compaction frees at least that makes s the boundary.
func (f *Fold) leastGain(s start) int64 {
	return f.movable(f.keptRecords(1, s)) * f.Rules.minGain / 1000
}
