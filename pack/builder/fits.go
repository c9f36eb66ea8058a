package builder

import (
	"context"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/session"
)

// CheckFits reports whether data, written as the session file name (context/budget or a pin, relative to the session),
// leaves the required parts of a pack within its limit; if not, ctxabi.ErrOverBudget with the numbers.
func (b *Builder) CheckFits(x *session.Session, name string, data []byte) error {
	pin, isPin := strings.CutPrefix(name, ctxabi.PinnedDir+"/")
	isPin = isPin && ctxabi.IsPin(pin)
	if !isPin && name != ctxabi.BudgetFile {
		return nil
	}
	budget, given, err := ctxabi.ParseBudget(nil)
	if !isPin {
		budget, given, err = ctxabi.ParseBudget(data)
	}
	if err != nil {
		return err
	}
	g, err := b.inputs.Required(x)
	if err != nil {
		return err
	}
	in := g.Input()
	if !isPin {
		if in.Budget = b.inputs.Fallback(g.Chosen.Recipe); given {
			in.Budget = budget
		}
	} else if !replacePin(&in, name, pin, data) {
		return nil
	}
	return in.CheckFits(name)
}

// replacePin puts a pin that is being written among the files; false when the recipe shows no pins.
func replacePin(in *pack.Input, name, pin string, data []byte) bool {
	for i := range in.Files {
		if f := &in.Files[i]; f.Path == name && f.At >= 0 {
			f.Data, f.Reason, f.Sum = data, "", nil
			return true
		}
	}
	for at := range in.Recipe.Sources {
		if s := &in.Recipe.Sources[at]; s.Type == recipe.TypePinned {
			in.Files = append(in.Files, blocks.File{At: at, ID: s.Block + "/" + pin, Path: name, Data: data})
			return true
		}
	}
	return false
}

// CheckRecipe reports the problems of the session's recipe in errors.jsonl unless they are there. It
// does nothing for a generator of the session, because the build may wait for that generator.
func (b *Builder) CheckRecipe(ctx context.Context, x *session.Session) {
	if b.IsInside(ctx, x) {
		return
	}
	e := b.use(x)
	if e.lock(ctx) != nil {
		return
	}
	defer func() { <-e.busy }()
	b.inputs.CheckRecipe(x)
}
