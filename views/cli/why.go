package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/usage"
	"github.com/ctxfs/ctxfs/pack/blocks"
	packcli "github.com/ctxfs/ctxfs/pack/cli"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/views/inspect"
)

func whyCmd() *cobra.Command {
	var f packcli.Flags
	var asJSON bool
	c := &cobra.Command{
		Use:   "why [flags] SESSION WHAT",
		Short: "Show where a record or a block is in a session's prompt, and why",
		Long: `Show where a record is in the present pack: in full, shortened, folded, or left out
and why; which of its lines are among the key lines, and where the whole can be
read. Then show how it came there: the records that brought each change.

For a block (a pin, a file, what a generator printed) show what it asked for and
what it got, and why it is cut or missing. For a name that several compactions
gave to a block (summary, key lines, ...) list each block with its range.

WHAT is one of
  messages:57, 57            a record of messages.jsonl
  events:12, e12             a record of events.jsonl
  messages:57-60, e12-e14    several
  knowledge, pinned/rules.md, ...    a block, by its id in pack.md or by its file
  summary, 'key lines', ...          all blocks of a name

` + locate.SessionHelp + `

If the store cannot be read, as in a container, ctxfs reads the files of the mount.

` + cli.ExitHelp,
		Example: `  ctxfs why coder/s1 messages:57
  ctxfs why . 57-60
  ctxfs why coder/s1 pinned/rules.md
  ctxfs why coder/s1 e12 --json | jq '.records[0].life'`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) (err error) {
			event, span, isRecord, err := inspect.ParseRecords(args[1])
			if err != nil {
				return usage.Error{Err: err}
			}
			l, err := look(c, &f, args[0])
			if err != nil {
				return err
			}
			defer func() { err = cmp.Or(err, l.close()) }()
			if !isRecord {
				return whyBlock(c, l, args[1], asJSON)
			}
			records, err := l.Why(c.Context(), event, span)
			if err != nil {
				return err
			}
			now, err := l.At(c.Context(), l.Len())
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c.OutOrStdout(), struct {
					Messages int              `json:"messages"`
					PackID   string           `json:"pack_id"`
					Records  []inspect.Record `json:"records"`
				}{l.Len(), now.PackID, records})
			}
			for i, r := range records {
				if i > 0 {
					fmt.Fprintln(c.OutOrStdout())
				}
				printRecord(c.OutOrStdout(), r)
			}
			return nil
		},
	}
	lookFlags(c, &f)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func printRecord(w io.Writer, r inspect.Record) {
	fmt.Fprintf(w, "%s  %s, %s tokens in full\n", r.Record, r.What, cli.Thousands(r.Whole))
	switch {
	case r.Note != "":
		fmt.Fprintf(w, "  now     nowhere: %s\n", r.Note)
	case r.Tokens > 0:
		fmt.Fprintf(w, "  now     %s, %s tokens\n", r.Place, cli.Thousands(r.Tokens))
	default:
		fmt.Fprintf(w, "  now     %s\n", inWordsOf(r.Place))
	}
	for _, q := range r.KeyLines {
		fmt.Fprintf(w, "  line    %s: %s\n", strings.Join(q.Blocks, ", "), q.Line)
	}
	for _, q := range r.Cited {
		fmt.Fprintf(w, "  cited   %s: %s\n", strings.Join(q.Blocks, ", "), strings.TrimPrefix(q.Line, "- "))
	}
	if len(r.Footer) > 0 {
		fmt.Fprintf(w, "  footer  named in %s\n", strings.Join(r.Footer, ", "))
	}
	fmt.Fprintf(w, "  whole   %s\n", strings.Join(r.Paths, ", "))
	for i, t := range r.Life {
		name := "life"
		if i > 0 {
			name = ""
		}
		fmt.Fprintf(w, "  %-6s  %s\n", name, turnInWords(r, i, t))
	}
}

// inWordsOf returns where a record stands that is not shown.
func inWordsOf(p inspect.Place) string {
	switch p.How {
	case "compacted":
		return "left out: a compaction took it out"
	case "max_iterations":
		return "left out: max_iterations of the recipe's journal took it out"
	case "truncated":
		return "left out: the recipe's journal drops the oldest records"
	case "not_in_recipe":
		return "left out: the recipe has no journal"
	}
	return p.String()
}

// turnInWords returns one turn of a record's life in words.
func turnInWords(r inspect.Record, i int, t inspect.Turn) string {
	by := fmt.Sprintf("when message %d came", t.At)
	if t.Compaction {
		by = fmt.Sprintf("by the compaction that message %d brought", t.At)
	}
	verb := t.Place.String()
	if t.Zone == inspect.LeftOut {
		verb = "left out"
	}
	if t.Tokens > 0 && (i == 0 || t.Tokens != r.Life[i-1].Tokens) {
		verb += fmt.Sprintf(", %s tokens", cli.Thousands(t.Tokens))
	}
	if i == 0 {
		if r.Record.Event {
			return fmt.Sprintf("arrived behind message %d: %s", t.At, verb)
		}
		return "arrived: " + verb
	}
	if !t.Compaction && t.EpochReason != "" {
		by += " (" + t.EpochReason + ")"
	}
	return verb + " " + by
}

