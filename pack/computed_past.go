package pack

import (
	"slices"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// ChooseComputed leaves, of what generators made for another history, what the recipe wants with in's.
// Nothing is run: what is wanted and was not made is pending.
// It returns ctxabi.ErrIO when a record cannot be read.
func (in *Input) ChooseComputed(mm *Memo, c *tokens.Counter) error {
	if !slices.ContainsFunc(in.Recipe.Sources, func(s recipe.Source) bool { return s.Type.Computed() }) {
		return nil
	}
	made := map[int]blocks.File{}
	for _, f := range in.Files {
		if f.At >= 0 && in.Recipe.Sources[f.At].Type.Computed() {
			made[f.At] = f
		}
	}
	in.Files = slices.DeleteFunc(slices.Clone(in.Files), func(f blocks.File) bool { _, ok := made[f.At]; return ok })
	for asked := map[int]bool{}; ; {
		p, err := in.Plan(mm, c)
		if err != nil {
			return err
		}
		before := len(asked)
		for i := range in.Recipe.Sources {
			s := &in.Recipe.Sources[i]
			if !s.Type.Computed() || !p.Wanted[i] || asked[i] {
				continue
			}
			asked[i] = true
			f, ok := made[i]
			if !ok {
				f = blocks.File{At: i, ID: s.Block, Path: s.Block, Pending: true}
			}
			in.Files = append(in.Files, f)
		}
		if len(asked) == before {
			break
		}
	}
	slices.SortStableFunc(in.Files, func(f, g blocks.File) int { return f.At - g.At })
	return nil
}
