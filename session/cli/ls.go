package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
)

func sessionLsCmd() *cobra.Command {
	var store string
	var asJSON bool
	c := &cobra.Command{
		Use:     "ls [flags] [PREFIX]",
		Aliases: []string{"list"},
		Short:   "List sessions",
		Long: `List the sessions of a store that the calling user may read; with PREFIX only
those whose path begins with it, such as home/1000/agent/coder. Without --store
this is the store of $CTXFS_MOUNT, of the mount that ~/.config/ctxfs/mount names,
the default store, or that of the only mount. If the store cannot be read, its
mount is read. If a session cannot be read, it is named on standard error, and the
exit code is 1.`,
		Example: "  ctxfs session ls\n  ctxfs session ls home/1000/agent/coder\n  ctxfs session ls --json | jq -r '.[] | select(.state == \"active\").session'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			prefix := ""
			if len(args) == 1 {
				prefix = strings.Trim(args[0], "/")
			}
			store, err := locate.Store(store)
			if err != nil {
				return err
			}
			rows, err := listSessions(store, prefix, c.ErrOrStderr())
			if rows == nil {
				if point, _ := locate.ServedAt(store); point != "" {
					rows, err = listMounted(point, prefix, c.ErrOrStderr())
				}
			}
			if rows == nil {
				return err
			}
			if asJSON {
				return cmp.Or(cli.PrintJSON(c.OutOrStdout(), rows), err)
			}
			if len(rows) == 0 && prefix == "" && err == nil {
				fmt.Fprintln(c.ErrOrStderr(), emptyStore)
				return nil
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "SESSION\tSTATE\tMESSAGES\tEVENTS\tBYTES\tUPDATED")
			for _, r := range rows {
				fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\n", r.Session, r.State, r.Messages.Records, r.Events.Records,
					r.Messages.Bytes+r.Events.Bytes, r.Updated.Local().Format("2006-01-02 15:04"))
			}
			return cmp.Or(w.Flush(), err)
		},
	}
	cli.StoreFlag(c, &store)
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON list")
	return c
}

// emptyStore suggests the next step to the user of a store without sessions.
const emptyStore = "ctxfs: no session yet; 'ctxfs install' connects your agent programs, 'ctxfs session new AGENT/SESSION' makes one"

// listSessions describes what it can; rows is nil when the store itself cannot be read.
func listSessions(dir, prefix string, warnings io.Writer) (rows []sessionInfo, err error) {
	store, err := cli.OpenToRead(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	rows = []sessionInfo{}
	for ref := range store.Sessions() {
		if prefix != "" && !locate.Inside(ref.Path(), prefix) {
			continue
		}
		x, failed := store.Session(ref)
		var row sessionInfo
		if failed == nil {
			row, failed = describe(x, dir)
		}
		if failed != nil {
			fmt.Fprintf(warnings, "ctxfs: %s: %v\n", ref, failed)
			err = cli.Silent{Code: cli.ExitFailed}
			continue
		}
		rows = append(rows, row)
	}
	return rows, err
}
