package journal

import (
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/finds"
	"github.com/ctxfs/ctxfs/pack/record"
)

// foundUpTo is what was found in those of the first places of a history that a pack looks at.
func (mm *Memo) foundUpTo(places int) *finds.Finds {
	gap := finds.GapBefore(places)
	if gap == (ctxabi.Span{}) {
		return mm.found()
	}
	switch f := mm.nearby; {
	case f == nil:
		mm.nearby = finds.Nearby(gap, places, mm.Near, mm.Finds)
	case f.Gap.To > gap.To: // of an earlier moment
		return &finds.Finds{Gap: gap}
	case f.Gap != gap:
		mm.nearby = f.Without(gap, places, mm.Near)
	}
	return mm.nearby
}

// findAhead reads the newest of n records for the notes of the next compaction.
func (mm *Memo) findAhead(m record.Records, n int) {
	f := mm.nearby
	if finds.GapBefore(n) == (ctxabi.Span{}) {
		f = mm.found()
	}
	if f != nil {
		f.Ahead(m, n)
	}
}

// found is what was found in the records.
func (mm *Memo) found() *finds.Finds {
	if mm.Finds == nil {
		mm.Finds = finds.New(nil)
	}
	return mm.Finds
}
