package pack

import (
	"math"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// foldRules are the numbers that a fold runs with. Weights are in tokens.
type foldRules struct {
	room    int64 // for the journal; 0: no limit, no compaction
	low     int64 // thousandths of the room that is left beside what is kept
	minGain int64 // likewise
	scale   int64 // thousandths by which weights count
	zones   zoneRules

	leadCap  int // for all leading records together; 0: none leads
	firstCap int // for the first user record once it is behind the boundary; 0: it is not kept
	tool     shareRule
	tight    shareRule // for a result that would bring a compaction by itself
	image    int       // the most that the images of one record may cost to be shown
	free     int       // a result that comes while there is much room is shown whole up to this
	user     shareRule
	other    shareRule
	anywhere bool // the boundary may fall inside a group

	iterations int // the most that are live; 0: any number
	step       int // how many leave at a time
}

// shareRule says how much of one record is shown: all of it up to above, else
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
func (r *foldRules) share(e ctxabi.Entry) shareRule {
	switch {
	case r.room == 0:
		return shareRule{above: math.MaxInt}
	case isResult(e):
		return r.tool
	case isUser(e):
		return r.user
	}
	return r.other
}

// odd is a result that has a share of its own, by what room there was when it came.
type odd struct {
	line, weight int
	rule         shareRule
	aged         int       // the record that brought the compaction since which it has rule; 0: it came with it
	was          shareRule // which it had before
}

// arriving is the share of a result that comes now: less where it would bring a compaction by itself, and all of it where
// that takes no more than half of what is free. A history that hardly exceeds the limit shows its large results whole that way.
func (f *fold) arriving(weight int) (rule shareRule, own bool) {
	rule = f.rules.tool
	free := f.rules.room - f.weight()
	if f.scaled(rule.shown(weight)) > free {
		return f.rules.tight, true
	}
	if to := min(int(free*1000/f.rules.scale/2), f.rules.free); weight > rule.above && weight <= to {
		return shareRule{above: to, to: to}, true
	}
	return rule, false
}

// oddAt finds the first odd result from a line on, and whether it is the one on it.
func (f *fold) oddAt(line int) (int, bool) {
	return slices.BinarySearchFunc(f.odd, line, func(o odd, line int) int { return o.line - line })
}

func (f *fold) scaled(weight int) int64 { return f.rules.scaled(weight) }

func (r *foldRules) scaled(weight int) int64 { return int64(weight) * r.scale / 1000 }
