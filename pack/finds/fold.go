package finds

import (
	"context"
	"encoding/json"
	"slices"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
)

// folding is a fold that has come to a place.
type folding struct {
	places, tools int
	gap           ctxabi.Span // of its finds
	fold          derived.State
}

// advance takes the folding at the end along with a new batch; it needs not read it again then.
func (f *Finds) advance(m record.Records, b *Batch) {
	for _, g := range f.foldings {
		if g.places == f.places {
			g.add(m, b, b.To)
			return
		}
	}
}

// add folds what a batch has behind g's place, up to another.
func (g *folding) add(m record.Records, b *Batch, upTo int) {
	k := 0
	for at := g.places + 1; at <= min(b.To, upTo); at++ {
		if g.gap.From <= at && at <= g.gap.To {
			at = min(g.gap.To, b.To, upTo)
			continue
		}
		for k < len(b.Found) && b.Found[k].At < at {
			k++
		}
		var found []derived.Finding
		if k < len(b.Found) && b.Found[k].At == at {
			found = b.Found[k].Found
		}
		a := record.AddressOf(m, at)
		g.fold.Add(derived.Position{Event: a.Event, Line: a.Line}, SaysAs(m, at), found)
	}
	g.places = min(b.To, upTo)
	g.tools = record.ToolsUpTo(m, g.places)
}

// folded returns the fold as of a place; f.mu is held.
func (f *Finds) folded(ctx context.Context, m record.Records, places int) (*folding, error) {
	f.foldings = slices.DeleteFunc(f.foldings, func(g *folding) bool { return g.places <= m.Len() && record.ToolsUpTo(m, g.places) != g.tools })
	best := -1
	for i, g := range f.foldings {
		if g.places <= places && (best < 0 || g.places >= f.foldings[best].places) {
			best = i
		}
	}
	g := &folding{gap: f.Gap}
	if best >= 0 {
		g = f.foldings[best]
		f.foldings = slices.Delete(f.foldings, best, best+1)
	} else if len(f.foldings) == maxFoldings {
		f.foldings = slices.Delete(f.foldings, 0, 1)
	}
	if g.places < places {
		if err := f.replay(m, g, places); err != nil {
			return nil, err
		}
	}
	if g.places < places { // what was kept is gone
		f.reset()
		f.lost = true // and what is kept from here on might be, too
		if err := f.readUpTo(ctx, m, places); err != nil {
			return nil, err
		}
		g = &folding{gap: f.Gap}
		if err := f.replay(m, g, places); err != nil {
			return nil, err
		}
	}
	f.foldings = append(f.foldings, g)
	return g, nil
}

// replay folds what is kept, as far as it fits together, up to a place.
func (f *Finds) replay(m record.Records, g *folding, places int) error {
	fits := true
	add := func(line []byte) bool {
		var of prefix.Batch
		if fits = json.Unmarshal(line, &of) == nil && of.From <= g.places+1; !fits || of.To <= g.places {
			return fits
		}
		var b Batch
		if fits = json.Unmarshal(line, &b) == nil; fits {
			g.add(m, &b, places)
		}
		return fits && g.places < places
	}
	if f.keep != nil {
		if err := f.keep.Each(add); err != nil {
			return err
		}
	}
	for _, line := range f.lines {
		if !fits || g.places == places || !add(line) {
			break
		}
	}
	return nil
}
