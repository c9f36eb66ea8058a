package cli

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
)

func headCmd() *cobra.Command {
	var store string
	c := &cobra.Command{
		Use:   "head [flags] SESSION...",
		Short: "Print hashes that prove a history later; keep them elsewhere",
		Long: `Print a line for each log of the sessions: the last hash of its chain, its bytes
and its path. Keep it where nobody who can change the store can write. Later
ctxfs verify --head FILE proves with it that nobody changed the history up to
then, and nobody cut anything off its end.

` + locate.SessionHelp,
		Example: "  ctxfs head coder/s1 >> /backup/heads\n  ctxfs verify --head /backup/heads",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for _, arg := range args {
				at, err := locate.Session(arg, store)
				if err == nil {
					err = printHeads(at, c.OutOrStdout())
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	cli.StoreFlag(c, &store)
	return c
}

func printHeads(at locate.Place, out io.Writer) (err error) {
	store, err := cli.OpenToRead(at.Store)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	x, err := store.Session(at.Ref)
	if err != nil {
		return err
	}
	heads, err := x.Heads()
	for _, h := range heads {
		fmt.Fprintln(out, h)
	}
	return err
}
