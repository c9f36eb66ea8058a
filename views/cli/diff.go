package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	packcli "github.com/ctxfs/ctxfs/pack/cli"
	"github.com/ctxfs/ctxfs/views/inspect"
)

func diffCmd() *cobra.Command {
	var f packcli.Flags
	var asJSON, asText bool
	c := &cobra.Command{
		Use:   "diff [flags] SESSION[@POINT] SESSION[@POINT]\n  ctxfs diff SESSION@summary.N SESSION@summary.N",
		Short: "Show what changed from one prompt to another",
		Long: `Show what changed from one pack to another: the epoch and why it began, how much
of the first pack begins the second (a provider's prompt cache keeps that much),
which blocks were added, removed or changed, which records are shown in another
way, and the tokens of each section. --text shows the lines of pack.md.

SESSION@summary.N is version N of the session's summary, context/summaries/N.md.
Two of them are compared line by line.

Blocks are the same block if their name and their range are equal. A compaction
adds blocks with a new range, or replaces all of them.

` + cli.MomentHelp + `

` + locate.SessionHelp + `

If the store cannot be read, as in a container, ctxfs reads the files of the mount.

Exit codes, as those of diff:
  0  the same
  1  they differ
  2  wrong usage, or one of them does not exist (the reason is on standard error)`,
		Example: `  ctxfs diff coder/s1@120 coder/s1@180
  ctxfs diff coder/s1@2026-05-04T10:00:00Z coder/s1
  ctxfs diff --text .@57 .@58
  ctxfs diff coder/s1@summary.1 coder/s1@summary.2
  ctxfs diff coder/s1 coder/s2 --json | jq .prefix_kept.share`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			compare := diff
			if _, _, ok := cli.ParseSummary(args[0]); ok {
				compare = diffSummaries
			}
			same, err := compare(c, &f, args, asText, asJSON)
			if err != nil {
				if code := cli.ExitCode(cli.Failed(err)); code != cli.ExitUsage {
					fmt.Fprintln(c.ErrOrStderr(), "ctxfs:", cli.Message(err))
					return cli.Silent{Code: cli.ExitUsage}
				}
				return err
			}
			if !same {
				return cli.Silent{Code: cli.ExitFailed}
			}
			return nil
		},
	}
	lookFlags(c, &f)
	c.Flags().BoolVar(&asText, "text", false, "print a unified diff of pack.md")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.MarkFlagsMutuallyExclusive("text", "json")
	return c
}

// diffSummaries prints a unified diff of two versions of summaries.
func diffSummaries(c *cobra.Command, f *packcli.Flags, args []string, _, asJSON bool) (same bool, err error) {
	if asJSON {
		return false, cli.Usagef("--json is for packs; versions of a summary are compared line by line")
	}
	var texts [2][]byte
	for i, arg := range args {
		name, n, ok := cli.ParseSummary(arg)
		if !ok {
			return false, cli.Usagef("%q is not a version of a summary; write SESSION@summary.N", arg)
		}
		if texts[i], err = summaryOf(f.Store, name, n); err != nil {
			return false, err
		}
	}
	text := inspect.Lines(texts[0], texts[1], args[0], args[1])
	_, err = c.OutOrStdout().Write(text)
	return len(text) == 0, err
}

// summaryOf returns the text of a version from a mount that shows the session, or from its store.
func summaryOf(store, name string, n int) ([]byte, error) {
	none := fmt.Errorf("%s has no version %d of its summary; context/summaries lists them", name, n)
	at, err := locate.Session(name, store)
	if dir, ok := locate.MountedSession(name, at); ok {
		text, err := os.ReadFile(filepath.Join(dir, ctxabi.SummaryPath(n)))
		if errors.Is(err, fs.ErrNotExist) {
			err = none
		}
		return text, err
	}
	if err != nil {
		return nil, err
	}

	s, err := cli.OpenToRead(at.Store)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	x, err := s.Session(at.Ref)
	if err != nil {
		return nil, err
	}
	list, err := x.Summaries()
	if err != nil {
		return nil, err
	}
	v, ok := list.Get(n)
	if !ok {
		return nil, none
	}
	return x.SummaryText(v)
}

