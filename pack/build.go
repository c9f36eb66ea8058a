package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/tokens"
)

// Build is one compiled pack. It never changes.
type Build struct {
	ID          string      // "sha256-<hex>" of the inputs
	Markdown    []byte      // pack.md
	Report      []byte      // pack.report.md
	Tokens      int         // exact, of Markdown
	Epoch       string      // while it is equal, the first PrefixBytes bytes of a pack begin the next
	Prefix      int         // bytes of Markdown before the footer
	Head        []HeadBlock // what stands before the journal, in order
	Redaction   string      // Fingerprint of what redacted it; "": nothing did
	Recipe      string      // Hash of the recipe it was compiled by
	Messages    int         // records of messages.jsonl that it covers
	Events      int         // records of events.jsonl up to the last one that stands in it
	Compactions int         // how often the boundary moved
	EpochReason string
	Stale       bool // a workspace file did not answer in time: its last known content was used
	Made        time.Time
	native      *native
	left        left    // what left the prompt
	backlog     backlog // what a summarizer may be asked for
	places      int     // of its history
	room        int     // for the journal, in tokens; 0: no limit
	encoding    string
	borders     []border // of the blocks and records before the footer
	account     *account // pack.json
}

// HeadBlock is one block before the journal.
type HeadBlock struct {
	ID     string // of the block: "pinned/rules.md"
	Source string // path of its file, or what it is made from
	SHA256 string // hex, of its bytes in pack.md
	Chosen bool   // by the task: a compaction changes it
}

// Compile makes the pack of in. It is a pure function: the same input gives the same
// bytes. It fails with ctxabi.ErrOverBudget when the required parts leave no
// room for the conversation, with ctxabi.ErrNoData when a source that must yield something does
// not, and with ctxabi.ErrIO when a record cannot be read.
func Compile(in Input) (*Build, error) { return compile(&in, newMemo()) }

// Compiler compiles packs of one session one after another, as a [Builder] does: of what it
// made for one it reuses for the next what did not change. Its packs are those of Compile. The zero value
// is ready; it is not safe for concurrent use.
type Compiler struct {
	memo     *memo
	encoding string // that memo counts with
}

// Compile makes the pack of in. Its history begins with that of the call before, or is shorter.
func (c *Compiler) Compile(in Input) (*Build, error) {
	if c.memo == nil || c.encoding != in.Encoding {
		c.memo, c.encoding = newMemo(), in.Encoding
	}
	return compile(&in, c.memo)
}

// draft is a pack before it is rendered.
type draft struct {
	*layout
	id         string
	head       []block
	parts      []part // the journal
	fold       *fold
	step       int
	footer     []block
	goal       block
	footerLeft int // tokens that nothing after the journal takes
	tokens     struct{ head, journal, footer int }
	kept       kept
	native     *native
}

func (d *draft) total() int { return d.tokens.head + d.tokens.journal + d.tokens.footer }

func compile(in *Input, mm *memo) (*Build, error) {
	c, err := tokens.For(in.Encoding)
	if err != nil {
		return nil, err
	}
	d, err := in.complete(mm, c, in.around(c.Encoding()))
	if err != nil {
		return nil, err
	}
	return d.render(), nil
}

// complete makes a pack up to its rendering. around is the hash of all but the records.
func (in *Input) complete(mm *memo, c *tokens.Counter, around hash.Cloner) (*draft, error) {
	defer mm.forget()
	before := in.stretchesBefore(mm, c, around)
	d, err := in.draft(mm, c)
	if err != nil {
		return nil, err
	}
	if err := d.recall(); err != nil {
		return nil, err
	}
	d.id = in.idOf(around)
	d.kept = d.since(before)
	mm.last = in.drafting(around)
	mm.last.stretches = d.stretches()
	return d, nil
}

// draft makes a pack up to what it recalls and its rendering.
func (in *Input) draft(mm *memo, c *tokens.Counter) (*draft, error) {
	y, err := in.layout(mm, c)
	if err != nil {
		return nil, err
	}
	if y.missing != nil {
		return nil, y.missing
	}
	d := &draft{layout: y}
	if err := d.frame(); err != nil {
		return nil, err
	}
	if err := d.fill(); err != nil {
		return nil, err
	}
	return d, nil
}