func whyBlock(c *cobra.Command, l *looking, name string, asJSON bool) error {
	sources := recipeSources(l.at)
	b, err := l.Block(c.Context(), name)
	if errors.Is(err, ctxabi.ErrNotFound) {
		s := findSource(sources, name)
		if s == nil {
			return err
		}
		// pack.json omits sources of the built-in recipe that have no content.
		b = &inspect.Block{ID: s.Block, Source: s.Path}
		b.Why = "pack.json gives no reason; the source may be missing or empty"
	} else if err != nil {
		return err
	}
	if s := findSource(sources, b.ID); s != nil {
		b.Rule = ruleOf(s)
	}
	if asJSON {
		return cli.PrintJSON(c.OutOrStdout(), b)
	}
	printBlock(c.OutOrStdout(), b)
	return nil
}

// printBlock prints a block, and the blocks that share its name.
func printBlock(w io.Writer, b *inspect.Block) {
	fmt.Fprintf(w, "%s  %s\n", b.ID, blockState(b))
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-6s  %s\n", name, value)
		}
	}
	if b.Asked > 0 {
		row("asked", cli.Thousands(b.Asked)+" tokens")
	}
	if b.Shown || b.Asked > 0 {
		row("given", cli.Thousands(b.Given)+" tokens")
	}
	if b.Left > 0 {
		row("left", cli.Thousands(int(b.Left))+" bytes")
	}
	row("why", b.Why)
	row("source", b.Source)
	row("phase", b.Phase)
	row("recipe", b.Rule)

	// A range belongs to a block of pack.md, and so do its tokens and its lines.
	name := "blocks"
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range b.Generations {
		tokens := cli.Thousands(g.Tokens)
		fmt.Fprintf(t, "  %-6s  %s\t%s tokens\tlines %d-%d of pack.md\n", name, g.ID, tokens, g.First, g.Last)
		name = ""
	}
	t.Flush()
}

// blockState reports whether a block is in the pack, and whether it is cut. It does not call blocks
// of compacted records whole, because pack.json does not report how much they omit.
func blockState(b *inspect.Block) string {
	state := "is in the pack, whole"
	switch {
	case !b.Shown:
		state = "is not in the pack"
	case len(b.Generations) > 1:
		state = fmt.Sprintf("is in the pack, as %d blocks", len(b.Generations))
	case len(b.Generations) == 1:
		state = "is in the pack"
	case b.Cut || b.Left > 0:
		state = "is in the pack, cut"
	}
	if b.Stale {
		state += ", with its last known content: the present one was not ready in time"
	}
	return state
}

// recipeSources are those of the session's recipe; none where it cannot be read.
func recipeSources(at locate.Place) []recipe.Source {
	if at == (locate.Place{}) {
		return nil
	}
	s, err := packcli.ShowRecipe(at)
	if err != nil {
		return nil
	}
	return s.Recipe.Sources
}

// findSource finds the source of a block: by its id, or as one of several of a directory.
func findSource(sources []recipe.Source, name string) *recipe.Source {
	dir, _, _ := strings.Cut(name, "/")
	for _, is := range []func(*recipe.Source) bool{
		func(s *recipe.Source) bool { return s.Block == name || s.ID == name },
		func(s *recipe.Source) bool { return s.Path == name || string(s.Type) == name },
		func(s *recipe.Source) bool { return string(s.Type) == dir || s.Block == dir },
	} {
		if i := slices.IndexFunc(sources, func(s recipe.Source) bool { return is(&s) }); i >= 0 {
			return &sources[i]
		}
	}
	return nil
}

// ruleOf returns what a recipe asks of a source, in one line.
func ruleOf(s *recipe.Source) string {
	out := []string{string(s.Type)}
	switch {
	case s.Type.Required():
		out = append(out, "never cut: without room for it there is no pack")
	case s.Percent:
		out = append(out, fmt.Sprintf("max_tokens %g%%", float64(s.MaxTokens)/100))
	case s.MaxTokens > 0:
		out = append(out, fmt.Sprintf("max_tokens %d", s.MaxTokens))
	}
	if s.OnMissing != "" {
		out = append(out, "on_missing "+string(s.OnMissing))
	}
	if s.Condition != nil {
		out = append(out, "condition "+blocks.Describe(s.Condition))
	}
	if s.Origin.File != "" {
		out = append(out, fmt.Sprintf("%s:%d", s.Origin.File, s.Origin.Line))
	} else {
		out = append(out, "of the built-in recipe")
	}
	return strings.Join(out, ", ")
}
