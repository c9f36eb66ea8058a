package pack

import (
	"crypto/sha256"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/tokens"
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
	trust    string // who wrote it: owner, package, workspace, generator, agent, history
	class    class
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
	selected string // the task that it was chosen for
}

// noCap lets a source show all that it has.
const noCap = math.MaxInt

// blank is a block of source k without content.
func (y *layout) blank(k int, id string) block {
	s := &y.recipe.Sources[k]
	if id == "" {
		id = s.Block
	}
	b := block{source: s, at: k, id: id, phase: phase(s.Phase), class: classOf(s), path: s.Path}
	if files := y.files[k]; len(files) == 1 {
		b.path = files[0].Path
	} else if len(files) > 1 {
		b.path = path.Dir(files[0].Path)
	}
	switch {
	case b.path != "":
	case s.Type == recipe.TypeErrors:
		b.path = ctxabi.EventsFile
	default:
		b.path = id
	}
	b.kind, b.trust = kindOf(s, b.path), y.trustOf(s)
	for _, f := range y.files[k] {
		b.stale = b.stale || f.Stale
	}
	return b
}

// kindOf is what pack.json calls the blocks of a source.
func kindOf(s *recipe.Source, file string) string {
	switch s.Type {
	case recipe.TypeSystemRole:
		return "system"
	case recipe.TypeChildren:
		return "child_result"
	case recipe.TypeFile:
		switch name := path.Base(file); {
		case name == "AGENTS.md" || name == "DELTA.md" || name == "CLAUDE.md":
			return "guide"
		case name == "system_prompt.md" && strings.HasPrefix(s.Path, "${AGENT_HOME}"):
			return "system"
		}
	}
	return string(s.Type)
}

// trustOf says who wrote what a source yields.
func (y *layout) trustOf(s *recipe.Source) string {
	switch s.Type {
	case recipe.TypeComputed, recipe.TypePipeline:
		return "generator"
	case recipe.TypeSystemRole, recipe.TypeTools, recipe.TypeSkills, recipe.TypePinned, recipe.TypeKnowledge, recipe.TypePlaybook:
		return "owner"
	case recipe.TypeErrors, recipe.TypeChildren, recipe.TypeRecall:
		return "history"
	case recipe.TypeFile:
		return y.trustOfPath(s.Path, s.Origin)
	}
	return "agent"
}

func (y *layout) trustOfPath(file string, o recipe.Origin) string {
	switch {
	case strings.HasPrefix(file, "${AGENT_HOME}"):
		return "owner"
	case strings.HasPrefix(file, "${SESSION}"):
		return "agent"
	case strings.HasPrefix(file, "${RECIPE_DIR}"):
		return y.trustOfOrigin(o)
	}
	return "workspace"
}

func (y *layout) trustOfOrigin(o recipe.Origin) string {
	for _, f := range y.recipe.Files {
		if f.Path == o.File && f.Package != "" {
			return "package"
		}
	}
	return "owner"
}

