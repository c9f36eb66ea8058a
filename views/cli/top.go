package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/views/inspect"
	"github.com/ctxfs/ctxfs/views/overview"
	"github.com/ctxfs/ctxfs/views/top"
)

// plainWidth is the width of the table in columns where there is no terminal.
const plainWidth = 160

type topFlags struct {
	mount, sort   string
	lines         int
	once, noColor bool
}

func topCmd() *cobra.Command {
	f := topFlags{sort: string(top.ByActivity), lines: 50}
	c := &cobra.Command{
		Use:   "top [flags] [PREFIX]",
		Short: "Show sessions and their prompts in a terminal",
		Long: `Show the sessions of a mount as rows that follow what is appended, as ctxfs ui
does in a browser: state, last words, messages, the tokens of the last prompt of
its budget, how much of the prompts a provider's cache had, and the last 50 of
them. With PREFIX it shows only those whose path begins with it, such as coder,
coder/s1 or shared/team. Nothing is changed by looking: a prompt that is shown
counts as read by no program, and no command of a recipe runs.

Keys: up, down, page up, page down, home and end choose a session, enter looks at
it, esc goes back. / filters by name, s changes the order, p pauses, ? shows all
keys, q quits.

With --once, and where the output is no terminal or TERM is dumb, a table is
printed. NO_COLOR leaves colours out.

` + cli.ExitHelp,
		Example: `  ctxfs top                        # all sessions of the mount
  ctxfs top coder --sort tokens    # those of the agent coder, the largest prompts first
  ssh -t HOST ctxfs top            # of another machine
  ctxfs top --once -n 10           # a table of ten`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cli.CompleteSessions,
		PreRunE: func(*cobra.Command, []string) error {
			if !slices.Contains(top.Orders, top.Order(f.sort)) {
				return cli.Usagef("--sort %s: %s", f.sort, orderList())
			}
			if f.lines < 0 {
				return cli.Usagef("--lines must not be negative")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			config, err := f.config(append(args, "")[0])
			if err != nil {
				return err
			}
			s := cli.ScreenOf(c.OutOrStdout())
			out, isFile := c.OutOrStdout().(*os.File)
			if f.once || !s.Terminal || !isFile || os.Getenv("TERM") == "dumb" {
				return top.Once(c.OutOrStdout(), config, f.lines, cmp.Or(s.Width, plainWidth))
			}
			config.Color = s.Bold && !f.noColor
			boundMemory()
			return top.Run(c.Context(), config, os.Stdin, out)
		},
	}
	cli.MountFlag(c, &f.mount)
	fl := c.Flags()
	fl.BoolVar(&f.once, "once", false, "print a table and end")
	fl.IntVarP(&f.lines, "lines", "n", f.lines, "most rows of the table; 0: all")
	fl.StringVar(&f.sort, "sort", f.sort, "`ORDER` of the rows: "+orderList())
	fl.BoolVar(&f.noColor, "no-color", false, "use no colours")
	c.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions(orderNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func orderNames() (names []string) {
	for _, o := range top.Orders {
		names = append(names, string(o))
	}
	return names
}

func orderList() string { return strings.Join(orderNames(), ", ") }

// config finds the mount that is meant.
func (f *topFlags) config(prefix string) (*top.Config, error) {
	root, err := locate.Mount(f.mount)
	if err != nil {
		return nil, err
	}
	c := &top.Config{Source: &overview.Source{Root: root, Sessions: sessionsSeen(root)}, Order: top.Order(f.sort)}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		c.Wanted = prefix
		own := fmt.Sprintf("home/%d/", os.Getuid())
		c.Match = func(ref string) bool {
			r, err := ctxabi.ParseRef(ref)
			return locate.Inside(ref, prefix) || err == nil && strings.HasPrefix(ref, own) && locate.Inside(r.Agent+"/"+r.Session, prefix)
		}
	}
	if i, _, ok := mounts.At(root); ok {
		if d, ok := daemon.Running(i.Source); ok { // else only those are known that sessions set
			c.Budget = d.Budget
		}
	}
	c.Look = func(ctx context.Context, dir string) (*inspect.History, func() error, error) {
		l, err := lookForPages(ctx, dir, 0)
		if err != nil {
			return nil, nil, err
		}
		return l.History, l.Close, nil
	}
	return c, nil
}
