package pack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/session"
)

// A recipe may name a summarizer: a command that tells in a few lines what a compaction took out. It runs behind the
// back of all readers, as a generator does, once a pack with a new boundary was built. What it gives is
// checked (summarizer_check.go) and kept with the session. It enters at the next compaction after that, and no
// earlier, since what stands in front of the live records stays as it is until then; there it takes the place of the
// derived lines for the records that it tells of. A run at a time: where the boundary moves again meanwhile, the next
// run is for where it is then.

// Summary is a text of the summarizer. It is never changed.
type Summary struct {
	To    int    // it tells of the records up to this place of the history
	After int    // it stands in packs whose last compaction a later record brought
	Text  string // ends in a newline

	sum *[sha256.Size]byte // see id; nil: not known yet
}

// id stands for all that s brings into a pack; zero for nil.
func (s *Summary) id() [sha256.Size]byte {
	switch {
	case s == nil:
		return [sha256.Size]byte{}
	case s.sum != nil:
		return *s.sum
	}
	return sha256.Sum256(fmt.Appendf(nil, "%d\n%s", s.To, s.Text))
}

// usable are the summaries that were there before the last record came: no others can stand in the pack.
func (in *Input) usable() []Summary {
	n := in.history().Len()
	return slices.DeleteFunc(slices.Clone(in.Summaries), func(s Summary) bool { return s.After >= n })
}

// summaryFor gives the summary that enters at the last compaction of f, or nil.
func (mm *memo) summaryFor(f *fold) *Summary {
	for i := range slices.Backward(mm.summaries) {
		if s := &mm.summaries[i]; s.After < f.compacted && s.To < f.boundary() {
			return s
		}
	}
	return nil
}

// maxOwn is how many tokens the summarizer may give where so many are left beside the records that are kept: the room of
// the derived summary and a quarter of that of key lines, but no more than maxSummary.
func (r *foldRules) maxOwn(room int64) int {
	z := r.zonesIn(room)
	return int(min(maxSummary, z.summary+z.lines/4))
}

// backlog is what a build has behind its boundary for a summarizer.
type backlog struct {
	to  int // the last record there; 0: nothing is, or there is no summary
	max int // tokens that a summary may have
}

func (d *draft) backlog() backlog {
	f := d.fold
	if !d.journal.present || f.boundary() == 1 || f.rules.zones.all() == 0 {
		return backlog{}
	}
	b := backlog{to: f.boundary() - 1, max: f.rules.maxOwn(f.rules.room - f.settled().keptRecords(f.starts[0]))}
	if b.max == 0 {
		return backlog{}
	}
	return b
}

// ofSummarizer stands for the recipe's summarizer where sources are named by their index.
const ofSummarizer = -5

// summarizerSource is the recipe's summarizer as a source that runs a command; nil: it has none. No other has its name.
func summarizerSource(r *recipe.Recipe) *recipe.Source {
	if r.Summarizer == nil {
		return nil
	}
	return &recipe.Source{Type: recipe.TypeComputed, Block: "\nsummarizer", Stages: []recipe.Stage{{Generator: *r.Summarizer}},
		Origin: r.Origins["summarizer"]}
}

// summarizer is what is remembered of the summaries of a session. Whoever compiles guards it.
type summarizer struct {
	loaded bool
	rows   []summaryRow
	maker  string     // of the recipe's command
	list   []Summary  // what that one made and is accepted
	asked  *summaryOf // what runs, or did
	note   string     // for the report
	barred bool       // the command must not run, which is what note says
}

// summaryOf is a summary that was asked for.
type summaryOf struct {
	to, max int
	want    want
	made    made
	failed  string // why the last run did
}

// makerOf identifies a command as the recipe has it. What another one made is not used.
func makerOf(g *recipe.Generator) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", g.Command))
	return hex.EncodeToString(sum[:])
}

// summarize brings what the summarizer made into in: what it has made by now is checked, and accepted or discarded.
func (b *Builder) summarize(ctx context.Context, x *session.Session, e *entry, g *gathered, in *Input, c *tokens.Counter) {
	s := &e.summarizer
	if g.chosen.recipe.Summarizer == nil {
		*s = summarizer{}
		return
	}
	s.use(x, in.history(), makerOf(g.chosen.recipe.Summarizer))
	if reason := g.refused[ofSummarizer]; reason != "" {
		s.asked, s.barred, s.note = nil, true, "the summarizer is not run: "+reason
		in.SummaryNote = s.note
		return
	}
	if s.barred {
		s.barred, s.note = false, ""
	}
	switch {
	case b.outputs == nil:
		s.note = "the summarizer is not run: commands are not run here"
	case s.asked != nil:
		after := in.history().Len()
		if e.build != nil {
			after = e.build.places // no pack of more records was given to anybody
		}
		s.asked.want = b.summaryWant(x, g, in, s, s.asked.to, s.asked.max)
		b.ask(ctx, x, g, in, c, s, after)
	}
	in.Summaries, in.SummaryNote = s.list, s.note
}

