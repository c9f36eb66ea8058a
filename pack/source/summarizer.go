package source

import "github.com/ctxfs/ctxfs/pack/recipe"

// OfSummarizer stands for the recipe's summarizer where sources are named by their index.
const OfSummarizer = -5

// SummarizerSource is the recipe's summarizer as a source that runs a command; nil: it has none. No other has its name.
func SummarizerSource(r *recipe.Recipe) *recipe.Source {
	if r.Summarizer == nil {
		return nil
	}
	g := recipe.Generator{Command: r.Summarizer.Words(), Timeout: r.Summarizer.Timeout}
	return &recipe.Source{Type: recipe.TypeComputed, Block: "\nsummarizer", Stages: []recipe.Stage{{Generator: g}},
		Origin: r.Origins["summarizer"]}
}
