package pack

import (
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Left is what a build shows gone, by places of its history.
type Left struct {
	Rules journal.Rules
	Cuts  []int // the boundary after each compaction
	Short []int // results that are shown shortened
}

func (d *draft) left() Left {
	if !d.journal.Present {
		return Left{}
	}
	l := Left{Rules: d.fold.Rules, Cuts: d.fold.Cuts}
	for _, p := range d.parts {
		if p.How != "" && p.Zone == journal.InFull && p.From == p.To && record.IsResult(d.history.At(p.From)) {
			l.Short = append(l.Short, p.From)
		}
	}
	return l
}