// summarizeNext starts the summarizer where build has a boundary that nothing was made for yet.
func (b *Builder) summarizeNext(ctx context.Context, x *session.Session, e *entry, g *gathered, in *Input, c *tokens.Counter, build *Build) {
	s := &e.summarizer
	if g.chosen.recipe.Summarizer == nil || g.refused[ofSummarizer] != "" || b.outputs == nil || b.config.WaitForAll {
		return // whoever waits for all is gone before there is a use for it
	}
	to := build.backlog.to
	if to == 0 || s.asked != nil && (s.asked.made.running || s.asked.to == to) || s.decided(to) {
		return
	}
	s.asked = &summaryOf{to: to, max: build.backlog.max, want: b.summaryWant(x, g, in, s, to, build.backlog.max)}
	b.ask(ctx, x, g, in, c, s, build.places)
}

// ask asks for the summary that s wants, and deals with what there is. Nothing is waited for.
func (b *Builder) ask(ctx context.Context, x *session.Session, g *gathered, in *Input, c *tokens.Counter, s *summarizer, after int) {
	a := s.asked
	a.made = b.outputs.gather(ctx, x, g.owner.uid, g.owner.gid, []want{a.want}, 0)[0]
	of := sourcesOf(in.history(), ctxabi.Span{From: 1, To: a.to})
	switch m := a.made; {
	case m.running && a.failed != "":
		s.note = fmt.Sprintf("the summarizer failed for %s: %s; it is tried again", of, a.failed)
	case m.running:
		s.note = "the summarizer works on " + of
	case m.reason != "" || m.sha256 == "":
		a.failed = strings.TrimSuffix(m.reason, standsHere)
		s.note = fmt.Sprintf("the summarizer failed for %s: %s", of, a.failed)
		s.tell(x, summaryRow{Maker: s.maker, Failed: a.failed}, s.note)
	default:
		row := summaryRow{Maker: s.maker, To: a.to, End: endOf(in.history(), a.to), After: after}
		text, reason := checkSummary(in.history(), s.before(a.to), a.to, a.max, string(m.data), c)
		if reason == "" {
			row.Text = text
			if err := s.keep(x, row); err != nil {
				row.Text, reason = "", fmt.Sprintf("it could not be kept: %v", err)
			}
		}
		if reason == "" {
			s.note = ""
			s.accept(row)
		} else {
			s.note = fmt.Sprintf("the summarizer's for %s is discarded: %s", of, reason)
			row.Discarded = reason
			s.tell(x, row, s.note)
		}
		s.asked = nil
	}
}

// moved says that there is more to say of the summarizer than in what was compiled last.
func (b *Builder) moved(ctx context.Context, x *session.Session, e *entry, g *gathered) bool {
	s := &e.summarizer
	if s.note != e.made.SummaryNote || len(s.list) != len(e.made.Summaries) {
		return true
	}
	a := s.asked
	return a != nil && !b.outputs.unchanged(ctx, x, g.owner.uid, g.owner.gid, []want{a.want}, []made{a.made}, 0)
}

// summaryWant is the run of the summarizer for the records up to a place.
func (b *Builder) summaryWant(x *session.Session, g *gathered, in *Input, s *summarizer, to, max int) want {
	m := in.history()
	src := summarizerSource(g.chosen.recipe)
	w := b.want(x, g, in, ofSummarizer, src, planned{})
	of := sourcesOf(m, ctxabi.Span{From: 1, To: to})
	c := &w.stages[0]
	c.Env = append(slices.Clone(c.Env), "CTX_RANGE="+of, fmt.Sprintf("CTX_SUMMARY_TOKENS=%d", max))
	slices.Sort(c.Env)
	w.maker, w.behind = makerOf(g.chosen.recipe.Summarizer), true
	before := s.before(to)
	w.history = fmt.Sprintf("%s, record ends at %d, summary %x", of, endOf(m, to), before.id())
	w.feed = func(ctx context.Context) ([]byte, error) {
		e := b.entry(x.ID())
		t, err := e.timeline(x)
		if err != nil {
			return nil, err
		}
		now := Input{Messages: e.readable(t, false), Events: e.readable(t, true), Tools: t.Tools}
		return summaryInput(ctx, now.history(), before, to, maxSummaryInput)
	}
	return w
}

// summaryNote says which summary stands in the pack and why, where the recipe has a summarizer; "" where it has none.
func (d *draft) summaryNote() string {
	if d.recipe.Summarizer == nil {
		return ""
	}
	text := "none, since nothing has left the pack yet"
	switch own := d.memo.summaryFor(d.fold); {
	case d.backlog().to == 0 && d.fold.boundary() > 1:
		text = "none, the journal has no summary"
	case d.fold.boundary() == 1:
	case own == nil:
		text = "derived"
	case slices.ContainsFunc(d.parts, func(p part) bool { return p.summarized > 0 }):
		text = "by the summarizer up to " + d.name(own.To)
		if own.To < d.fold.boundary()-1 {
			text += ", derived from there on"
		}
	default:
		text = "derived, there is no room for the summarizer's"
	}
	if n := len(d.in.Summaries); n > 0 && d.in.Summaries[n-1].After >= d.fold.compacted {
		of := sourcesOf(d.history, ctxabi.Span{From: 1, To: d.in.Summaries[n-1].To})
		text += fmt.Sprintf("; the summarizer's for %s is accepted and enters at the next compaction", of)
	}
	if d.in.SummaryNote != "" {
		text += "; " + d.in.SummaryNote
	}
	return text
}
