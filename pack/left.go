package pack

import (
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

// left is what a build shows gone, by places of its history.
type left struct {
	rules journal.Rules
	cuts  []int // the boundary after each compaction
	short []int // results that are shown shortened
}

func (d *draft) left() left {
	if !d.journal.Present {
		return left{}
	}
	l := left{rules: d.fold.Rules, cuts: d.fold.Cuts}
	for _, p := range d.parts {
		if p.How != "" && p.Zone == journal.InFull && p.From == p.To && record.IsResult(d.history.At(p.From)) {
			l.short = append(l.short, p.From)
		}
	}
	return l
}
