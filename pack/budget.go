package pack

import (
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// Class is how a source is treated when room is scarce.
type Class int

const (
	Required Class = iota // never cut: without room for it there is no pack
	whole                 // stands whole as long as that leaves the journal its least
	explicit              // has a max_tokens of the recipe
	standard              // has the default cap of its type
)

// ClassOf returns the class of a source.
func ClassOf(s *recipe.Source) Class {
	switch {
	case s.Type.Required():
		return Required
	case s.MaxTokens > 0:
		return explicit
	case isSystemPrompt(s):
		return Required
	case s.Type == recipe.TypeFile:
		return whole
	}
	return standard
}

// isSystemPrompt reports whether a source is the agent's system prompt, named as a file.
func isSystemPrompt(s *recipe.Source) bool {
	return s.Type == recipe.TypeFile && strings.HasPrefix(s.Path, "${"+recipe.VarAgentHome+"}/") && path.Base(s.Path) == ctxabi.SystemPromptFile
}

// capScale is the limit at which default caps are what the table says; they shrink and, but for mostCaps, grow with it.
const capScale = 32000

// defaultCaps are in tokens at a limit of capScale; see defaultCap.
var defaultCaps = map[recipe.Type]int{
	recipe.TypeTools: 3000, recipe.TypeSkills: 1000,
	recipe.TypeMemory: 500, recipe.TypeKnowledge: 800, recipe.TypePlaybook: 300, recipe.TypeHandoff: 1000, recipe.TypeProject: 1500,
	recipe.TypeSummary: 500, recipe.TypeFacts: 600, recipe.TypeDecisions: journal.DecisionsCap, recipe.TypeRefs: 400,
	recipe.TypeChildren: 600, recipe.TypeRecall: 600, recipe.TypeErrors: 300, recipe.TypePlan: 300, recipe.TypeTodo: 300,
	recipe.TypeComputed: 4000, recipe.TypePipeline: 4000,
}

// What the journal is left with whatever else there is.
const (
	// minJournal is the least, in tokens, that required blocks must leave for the conversation.
	minJournal = 160
	// standardShare is what the blocks with a default cap may take together, the footer included, in thousandths of the limit.
	standardShare = 300
)

// limits share one budget out. All are in tokens.
type limits struct {
	limit    int // budget − reserve; 0: no limit
	reserve  int
	required int // exact, of all required blocks
	whole    int // for all blocks that are to stand whole, wherever they stand
	head     int // for the capped blocks before the journal
	standard int // of these, for those with a default cap
	footer   int // for the capped blocks after it and the goal
	room     int // for the journal; 0: no limit
}

// space is what a fold of the journal has.
func (l limits) space() journal.Space { return journal.Space{Limit: l.limit, Room: l.room} }

// tokens returns the limit in words.
func (l limits) tokens() string {
	if l.reserve > 0 {
		return fmt.Sprintf("the %d tokens that reserve_tokens, which is %d, leaves", l.limit, l.reserve)
	}
	return fmt.Sprintf("%d tokens", l.limit)
}

// demand is what a recipe's sources ask for. It depends on the recipe, the budget and
// the files, never on the history or on what a generator made, so that neither refolds history.
type demand struct {
	required, whole int // exact
	explicit        int // caps, before the journal
	footer          int // explicit caps, after it
	standard        int // default caps, before the journal
	chosen          int // default caps of what is chosen for the task after it: memories, knowledge, playbooks
	written         int // what the agent wrote after it, up to its cap, in steps
	journal         int // cap of the journal; 0: none
}

// share computes the limits. The journal keeps max(minJournal, an eighth of the limit) against
// whole and explicit blocks, and of what those leave three fifths, but no less than minJournal, against default caps.
func share(budget, reserve int, d demand) limits {
	if budget == 0 {
		return limits{required: d.required, room: d.journal}
	}
	l := limits{limit: max(1, budget-reserve), reserve: reserve, required: d.required}
	keep := max(minJournal, l.limit/8)
	free := max(0, l.limit-l.required)
	footer := min(max(200, l.limit/20), l.limit/8) + d.chosen + d.written
	if l.whole = d.whole; l.whole > free-keep {
		// It is cut in any case, and so it leaves something to the small ones.
		small := min(d.standard+footer, l.limit*standardShare/1000) + min(d.explicit+d.footer, free/4)
		l.whole = max(0, free-keep-small)
	}
	free -= l.whole
	// Small edits of a block that stands as it is shall not refold history either.
	step := min(512, max(16, l.limit/16))
	rounded := (l.required + l.whole + step - 1) / step * step

	explicit := min(d.explicit+d.footer, max(0, free-keep))
	rest := free - explicit
	standard := min(d.standard+footer, l.limit*standardShare/1000)
	l.room = max(l.limit-rounded-explicit-standard, rest*6/10, min(rest, minJournal))
	standard = min(standard, rest-l.room)
	least := min(max(200, l.limit/20), l.limit/8)
	l.footer = min(footer, standard, max(least, standard-d.standard, standard/2))
	l.standard = standard - l.footer
	inFooter := explicit
	if both := d.explicit + d.footer; both > 0 {
		inFooter = int(int64(explicit) * int64(d.footer) / int64(both))
	}
	l.footer += inFooter
	l.head = l.standard + explicit - inFooter
	if d.journal > 0 {
		l.room = min(l.room, d.journal)
	}
	return l
}

// scaled is a number of tokens at capScale in proportion to a limit.
func scaled(tokens, limit int) int { return int(int64(tokens) * int64(limit) / capScale) }

// mostCaps are the types whose default cap is the most they get at any limit: more tools, memories or snippets than that earn nothing in a larger window.
var mostCaps = map[recipe.Type]bool{recipe.TypeTools: true, recipe.TypeSkills: true, recipe.TypeMemory: true, recipe.TypeKnowledge: true, recipe.TypePlaybook: true, recipe.TypePlan: true}

// agentWrites are the types whose rows and texts the agent wrote.
var agentWrites = map[recipe.Type]bool{
	recipe.TypeHandoff: true, recipe.TypeSummary: true, recipe.TypeFacts: true, recipe.TypeDecisions: true, recipe.TypeTodo: true,
}

// What the agent wrote has at least agentLeast tokens from a limit of agentLimit up.
const (
	agentLeast = 400
	agentLimit = 2000
)

// defaultCap is the cap of a source that names none itself.
func defaultCap(s *recipe.Source, limit int) int {
	if mostCaps[s.Type] {
		limit = min(limit, capScale)
	}
	most := scaled(defaultCaps[s.Type], limit)
	if agentWrites[s.Type] && limit >= agentLimit {
		most = max(most, agentLeast)
	}
	return most
}

// capOf is the most that a source may take, in tokens; math.MaxInt: there is no cap of its own.
func capOf(s *recipe.Source, limit int) int {
	switch c := ClassOf(s); {
	case c == explicit && !s.Percent:
		return s.MaxTokens
	case limit == 0 || c == Required || c == whole:
		return math.MaxInt
	case c == explicit:
		return max(1, int(int64(limit)*int64(s.MaxTokens)/10000))
	case agentWrites[s.Type] && s.Phase != recipe.Dynamic: // a footer is paid for anew with each call
		return max(defaultCap(s, limit), limit*standardShare/1000)
	case s.Phase == recipe.Dynamic && !s.Type.Selected():
		// The footer has a bound of its own, which small limits keep low.
		return max(defaultCap(s, limit), defaultCaps[s.Type]/2)
	}
	return defaultCap(s, limit)
}