// contents gives the blocks of source k, those without content included where a file says why.
// limit is what the block may take; task is what a source that chooses chooses for.
func (y *layout) contents(k int, task string, limit int) (blocks []block) {
	s := &y.recipe.Sources[k]
	var usable []File
	for _, f := range y.files[k] {
		if f.Reason != "" {
			b := y.blank(k, f.ID)
			b.path, b.reason = f.Path, f.Reason
			blocks = append(blocks, b)
		} else if len(f.Data) > 0 {
			usable = append(usable, *f)
		}
	}
	switch s.Type {
	case recipe.TypePinned:
		for i := range usable {
			f := &usable[i]
			b := y.blank(k, f.ID)
			b.path = f.Path
			b.stale = f.Stale
			blocks = y.add(blocks, b, limit, []any{f.digest()}, func(func(string) bool) selection { return selection{Text: string(f.Data)} })
		}
		return blocks
	case recipe.TypePlan:
		usable = slices.DeleteFunc(append(usable, y.usable(ofPlan)...), func(f File) bool { return y.plan == nil })
	case recipe.TypeErrors:
		return y.add(blocks, y.blank(k, ""), limit, []any{y.in.Errors}, func(fits func(string) bool) selection {
			return selection{Text: errorsText(y.in.Errors, fits)}
		})
	}
	if len(usable) == 0 {
		return blocks
	}
	b := y.blank(k, "")
	if b.path == b.id && len(usable) == 1 {
		b.path = usable[0].Path
	}
	of := []any{s.Type, s.Top}
	if s.Type.Selected() {
		b.selected = task
		of = append(of, task)
	}
	if s.Type == recipe.TypeSkills {
		of = append(of, y.in.Skills)
	}
	for i := range usable {
		of = append(of, usable[i].ID, usable[i].Path, usable[i].digest())
	}
	blocks = y.add(blocks, b, limit, of, func(fits func(string) bool) selection {
		return y.choose(s, usable, task, fits)
	})
	if last := len(blocks) - 1; last >= 0 && blocks[last].text != "" && len(blocks[last].shown) == 1 {
		blocks[last].path = blocks[last].shown[0]
	}
	return blocks
}

func (y *layout) usable(at int) (files []File) {
	for _, f := range y.files[at] {
		if f.Reason == "" && len(f.Data) > 0 {
			files = append(files, *f)
		}
	}
	return files
}

// choose makes the text of a source from its files.
func (y *layout) choose(s *recipe.Source, files []File, task string, fits func(string) bool) selection {
	switch s.Type {
	case recipe.TypeTools:
		text, err := toolsText(files[0].Data)
		if err != nil {
			return selection{Notes: []string{err.Error()}}
		}
		return selection{Text: text}
	case recipe.TypeSkills:
		return skillsText(files, y.in.Skills, fits)
	case recipe.TypeMemory:
		return memoryText(task, files, s.Top, fits, y.memo.corpora)
	case recipe.TypeKnowledge:
		return knowledgeText(task, files, s.Top, fits, y.memo.corpora)
	case recipe.TypePlaybook:
		return playbookText(task, files, fits, y.memo.corpora)
	case recipe.TypePlan:
		return selection{Text: planText(y.plan)}
	}
	return selection{Text: string(files[0].Data)}
}

// systemPrompt is the block of the strategy's system prompt in place of source k.
func (y *layout) systemPrompt(k int) []block {
	text := y.strategy.SystemPrompt
	if strings.TrimSpace(text) == "" {
		return nil
	}
	b := y.blank(k, "")
	b.path, b.trust = "strategy "+y.strategy.Name, y.trustOfOrigin(y.strategy.Origin)
	return y.add(nil, b, noCap, []any{text}, func(func(string) bool) selection { return selection{Text: text} })
}

// sectionBlock is the block of a section of the strategy.
func (y *layout) sectionBlock(s recipe.Section, at int) block {
	text, from := y.section(s)
	b := block{at: at, id: y.strategy.Name + "/" + s.Name, kind: "section", phase: phaseSession, class: whole, path: from}
	b.source = &recipe.Source{Block: b.id, MaxTokens: s.MaxTokens, Phase: recipe.Session, Priority: 100, Type: recipe.TypeFile, Origin: y.strategy.Origin}
	if s.MaxTokens > 0 {
		b.class = explicit
	}
	switch {
	case s.Text != "":
		b.trust = y.trustOfOrigin(y.strategy.Origin)
	case s.Path != "":
		b.trust = y.trustOfPath(s.Path, y.strategy.Origin)
	default:
		b.trust = "agent"
	}
	if b.path == "" {
		b.path = "strategy " + y.strategy.Name
	}
	if strings.TrimSpace(text) == "" {
		b.reason = "missing"
		return b
	}
	return y.add(nil, b, noCap, []any{text}, func(func(string) bool) selection { return selection{Text: text} })[0]
}

