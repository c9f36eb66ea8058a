package main

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

func spaceCmd() *cobra.Command {
	c := &cobra.Command{
		Use:     "space",
		Short:   "Make shared spaces",
		Long:    "A shared space is a directory under shared/ whose sessions belong to a group\ninstead of one user.",
		Example: "  ctxfs space new team --group developers",
	}
	c.AddCommand(spaceNewCmd())
	return c
}

func spaceNewCmd() *cobra.Command {
	var store, group string
	c := &cobra.Command{
		Use:   "new NAME --group GROUP",
		Short: "Make a shared space for a group",
		Long: `Make shared/NAME for the members of GROUP (a name or a number): directories
2770, files 0660. It appears at once in a running mount. Sharing between users
needs a mount made by root, which serves them all; so does this verb.`,
		Example: "  ctxfs space new team --group developers\n  mkdir -p /ctx/shared/team/agent/coder/session/s1",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := newSpace(storeDir(store), args[0], group)
			if err == nil {
				fmt.Fprintln(c.OutOrStdout(), dir)
			}
			return err
		},
	}
	c.Flags().StringVar(&store, "store", "", "directory of the store (default "+storeHelp+")")
	c.Flags().StringVar(&group, "group", "", "the group whose members share it")
	c.MarkFlagRequired("group")
	return c
}

// newSpace makes the directory in the store. It is complete before it has its
// name, so that a running mount never shows one with the wrong owner.
func newSpace(store, name, group string) (string, error) {
	if err := ctxabi.ValidName(name); err != nil {
		return "", usageError{err}
	}
	gid, err := groupID(group)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(store, session.StoreFile)); err != nil {
		return "", fmt.Errorf("there is no store in %s; 'ctxfs mount' makes one, --store names another", store)
	}
	dir := filepath.Join(store, ctxabi.SharedDir, name)
	if _, err := os.Lstat(dir); err == nil {
		return "", fmt.Errorf("space %s exists already", name)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".new-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp) // nothing is there once it has its name
	if err := fillSpace(temp, gid); err != nil {
		return "", err
	}
	return dir, os.Rename(temp, dir)
}

func fillSpace(dir string, gid int) error {
	agents := filepath.Join(dir, ctxabi.AgentDir)
	if err := os.Mkdir(agents, 0o700); err != nil {
		return err
	}
	if err := own(agents, gid); err != nil {
		return err
	}
	return own(dir, gid)
}

// own gives a directory to a group, which everything made in it inherits.
func own(dir string, gid int) error {
	if err := os.Chown(dir, os.Getuid(), gid); err != nil {
		return err
	}
	return os.Chmod(dir, 0o770|os.ModeSetgid)
}

func groupID(group string) (int, error) {
	if g, err := user.LookupGroup(group); err == nil {
		group = g.Gid
	}
	gid, err := strconv.ParseUint(group, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("there is no group %q; 'groupadd %s' makes one", group, group)
	}
	return int(gid), nil
}
