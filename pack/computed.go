package pack

import (
	"slices"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/blocks"
)

// Computed adds the outputs of generators to the files of in. It calls outputs with the sources that
// are wanted, and again with those that an output without content made wanted: fallbacks.
// It returns the error of outputs, and ctxabi.ErrIO when a record cannot be read.
func (in *Input) Computed(mm *Memo, c *tokens.Counter,
	outputs func(at []int, p Planned) ([]blocks.File, error)) error {
	for asked := map[int]bool{}; ; {
		p, err := in.Plan(mm, c)
		if err != nil {
			return err
		}
		var at []int
		for i := range in.Recipe.Sources {
			if in.Recipe.Sources[i].Type.Computed() && p.Wanted[i] && !asked[i] {
				asked[i] = true
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			break
		}
		files, err := outputs(at, p)
		if err != nil {
			return err
		}
		in.Files = append(in.Files, files...)
	}
	slices.SortStableFunc(in.Files, func(f, g blocks.File) int { return f.At - g.At })
	return nil
}

// ChooseComputed leaves, of the outputs that were made for another history, those that the recipe
// wants with the history of in. It runs nothing: an output that is missing is pending.
// It returns ctxabi.ErrIO when a record cannot be read.
func (in *Input) ChooseComputed(mm *Memo, c *tokens.Counter) error {
	if !in.Recipe.Computes() {
		return nil
	}
	made := map[int]blocks.File{}
	in.Files = slices.DeleteFunc(slices.Clone(in.Files), func(f blocks.File) bool {
		computed := f.At >= 0 && in.Recipe.Sources[f.At].Type.Computed()
		if computed {
			made[f.At] = f
		}
		return computed
	})
	return in.Computed(mm, c, func(at []int, _ Planned) (files []blocks.File, err error) {
		for _, i := range at {
			f, ok := made[i]
			if name := in.Recipe.Sources[i].Block; !ok {
				f = blocks.File{At: i, ID: name, Path: name, Pending: true}
			}
			files = append(files, f)
		}
		return files, nil
	})
}
