package pack

import (
	"cmp"
	"fmt"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Backlog describes the compacted records of a build to a summarizer.
type Backlog struct {
	To  int // the last compacted record; 0: there is none, or the journal shows no summary
	Max int // tokens that a summary may have
}

func (d *draft) backlog() Backlog {
	if !d.journal.Present || !d.zoned || d.fold.Boundary() == 1 {
		return Backlog{}
	}
	return Backlog{To: d.fold.Boundary() - 1, Max: d.fold.Rules.SummaryLimit()}
}

// inJournal reports whether the journal shows the summary that source k names, so that the source
// shows nothing itself.
func (y *layout) inJournal(k int) bool {
	s := &y.recipe.Sources[k]
	if !y.zoned || s.Type != recipe.TypeSummary && s.Type != recipe.TypeFile {
		return false
	}
	where := cmp.Or(s.Path, blocks.BuiltinPaths[s.Type])
	if k < len(y.in.Locations) {
		where = y.in.Locations[k]
	}
	return where == ctxabi.SummaryFile || where == blocks.BuiltinPaths[recipe.TypeSummary]
}

// limitSummary sets the limit of a delivered summary if a source that names it has max_tokens.
func (y *layout) limitSummary() {
	for k := range y.recipe.Sources {
		if s := &y.recipe.Sources[k]; s.MaxTokens > 0 && y.inJournal(k) && !y.leftOut(s) {
			y.journal.Summary = min(capOf(s, y.limit), max(1, y.limit))
		}
	}
}

// shownSummary returns the part of the journal that shows a delivered summary, or nil.
func (d *draft) shownSummary() *journal.Part {
	for i := range d.parts {
		if d.parts[i].Version > 0 {
			return &d.parts[i]
		}
	}
	return nil
}

// summaryCut returns the number of the version that the pack does not show whole; 0: there is none.
func (d *draft) summaryCut() int {
	if p := d.shownSummary(); p != nil && p.VersionCut {
		return p.Version
	}
	return 0
}

// summaryNote describes, for the report, the summary of the pack and the versions that wait for a
// compaction. It is empty if nothing was delivered and the recipe has no summarizer.
func (d *draft) summaryNote() string {
	if d.recipe.Summarizer == nil && len(d.in.Summaries) == 0 && d.in.SummaryNote == "" {
		return ""
	}
	text := "derived"
	switch p := d.shownSummary(); {
	case !d.journal.Present || !d.zoned:
		text = "none, the journal has no summary"
	case d.fold.Boundary() == 1:
		text = "none, since nothing has left the pack yet"
	case p != nil:
		own := d.memo.SummaryFor(d.fold)
		text = fmt.Sprintf("version %d, by %s, up to %s", p.Version, journal.SummaryWriter(own.Writer),
			d.name(max(1, own.To)))
		if p.VersionCut {
			text += fmt.Sprintf(", cut to %d tokens (whole: %s)", d.fold.Rules.SummaryLimit(), ctxabi.SummaryPath(p.Version))
		}
		if own.To < d.fold.Boundary()-1 {
			text += ", derived from there on"
		}
	}
	if n := len(d.in.Summaries); n > 0 {
		if s := d.in.Summaries[n-1]; s.N > 0 && s.After >= d.fold.Compacted {
			of := record.SourcesOf(d.history, ctxabi.Span{From: 1, To: min(s.To, d.history.Len())})
			text += fmt.Sprintf("; version %d for %s enters at the next compaction", s.N, cmp.Or(of, "no message"))
		}
	}
	if d.in.SummaryNote != "" {
		text += "; " + d.in.SummaryNote
	}
	return text
}

// name is how the report calls the record at a place.
func (d *draft) name(at int) string { return record.AddressOf(d.history, at).String() }
