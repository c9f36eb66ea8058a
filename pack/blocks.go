package pack

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recall"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// phase is a part of a pack. Nothing in an earlier phase depends on what changes in a later one.
type phase string

const (
	phaseStable  phase = "stable"
	phaseSession phase = "session"
	phaseJournal phase = "journal"
	phaseDynamic phase = "dynamic" // the footer
)

// block is one block of a pack, or, without text, one that does not stand in it.
type block struct {
	source   *recipe.Source // a strategy's section and the goal have one of their own
	at       int            // index of the source in the recipe, by which blocks are ordered; sections follow
	id       string
	kind     string // as pack.json calls it
	phase    phase
	trust    string // who wrote it: owner, package, workspace, generator, or the label's
	label    ctxabi.Label
	class    Class
	path     string   // where a reader finds the whole
	shown    []string // of a source that chooses: the files that it shows
	raw      string   // not framed
	text     string   // framed; "" when it is left out
	tokens   int
	asked    int // tokens that the whole would take
	cut      bool
	left     int    // bytes left out
	reason   string // why it is cut or left out
	stale    bool
	notes    []string
	selected string            // the task that it was chosen for
	recalled []recall.Passage  // of old records, what it shows of them
	parts    []blocks.TextPart // what raw consists of, where pack.json names each
}

// add renders b within limit tokens and appends it to blocks. It omits a block without content and
// without notes.
func (y *layout) add(found []block, b block, limit int, choose func(fits func(string) bool) blocks.Selection) []block {
	var fits func(string) bool
	if limit != blocks.NoCap {
		fits = func(text string) bool {
			return len(text) <= 256*limit && y.counter.CountCached(record.Frame(b.id, text)) <= limit
		}
	}
	s := choose(fits)
	if b.label != ctxabi.Unlabeled {
		s.Text = ctxabi.Escape(s.Text)
		for i := range s.Parts {
			s.Parts[i].Text = ctxabi.Escape(s.Parts[i].Text)
		}
	}
	b.raw, b.notes, b.parts = s.Text, s.Notes, s.Parts
	for _, e := range s.Used {
		if file := y.shownPath(b.at, e.File); !slices.Contains(b.shown, file) {
			b.shown = append(b.shown, file)
		}
	}

	if s.Text != "" {
		b.text = record.Frame(b.id, s.Text)
		b.asked = wanted(b.text, y.limit, y.counter)
		b.tokens = b.asked
	} else {
		if len(b.notes) == 0 {
			return found
		}
		b.reason = strings.Join(b.notes, "; ")
	}
	return append(found, b)
}

// shownPath is the path of the n-th usable file of source k.
func (y *layout) shownPath(k, n int) string {
	if files := y.usable(k); n < len(files) {
		return files[n].Path
	}
	return ""
}

// wanted is the exact size of text, or its weight where that is far above any limit anyway.
func wanted(text string, limit int, c *tokens.Counter) int {
	if limit > 0 && len(text)/256 > limit {
		return max(limit+1, ctxabi.Weight(text))
	}
	return c.CountCached(text)
}

// fit cuts the block to limit tokens. A source that chooses chooses less; of all
// others the first lines stand, and a last one that names the path of the rest.
func (y *layout) fit(b *block, limit int) {
	if b.asked <= limit {
		return
	}
	full := len(b.raw)
	b.cut, b.reason = true, fmt.Sprintf("its share is %d tokens", limit)
	if limit == 0 {
		b.reason = "no tokens are left for it; raise the budget, or lower the max_tokens of larger sources"
	}
	switch b.source.Type {
	case recipe.TypeMemory, recipe.TypeKnowledge, recipe.TypePlaybook, recipe.TypeSkills, recipe.TypeErrors, recipe.TypeChildren:
		for _, less := range y.contents(b.at, b.selected, limit) {
			if less.text != "" && less.id == b.id && less.asked <= limit {
				b.raw, b.text, b.tokens, b.shown, b.notes, b.parts = less.raw, less.text, less.tokens, less.shown, less.notes, less.parts
				b.left = max(0, full-len(b.raw))
				return
			}
		}
	}
	raw := b.raw
	if b.source.Type == recipe.TypeTodo {
		if folded := blocks.FoldTodo(raw, cmp.Or(b.path, ctxabi.TodoFile)); len(folded) < len(raw) {
			raw = folded
			b.notes = append(slices.Clip(b.notes), "finished items are folded")
		}
	}
	y.shorten(b, raw, limit)
	if b.source.Type == recipe.TypeTools && b.cut {
		b.notes = append(slices.Clip(b.notes), "request bodies of providers define all tools")
	}
}

