package pack

import (
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// class says how a source is treated when room is scarce.
type class int

const (
	required class = iota // stands verbatim, or there is no pack
	whole                 // stands whole as long as that leaves the journal its least
	explicit              // has a max_tokens of the recipe
	standard              // has the default cap of its type
)

func classOf(s *recipe.Source) class {
	switch {
	case s.Type.Required():
		return required
	case s.MaxTokens > 0:
		return explicit
	case isSystemPrompt(s):
		return required
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
	recipe.TypeMemory: 500, recipe.TypeKnowledge: 800, recipe.TypePlaybook: 300, recipe.TypeHandoff: 1000,
	recipe.TypeSummary: 500, recipe.TypeFacts: 600, recipe.TypeDecisions: 600, recipe.TypeRefs: 400,
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

// tokens says the limit in words.
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
	footer := min(max(200, l.limit/20), l.limit/8) + d.chosen
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
	l.footer = min(footer, standard)
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

// defaultCap is the cap of a source that names none itself.
func defaultCap(s *recipe.Source, limit int) int {
	if mostCaps[s.Type] {
		limit = min(limit, capScale)
	}
	return scaled(defaultCaps[s.Type], limit)
}

// capOf is the most that a source may take, in tokens; math.MaxInt: there is no cap of its own.
func capOf(s *recipe.Source, limit int) int {
	switch c := classOf(s); {
	case c == explicit && !s.Percent:
		return s.MaxTokens
	case limit == 0 || c == required || c == whole:
		return math.MaxInt
	case c == explicit:
		return max(1, int(int64(limit)*int64(s.MaxTokens)/10000))
	case s.Phase == recipe.Dynamic && !s.Type.Selected():
		// The footer has a bound of its own, which small limits keep low.
		return max(defaultCap(s, limit), defaultCaps[s.Type]/2)
	}
	return defaultCap(s, limit)
}

// firstScale is what weights count for at first, in thousandths. They err upwards, which costs little: the first compaction is
// decided by an exact count, and what a later one leaves is counted, too. Where it overflows nevertheless, the next step counts
// weights for more.
const firstScale = 1000

// promiseStep is the last step that shows a user record of up to a quarter of the limit as it is.
const promiseStep = 15

// maxStep is the last of the steps that foldRules knows.
const maxStep = 24

// journalRule is what a recipe says of the journal.
type journalRule struct {
	high, low, minGain int64 // thousandths of its room
	keyLines           int64 // likewise
	iterations, step   int
	truncate           bool
	present            bool // the recipe has a journal
}

func journalOf(r *recipe.Recipe, s *recipe.Source) journalRule {
	thousandths := func(share float64) int64 { return int64(math.Round(share * 1000)) }
	j := journalRule{high: thousandths(r.History.High), low: thousandths(r.History.Low), minGain: thousandths(r.History.MinGain), keyLines: thousandths(r.History.KeyLines)}
	if r.History == (recipe.History{}) {
		j.high, j.low, j.minGain, j.keyLines = 1000, 820, 150, 420
	}
	if s != nil {
		j.present, j.iterations, j.step, j.truncate = true, s.MaxIterations, max(1, s.Step), s.TruncateHead
	}
	if j.truncate { // no more than is needed
		j.low, j.minGain = 1000, 0
	}
	return j
}

// foldRules gives the numbers of a fold. Weights are estimates: should the
// exact count of the pack overflow, or should one group of calls and results
// not fit, the next step is tried. Which one fits is a function of the inputs.
// Steps 1 to 6 let weights count for more; 7 to 14 also show less of
// large records; then the boundary may fall inside a group and the kept
// records are shortened too; the last ones keep none but the last request and the ends of the first leading record, the very
// last one the request alone.
func (j journalRule) foldRules(l limits, step int) foldRules {
	f := foldRules{scale: firstScale, iterations: j.iterations, step: max(1, j.step)}
	if l.room == 0 {
		all := shareRule{above: math.MaxInt}
		f.leadCap, f.firstCap, f.tool, f.user, f.other = math.MaxInt32, math.MaxInt32, all, all, all
		if j.truncate {
			f.firstCap = 0
		}
		return f
	}
	limit := l.limit
	if limit == 0 {
		limit = 8 * l.room
	}
	overhead := min(64, l.room/8) // the conversation's heading and the notes of what is left out
	room := max(1, l.room-overhead)
	f.room, f.low, f.minGain = int64(room)*j.high/1000, j.low, j.minGain
	f.zones = j.zoneRules(step)
	f.leadCap, f.firstCap = min(limit/2, room/2), min(limit/10, room/5)
	most := min(limit/4, room/2)
	f.other = shareRule{above: most, to: most}
	f.user = f.other
	f.user.exact = most + 32 // a promise: weights err upwards, and a heading is not the user's
	tool := min(max(toolFloor, room*toolShare/1000), toolMost, room/3)
	f.tool = shareRule{above: tool, to: min(tool, max(resultShown, resultShown*limit/resultScale))}
	f.tight = shareRule{above: min(tool, max(toolFloor, room/10)), to: f.tool.to * 2 / 3}
	f.tight.to = min(f.tight.to, f.tight.above)
	f.free, f.image = most, most

	for range min(step, 6) {
		f.scale = f.scale * 11 / 10
	}
	if step > 0 {
		f.minGain, f.free = 0, 0
	}
	for range min(max(step-6, 0), 8) {
		f.tool = f.tool.less()
		f.tight = f.tight.less()
		f.other = f.other.less()
	}
	if step > 14 {
		f.anywhere = true
		for range step - 15 {
			f.scale = f.scale * 13 / 10
			f.user = f.user.less()
			f.leadCap = f.leadCap * 2 / 3
			f.firstCap = f.firstCap * 2 / 3
		}
		f.leadCap = max(f.leadCap, leadFloor)
		if step > 20 {
			f.leadCap, f.firstCap = leadFloor, 0
		}
		if step == maxStep {
			f.leadCap = 0
		}
	}
	if j.truncate { // it is always full
		f.firstCap, f.tight, f.free = 0, f.tool, 0
	}
	return f
}

// What a tool result may show whole, in tokens: 1500 characters or toolShare thousandths of the room, whichever is more, but never
// above toolMost; a tenth of the room where it would bring a compaction by itself.
const (
	toolFloor = 400
	toolShare = 180
	toolMost  = 3000
)

// What is left of one that shows more: at most resultShown tokens at a limit of resultScale or less, and in proportion above.
// That is what the kind with the most is given; the fold does not know kinds and counts all results as if they were of it.
const (
	resultShown = 500
	resultScale = 8000
)

// less is two thirds of a share, down to a heading and the note that names the record's path.
func (s shareRule) less() shareRule {
	to := max(36, s.to*2/3)
	return shareRule{above: to, to: to}
}
