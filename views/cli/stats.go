package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	packcli "github.com/ctxfs/ctxfs/pack/cli"
	"github.com/ctxfs/ctxfs/views/inspect"
	"github.com/ctxfs/ctxfs/views/overview"
)

// Of a history above manyRecords only manyCalls calls are looked at, unless --calls says otherwise.
const (
	manyRecords = 4000
	manyCalls   = 200
)

func statsCmd() *cobra.Command {
	var f packcli.Flags
	var asJSON bool
	points, calls := 60, 0
	c := &cobra.Command{
		Use:   "stats [flags] SESSION",
		Short: "Show what a session's prompts held over time, and what they cost",
		Long: `Read a session's history and show the tokens of its packs by section, by zone of
the conversation and by tool, and where compactions were. For each call of the
model, compare the pack that was its request with the one before: what a provider
with a prompt cache reads from it, writes to it, and sees for the first time.

If events.jsonl holds records of type usage, show the tokens that the provider
counted, and compare them with the pack that was opened last before each came. Of
a program that reads no packs only the provider's numbers are shown.

A terminal shows the series as sparklines, other outputs as tables. A call is an
assistant record. In a history of more than ` + fmt.Sprint(manyRecords) + ` records stats looks at ` + fmt.Sprint(manyCalls) + ` calls;
with --calls 0 at all.

` + locate.SessionHelp + `

If the store cannot be read, as in a container, ctxfs reads the files of the mount.

` + cli.ExitHelp,
		Example: `  ctxfs stats coder/s1
  ctxfs stats . --points 20
  ctxfs stats coder/s1 --budget 8000 | less
  ctxfs stats coder/s1 --json | jq '.cache.share, .recorded.calibration'`,
		Args: cobra.ExactArgs(1),
		PreRunE: func(*cobra.Command, []string) error {
			if points < 1 || calls < 0 {
				return cli.Usagef("--points must be at least 1, --calls must not be negative")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			l, err := look(c, &f, args[0])
			if err != nil {
				return err
			}
			defer func() { err = cmp.Or(err, l.close()) }()
			if !c.Flags().Changed("calls") && l.Len() > manyRecords {
				calls = manyCalls
			}
			o := inspect.StatsOptions{Points: points, Calls: calls}
			if errs := c.ErrOrStderr(); cli.ScreenOf(errs).Terminal {
				o.Progress = progressOn(errs)
			}
			s, err := l.Stats(c.Context(), o)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c.OutOrStdout(), s)
			}
			(&statsPrinter{c.OutOrStdout(), cli.ScreenOf(c.OutOrStdout()), s}).print()
			return nil
		},
	}
	lookFlags(c, &f)
	c.Flags().IntVar(&points, "points", points, "most moments, evenly spread")
	c.Flags().IntVar(&calls, "calls", calls, "most calls, evenly spread; 0: all")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, with all series")
	return c
}

// maxEpochs is how many epochs are printed.
const maxEpochs = 12

// progressOn returns a function that shows on w how far the packs are.
func progressOn(w io.Writer) func(done, of int) {
	next := time.Now().Add(2 * time.Second)
	return func(done, of int) {
		if now := time.Now(); now.After(next) {
			next = now.Add(2 * time.Second)
			fmt.Fprintf(w, "ctxfs: %d of %d packs\n", done, of)
		}
	}
}

type statsPrinter struct {
	w io.Writer
	cli.Screen
	*inspect.Stats
}

// series is one row of a picture, or one column of a table.
type series struct {
	name   string
	values []float64
	share  bool
}

func (p *statsPrinter) print() {
	fmt.Fprintf(p.w, "%s messages, %s events; budget %s, %s\n", cli.Thousands(p.Messages), cli.Thousands(p.Events), cli.Thousands(p.Budget), p.Encoding)
	fmt.Fprintf(p.w, "now: %s tokens, %s; epoch %s, %s\n", cli.Thousands(p.Now.Tokens), cli.Plural(p.Now.Compactions, "compaction"), p.Now.Epoch, p.Now.Reason)
	if q := p.Now.Request; q != nil && q.State == ctxabi.RequestOpen {
		fmt.Fprintf(p.w, "summary request: open since message %d, covers messages up to %d\n", q.OpenedAt, q.Upto)
	} else if q != nil {
		fmt.Fprintf(p.w, "summary request: none, %s\n", q.Why)
	}
	if !p.Read && p.Messages > 0 {
		fmt.Fprintln(p.w, "No program has read a pack of this session: sections and zones are of packs that ctxfs would send.")
	}
	sections, zones := p.collect()
	title := "tokens by section, and the cache's share since the row before"
	if !p.Predicts() {
		p.recorded()
		sections, title = sections[:len(sections)-1], "tokens by section"
	}
	switch {
	case len(p.Points) == 0:
		fmt.Fprintln(p.w, "\nThere is no message yet.")
	case p.Terminal:
		p.draw("tokens by section", sections)
		p.draw("tokens of the conversation by zone", zones)
	default:
		p.table(title, sections)
		p.table("tokens of the conversation by zone", zones)
	}
	p.tools()
	p.epochs()
	if p.Predicts() {
		p.cache()
		p.recorded()
	}
}

