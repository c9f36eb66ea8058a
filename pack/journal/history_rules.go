package journal

import (
	"math"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section"
)

// Rules are the numbers that a fold runs with. Weights are in tokens.
type Rules struct {
	room    int64 // for the journal; 0: no limit, no compaction
	low     int64 // thousandths of the room that is left beside what is kept
	minGain int64 // likewise
	scale   int64 // thousandths by which weights count
	zones   zoneRules
	without section.Set // sections that no zone shows
	summary int         // the recipe's limit for a delivered summary; 0: see SummaryLimit

	leadCap  int // for all leading records together; 0: none leads
	firstCap int // for the first user record once it is behind the boundary; 0: it is not kept
	tool     shareRule
	tight    shareRule // for a result that would bring a compaction by itself
	call     int       // for the arguments of the calls of a record whose turn is over, if they weigh more than twice as much
	image    int       // the most that the images of one record may cost to be shown
	shot     int       // likewise, of a record of the user
	free     int       // a result that comes while there is much room is shown whole up to this
	user     shareRule
	other    shareRule
	anywhere bool // the boundary may fall inside a group

	iterations int // the most that are live; 0: any number
	step       int // how many leave at a time
}

// shareRule decides how much of one record is shown: all of it up to above, else
// to. What weighs more but has at most exact tokens is shown whole all the same;
// only who renders the record can know that, the fold counts it as cut.
type shareRule struct{ above, to, exact int }

func (s shareRule) shown(weight int) int {
	if weight > s.above {
		return min(weight, s.to)
	}
	return weight
}

// share returns the weight that record e may show when it stands among the live ones and there is room.
func (r *Rules) share(e ctxabi.Entry) shareRule {
	switch {
	case r.room == 0:
		return shareRule{above: math.MaxInt}
	case record.IsResult(e):
		return r.tool
	case record.IsUser(e):
		return r.user
	}
	return r.other
}

// odd is a result that has a share of its own, by what room there was when it came, or a record whose calls have long arguments.
type odd struct {
	line, weight int
	less         int // what a record with calls may show once its turn is over; 0: it is a result
	most         int // upper bound of the weight that such a record shows; 0: none
	rule         shareRule
	aged         int       // the record that brought the compaction since which it has rule; 0: it came with it
	was          shareRule // which it had before
}

// shown returns the weight of o as shown under a rule.
func (o *odd) shown(rule shareRule) int {
	if o.most > 0 {
		return min(o.most, rule.shown(o.weight))
	}
	return rule.shown(o.weight)
}

// arriving returns the share of a result that arrives now. A result that would cause a compaction gets
// the tight share. One of up to wholeOf thousandths of the free tokens is shown whole, a larger one in
// shareOf thousandths of them, so that the results after it in the same turn find tokens, too. own
// reports that a compaction may lower it.
func (f *Fold) arriving(weight int) (rule shareRule, own bool) {
	rule = f.Rules.tool
	free := f.Rules.room - f.weight()
	if f.scaled(rule.shown(weight)) > free {
		return f.Rules.tight, true
	}

	unscaled := max(0, int(free*1000/f.Rules.scale))
	above := min(unscaled*wholeOf/1000, f.Rules.free)
	to := min(unscaled*shareOf/1000, f.Rules.free)
	if weight > rule.above && (weight <= above || to > rule.to) {
		return shareRule{above: max(rule.above, above), to: max(rule.to, to)}, true
	}
	return rule, weight > rule.to
}

// The tokens that one result may take, in thousandths of the free ones.
const (
	wholeOf = 250
	shareOf = 100
)

// lessOf returns what the record e at a line shows once its turn is over, because arguments of its calls are shortened; 0 for a record
// without long arguments.
func (f *Fold) lessOf(e ctxabi.Entry, line int) int {
	if e.Flags&ctxabi.HasCalls == 0 || record.IsResult(e) || f.arguments == nil || f.Rules.room == 0 || int(e.Weight) <= 2*f.Rules.call {
		return 0
	}
	arguments := f.arguments(line, 0)
	if arguments <= 2*f.Rules.call {
		return 0
	}
	return max(1, int(e.Weight)-arguments) + f.Rules.call
}

// oddAt finds the first odd result from a line on, and whether it is the one on it.
func (f *Fold) oddAt(line int) (int, bool) {
	return slices.BinarySearchFunc(f.odd, line, func(o odd, line int) int { return o.line - line })
}

func (f *Fold) scaled(weight int) int64 { return f.Rules.scaled(weight) }

func (r *Rules) scaled(weight int) int64 { return int64(weight) * r.scale / 1000 }

// Space is what a fold has.
type Space struct {
	Limit int // tokens of the pack; 0: no limit
	Room  int // of these for the journal; 0: no limit
}

// Bounded reports whether the journal has a room that it must not exceed.
func (r *Rules) Bounded() bool { return r.room > 0 }

// HidesImages reports whether the images of record e cost too much to be shown. An image of the
// user may take most of the room: it precedes old texts.
func (r *Rules) HidesImages(e ctxabi.Entry, cost int) bool {
	most := r.image
	if record.IsUser(e) {
		most = r.shot
	}
	return cost > most && r.room > 0
}

// HidesThinking reports whether the thinking of a record costs too much to be shown.
func (r *Rules) HidesThinking(cost int) bool { return cost > r.image && r.room > 0 }

// Exceeds reports whether the journal weighs more than so many tokens, unscaled.
func (f *Fold) Exceeds(tokens int64) bool { return f.weight()*1000/f.Rules.scale > tokens }

// firstScale is what weights count for at first, in thousandths. They err upwards, which costs little: the first compaction is
// decided by an exact count, and what a later one leaves is counted, too. Where it overflows nevertheless, the next step counts
// weights for more.
const firstScale = 1000