// shorten sets the text of b to the part of raw that fits: raw itself, whole lines, or its first
// lines and the path of the rest.
func (y *layout) shorten(b *block, raw string, limit int) {
	full := len(b.raw)
	show := func(text string, left int) bool {
		n := y.counter.CountCached(text)
		if n <= limit {
			b.text, b.tokens, b.left = text, n, left
		}
		return n <= limit
	}
	if len(raw) < full && show(record.Frame(b.id, raw), full-len(raw)) {
		return
	}
	if text := y.wholeLines(b, raw, limit); text != "" && show(record.Frame(b.id, text), max(0, full-len(text))) {
		return
	}
	for room, n := limit, 0; room >= 32; room = room * max(4, min(31, 31*limit/n)) / 32 { // weights are estimates
		short, cut := compress.Head(raw, room, b.path)
		text := record.Frame(b.id, short)
		left := 0
		if cut {
			kept := strings.LastIndex(short, "\n") + 1 // the note is the last line
			left = full - commonPrefix(short[:kept], raw)
		}
		if show(text, left) {
			b.cut = cut
			return
		}
		n = y.counter.CountCached(text)
	}
	b.text, b.tokens, b.left = "", 0, full
}

// wholeLines cuts what the agent wrote to limit tokens: the newest rows of facts and decisions,
// the first lines of other texts. It returns "" for other sources and if no line of a text fits.
func (y *layout) wholeLines(b *block, raw string, limit int) string {
	if !agentWrites[b.source.Type] {
		return ""
	}
	fits := func(text string) bool {
		return len(text) <= 256*limit && y.counter.CountCached(record.Frame(b.id, text)) <= limit
	}
	if b.source.Type == recipe.TypeFacts || b.source.Type == recipe.TypeDecisions {
		return blocks.NewestRows(raw, b.path, fits)
	}
	return blocks.FirstLines(raw, b.path, fits)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// serve cuts the blocks that do not have room for all of theirs; smaller priorities are served first. It gives what is left for
// the footer.
func (y *layout) serve(goal int) int {
	var order []*block
	for i := range y.blocks {
		if b := &y.blocks[i]; b.text != "" && b.class != Required {
			order = append(order, b)
		}
	}
	slices.SortStableFunc(order, func(a, b *block) int { return a.source.Priority - b.source.Priority })
	l := y.limits
	l.footer -= goal
	for i, b := range order {
		limit := capOf(b.source, l.limit)
		if l.limit == 0 {
			y.fit(b, limit)
			continue
		}
		pools := []*int{&l.head}
		switch {
		case b.class == whole:
			pools[0] = &l.whole
		case b.phase == phaseDynamic:
			pools[0] = &l.footer
		case b.class == standard:
			pools = append(pools, &l.standard)
		}
		left := math.MaxInt
		for _, p := range pools {
			left = min(left, max(0, *p))
		}
		if b.class == standard {
			left = fairShare(b, order[i+1:], left)
		}
		limit = min(limit, left)
		y.fit(b, limit)
		for _, p := range pools {
			*p -= b.tokens
		}
	}
	return l.footer
}

// fairShare is how many of left tokens a block may take, so that the next blocks of the same part
// of the pack get theirs: agentLeast tokens or an equal part if the agent wrote them.
func fairShare(b *block, next []*block, left int) int {
	later, n := 0, 1
	for _, o := range next {
		if o.class == standard && (o.phase == phaseDynamic) == (b.phase == phaseDynamic) && agentWrites[o.source.Type] {
			later += min(o.asked, agentLeast)
			n++
		}
	}
	return max(left-later, left/n)
}