func (p *statsPrinter) collect() (sections, zones []series) {
	take := func(name string, share bool, of func(*inspect.Point) float64) series {
		s := series{name: name, share: share}
		for i := range p.Points {
			s.values = append(s.values, of(&p.Points[i]))
		}
		return s
	}
	tokens := func(name string, of func(*inspect.Point) int) series {
		return take(name, false, func(x *inspect.Point) float64 { return float64(of(x)) })
	}
	sections = []series{
		tokens("stable", func(x *inspect.Point) int { return x.Sections.Stable }),
		tokens("session", func(x *inspect.Point) int { return x.Sections.Session }),
		tokens("journal", func(x *inspect.Point) int { return x.Sections.Journal }),
		tokens("footer", func(x *inspect.Point) int { return x.Sections.Footer }),
		tokens("all", func(x *inspect.Point) int { return x.Tokens }),
		take("cached", true, func(x *inspect.Point) float64 { return x.Cached }),
	}
	zones = []series{
		tokens("user's words", func(x *inspect.Point) int { return x.Zones.UserWords }),
		tokens("summary", func(x *inspect.Point) int { return x.Zones.Summary }),
		tokens("files and runs", func(x *inspect.Point) int { return x.Zones.Files }),
		tokens("notes", func(x *inspect.Point) int { return x.Zones.Notes }),
		tokens("key lines", func(x *inspect.Point) int { return x.Zones.KeyLines }),
		tokens("folded", func(x *inspect.Point) int { return x.Zones.Folded }),
		tokens("kept", func(x *inspect.Point) int { return x.Zones.Kept }),
		tokens("shortened", func(x *inspect.Point) int { return x.Zones.Shortened }),
		tokens("full", func(x *inspect.Point) int { return x.Zones.Full }),
	}
	return sections, zones
}

// draw shows series as pictures of one scale, shares apart.
func (p *statsPrinter) draw(title string, list []series) {
	fmt.Fprintf(p.w, "\n%s\n", p.Title(title))
	most, width := 1.0, len("shortened")
	for _, s := range list {
		width = max(width, len(s.name))
		for _, v := range s.values {
			if !s.share {
				most = max(most, v)
			}
		}
	}
	for _, s := range list {
		scale, last := most, s.values[len(s.values)-1]
		now := cli.Thousands(int(last))
		if s.share {
			scale, now = 1, fmt.Sprintf("%.1f %%", 100*last)
		}
		fmt.Fprintf(p.w, "  %-*s %s %s\n", width, s.name, overview.Sparkline(s.values, scale, p.Width-13-width), now)
	}
}

func (p *statsPrinter) table(title string, list []series) {
	fmt.Fprintf(p.w, "\n%s\n", title)
	w := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "messages\t")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t", s.name)
	}
	fmt.Fprintln(w)
	for i, x := range p.Points {
		fmt.Fprintf(w, "%d\t", x.Messages)
		for _, s := range list {
			switch {
			case !s.share:
				fmt.Fprintf(w, "%.0f\t", s.values[i])
			case x.Calls == 0:
				fmt.Fprint(w, "-\t")
			default:
				fmt.Fprintf(w, "%.3f\t", s.values[i])
			}
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}

func (p *statsPrinter) tools() {
	if len(p.Tools) == 0 {
		return
	}
	fmt.Fprintf(p.w, "\n%s\n", p.Title("results by tool: all of them, and what the present pack shows"))
	w := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "results\ttokens\tin the pack\ttokens\tshare\t  tool")
	for _, t := range p.Tools {
		fmt.Fprintf(w, "%d\t%s\t%d\t%s\t%s\t  %s\n", t.Results, cli.Thousands(t.Whole), t.InPack, cli.Thousands(t.Shown), cli.Share(t.Shown, t.Whole), cmp.Or(t.Name, "(unknown)"))
	}
	w.Flush()
}

func (p *statsPrinter) epochs() {
	if len(p.Compactions) == 0 {
		return
	}
	fmt.Fprintf(p.w, "\n%s\n", p.Title("requests that began an epoch"))
	list := p.Compactions
	if more := len(list) - maxEpochs; more > 0 {
		list = list[more:]
		fmt.Fprintf(p.w, "  the last %d of %d; --json prints all\n", maxEpochs, len(p.Compactions))
	}
	w := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "messages\ttokens before\tafter\t  why")
	for _, e := range list {
		fmt.Fprintf(w, "%d\t%s\t%s\t  %s\n", e.Messages, cli.Thousands(e.Before), cli.Thousands(e.Tokens), e.Reason)
	}
	w.Flush()
}

func (p *statsPrinter) cache() {
	c := p.Cache
	fmt.Fprintf(p.w, "\n%s\n", p.Title("predicted cache"))
	if c.Calls == 0 {
		fmt.Fprintln(p.w, "  no call of a model yet")
		return
	}
	if c.Sampled {
		fmt.Fprintf(p.w, "  %s of %s were looked at; --calls 0 looks at all\n", cli.Thousands(c.Calls), cli.Plural(c.All, "call"))
	} else {
		fmt.Fprintf(p.w, "  %s\n", cli.Plural(c.Calls, "call"))
	}
	w := tabwriter.NewWriter(p.w, 2, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range []struct {
		name   string
		tokens int
	}{{"cached", c.Cached}, {"written", c.Written}, {"fresh", c.Fresh}, {"all", c.Tokens}} {
		fmt.Fprintf(w, "  %-7s\t%s\t%s\t\n", row.name, cli.Thousands(row.tokens), cli.Share(row.tokens, c.Tokens))
	}
	w.Flush()
}

func (p *statsPrinter) recorded() {
	if p.Recorded != nil {
		fmt.Fprintf(p.w, "\n%s\n  %s\n", p.Title("recorded usage"), strings.Join(overview.Used(p.Recorded, p.Read), "\n  "))
	}
}