// Steps of [Policy.Rules].
const (
	lastWholeStep = 14 // the last one that splits no group
	lastKeptStep  = 20 // the last one that keeps records of the past
)

// PromiseStep is the last step that shows a user record of up to a quarter of the limit as it is.
const PromiseStep = 15

// MaxStep is the last of the steps that foldRules knows.
const MaxStep = 24

// Policy is what a recipe says of the journal.
type Policy struct {
	high, low, minGain int64 // thousandths of its room
	zones              zoneRules
	iterations, step   int
	Truncate           bool
	Summary            int         // limit of a delivered summary in tokens; 0: [Rules.SummaryLimit] decides
	Present            bool        // the recipe has a journal
	Without            section.Set // sections that no zone shows
}

// PolicyOf returns what r says of its journal s; nil: there is none.
func PolicyOf(r *recipe.Recipe, s *recipe.Source) Policy {
	thousandths := func(share float64) int64 { return int64(math.Round(share * 1000)) }
	h := r.History
	if h == (recipe.History{}) {
		h = recipe.Default().History
	}
	j := Policy{high: thousandths(h.High), low: thousandths(h.Low), minGain: thousandths(h.MinGain), zones: zoneRules{
		said: thousandths(h.UserWords), summary: thousandths(h.Summary), state: thousandths(h.FilesAndRuns),
		lines: thousandths(h.KeyLines), folds: thousandths(h.Folded),
	}}
	if s != nil {
		j.Present, j.iterations, j.step, j.Truncate = true, s.MaxIterations, max(1, s.Step), s.TruncateHead
	}
	if j.Truncate { // no more than is needed
		j.low, j.minGain = 1000, 0
	}
	return j
}

// Rules returns the numbers of a fold. Weights are estimates: should the
// exact count of the pack overflow, or should one group of calls and results
// not fit, the next step is tried. Which one fits is a function of the inputs.
// Steps 1 to 6 let weights count for more; 7 to 14 also show less of
// large records; then the boundary may fall inside a group and the kept
// records are shortened too; the last ones keep none but the last request and the ends of the first leading record, the very
// last one the request alone.
func (j Policy) Rules(l Space, step int) Rules {
	f := Rules{scale: firstScale, iterations: j.iterations, step: max(1, j.step)}
	if l.Room == 0 {
		all := shareRule{above: math.MaxInt}
		f.leadCap, f.firstCap, f.tool, f.user, f.other = math.MaxInt32, math.MaxInt32, all, all, all
		if j.Truncate {
			f.firstCap = 0
		}
		return f
	}
	limit := l.Limit
	if limit == 0 {
		limit = 8 * l.Room
	}
	overhead := min(64, l.Room/8) // the conversation's heading and the notes of what is left out
	room := max(1, l.Room-overhead)
	f.room, f.low, f.minGain = int64(room)*j.high/1000, j.low, j.minGain
	f.zones, f.without, f.summary = j.zoneRules(step), j.Without, j.Summary
	f.leadCap, f.firstCap = min(limit/2, room/2), min(limit/10, room/5)
	most := min(limit/4, room/2)
	f.other = shareRule{above: most, to: most}
	f.user = f.other
	f.user.exact = most + 32 // a promise: weights err upwards, and a heading is not the user's
	tool := min(max(toolFloor, room*toolShare/1000), ToolMost, room/3)
	f.tool = shareRule{above: tool, to: min(tool, max(resultLeast, resultShown*limit/resultScale))}
	f.tight = shareRule{above: min(tool, max(toolFloor, room/10)), to: f.tool.to * 2 / 3}
	f.tight.to = min(f.tight.to, f.tight.above)
	f.free, f.image = most, most
	f.shot = max(most, room*shotShare/1000)
	f.call = max(callLeast, f.tool.to/4)

	for range min(step, 6) {
		f.scale = f.scale * 11 / 10
	}
	if step > 0 {
		f.minGain, f.free = 0, 0
	}
	for range min(max(step-6, 0), 8) {
		f.tool = f.tool.less()
		f.tight = f.tight.less()
		f.other = f.other.less()
	}
	if step > lastWholeStep {
		f.anywhere = true
		for range step - 15 {
			f.scale = f.scale * 13 / 10
			f.user = f.user.less()
			f.leadCap = f.leadCap * 2 / 3
			f.firstCap = f.firstCap * 2 / 3
		}
		f.leadCap = max(f.leadCap, leadFloor)
		if step > lastKeptStep {
			f.leadCap, f.firstCap = leadFloor, 0
		}
		if step == MaxStep {
			f.leadCap = 0
		}
	}
	if j.Truncate { // it is always full
		f.firstCap, f.tight, f.free = 0, f.tool, 0
	}
	return f
}

// shotShare is the limit for the images in a record of the user, in thousandths of the room.
const shotShare = 750

// What a tool result may show whole, in tokens: 1500 characters or toolShare thousandths of the room, whichever is more, but never
// above toolMost; a tenth of the room where it would bring a compaction by itself.
const (
	toolFloor = 400
	toolShare = 180
	ToolMost  = 3000
)

// callLeast is the least number of tokens that shortened arguments of calls may take.
const callLeast = 100

// What is left of one that shows more: resultShown tokens at a limit of resultScale and in proportion else, but no less than resultLeast.
// That is what the kind with the most is given; the fold does not know kinds and counts all results as if they were of it.
const (
	resultShown = 500
	resultLeast = 330
	resultScale = 8000
)

// less is two thirds of a share, down to a heading and the note that names the record's path.
func (s shareRule) less() shareRule {
	to := max(36, s.to*2/3)
	return shareRule{above: to, to: to}
}
