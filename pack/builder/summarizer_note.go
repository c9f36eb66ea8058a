package builder

import (
	"context"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
)

// acceptedSummary is the newest one that stands in packs of the session or waits to; nil: there is none.
func (b *Builder) acceptedSummary(ctx context.Context, x *session.Session, e *entry) *journal.Summary {
	if p := e.shown.Load(); p != nil && p.in.UsedRecipe().Summarizer == nil {
		return nil
	} else if p == nil { // nobody looked since the start
		if lines, _ := x.DerivedLines(session.SummariesFile); len(lines) == 0 {
			return nil
		}
	}
	var list []journal.Summary
	p, err := b.present(AtOnce(ctx), x) // which knows the recipe as it is, and whether it is trusted
	if err == nil {
		list = p.in.Summaries
	} else if Waits(err) { // it may be a generator who asks
		list, _ = b.summariesNow(ctx, x, e)
	}
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// summariesNow returns the summaries of the recipe as it is, which hang on no generator.
func (b *Builder) summariesNow(ctx context.Context, x *session.Session, e *entry) ([]journal.Summary, error) {
	g, err := b.inputs.Gather(ctx, x, &e.Logs, nil)
	if err != nil {
		return nil, err
	}
	in := g.Input()
	t, done, err := e.Snapshot(ctx, x, &in)
	if err != nil {
		return nil, err
	}
	defer done()
	in.Summaries = summariesOf(x, g, &in)
	if err := e.Redact(&in, t); err != nil {
		return nil, err
	}
	return in.Summaries, nil
}

// summariesOf returns those that stand in packs of in, or wait to, where the summarizer is trusted.
func summariesOf(x *session.Session, g *source.Gathered, in *pack.Input) []journal.Summary {
	maker := g.Chosen.Recipe.Summarizer
	if maker == nil || g.Refused[source.OfSummarizer] != "" {
		return nil
	}
	s := summarizer{}
	s.use(x, in.History(), makerOf(maker))
	return s.list
}

// citesOne is the end of a derived line: the record that it is from.
var citesOne = lazy.Regexp(`\((messages|events):(\d+)\)\n$`)

// withDerived returns summary.md of the history m: what the summarizer said, and of derived the lines of what came after that.
func withDerived(s *journal.Summary, m record.Records, derived string) string {
	if s == nil || s.To > m.Len() {
		return derived
	}
	var since strings.Builder
	for line := range strings.Lines(derived) {
		found := citesOne().FindStringSubmatch(line)
		if found != nil {
			n, _ := strconv.Atoi(found[2])
			if record.PositionIn(m, record.Address{Line: n, Event: found[1] == "events"}) <= s.To {
				continue
			}
		}
		since.WriteString(line)
	}
	text := "By the recipe's summarizer, of " + record.SourcesOf(m, ctxabi.Span{From: 1, To: s.To}) + ":\n\n" + s.Text
	if since.Len() > 0 {
		text += "\nDerived since:\n\n" + since.String()
	}
	return text
}
