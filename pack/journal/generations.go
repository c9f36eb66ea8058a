package journal

import "slices"

// A compaction is major or minor. A major one makes all anew that stands behind the boundary. A minor one keeps that byte for byte and
// adds what left since: so a provider's cache keeps it. What one compaction adds is a generation: Fold.past has, from the last major
// compaction on, the fold as it was when each of them was done. Which compactions are minor follows from weights, as all of a fold does.

// Numbers of generations.
const (
	maxMinors  = 4   // minor compactions after a major one
	mostPast   = 740 // thousandths of the room that is left beside what is kept: more past brings a major compaction
	minorShare = 200 // thousandths of what leaves that a generation shows of it
)

// MostGenerations is how many generations a pack shows at most.
const MostGenerations = maxMinors + 1

// generate notes the generation that the compaction just done began.
func (f *Fold) generate() {
	g := f.clone()
	if !f.minor {
		g.past = nil
	}
	g.past = append(slices.Clip(g.past), g)
	f.past = g.past
}

// MajorBoundary returns the boundary of the last major compaction; 0: there was none.
func (f *Fold) MajorBoundary() int {
	if len(f.past) == 0 {
		return 0
	}
	return f.past[0].Boundary()
}

// Reason returns why the last compaction was.
func (f *Fold) Reason() string {
	if f.Moved == byRoom && f.minor {
		return minorReason
	}
	return f.Moved
}

// pastWeight is what all takes that stands behind the boundary, the leading records included.
func (f *Fold) pastWeight() int64 { return f.weight() - (f.shown - f.starts[0].shown) }

// pastWords is what the user's words have in all generations beyond their share.
func (f *Fold) pastWords() (n int64) {
	for _, g := range f.past {
		n += g.settledWords
	}
	return n
}

// minorTo returns the index of the start that a minor compaction would make the boundary, and the
// weight of the journal afterwards. It returns 0 if the next compaction must be a major one: after
// maxMinors minor ones, if compacted records show images, or if a version of the summary was
// delivered or retracted since the last major compaction.
func (f *Fold) minorTo() (to int, after int64) {
	if len(f.past) == 0 || len(f.past) > maxMinors || f.Rules.zones.all() == 0 {
		return 0, 0
	}
	if _, shown := f.inUse(); !shown {
		return 0, 0
	}
	for _, g := range f.past {
		if first, user := g.settled().keptImages(g.from, g.starts[0]); first+user > 0 {
			return 0, 0
		}
	}

	from, past, kept := f.Boundary(), f.pastWeight(), f.keptRecords(1, f.starts[0])
	words := f.pastWords()
	most, low := kept+(f.Rules.room-kept)*mostPast/1000+words, min(f.low(kept)+words, f.wordsMark(kept))
	for i := 1; i < len(f.starts); i++ {
		s := f.starts[i]
		own := f.keptRecords(from, s) - f.Lead.shown
		own += f.leaving(i) * minorShare / 1000
		if past+own > most {
			return 0, 0
		}
		if after = past + own + f.shown - s.shown; after <= low {
			return i, after
		}
	}
	return 0, 0
}
