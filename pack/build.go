package pack

import (
	"hash"
	"strings"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Build is one compiled pack. It never changes.
type Build struct {
	ID          string      // "sha256-<hex>" of the inputs
	Markdown    []byte      // pack.md
	Report      []byte      // pack.report.md
	Tokens      int         // exact, of Markdown
	Epoch       string      // while it is equal, the first PrefixBytes bytes of a pack begin the next
	Major       string      // while it is equal, the first Past bytes of a pack begin the next, whatever its epoch; "": nothing was compacted
	Past        int         // bytes of Markdown up to the end of what stands of the compacted past
	Prefix      int         // bytes of Markdown before the footer
	Head        []HeadBlock // what stands before the journal, in order
	Redaction   string      // Fingerprint of what redacted it; "": nothing did
	Recipe      string      // Hash of the recipe it was compiled by
	Messages    int         // records of messages.jsonl that it covers
	Events      int         // records of events.jsonl up to the last one that stands in it
	Compactions int         // how often the boundary moved
	Settled     int         // number of messages before the last of these; 0: none
	EpochReason string
	Stale       bool      // a workspace file did not answer in time: its last known content was used
	Made        time.Time // when a builder made it; the zero time: CompileWith did
	native      *native.Prompt
	Left        Left    // what left the prompt
	Backlog     Backlog // what a summarizer may be asked for
	Request     ctxabi.SummaryRequest
	Asks        bool // the footer shows the request
	SummaryCut  int  // number of the summary version that the prompt truncates; 0: none
	HistoryLen  int  // records of the history
	Room        int  // token limit of the journal; 0: no limit
	Encoding    string
	borders     []border      // of the blocks and records before the footer
	json        func() []byte // pack.json, written when it is asked for
	jsonSize    int           // about, in bytes
	uncovered   *requestRecords
	longRequest string
}

// HeadBlock is one block before the journal.
type HeadBlock struct {
	ID     string // of the block: "pinned/rules.md"
	Source string // path of its file, or what it is made from
	SHA256 string // hex, of its bytes in pack.md
	Chosen bool   // by the task: a compaction changes it
}

// Compiler compiles packs of one session one after another and reuses unchanged parts, as a
// builder does. Its packs equal the packs of [CompileWith]. The zero value is ready to use. A
// Compiler is not safe for concurrent use.
type Compiler struct {
	memo     *Memo
	encoding string // that memo counts with
}

// Compile makes the pack of in. Its history begins with that of the call before, or is shorter.
// It returns errors as [CompileWith] does.
func (c *Compiler) Compile(in Input) (*Build, error) {
	if c.memo == nil || c.encoding != in.Encoding {
		c.memo, c.encoding = NewMemo(), in.Encoding
	}
	return CompileWith(&in, c.memo)
}

// draft is a pack before it is rendered.
type draft struct {
	*layout
	id         string
	head       []block
	parts      []journal.Part // the journal
	fold       *journal.Fold
	step       int
	footer     []block
	goal       block
	ask        ctxabi.SummaryRequest
	askedUpto  int // place of the last record that the request covers
	askBlock   block
	footerLeft int // tokens that nothing after the journal takes
	reserved   int // tokens behind the journal for recorded decisions
	imagesFrom int // the first place whose images may be shown; 0: all may
	tokens     struct{ head, journal, footer int }
	shared     shared
	native     *native.Prompt
}

func (d *draft) total() int { return d.tokens.head + d.tokens.journal + d.tokens.footer }

// CompileWith makes the pack of in. It is a pure function: the same input gives the same bytes. The
// earlier builds in mm save work and change no byte. It returns ctxabi.ErrOverBudget if the
// required parts use up the budget, ctxabi.ErrNoData if a source that must yield something does
// not, and ctxabi.ErrIO if a record cannot be read.
func CompileWith(in *Input, mm *Memo) (*Build, error) {
	c, err := tokens.For(in.Encoding)
	if err != nil {
		return nil, err
	}
	d, err := in.complete(mm, c, in.Around(c.Encoding()))
	if err != nil {
		return nil, err
	}
	return d.render(), nil
}

// CompileEpoch makes the pack of in, where around is the hash of all but the records. why is called with it, and returns why its epoch began as
// far as the caller knows; see Input.EpochReason.
// It returns errors as [CompileWith] does.
func (in *Input) CompileEpoch(mm *Memo, c *tokens.Counter, around hash.Cloner, why func(*Build) string) (*Build, error) {
	d, err := in.complete(mm, c, around)
	if err != nil {
		return nil, err
	}
	build := d.render()
	if reason := why(build); reason != in.EpochReason {
		in.EpochReason = reason
		build = d.render()
	}
	return build, nil
}

// complete makes a pack up to its rendering. around is the hash of all but the records.
func (in *Input) complete(mm *Memo, c *tokens.Counter, around hash.Cloner) (*draft, error) {
	defer mm.Forget()
	before := in.stretchesBefore(mm, c, around)
	d, err := in.draft(mm, c)
	if err != nil {
		return nil, err
	}
	if err := d.decide(); err != nil {
		return nil, err
	}
	if err := d.recall(); err != nil {
		return nil, err
	}
	d.markFooter()
	d.id = in.IDOf(around)
	d.shared = d.since(before)
	mm.last = in.drafting(around)
	mm.last.stretches = d.stretches()
	return d, nil
}

// draft makes a pack up to what it recalls and its rendering.
func (in *Input) draft(mm *Memo, c *tokens.Counter) (*draft, error) {
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
	if err := d.reserveDecisions(); err != nil {
		return err
	}
	d.askBlock = d.makeAsk()
	text, n, err := d.makeGoal()
	if err != nil {
		return err
	}
	if text != "" {
		label := record.LabelOf("goal")
		d.goal = block{source: &recipe.Source{}, id: "goal", path: "goal", kind: "goal", phase: phaseDynamic, label: label, trust: label.Trust(),
			text: text, tokens: n, asked: n}
	}
	d.reserveMarks()
	d.footerLeft = d.serve(d.goal.tokens + d.askBlock.tokens)
	for _, p := range []phase{phaseStable, phaseSession, phaseDynamic} {
		for _, b := range d.blocks {
			switch {
			case b.phase != p && !(p == phaseSession && b.phase == phaseJournal):
			case p == phaseDynamic:
				d.footer = append(d.footer, b)
				d.tokens.footer += b.tokens
			default:
				d.head = append(d.head, b)
			}
		}
	}
	stable, session := d.around()
	d.head = append(d.marked(stable), d.marked(session)...)
	for i := range d.head {
		d.tokens.head += d.head[i].tokens
	}
	d.tokens.footer += d.goal.tokens + d.askBlock.tokens + d.markTokens(d.footerLabels())
	return nil
}

// fill folds the history until what it shows fits.
func (d *draft) fill() error {
	l, m := d.limits, d.history
	if !d.journal.Present {
		d.fold = d.clock
		if n := d.fold.N; n > 0 {
			d.parts = []journal.Part{{Piece: journal.Piece{Span: ctxabi.Span{From: 1, To: n}, Omitted: true, Sums: d.fold.Total}}}
		}
		return d.frameNative(nil)
	}
	room := blocks.NoCap
	if l.limit > 0 {
		room = l.limit - d.tokens.head - d.tokens.footer
	}
	if d.most > 0 {
		room = min(room, d.most)
	}
	fits := false
	for step := 0; step <= journal.MaxStep; step++ {
		if fits && step > journal.PromiseStep {
			break // a rendering that does not fit is no reason to cut the user's last request
		}
		rules := d.journal.Rules(l.space(), step)
		f := d.memo.Fold(m, rules)
		if room != blocks.NoCap && step < journal.MaxStep && f.Exceeds(2*int64(room)) {
			continue // no use counting it
		}
		parts, n, err := d.memo.RenderJournal(m, f, d.counter)
		if err != nil {
			return err
		}
		if n > room {
			continue
		}
		was := *d
		d.fold, d.step, d.parts, d.tokens.journal = f, step, parts, n
		if err := d.frameJournal(); err != nil {
			return err
		}
		if d.native.Bound <= l.limit || l.limit == 0 || d.toolTokens >= l.limit {
			return nil
		}
		if fits { // pack.md alone
			*d = was
		}
		fits = true
	}
	if fits {
		return d.showFewerImages()
	}
	return overBudget(l)
}

// showFewerImages leaves out the images of old records where they are why the native renderings do not fit.
func (d *draft) showFewerImages() error {
	left := d.limits.limit - d.native.Bound // less than nothing
	from := 0
	for _, l := range d.native.Script.Lines {
		if l.Carried {
			left += journal.CostOf(l.Contents)
		}
	}
	for i := len(d.parts) - 1; i >= 0 && from == 0; i-- {
		if p := &d.parts[i]; journal.CostOf(p.Contents) > 0 && d.carried(p) {
			if left -= journal.CostOf(p.Contents); left < 0 {
				from = p.From + 1
			}
		}
	}
	if from == 0 {
		return nil
	}
	d.imagesFrom = from
	return d.frameJournal()
}

func overBudget(l limits) error {
	return ctxabi.E("pack", ctxabi.PackFile, ctxabi.ErrOverBudget,
		"system_prompt.md and pinned/ take %d of %s, which leaves no room for the conversation; raise %s or shorten them",
		l.required, l.tokens(), ctxabi.BudgetFile)
}

// render writes the files of the build, but for pack.json, which is written when it is asked for, as native renderings are.
func (d *draft) render() *Build {
	md := make([]byte, 0, d.bytes())
	marks := marks{}
	build := &Build{ID: d.id, Tokens: d.total(), Recipe: d.recipe.Hash, Redaction: d.in.Redaction.fingerprint(),
		borders: make([]border, 0, len(d.head)+len(d.parts))}
	so := 0 // tokens so far
	end := func(tokens int) {
		so += tokens
		build.borders = append(build.borders, border{len(md), so})
	}
	blocks := func(list []block) {
		for _, b := range list {
			md = append(md, b.text...)
			end(b.tokens)
			if b.text != "" && b.kind != markKind {
				build.Head = append(build.Head, HeadBlock{ID: b.id, Source: b.path, SHA256: hexOf([]byte(b.text)),
					Chosen: b.source.Type.Selected() || blocks.Uses(b.source.Condition, recipe.TaskContains)})
			}
		}
	}
	stable, session := d.around()
	blocks(stable)
	marks.lead = len(md)
	for _, p := range d.inHead() {
		md = append(md, p.Text...)
		end(p.Tokens)
	}
	if n := d.fold.Lead.N; marks.lead < len(md) {
		build.Head = append(build.Head, HeadBlock{ID: journal.LeadID, Source: "messages:" + ctxabi.Span{From: 1, To: n}.String(), SHA256: hexOf(md[marks.lead:])})
	}
	marks.stable = len(md)
	blocks(session)
	marks.head = len(md)
	for _, p := range d.behindHead() {
		if d.fold.Boundary() > 1 && (p.Kept || p.Omitted) {
			marks.past = len(md) + len(p.Text)
		}
		md = append(md, p.Text...)
		end(p.Tokens)
	}
	marks.prefix = len(md)
	var footer [2]strings.Builder // system text, quoted text
	for _, b := range d.footer {
		md = append(md, b.text...)
		if b.label != ctxabi.Unlabeled {
			footer[1].WriteString(b.text)
		} else {
			footer[0].WriteString(b.text)
		}
	}

	build.Markdown, build.Prefix = md, marks.prefix
	d.native.Footer.System, d.native.Footer.Quoted, build.native = footer[0].String(), footer[1].String(), d.native
	for _, f := range d.in.Files {
		if f.At < 0 || d.Wanted[f.At] {
			build.Stale = build.Stale || f.Stale || f.Pending
		}
	}
	build.Left, build.Backlog, build.HistoryLen = d.left(), d.backlog(), d.fold.N
	build.Request, build.Asks = d.ask, d.askBlock.text != ""
	build.SummaryCut, build.uncovered, build.longRequest = d.summaryCut(), d.uncovered(), longRequest(&d.ask, d.perToken())
	build.Room, build.Encoding = d.limits.room, d.counter.Encoding()
	build.EpochReason, build.Past = d.epochReason(), marks.past
	build.Epoch, build.Major = d.epoch(md[:marks.head])
	build.Messages, build.Compactions = d.in.Messages.Len(), d.fold.Compactions
	if n := d.fold.Compacted; build.Compactions > 0 {
		build.Settled = n - record.ToolsUpTo(d.history, n)
	}
	if n := len(d.in.Tools); n > 0 {
		build.Events = int(d.in.Tools[n-1].Line)
	}
	account := d.packJSON(build, marks)
	build.json = sync.OnceValue(func() []byte { return account.encode(md) })
	build.jsonSize = 1024 + 400*(len(account.Items)+len(account.Omitted))
	build.Report = d.renderReport(build)
	return build
}

// bytes returns the length of pack.md.
func (d *draft) bytes() (n int) {
	for _, b := range d.head {
		n += len(b.text)
	}
	for _, p := range d.parts {
		n += len(p.Text)
	}
	for _, b := range d.footer {
		n += len(b.text)
	}
	return n
}

// marks are byte offsets in pack.md.
type marks struct {
	lead   int // where the leading records begin
	stable int // end of STABLE, the leading records included
	head   int // end of SESSION, where the journal begins
	past   int // end of what stands of the compacted past; 0: nothing was compacted
	prefix int // end of the journal
}

// RendererVersion is part of every pack's id: raise it when the same inputs give other bytes.
const RendererVersion = 21
