package pack

import (
	"sync"

	"github.com/ctxfs/ctxfs/pack/recipe"
)

// oldSource is one source as the builder gathers it.
type oldSource struct {
	At       int
	ID       string
	Where    place
	Path     string // of the file, relative to Where
	Required bool
}

// place says where a source's file stands.
type place int

const (
	inAgentHome place = iota
	inSession
	inPinned    // all files of context/pinned, in name order
	inWorkspace // the session's cwd, read by Workspace
	inLog       // messages.jsonl
)

// gatheredSources are those of the default recipe.
func gatheredSources() (list []oldSource) {
	for i, s := range defaultRecipe().Sources {
		o := oldSource{At: i, ID: s.Block, Required: s.Type.Required()}
		switch s.Type {
		case recipe.TypeSystemRole:
			o.Where, o.Path = inAgentHome, "system_prompt.md"
		case recipe.TypePinned:
			o.Where, o.Path = inPinned, "context/pinned"
		case recipe.TypeFile:
			o.Where, o.Path = inWorkspace, s.Path[len("${CWD}/"):]
		case recipe.TypeSummary, recipe.TypeTodo:
			o.Where, o.Path = inSession, "context/"+string(s.Type)+".md"
		case recipe.TypeFacts, recipe.TypeDecisions, recipe.TypeRefs:
			o.Where, o.Path = inSession, "context/"+string(s.Type)+".jsonl"
		default:
			continue
		}
		list = append(list, o)
	}
	return list
}

func pinnedAt() int {
	for i, s := range defaultRecipe().Sources {
		if s.Type == recipe.TypePinned {
			return i
		}
	}
	return 0
}

// defaultRecipe is the default one.
var defaultRecipe = sync.OnceValue(func() *recipe.Recipe {
	if r := recipe.Default(); len(r.Sources) > 0 {
		return r
	}
	r := &recipe.Recipe{Name: "default", TotalMaxTokens: -1, History: recipe.History{High: 1, Low: .55, KeyLines: .25, MinGain: .15}}
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
