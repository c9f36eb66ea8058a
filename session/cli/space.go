package cli

import (
	"cmp"
	"fmt"
	"os/user"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/usage"
)

func spaceCmd() *cobra.Command {
	c := &cobra.Command{
		Use:     "space",
		Short:   "Make shared spaces",
		Long:    "A shared space is a directory under shared/ whose sessions belong to a group\ninstead of one user.",
		Example: "  ctxfs space new team --group developers",
	}
	return cli.Group(c, spaceNewCmd())
}

func spaceNewCmd() *cobra.Command {
	var store, group string
	c := &cobra.Command{
		Use:   "new [flags] --group GROUP NAME",
		Short: "Make a shared space for a group",
		Long: `Make shared/NAME for the members of GROUP (a name or a number): directories
2770, files 0660. It appears at once in a running mount. Users can share
only in a mount made by root, which serves them all; so this verb needs root, too.`,
		Example: "  ctxfs space new team --group developers\n  mkdir -p /ctx/shared/team/agent/coder/session/s1",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			store, err := locate.Store(store)
			if err != nil {
				return err
			}
			dir, err := newSpace(store, args[0], group)
			if err == nil {
				fmt.Fprintln(c.OutOrStdout(), dir)
			}
			return err
		},
	}
	cli.StoreFlag(c, &store)
	c.Flags().StringVar(&group, "group", "", "the `GROUP` whose members share it")
	c.MarkFlagRequired("group")
	return c
}

// newSpace makes the directory in the store, beside a daemon that may serve it.
func newSpace(dir, name, group string) (_ string, err error) {
	if err := ctxabi.ValidName(name); err != nil {
		return "", usage.Error{Err: err}
	}
	gid, err := groupID(group)
	if err != nil {
		return "", err
	}
	store, err := cli.OpenToRead(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	return store.CreateSpace(name, gid)
}

func groupID(group string) (uint32, error) {
	if g, err := user.LookupGroup(group); err == nil {
		group = g.Gid
	}
	gid, err := strconv.ParseUint(group, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("there is no group %q; 'groupadd %s' makes one", group, group)
	}
	return uint32(gid), nil
}