// frame makes all that stands around the journal.
func (d *draft) frame() error {
	l := d.limits
	if l.limit > 0 && l.required >= l.limit {
		return overBudget(l)
	}
	text, n, err := d.makeGoal()
	if err != nil {
		return err
	}
	if text != "" {
		d.goal = block{id: "goal", path: "goal", kind: "goal", phase: phaseDynamic, trust: "history", text: text, tokens: n, asked: n}
	}
	d.footerLeft = d.serve(d.goal.tokens)
	for _, p := range []phase{phaseStable, phaseSession, phaseDynamic} {
		for _, b := range d.blocks {
			switch {
			case b.phase != p && !(p == phaseSession && b.phase == phaseJournal):
			case p == phaseDynamic:
				d.footer = append(d.footer, b)
				d.tokens.footer += b.tokens
			default:
				d.head = append(d.head, b)
				d.tokens.head += b.tokens
			}
		}
	}
	d.tokens.footer += d.goal.tokens
	return nil
}

// fill folds the history until what it shows fits.
func (d *draft) fill() error {
	l, m := d.limits, d.history
	if !d.journal.present {
		d.fold = d.clock
		if n := d.fold.n; n > 0 {
			d.parts = []part{{piece: piece{Span: ctxabi.Span{From: 1, To: n}, omitted: true, sums: d.fold.total}}}
		}
		return d.frameNative(nil)
	}
	room := noCap
	if l.limit > 0 {
		room = l.limit - d.tokens.head - d.tokens.footer
	}
	if d.most > 0 {
		room = min(room, d.most)
	}
	fits := false
	for step := 0; step <= maxStep; step++ {
		if fits && step > promiseStep {
			break // a rendering that does not fit is no reason to cut the user's last request
		}
		rules := d.journal.foldRules(l, step)
		f := d.memo.fold(m, rules)
		if room != noCap && step < maxStep && f.weight()*1000/rules.scale > int64(room)*2 {
			continue // no use counting it
		}
		parts, n, err := d.memo.renderJournal(m, f, d.counter)
		if err != nil {
			return err
		}
		if n > room {
			continue
		}
		was := *d
		d.fold, d.step, d.parts, d.tokens.journal = f, step, parts, n
		if err := d.frameNative(d.script()); err != nil {
			return err
		}
		if d.native.bound <= l.limit || l.limit == 0 {
			return nil
		}
		if fits { // pack.md alone
			*d = was
		}
		fits = true
	}
	if fits {
		return nil
	}
	return overBudget(l)
}

func overBudget(l limits) error {
	return ctxabi.E("pack", ctxabi.PackFile, ctxabi.ErrOverBudget,
		"system_prompt.md and pinned/ take %d of %s, which leaves no room for the conversation; raise %s or shorten them",
		l.required, l.tokens(), ctxabi.BudgetFile)
}

// render writes the files of the build, but for pack.json, which is written when it is asked for, as native renderings are.
func (d *draft) render() *Build {
	var md strings.Builder
	marks := marks{}
	build := &Build{ID: d.id, Tokens: d.total(), Recipe: d.recipe.Hash, Redaction: d.in.Redaction.fingerprint()}
	so := 0 // tokens so far
	end := func(tokens int) {
		so += tokens
		build.borders = append(build.borders, border{md.Len(), so})
	}
	for _, b := range d.head {
		md.WriteString(b.text)
		end(b.tokens)
		if b.phase == phaseStable {
			marks.stable = md.Len()
		}
		if b.text != "" {
			build.Head = append(build.Head, HeadBlock{ID: b.id, Source: b.path, SHA256: hexOf([]byte(b.text)),
				Chosen: b.source.Type.Selected() || uses(b.source.Condition, recipe.TaskContains)})
		}
	}
	marks.head = md.Len()
	for _, p := range d.parts {
		if d.fold.boundary() > 1 && (p.kept || p.omitted) {
			marks.past = md.Len() + len(p.text)
		}
		md.WriteString(p.text)
		end(p.tokens)
	}
	marks.prefix = md.Len()
	for _, b := range d.footer {
		md.WriteString(b.text)
	}
	md.WriteString(d.goal.text)

	build.Markdown, build.Prefix, build.Made = []byte(md.String()), marks.prefix, time.Now()
	d.native.footer, build.native = md.String()[marks.prefix:], d.native
	for _, f := range d.in.Files {
		if f.At < 0 || d.wanted[f.At] {
			build.Stale = build.Stale || f.Stale || f.Pending
		}
	}
	build.left, build.backlog, build.places = d.left(), d.backlog(), d.fold.n
	build.room, build.encoding = d.limits.room, d.counter.Encoding()
	build.Epoch, build.EpochReason = d.epoch(md.String()[:marks.head]), d.epochReason()
	build.Messages, build.Compactions = d.in.Messages.Len(), d.fold.compactions
	if n := len(d.in.Tools); n > 0 {
		build.Events = int(d.in.Tools[n-1].Line)
	}
	build.account = newAccount(d.packJSON(build, marks, md.String()))
	build.Report = d.renderReport(build)
	return build
}

