package builder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
)

// A recipe may name a summarizer: a command that tells in a few lines what a compaction took out. It runs behind the
// back of all readers, as a generator does, once a pack with a new boundary was built. What it gives is
// checked (summarizer_check.go) and kept with the session. It enters at the next compaction after that, and no
// earlier, since what stands in front of the live records stays as it is until then; there it takes the place of the
// derived lines for the records that it tells of. A run at a time: where the boundary moves again meanwhile, the next
// run is for where it is then.

// summarizer is what is remembered of the summaries of a session. Whoever compiles guards it.
type summarizer struct {
	loaded bool
	kept   uint64       // session.KeptChanges when rows were read
	own    []summaryRow // of rows, those that this host alone has
	rows   []summaryRow
	maker  string            // of the recipe's command
	list   []journal.Summary // what that one made and is accepted
	asked  *summaryOf        // what runs, or did
	note   string            // for the report
	barred bool              // the command must not run, which is what note says
}

// summaryOf is a summary that was asked for.
type summaryOf struct {
	to, max int
	want    want
	made    made
	failed  string       // why the last run did
	commit  <-chan error // what it made is being committed; nil: it is not
}

// makerOf identifies a command as the recipe has it. What another one made is not used.
func makerOf(g *recipe.Generator) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", g.Words()))
	return hex.EncodeToString(sum[:])
}

// summarize brings what the summarizer made into in: what it has made by now is checked, and accepted or discarded.
func (b *Builder) summarize(ctx context.Context, x *session.Session, e *entry, g *source.Gathered, in *pack.Input, c *tokens.Counter) {
	s := &e.summarizer
	if g.Chosen.Recipe.Summarizer == nil {
		*s = summarizer{}
		return
	}
	s.use(x, in.History(), makerOf(g.Chosen.Recipe.Summarizer))
	if reason := g.Refused[source.OfSummarizer]; reason != "" {
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
		after := in.History().Len()
		if e.build != nil {
			after = e.build.HistoryLen // no pack of more records was given to anybody
		}
		s.asked.want = b.summaryWant(x, g, in, s, s.asked.to, s.asked.max)
		b.ask(ctx, x, g, in, c, s, after)
	}
	in.Summaries, in.SummaryNote = s.list, s.note
}

// summarizeNext starts the summarizer where build has a boundary that nothing was made for yet.
func (b *Builder) summarizeNext(ctx context.Context, x *session.Session, e *entry, g *source.Gathered, in *pack.Input, c *tokens.Counter, build *pack.Build) {
	s := &e.summarizer
	if g.Chosen.Recipe.Summarizer == nil || g.Refused[source.OfSummarizer] != "" || b.outputs == nil || b.config.WaitForAll {
		return // whoever waits for all is gone before there is a use for it
	}
	to := build.Backlog.To
	if to == 0 || s.asked != nil && (s.asked.made.running || s.asked.to == to) || s.decided(to) {
		return
	}
	s.asked = &summaryOf{to: to, max: build.Backlog.Max, want: b.summaryWant(x, g, in, s, to, build.Backlog.Max)}
	b.ask(ctx, x, g, in, c, s, build.HistoryLen)
}

// ask asks for the summary that s wants, and deals with what there is. Nothing is waited for.
func (b *Builder) ask(ctx context.Context, x *session.Session, g *source.Gathered, in *pack.Input, c *tokens.Counter, s *summarizer, after int) {
	a := s.asked
	if a.commit != nil {
		s.committed(x, in, a, 0)
		return
	}
	a.made = b.outputs.gather(ctx, x, g.Owner.UID, g.Owner.GID, []want{a.want}, 0)[0]
	of := record.SourcesOf(in.History(), ctxabi.Span{From: 1, To: a.to})
	switch m := a.made; {
	case m.running && a.failed != "":
		s.note = fmt.Sprintf("the summarizer failed for %s: %s; it is tried again", of, a.failed)
	case m.running:
		s.note = "the summarizer works on " + of
	case m.reason != "" || m.sha256 == "":
		a.failed = strings.TrimSuffix(m.reason, servedInstead)
		s.note = fmt.Sprintf("the summarizer failed for %s: %s", of, a.failed)
		s.tell(x, summaryRow{Maker: s.maker, Failed: a.failed}, s.note)
	default:
		row := summaryRow{Maker: s.maker, To: a.to, End: endOf(in.History(), a.to), After: after}
		text, reason := checkSummary(in.History(), s.before(a.to), a.to, a.max, string(m.data), c)
		if reason == "" && x.Keeps() {
			row.Text, row.After = text, max(after, in.History().Len()) // by then others may have given packs of so many records
			a.commit = s.share(b.work, x, row)
			s.committed(x, in, a, keptWithin)
			return
		}
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

// committed waits at most wait until what the summarizer made of a is committed.
func (s *summarizer) committed(x *session.Session, in *pack.Input, a *summaryOf, wait time.Duration) {
	of := record.SourcesOf(in.History(), ctxabi.Span{From: 1, To: a.to})
	switch ok, err := ended(a.commit, wait); {
	case !ok:
		s.note = "the summarizer's for " + of + " is being stored"
	case err != nil: // what it made is committed with the next build
		a.commit = nil
		s.note = fmt.Sprintf("the summarizer's for %s is not stored yet: %v", of, err)
	default:
		s.asked, s.note = nil, ""
		s.use(x, in.History(), s.maker)
	}
}

// summaryWant is the run of the summarizer for the records up to a place.
func (b *Builder) summaryWant(x *session.Session, g *source.Gathered, in *pack.Input, s *summarizer, to, max int) want {
	m := in.History()
	src := source.SummarizerSource(g.Chosen.Recipe)
	w := b.want(x, g, in, source.OfSummarizer, src, pack.Planned{})
	of := record.SourcesOf(m, ctxabi.Span{From: 1, To: to})
	c := &w.stages[0]
	c.Env = append(slices.Clone(c.Env), "CTX_RANGE="+of, fmt.Sprintf("CTX_SUMMARY_TOKENS=%d", max))
	slices.Sort(c.Env)
	w.maker, w.behind = makerOf(g.Chosen.Recipe.Summarizer), true
	before := s.before(to)
	w.history = fmt.Sprintf("%s, record ends at %d, summary %x", of, endOf(m, to), before.ID())
	w.feed = func(ctx context.Context) ([]byte, error) {
		e := b.entry(x.ID())
		t, err := e.Timeline(ctx, x)
		if err != nil {
			return nil, err
		}
		now := pack.Input{Messages: e.Readable(t, false), Events: e.Readable(t, true), Tools: t.Tools}
		return summaryInput(ctx, now.History(), before, to, maxSummaryInput)
	}
	return w
}
