package journal

import (
	"math"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Lead are the system and developer records that a history begins with. They stand in the head of a pack, behind the
// blocks of STABLE, for as long as the session goes on: a compaction does not move them.
//
// Each is shown whole as long as all of them fit in their cap. Where they do not, small ones stand whole, and the others are shown
// head and tail, in what these leave. Those that come when the cap has no room for another are records like all others.
type Lead struct {
	N       int
	weights []int32 // of these, in order of size; none where there is no limit
	most    int     // what one of them may show, unscaled
	shown   int64   // what they show, scaled
}

// leadFloor is the least room in which a leading record is still worth showing.
const leadFloor = 48

// takes reports whether one more can be shown within a cap.
func (l *Lead) takes(most int) bool { return most/leadFloor > l.N }

// add adds the next one and returns what all of them show more now, scaled.
func (l *Lead) add(weight int, r *Rules) int64 {
	before := l.shown
	l.N++
	if r.room == 0 {
		l.most, l.shown = math.MaxInt, before+r.scaled(weight)
		return l.shown - before
	}
	at, _ := slices.BinarySearch(l.weights, int32(weight))
	l.weights = slices.Insert(slices.Clone(l.weights), at, int32(weight))
	left := r.leadCap
	l.most, l.shown = math.MaxInt, 0
	for i, w := range l.weights {
		if share := left / (len(l.weights) - i); int(w) > share && l.most == math.MaxInt {
			l.most = share // and that of all that are larger
		}
		w := min(int(w), l.most)
		left, l.shown = left-w, l.shown+r.scaled(w)
	}
	return l.shown - before
}

// rule is how much is shown of each of them.
func (l *Lead) rule() shareRule { return shareRule{above: l.most, to: l.most} }

func isLeading(e ctxabi.Entry) bool {
	return e.Role == ctxabi.System || e.Role == ctxabi.Developer
}

// leadID names the block of the leading records, and leading is its heading.
const (
	LeadID  = "system messages"
	leading = record.BlockHeading + LeadID + "\n"
)