// marks are byte offsets in pack.md.
type marks struct {
	stable int // end of STABLE
	head   int // end of SESSION, where the journal begins
	past   int // end of what stands of the compacted past; 0: nothing was compacted
	prefix int // end of the journal
}

// epoch names what must not change for the prefix to stay: the head, and how
// the journal was folded.
func (d *draft) epoch(head string) string {
	h := sha256.New()
	if !d.journal.present {
		fmt.Fprintf(h, "head %d\n%s\nno journal%s", len(head), head, d.in.Redaction.fingerprint())
		return "0-" + hex.EncodeToString(h.Sum(nil)[:8])
	}
	for _, p := range d.parts {
		if p.summarized > 0 {
			fmt.Fprintf(h, "summary %s\n", hexOf([]byte(p.text)))
		}
	}
	if r := d.in.Redaction; r != nil {
		fmt.Fprintf(h, "redaction %s\n", r.Fingerprint)
	}
	fmt.Fprintf(h, "head %d\n%s\nencoding %s room %d limit %d step %d boundary %d rules %+v", len(head), head, d.counter.Encoding(), d.limits.room, d.limits.limit, d.step, d.fold.boundary(), d.fold.rules)
	return fmt.Sprintf("%d-%s", d.fold.compactions, hex.EncodeToString(h.Sum(nil)[:8]))
}

// epochReason says what began the epoch: what the caller knows, else what the files alone can tell.
func (d *draft) epochReason() string {
	switch {
	case d.in.EpochReason != "":
		return d.in.EpochReason
	case !d.journal.present:
		return "no journal in the recipe"
	case d.step > 0:
		return fmt.Sprintf("the journal was folded tighter (step %d) to fit the budget", d.step)
	case d.fold.compactions > 0:
		return fmt.Sprintf("%s when %s arrived", d.fold.moved, addressOf(d.history, d.fold.compacted).source())
	}
	return "no compaction yet"
}

// changedFrom says what began the epoch of b, seen from an earlier build of the
// same session; "" when that does not show: then it is the journal. Of before it looks at
// Epoch, Recipe, Redaction and Head.
func (b *Build) changedFrom(before *Build) string {
	if b.Recipe != before.Recipe {
		return "the recipe changed"
	}
	switch {
	case b.Redaction == before.Redaction:
	case before.Redaction == "":
		return "redaction was turned on"
	case b.Redaction == "":
		return "redaction was turned off"
	default:
		return "the rules of redaction changed, or what they allow"
	}
	compactions, _, _ := strings.Cut(b.Epoch, "-")
	compacted := before.Epoch != "" && !strings.HasPrefix(before.Epoch, compactions+"-")
	was := map[string]HeadBlock{}
	for _, h := range before.Head {
		was[h.ID] = h
	}
	for _, h := range b.Head {
		old, ok := was[h.ID]
		delete(was, h.ID)
		switch {
		case h.Chosen && compacted:
		case !ok:
			return h.Source + " was added"
		case old.SHA256 == h.SHA256:
		case old.Source != h.Source:
			return "what stands in " + h.ID + " changed"
		default:
			return h.Source + " changed"
		}
	}
	for _, h := range before.Head {
		if _, gone := was[h.ID]; gone && !(h.Chosen && compacted) {
			return h.Source + " was removed"
		}
	}
	if !compacted && !slices.Equal(b.Head, before.Head) {
		return "the order of the blocks changed"
	}
	return ""
}

// RendererVersion is part of every pack's id: raise it when the same inputs give other bytes.
const RendererVersion = 13