// cached is a block as it was rendered, kept by what it was rendered from.
type cached struct {
	raw, text string
	tokens    int // exact when it can stand in a pack
	asked     int
	left      int
	cut       bool
	shown     []string
	notes     []string
	used      bool // by the build going on
}

// keyOf names a rendering: the place and the cap of a block, and what it is made from.
func (y *layout) keyOf(b *block, limit int, of []any) [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %d %d %s\n", b.id, b.path, limit, y.limit, y.counter.Encoding())
	for _, x := range of {
		switch x := x.(type) {
		case [sha256.Size]byte:
			h.Write(x[:])
		default:
			fmt.Fprintf(h, "%#v\n", x)
		}
	}
	var key [sha256.Size]byte
	h.Sum(key[:0])
	return key
}

// add renders b within limit tokens and appends it to blocks; make is called where that was not done before.
// A block without content is appended only when there is something to say of it.
func (y *layout) add(blocks []block, b block, limit int, of []any, make func(fits func(string) bool) selection) []block {
	r := y.memo.made(y.keyOf(&b, limit, of), func() cached {
		var fits func(string) bool
		if limit != noCap {
			fits = func(text string) bool { return len(text) <= 256*limit && y.counter.Count(frame(b.id, text)) <= limit }
		}
		s := make(fits)
		r := cached{raw: s.Text, notes: s.Notes}
		for _, e := range s.Used {
			if file := y.shownPath(b.at, e.File); !slices.Contains(r.shown, file) {
				r.shown = append(r.shown, file)
			}
		}
		if s.Text != "" {
			r.text = frame(b.id, s.Text)
			r.asked = wanted(r.text, y.limit, y.counter)
			r.tokens = r.asked
		}
		return r
	})
	b.raw, b.text, b.tokens, b.asked, b.shown, b.notes = r.raw, r.text, r.tokens, r.asked, r.shown, r.notes
	if b.text == "" {
		if len(b.notes) == 0 {
			return blocks
		}
		b.reason = strings.Join(b.notes, "; ")
	}
	return append(blocks, b)
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
	switch b.source.Type {
	case recipe.TypeMemory, recipe.TypeKnowledge, recipe.TypePlaybook, recipe.TypeSkills, recipe.TypeErrors:
		for _, less := range y.contents(b.at, b.selected, limit) {
			if less.text != "" && less.id == b.id && less.asked <= limit {
				b.raw, b.text, b.tokens, b.shown, b.notes = less.raw, less.text, less.tokens, less.shown, less.notes
				b.left = max(0, full-len(b.raw))
				return
			}
		}
	}
	r := y.memo.made(y.keyOf(b, limit, []any{"head", sha256.Sum256([]byte(b.raw))}), func() cached {
		for room := limit; room >= 32; room = room * 7 / 8 {
			short, cut := compress.Head(b.raw, room, b.path)
			text := frame(b.id, short)
			if n := y.counter.CountCached(text); n <= limit {
				r := cached{text: text, tokens: n, cut: cut}
				if cut {
					kept := strings.LastIndex(short, "\n") + 1 // the note is the last line
					r.left = len(b.raw) - commonPrefix(short[:kept], b.raw)
				}
				return r
			}
		}
		return cached{left: full, cut: true}
	})
	b.text, b.tokens, b.cut, b.left, b.asked = r.text, r.tokens, r.cut, r.left, asked
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// serve cuts the blocks that do not have room for all of theirs; smaller priorities are served first.
func (y *layout) serve(goal int) {
	var order []*block
	for i := range y.blocks {
		if b := &y.blocks[i]; b.text != "" && b.class != required {
			order = append(order, b)
		}
	}
	slices.SortStableFunc(order, func(a, b *block) int { return a.source.Priority - b.source.Priority })
	l := y.limits
	l.footer -= goal
	for _, b := range order {
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
		for _, p := range pools {
			limit = min(limit, max(0, *p))
		}
		y.fit(b, limit)
		for _, p := range pools {
			*p -= b.tokens
		}
	}
}
