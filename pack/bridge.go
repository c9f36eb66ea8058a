package pack

import (
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/pack/recipe"
)

// defaultRecipe is the default one.
var defaultRecipe = sync.OnceValue(func() *recipe.Recipe {
	if r := recipe.Default(); len(r.Sources) > 0 {
		return r
	}
	r := &recipe.Recipe{Name: "default", TotalMaxTokens: -1, Wait: 500 * time.Millisecond, History: recipe.History{High: 1, Low: .55, KeyLines: .25, MinGain: .15}}
	add := func(t recipe.Type, p recipe.Phase, path, block string, percent int) {
		r.Sources = append(r.Sources, recipe.Source{Type: t, Block: block, ID: block, Phase: p, Priority: 100, OnMissing: recipe.Skip, Path: path, MaxTokens: percent, Percent: percent > 0, Top: 3})
	}
	add(recipe.TypeSystemRole, recipe.Stable, "", "system_prompt", 0)
	add(recipe.TypeTools, recipe.Stable, "", "tools", 0)
	add(recipe.TypeSkills, recipe.Stable, "", "skills", 0)
	add(recipe.TypePinned, recipe.Session, "", "pinned", 0)
	add(recipe.TypeFile, recipe.Session, "${CWD}/AGENTS.md", "AGENTS.md", 625)
	add(recipe.TypeFile, recipe.Session, "${CWD}/DELTA.md", "DELTA.md", 625)
	for _, t := range []recipe.Type{recipe.TypeHandoff, recipe.TypeMemory, recipe.TypeKnowledge, recipe.TypePlaybook, recipe.TypeSummary, recipe.TypeFacts, recipe.TypeDecisions, recipe.TypeRefs} {
		add(t, recipe.Session, "", string(t), 0)
	}
	add(recipe.TypeJournal, "", "", "conversation", 0)
	for _, t := range []recipe.Type{recipe.TypeChildren, recipe.TypeRecall, recipe.TypeErrors, recipe.TypePlan, recipe.TypeTodo} {
		add(t, recipe.Dynamic, "", string(t), 0)
	}
	return r
})
