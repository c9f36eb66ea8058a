package pack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// missing begins the reason of a source that has no file at all.
const missing = "missing"

// useSources decides which sources are used and makes their blocks, of those chains that it is asked to.
func (y *layout) useSources(journal int, asked func(chain []recipe.Source) bool) {
	sources := y.recipe.Sources
	y.Wanted = make([]bool, len(sources))
	y.journal.Present = false
	for k := 0; k < len(sources); {
		end := k + 1
		for end < len(sources) && sources[end].Fallback > 0 {
			end++
		}
		if asked(sources[k:end]) {
			y.useChain(k, end, journal)
		}
		k = end
	}
}

// useSections makes the blocks of the strategy's sections.
func (y *layout) useSections() {
	for i, s := range y.strategy.Sections {
		b := y.sectionBlock(s, len(y.recipe.Sources)+i)
		// That the built-in recipe's strategies find no plan goes without saying.
		if b.text != "" || s.Required || y.strategy.Origin.File != "" {
			y.blocks = append(y.blocks, b)
		}
	}
}

// useChain uses the first source of from, from+1, … before end that yields something.
func (y *layout) useChain(from, end, journal int) {
	c := chain{y: y, head: &y.recipe.Sources[from], found: -1}
	for k := from; k < end; k++ {
		s := &y.recipe.Sources[k]
		f := y.facts()
		f.Turns, f.Task = y.clock.Turns, y.task
		if s.Phase == recipe.Dynamic {
			f.Task = y.current
		}
		if reason := c.unused(s, f); reason != "" {
			c.leave(k, reason)
		} else if s.Type == recipe.TypeJournal {
			y.journal.Present = y.journal.Present || k == journal
			return
		} else if y.inJournal(k) && len(y.usable(k)) > 0 {
			c.found = k
		} else {
			c.use(k, f.Task)
		}
	}
	for _, b := range c.left {
		// That a source of the built-in recipe has no file goes without saying.
		if !strings.HasPrefix(b.reason, missing) || b.source.Origin.File != "" {
			y.blocks = append(y.blocks, b)
		}
	}
	if c.found < 0 && c.wanted && c.head.OnMissing == recipe.Error && y.missing == nil && !y.there(from, end) {
		y.missing = c.failure()
	}
}

// chain is what is known of a source and its fallbacks on the way from one to the next.
type chain struct {
	y    *layout
	head *recipe.Source // the first of them

	found   int     // the source that yields something; -1: none so far
	wanted  bool    // one was to be used
	waiting bool    // a generator has not given anything yet
	left    []block // why the others are not used
}

// unused returns why source s is not to be used, "" if it is. f are the facts that its condition looks at.
func (c *chain) unused(s *recipe.Source, f *blocks.Facts) string {
	switch y := c.y; {
	case y.leftOut(s):
		return "left out by the strategy " + y.strategy.Name
	case !f.Holds(s.Condition):
		return y.unmet(s)
	case s.Type == recipe.TypeJournal:
		return ""
	case c.found >= 0:
		return "not needed: " + y.recipe.Sources[c.found].Block + " yields something"
	case c.waiting && s.Type.Computed():
		return "not needed yet"
	}
	return ""
}

// use makes the blocks of source k for task, or notes why it has no content.
func (c *chain) use(k int, task string) {
	y, s := c.y, &c.y.recipe.Sources[k]
	c.wanted, y.Wanted[k] = true, true
	if s.Type.Computed() && (len(y.files[k]) == 0 || y.files[k][0].Pending) {
		c.waiting = true
	}
	if s.Type == recipe.TypeRecall { // what it shows depends on the journal, see recall_block.go
		if s.Phase != recipe.Dynamic {
			c.leave(k, "it stands after the journal or nowhere: what it shows changes with each record")
			return
		}
		c.take(k, y.blank(k, ""))
		return
	}
	made := y.contents(k, task, blocks.NoCap)
	if slices.ContainsFunc(made, func(b block) bool { return b.text != "" }) {
		c.take(k, made...)
		return
	}
	if s.Type == recipe.TypeSystemRole {
		if prompt := y.systemPrompt(k); len(prompt) > 0 {
			y.prompt = true
			c.take(k, prompt...)
			return
		}
	}
	if len(made) == 0 {
		c.leave(k, y.absence(k))
	}
	c.left = append(c.left, made...)
}

