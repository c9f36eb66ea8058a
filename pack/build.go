package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tokens"
)

// Build is one compiled pack. It never changes.
type Build struct {
	ID       string      // "sha256-<hex>" of the inputs
	Markdown []byte      // pack.md
	JSON     []byte      // pack.json
	Report   []byte      // pack.report.md
	Tokens   int         // exact, of Markdown
	Epoch    string      // while it is equal, the first PrefixBytes bytes of a pack begin the next
	Prefix   int         // bytes of Markdown before the footer
	Head     []HeadBlock // what stands before the journal, in order
	Recipe   string      // Hash of the recipe it was compiled by
	Stale    bool        // a workspace file did not answer in time: its last known content was used
	Made     time.Time
}

// HeadBlock is one block before the journal.
type HeadBlock struct {
	ID     string // of the block: "pinned/rules.md"
	Source string // path of its file, or what it is made from
	SHA256 string // hex, of its bytes in pack.md
}

// Compile makes the pack of in. It is a pure function: the same input gives the same
// bytes. It fails with ctxabi.ErrOverBudget when the required parts leave no
// room for the conversation, and with ctxabi.ErrIO when a record cannot be read.
func Compile(in Input) (*Build, error) { return compile(&in, &defaultRecipe, newMemo()) }

// draft is a pack before it is rendered.
type draft struct {
	in      *Input
	history Records // that the journal is folded over
	id      string
	counter *tokens.Counter
	limits  limits
	head    []block
	parts   []part // the journal
	fold    *fold
	step    int
	footer  []block
	goal    block
	tokens  struct{ head, journal, footer int }
}

func (d *draft) total() int { return d.tokens.head + d.tokens.journal + d.tokens.footer }

func compile(in *Input, r *oldRecipe, mm *memo) (*Build, error) {
	c, err := tokens.For(in.Encoding)
	if err != nil {
		return nil, err
	}
	d := &draft{in: in, history: in.history(), counter: c, id: in.id(r, c.Encoding())}
	mm.follow(in)
	if err := d.frame(r, mm); err != nil {
		return nil, err
	}
	if err := d.fill(r, mm); err != nil {
		return nil, err
	}
	return d.render()
}

// frame makes all that stands around the journal.
func (d *draft) frame(r *oldRecipe, mm *memo) error {
	required, n := requiredBlocks(r, d.in.Files, d.counter)
	d.limits = r.share(d.in.Budget, n)
	l := d.limits
	if l.limit > 0 && n >= l.limit {
		return overBudget(l)
	}
	optional := optionalBlocks(r, phaseSession, d.in.Files, l, l.optional-l.footer, d.counter)
	mm.use(l)
	d.head = append(required, optional...)
	slices.SortStableFunc(d.head, func(a, b block) int { return a.at - b.at })
	for _, b := range d.head {
		d.tokens.head += b.tokens
	}

	todo := ""
	for _, f := range d.in.Files {
		if f.Source == "todo" && f.Reason == "" {
			todo = string(f.Data)
		}
	}
	text, err := mm.goal(todo, d.history, mm.fold(d.history, r.foldRules(l, 0)), l)
	if err != nil {
		return err
	}
	left := l.footer
	if text != "" {
		if n := d.counter.CountCached(text); l.limit == 0 || n <= left {
			d.goal = block{source: source{ID: "goal", Kind: "goal", Phase: phaseDynamic, Trust: "history"}, text: text, tokens: n, asked: n}
			left -= n
		}
	}
	d.footer = optionalBlocks(r, phaseDynamic, d.in.Files, l, left, d.counter)
	for _, b := range d.footer {
		d.tokens.footer += b.tokens
	}
	d.tokens.footer += d.goal.tokens
	return nil
}

// fill folds the history until what it shows fits.
func (d *draft) fill(r *oldRecipe, mm *memo) error {
	l, m := d.limits, d.history
	room := l.limit - d.tokens.head - d.tokens.footer
	for step := 0; step <= maxStep; step++ {
		rules := r.foldRules(l, step)
		f := mm.fold(m, rules)
		if l.limit > 0 && step < maxStep && f.weight()*1000/rules.scale > int64(room)*2 {
			continue // no use counting it
		}
		parts, n, err := mm.renderJournal(m, f, d.counter)
		if err != nil {
			return err
		}
		if l.limit == 0 || n <= room {
			d.fold, d.step, d.parts, d.tokens.journal = f, step, parts, n
			mm.settle()
			return nil
		}
	}
	mm.settle()
	return overBudget(l)
}

func overBudget(l limits) error {
	return ctxabi.E("pack", ctxabi.PackFile, ctxabi.ErrOverBudget,
		"system_prompt.md and pinned/ take %d of %d tokens, which leaves no room for the conversation; raise %s or shorten them",
		l.required, l.limit, ctxabi.BudgetFile)
}

// render writes the three files of the build.
func (d *draft) render() (*Build, error) {
	var md strings.Builder
	marks := marks{}
	for _, b := range d.head {
		md.WriteString(b.text)
		if b.source.Phase == phaseStable {
			marks.stable = md.Len()
		}
	}
	marks.head = md.Len()
	for _, p := range d.parts {
		if !p.kept && !p.omitted && marks.past == 0 {
			marks.past = md.Len()
		}
		marks.lastRecord = md.Len()
		md.WriteString(p.text)
	}
	marks.prefix = md.Len()
	for _, b := range d.footer {
		md.WriteString(b.text)
	}
	md.WriteString(d.goal.text)

	build := &Build{ID: d.id, Markdown: []byte(md.String()), Tokens: d.total(), Prefix: marks.prefix, Made: time.Now()}
	for _, f := range d.in.Files {
		build.Stale = build.Stale || f.Stale
	}
	build.Epoch = d.epoch(md.String()[:marks.head])
	var err error
	if build.JSON, err = d.renderJSON(build, marks); err != nil {
		return nil, err
	}
	build.Report = d.renderReport(build, marks)
	return build, nil
}

// marks are byte offsets in pack.md.
type marks struct {
	stable     int // end of STABLE
	head       int // end of SESSION, where the journal begins
	past       int // end of what stands of the compacted past
	lastRecord int // begin of the last record
	prefix     int // end of the journal
}

// epoch names what must not change for the prefix to stay: the head, and how
// the journal was folded.
func (d *draft) epoch(head string) string {
	h := sha256.New()
	fmt.Fprintf(h, "head %d\n%s\nencoding %s room %d limit %d step %d boundary %d", len(head), head, d.counter.Encoding(), d.limits.room, d.limits.limit, d.step, d.fold.boundary())
	return fmt.Sprintf("%d-%s", d.fold.compactions, hex.EncodeToString(h.Sum(nil)[:8]))
}

// epochReason says what began the epoch, as far as the files alone can tell.
func (d *draft) epochReason() string {
	switch {
	case d.step > 0:
		return fmt.Sprintf("the journal was folded tighter (step %d) to fit the budget", d.step)
	case d.fold.compactions > 0:
		return fmt.Sprintf("compaction when %s arrived", addressOf(d.history, d.fold.compacted).source())
	}
	return "no compaction yet"
}
