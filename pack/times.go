package pack

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// lifted is the output of a program before the journal without the present time that it told, which stands in the goal: there
// it would change the prefix of the pack with each run.
type lifted struct {
	text string // what stands in the block
	line string // what stands in the goal
}

// What the goal has of lifted times, and the least room of the footer with which there are any.
const (
	liftedSources = 2  // the first ones of the recipe
	liftedTokens  = 40 // of each
	liftedFooter  = 200
)

// liftedTimes returns what is lifted, by source of the recipe. It depends on the outputs and the limits alone.
func (y *layout) liftedTimes() map[int]lifted {
	if y.times != nil {
		return y.times
	}
	y.times = map[int]lifted{}
	if !y.hasJournal() || y.limits.limit > 0 && y.limits.footer < liftedFooter {
		return y.times
	}
	for k := range y.recipe.Sources {
		s := &y.recipe.Sources[k]
		if !s.Type.Computed() || s.Phase == recipe.Dynamic || len(y.files[k]) != 1 || y.files[k][0].Reason != "" || len(y.times) == liftedSources {
			continue
		}
		if text, lines := compress.LiftTimes(string(y.files[k][0].Data)); lines != nil {
			short, _ := compress.ClipTokens(record.OneLine(s.Block+": "+strings.Join(lines, "; ")), liftedTokens)
			y.times[k] = lifted{text, record.OneLine(short) + "\n"}
		}
	}
	return y.times
}

// timesNote returns the lines of lifted times whose blocks stand in the pack; "" without any.
func (d *draft) timesNote() string {
	times := d.liftedTimes()
	var b strings.Builder
	for i := range d.blocks {
		if x := &d.blocks[i]; x.text != "" && x.source != nil && x.source.Type.Computed() {
			b.WriteString(times[x.at].line)
		}
	}
	return b.String()
}

func (y *layout) hasJournal() bool {
	return y.recipe.Has(recipe.TypeJournal)
}
