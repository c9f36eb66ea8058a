package pack

import (
	"slices"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Planned is what can be known of a pack before its generators run.
//
// The builder gathers the files that need no command, calls [Input.plan], runs
// the generators that are wanted, adds their outputs to Files and plans again:
// a computed fallback is wanted only when what stands before it in its chain
// came to nothing. When nothing new is wanted it compiles the same Input.
type Planned struct {
	settled     int    // how many records the sources before the journal see
	Compactions int    // what moved the settled point so far
	task        string // the last request of the user at the settled point
	current     string // the last request of the user now, and the open todos

	// Wanted is for each source of the recipe whether its content can matter: its condition
	// holds, the strategy does not leave it out, and no source before it in its chain yields something or may still.
	Wanted []bool
}

// Settled returns how many messages of the history came before the last compaction; 0 if there was none.
func (p *Planned) Settled(history record.Records) int {
	if p.Compactions == 0 {
		return 0
	}
	return p.settled - record.ToolsUpTo(history, p.settled)
}

// Plan finds the settled point and which sources are wanted, of the chains that have a generator: the others are not
// looked at. mm may be kept from one call to the next for the same session, and shared with compile; nil: a new one.
// That a source is missing is no error here.
func (in *Input) Plan(mm *Memo, c *tokens.Counter) (Planned, error) {
	if mm == nil {
		mm = NewMemo()
	}
	y, journal, err := in.settled(mm, c)
	if err != nil {
		return Planned{}, err
	}
	y.useSources(journal, func(chain []recipe.Source) bool {
		return slices.ContainsFunc(chain, func(s recipe.Source) bool { return s.Type.Computed() })
	})
	return y.Planned, nil
}
