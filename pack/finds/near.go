package finds

import (
	"encoding/json"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/prefix"
)

// Nearby returns the findings of a history outside gap, up to about the record upTo. It takes them
// from k, even if k holds the findings for a shorter gap, or else from all, which covers all
// records. If neither has them, the result reads the records on first use and keeps the findings
// in k.
func Nearby(gap ctxabi.Span, upTo int, k prefix.Lines, all *Finds) *Finds {
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
	if all != nil && all.mu.TryLock() { // fails while another goroutine reads the records
		read := all.places > gap.To
		all.mu.Unlock()
		if read {
			return all.Without(gap, upTo, k)
		}
	}
	return f
}

// Without returns the findings of f outside gap and keeps them in k, where they replace the old
// findings. gap must begin at the gap of f and end no earlier, so Without reads no record up to
// upTo again. It drops findings after upTo, because the findings of a long history take much
// memory.
func (f *Finds) Without(gap ctxabi.Span, upTo int, k prefix.Lines) *Finds {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := &Finds{Gap: gap, keep: k}
	if f.lost || f.places <= gap.To {
		return g
	}
	all := Batch{Batch: prefix.Batch{From: 1}, Version: derived.FindVersion, Gap: g.gap()}
	fits := true
	add := func(line []byte) bool {
		var b Batch
		if fits = json.Unmarshal(line, &b) == nil && b.From == all.To+1; !fits {
			return false
		}
		all.Batch = prefix.Batch{From: 1, To: b.To, Tools: b.Tools, Head: b.Head}
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
