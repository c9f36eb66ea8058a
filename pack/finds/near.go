package finds

import (
	"encoding/json"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Nearby returns the findings of a history without those of the records in gap, up to about a place, from what k
// keeps, also for a gap that ends earlier, or from all, which has the findings of all records. If neither has any,
// the result reads the records when it is used. It keeps them in k.
func Nearby(gap ctxabi.Span, upTo int, k Keeper, all *Finds) *Finds {
	f := &Finds{Gap: gap, keep: k}
	if k != nil {
		var of struct{ Gap ctxabi.Span }
		err := k.Each(func(line []byte) bool {
			json.Unmarshal(line, &of)
			return false
		})
		if err == nil && of.Gap == gap {
			return f
		}
		if was := (&Finds{Gap: of.Gap, keep: k}); err == nil && of.Gap.From == gap.From && of.Gap.To < gap.To && was.load() == nil && was.places > 0 {
			return was.Without(gap, upTo, k)
		}
	}
	if all != nil && all.mu.TryLock() { // else somebody goes through the records
		read := all.places > gap.To
		all.mu.Unlock()
		if read {
			return all.Without(gap, upTo, k)
		}
	}
	return f
}

// Without returns the findings of f without those of a gap that begins where that of f does, and ends no earlier,
// so that no record up to the place upTo is read again. It leaves out findings behind that: those of a long
// history take much memory. The others are kept in k, in place of what k has.
func (f *Finds) Without(gap ctxabi.Span, upTo int, k Keeper) *Finds {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := &Finds{Gap: gap, keep: k}
	if f.lost || f.places <= gap.To {
		return g
	}
	all := Batch{BatchOf: BatchOf{From: 1}, Version: derived.FindVersion, Gap: g.gap()}
	fits := true
	add := func(line []byte) bool {
		var b Batch
		if fits = json.Unmarshal(line, &b) == nil && b.From == all.To+1; !fits {
			return false
		}
		all.BatchOf = BatchOf{From: 1, To: b.To, Tools: b.Tools, Head: b.Head}
		for _, found := range b.Found {
			if found.At < gap.From || found.At > gap.To {
				all.Found = append(all.Found, found)
			}
		}
		return all.To < upTo
	}
	if f.keep != nil && f.keep.Each(add) != nil {
		fits = false
	}
	partial := false
	for _, line := range f.lines {
		partial = true // or of a history that is nowhere kept
		if !fits || all.To >= upTo || !add(line) {
			break
		}
	}
	if !fits || all.To < min(upTo, f.places) || all.To == f.places && all.Tools != f.tools {
		return g
	}
	line, err := json.Marshal(all)
	if err != nil {
		return g
	}
	if k != nil {
		k.Remove()
	}
	if k == nil || partial || k.Append(line) != nil {
		g.lines = [][]byte{line}
	}
	g.loaded, g.places, g.tools = true, all.To, all.Tools
	return g
}
