package pack

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strconv"
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

// cached is a block as it was rendered, kept by what it was rendered from.
type cached struct {
	raw, text string
	tokens    int // exact when it can stand in a pack
	asked     int
	left      int
	cut       bool
	shown     []string
	parts     []blocks.TextPart
	notes     []string
	used      bool // by the build going on
}

// keyOf names a rendering: the place and the cap of a block, and what it is made from.
func (y *layout) keyOf(b *block, limit int, of []any) [sha256.Size]byte {
	key := fmt.Appendf(nil, "%q %q %d %d %d %s\n", b.id, b.path, b.label, limit, y.limit, y.counter.Encoding())
	for _, x := range of {
		switch x := x.(type) {
		case [sha256.Size]byte:
			key = append(key, x[:]...)
		case string:
			key = append(append(strconv.AppendInt(key, int64(len(x)), 10), ' '), x...)
		case *blocks.File:
			sum := x.Digest()
			key = append(append(key, sum[:]...), x.ID...)
			key = append(append(append(key, 0), x.Path...), 0)
		default:
			key = fmt.Appendf(key, "%#v\n", x)
		}
	}
	return sha256.Sum256(key)
}

// add renders b within limit tokens and appends it to blocks; make is called where that was not done before.
// A block without content is appended only when there is something to say of it.
func (y *layout) add(found []block, b block, limit int, of []any, make func(fits func(string) bool) blocks.Selection) []block {
	r := y.memo.made(y.keyOf(&b, limit, of), func() cached {
		var fits func(string) bool
		if limit != blocks.NoCap {
			fits = func(text string) bool {
				return len(text) <= 256*limit && y.counter.Count(record.Frame(b.id, text)) <= limit
			}
		}
		s := make(fits)
		if b.label != ctxabi.Unlabeled {
			s.Text = ctxabi.Escape(s.Text)
			for i := range s.Parts {
				s.Parts[i].Text = ctxabi.Escape(s.Parts[i].Text)
			}
		}
		r := cached{raw: s.Text, notes: s.Notes, parts: s.Parts}
		for _, e := range s.Used {
			if file := y.shownPath(b.at, e.File); !slices.Contains(r.shown, file) {
				r.shown = append(r.shown, file)
			}
		}
		if s.Text != "" {
			r.text = record.Frame(b.id, s.Text)
			r.asked = wanted(r.text, y.limit, y.counter)
			r.tokens = r.asked
		}
		return r
	})
	b.raw, b.text, b.tokens, b.asked, b.shown, b.notes, b.parts = r.raw, r.text, r.tokens, r.asked, r.shown, r.notes, r.parts
	if b.text == "" {
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
	asked, full := b.asked, len(b.raw)
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
		if folded, ok := todoFolded(b); ok {
			raw = folded
			b.notes = append(slices.Clip(b.notes), "finished items are folded")
		}
	}
	r := y.memo.made(y.keyOf(b, limit, []any{"head", sha256.Sum256([]byte(b.raw))}), func() cached {
		if text := record.Frame(b.id, raw); len(raw) < len(b.raw) {
			if n := y.counter.CountCached(text); n <= limit {
				return cached{text: text, tokens: n, cut: true, left: len(b.raw) - len(raw)}
			}
		}
		if text := y.wholeLines(b, raw, limit); text != "" {
			framed := record.Frame(b.id, text)
			return cached{text: framed, tokens: y.counter.CountCached(framed), cut: true, left: max(0, full-len(text))}
		}
		for room, n := limit, 0; room >= 32; room = room * max(4, min(31, 31*limit/n)) / 32 { // weights are estimates
			short, cut := compress.Head(raw, room, b.path)
			text := record.Frame(b.id, short)
			if n = y.counter.CountCached(text); n <= limit {
				r := cached{text: text, tokens: n, cut: cut}
				if cut {
					kept := strings.LastIndex(short, "\n") + 1 // the note is the last line
					r.left = len(b.raw) - commonPrefix(short[:kept], raw)
				}
				return r
			}
		}
		return cached{left: full, cut: true}
	})
	b.text, b.tokens, b.cut, b.left, b.asked = r.text, r.tokens, r.cut, r.left, asked
	if b.source.Type == recipe.TypeTools && r.cut {
		b.notes = append(slices.Clip(b.notes), "request bodies of providers define all tools")
	}
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

// todoFolded is a todo list in as few lines as it has open items, where that is shorter.
func todoFolded(b *block) (string, bool) {
	path := b.path
	if path == "" {
		path = ctxabi.TodoFile
	}
	folded := blocks.FoldTodo(b.raw, path)
	return folded, len(folded) < len(b.raw)
}
