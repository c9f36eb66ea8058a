package pack

import (
	"fmt"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Backlog is what a build has behind its boundary for a summarizer.
type Backlog struct {
	To  int // the last record there; 0: nothing is, or there is no summary
	Max int // tokens that a summary may have
}

func (d *draft) backlog() Backlog {
	f := d.fold
	if !d.journal.Present {
		return Backlog{}
	}
	b := Backlog{To: f.Boundary() - 1, Max: f.OwnSummary()}
	if b.Max == 0 {
		return Backlog{}
	}
	return b
}

// summaryNote returns which summary stands in the pack and why, where the recipe has a summarizer; "" where it has none.
func (d *draft) summaryNote() string {
	if d.recipe.Summarizer == nil {
		return ""
	}
	text := "none, since nothing has left the pack yet"
	switch own := d.memo.SummaryFor(d.fold); {
	case d.backlog().To == 0 && d.fold.Boundary() > 1:
		text = "none, the journal has no summary"
	case d.fold.Boundary() == 1:
	case own == nil:
		text = "derived"
	case slices.ContainsFunc(d.parts, func(p journal.Part) bool { return p.Summarized > 0 }):
		text = "by the summarizer up to " + d.name(own.To)
		if own.To < d.fold.Boundary()-1 {
			text += ", derived from there on"
		}
	default:
		text = "derived, there is no room for the summarizer's"
	}
	if n := len(d.in.Summaries); n > 0 && d.in.Summaries[n-1].After >= d.fold.Compacted {
		of := record.SourcesOf(d.history, ctxabi.Span{From: 1, To: d.in.Summaries[n-1].To})
		text += fmt.Sprintf("; the summarizer's for %s is accepted and enters at the next compaction", of)
	}
	if d.in.SummaryNote != "" {
		text += "; " + d.in.SummaryNote
	}
	return text
}

// name is how the report calls the record at a place.
func (d *draft) name(at int) string { return record.AddressOf(d.history, at).String() }