// take notes that source k yields blocks.
func (c *chain) take(k int, made ...block) {
	c.found = k
	c.y.blocks = append(c.y.blocks, made...)
}

// leave notes why source k is not used.
func (c *chain) leave(k int, reason string) {
	b := c.y.blank(k, "")
	b.reason = reason
	c.left = append(c.left, b)
}

// failure returns the error, of kind ctxabi.ErrNoData, that a required chain yields nothing, with all reasons and a remedy.
func (c *chain) failure() error {
	var reasons []string
	for _, b := range c.left {
		reasons = append(reasons, c.y.lack(b))
	}
	at, remedy := "", "write it"
	switch large := func(b block) bool { return strings.HasPrefix(b.reason, "larger than ") }; {
	case c.head.Type.Computed():
		remedy = "correct the command"
	case slices.ContainsFunc(c.left, large):
		remedy = "shorten it"
	}
	if c.head.Origin.File != "" {
		at = fmt.Sprintf(" (%s:%d)", c.head.Origin.File, c.head.Origin.Line)
	}
	return ctxabi.E("pack", ctxabi.PackFile, ctxabi.ErrNoData, "source %s%s yields nothing: %s; %s, or set on_missing: skip",
		c.head.Block, at, strings.Join(reasons, "; "), remedy)
}

// lack returns why a block has no content: of a file with its path, of a command with the end of what it
// said, since no report of a pack shows it that cannot be built.
func (y *layout) lack(b block) string {
	if b.path != "" {
		return fmt.Sprintf("%s (%s)", b.reason, b.path)
	}
	if len(y.files[b.at]) == 0 {
		return b.reason
	}
	_, said, _ := strings.Cut(y.files[b.at][0].Note, "stderr: ")
	if said = strings.TrimSpace(said); said == "" {
		return b.reason
	}
	lines := strings.Split(said, "\n")
	return fmt.Sprintf("%s (%.300s)", b.reason, strings.TrimSpace(lines[len(lines)-1]))
}

// there reports whether a source of the chain has a file that can be used, be it empty or of no use for
// the task, or may have one yet: a generator has not given anything so far.
func (y *layout) there(from, end int) bool {
	for k := from; k < end; k++ {
		if slices.ContainsFunc(y.files[k], func(f *blocks.File) bool { return f.Pending || f.Reason == "" }) {
			return true
		}
	}
	return false
}

// absence is why source k has no content though none of its files says why.
func (y *layout) absence(k int) string {
	switch s := &y.recipe.Sources[k]; {
	case len(y.files[k]) == 0 && s.Type == recipe.TypeFile && k < len(y.in.Locations) && y.in.Locations[k] == "":
		return missing + ": cwd names no workspace"
	case len(y.files[k]) == 0:
		return missing
	case y.files[k][0].Pending:
		return "its generator has not given anything yet"
	case s.Type.Selected():
		return "nothing of it suits the task" + y.since(s)
	}
	return "empty"
}

// unmet returns why the condition of s keeps it out of the pack.
func (y *layout) unmet(s *recipe.Source) string {
	text := "the condition does not hold: " + blocks.Describe(s.Condition)
	if s.Phase == recipe.Dynamic || !blocks.Uses(s.Condition, recipe.TaskContains) {
		return text
	}
	now := y.facts()
	now.Turns, now.Task = y.clock.Turns, y.current
	if now.Holds(s.Condition) {
		text = "the condition holds for the last request alone: " + blocks.Describe(s.Condition)
	}
	return text + y.since(s)
}

// since returns which request a source is chosen for, as the end of a reason, where that is not the last one: what
// stands before the journal stays as it is between compactions.
func (y *layout) since(s *recipe.Source) string {
	switch {
	case s.Phase == recipe.Dynamic || !y.hasJournal():
		return ""
	case y.Compactions > 0:
		return "; before the journal the request at the last compaction decides, after it the last one"
	}
	return "; before the journal the first request decides until a compaction, after it the last one"
}