func diff(c *cobra.Command, f *packcli.Flags, args []string, asText, asJSON bool) (same bool, err error) {
	var packs [2]*inspect.Pack
	var moments [2]cli.Moment
	for i, arg := range args {
		if moments[i], err = cli.ParseMoment(arg); err != nil {
			return false, err
		}
	}
	opened := map[string]*looking{}
	defer func() {
		for _, l := range opened {
			err = cmp.Or(err, l.close())
		}
	}()
	for i, m := range moments {
		l := opened[m.Session]
		if l == nil {
			if l, err = look(c, f, m.Session); err != nil {
				return false, err
			}
			opened[m.Session] = l
		}
		if packs[i], err = packOf(c.Context(), l.History, m); err != nil {
			return false, err
		}
	}
	if asText {
		text := inspect.Text(packs[0], packs[1], args[0], args[1])
		_, err = c.OutOrStdout().Write(text)
		return len(text) == 0, err
	}
	a, b := opened[moments[0].Session], opened[moments[1].Session]
	related := a == b || a.at != (locate.Place{}) && a.at == b.at
	d := inspect.Compare(packs[0], packs[1], args[0], args[1], related)
	if asJSON {
		return d.Same, cli.PrintJSON(c.OutOrStdout(), d)
	}
	return d.Same, printDiff(c.OutOrStdout(), d)
}

func printDiff(out io.Writer, d *inspect.Diff) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name string, of func(*inspect.Side) string) {
		a, b := of(d.From), of(d.To)
		if a == b {
			b = "the same"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, a, b)
	}
	row("pack", func(s *inspect.Side) string { return s.Name })
	row("id", func(s *inspect.Side) string { return fmt.Sprintf("%.19s", s.PackID) })
	row("messages", func(s *inspect.Side) string { return cli.Thousands(s.Messages) })
	row("epoch", func(s *inspect.Side) string { return s.Epoch })
	row("since", func(s *inspect.Side) string { return s.EpochReason })
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nprefix kept: %s bytes, %s tokens, %.1f %% of the second\n\n", cli.Thousands(d.Kept.Bytes), cli.Thousands(d.Kept.Tokens), 100*d.Kept.Share)

	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "tokens\tbefore\tafter\tchange\t\n")
	tokens := func(name string, a, b int) {
		if a != 0 || b != 0 {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t\n", name, cli.Thousands(a), cli.Thousands(b), signed(b-a))
		}
	}
	a, b := d.From, d.To
	tokens("all", a.Tokens, b.Tokens)
	if !a.MarkdownOnly && !b.MarkdownOnly {
		tokens("stable", a.Sections.Stable, b.Sections.Stable)
		tokens("session", a.Sections.Session, b.Sections.Session)
		tokens("journal", a.Sections.Journal, b.Sections.Journal)
		tokens("footer", a.Sections.Footer, b.Sections.Footer)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if a.MarkdownOnly || b.MarkdownOnly {
		fmt.Fprintf(out, "Of one of them only pack.md is stored.\n")
	}

	if len(d.Blocks) > 0 {
		fmt.Fprintf(out, "\nblocks\n")
		w = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, x := range d.Blocks {
			fmt.Fprintf(w, "  %s\t%s\t%s → %s tokens (%s)\n", x.What, x.ID, cli.Thousands(x.Before), cli.Thousands(x.After), signed(x.After-x.Before))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if err := printTotals(out, d.Names); err != nil {
		return err
	}
	if len(d.Records) > 0 {
		fmt.Fprintf(out, "\nrecords\n")
		w = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, m := range d.Records {
			fmt.Fprintf(w, "  %s:%s\t%s → %s\t%s → %s tokens\n", m.Source, m.Range, placeOf(m.From, "new"), placeOf(m.To, "not there"), cli.Thousands(m.Before), cli.Thousands(m.After))
		}
		return w.Flush()
	}
	return nil
}

// printTotals prints one line for each name that has several blocks in the two packs.
func printTotals(out io.Writer, totals []inspect.Total) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	title := "\ntotals by name\n"
	for _, t := range totals {
		if t.BeforeBlocks+t.AfterBlocks < 2 {
			continue // its only block is listed above
		}
		fmt.Fprint(out, title)
		title = ""

		blocks := fmt.Sprintf("%d → %s", t.BeforeBlocks, cli.Plural(t.AfterBlocks, "block"))
		before, after := cli.Thousands(t.Before), cli.Thousands(t.After)
		fmt.Fprintf(w, "  %s\t%s, %d unchanged\t%s → %s tokens (%s)\n",
			t.Name, blocks, t.Unchanged, before, after, signed(t.After-t.Before))
	}
	return w.Flush()
}

// placeOf is a place in a word or two; absent is what it is called where the record is not in the pack at all.
func placeOf(p inspect.Place, absent string) string {
	switch p.Zone {
	case inspect.Absent:
		return absent
	case inspect.LeftOut:
		return "left out"
	}
	return p.String()
}

// signed writes a difference.
func signed(n int) string {
	if n > 0 {
		return "+" + cli.Thousands(n)
	}
	return cli.Thousands(n)
}
