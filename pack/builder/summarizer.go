package builder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// A recipe may name a summarizer: a command that summarizes the compacted records. It runs in the
// background, as a generator does, after a build with a new boundary, one run at a time. Its output
// is a version of the session's summary, like one that the agent delivers.

// summarizer is the state of a session's summarizer. The caller that compiles guards it.
type summarizer struct {
	maker     string       // of the recipe's command
	asked     *summaryOf   // the running request, or the last one
	note      string       // for the report
	barred    bool         // the command must not run; note has the reason
	discarded map[int]bool // boundaries for which it returned no text
}

// summaryOf is a summary that was asked for.
type summaryOf struct {
	to, max int
	want    want
	made    made
	failed  string // why the last run did
}

// makerOf returns a hash of a generator's command line.
func makerOf(g *recipe.Generator) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", g.Words()))
	return hex.EncodeToString(sum[:])
}

// summarize delivers the output of the summarizer if the command has ended. It does not wait.
func (b *Builder) summarize(ctx context.Context, x *session.Session, e *entry, g *source.Gathered, in *pack.Input) {
	s := &e.summarizer
	if g.Chosen.Recipe.Summarizer == nil {
		*s = summarizer{}
		return
	}
	if maker := makerOf(g.Chosen.Recipe.Summarizer); s.maker != maker {
		*s = summarizer{maker: maker, discarded: map[int]bool{}}
	}
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
		s.asked.want = b.summaryWant(x, g, in, s.asked.to, s.asked.max)
		b.ask(ctx, x, g, in, s)
	}
	if s.note != "" {
		in.SummaryNote = s.note
	}
}

// summarizeNext starts the summarizer if no version covers the compacted records of build.
func (b *Builder) summarizeNext(ctx context.Context, x *session.Session, e *entry, g *source.Gathered, in *pack.Input,
	build *pack.Build) {
	s := &e.summarizer
	if g.Chosen.Recipe.Summarizer == nil || g.Refused[source.OfSummarizer] != "" || b.outputs == nil || b.config.WaitForAll {
		return // whoever waits for all is gone before there is a use for it
	}
	to := build.Backlog.To
	if to == 0 || s.asked != nil && (s.asked.made.running || s.asked.to == to) ||
		s.discarded[to] {
		return
	}
	if now := versionInUse(in); now != nil && now.To >= to {
		return
	}
	s.asked = &summaryOf{to: to, max: build.Backlog.Max, want: b.summaryWant(x, g, in, to, build.Backlog.Max)}
	b.ask(ctx, x, g, in, s)
}

// versionInUse returns the version of the summary in use after all records, or nil.
func versionInUse(in *pack.Input) *journal.Summary {
	if use := journal.SummaryInUse(in.Summaries, math.MaxInt); use >= 0 {
		return &in.Summaries[use]
	}
	return nil
}

// ask starts the command that s.asked describes, or delivers its output once it has ended.
func (b *Builder) ask(ctx context.Context, x *session.Session, g *source.Gathered, in *pack.Input, s *summarizer) {
	a, m := s.asked, in.History()
	of := record.SourcesOf(m, ctxabi.Span{From: 1, To: a.to})
	a.made = b.outputs.gather(ctx, x, g.Owner.UID, g.Owner.GID, []want{a.want}, 0)[0]
	switch made := a.made; {
	case made.running && a.failed != "":
		s.note = fmt.Sprintf("the summarizer failed for %s: %s; it is tried again", of, a.failed)
	case made.running:
		s.note = "the summarizer works on " + of
	case made.reason != "" || made.sha256 == "":
		a.failed = strings.TrimSuffix(made.reason, servedInstead)
		s.note = fmt.Sprintf("the summarizer failed for %s: %s", of, a.failed)
		reportOnce(x, "summarize", ctxabi.PackFile, ctxabi.ErrIO, s.note)
	case strings.TrimSpace(string(made.data)) == "":
		s.note = fmt.Sprintf("the summarizer's for %s is discarded: it is empty", of)
		s.discarded[a.to], s.asked = true, nil
		reportOnce(x, "summarize", ctxabi.PackFile, ctxabi.ErrMalformed, s.note)
	default:
		err := x.SetControl(ctxabi.SummaryFile, ctxabi.FormatSummaryFile(ctxabi.Summary{
			Text: strings.TrimSpace(string(made.data)) + "\n",
			Upto: a.to - record.ToolsUpTo(m, a.to), HasUpto: true, Writer: ctxabi.WriterSummarizer}))
		s.note, s.asked = "", nil
		if err != nil {
			s.note = fmt.Sprintf("the summarizer's for %s is not stored: %v", of, err)
			s.discarded[a.to] = true
			reportOnce(x, "summarize", ctxabi.PackFile, ctxabi.ErrIO, s.note)
		}
	}
}

// reportCut adds a row to errors.jsonl if the build shows a version of the summary only in part and
// before, the build that it replaces or nil, did not.
func reportCut(x *session.Session, build, before *pack.Build) {
	n := build.SummaryCut
	if n == 0 || before != nil && before.SummaryCut == n {
		return
	}
	reportOnce(x, "pack", ctxabi.SummaryPath(n), ctxabi.ErrOverBudget, fmt.Sprintf("version %d of the summary exceeds "+
		"the limit; prompts omit lines of Tried first, then of Facts and State; write a shorter one", n))
}

// reportOnce adds a row to errors.jsonl unless the file has it.
func reportOnce(x *session.Session, op, name string, kind error, why string) {
	row := disk.RowOf(op, name, 0, ctxabi.E(op, name, kind, "%s", why))
	for line := range strings.Lines(string(x.Errors())) {
		var old disk.ErrorRow
		if json.Unmarshal([]byte(line), &old) == nil && old.Op == row.Op && old.Path == row.Path &&
			old.Reason == row.Reason {
			return
		}
	}
	x.Report(row)
}

// summaryWant is the run of the summarizer for the records up to a place.
func (b *Builder) summaryWant(x *session.Session, g *source.Gathered, in *pack.Input, to, max int) want {
	m := in.History()
	src := source.SummarizerSource(g.Chosen.Recipe)
	w := b.want(x, g, in, source.OfSummarizer, src, pack.Planned{})
	of := record.SourcesOf(m, ctxabi.Span{From: 1, To: to})
	c := &w.stages[0]
	c.Env = append(slices.Clone(c.Env), "CTX_RANGE="+of, fmt.Sprintf("CTX_SUMMARY_TOKENS=%d", max))
	slices.Sort(c.Env)
	w.maker, w.behind = makerOf(g.Chosen.Recipe.Summarizer), true
	before := versionInUse(in)
	if before != nil && before.To >= to {
		before = nil
	}

	e := m.At(to)
	w.history = fmt.Sprintf("%s, record ends at %d, summary %x", of, e.Offset+int64(e.Len), before.ID())
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
