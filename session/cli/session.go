package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/session"
)

func sessionCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "session",
		Short: "Make, list, show, fork, archive and remove sessions",
		Long: `Make, list, show, fork, archive and remove sessions of a store. In a mount the
first three are mkdir, ls and cat. These verbs also work without a mount.

` + locate.SessionHelp,
		Example: "  ctxfs session new coder/s1\n  ctxfs session ls\n  ctxfs session show coder/s1",
	}
	return cli.Group(c, sessionNewCmd(), sessionLsCmd(), sessionShowCmd(), sessionForkCmd(), sessionArchiveCmd(), sessionRmCmd())
}

func sessionNewCmd() *cobra.Command {
	var store string
	c := &cobra.Command{
		Use:   "new [flags] SESSION",
		Short: "Make an empty session",
		Long: `Make an empty session and print its directory. If a daemon serves the store, the
session is made in the mount (as mkdir -p does), else in the store.

` + locate.SessionHelp,
		Example: "  ctxfs session new coder/s1\n  cd \"$(ctxfs session new coder/s2)\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			at, err := locate.Session(args[0], store)
			if err != nil {
				return err
			}
			if store == "" {
				err = locate.CheckNewStore(at, "make the session there: mkdir -p")
			}
			dir := ""
			if err == nil {
				dir, err = newSession(at)
			}
			if err == nil {
				fmt.Fprintln(c.OutOrStdout(), dir)
			}
			return err
		},
	}
	cli.StoreFlag(c, &store)
	return c
}

func newSession(at locate.Place) (dir string, err error) {
	if dir, err = locate.MountedDir("", at); err != nil {
		return "", err
	} else if dir != "" {
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return "", err
		}
		return dir, os.Mkdir(dir, 0o700)
	}
	owner, err := cli.NewOwner(at)
	if err != nil {
		return "", err
	}
	store, err := cli.OpenStore(at.Store, session.Options{})
	if errors.Is(err, ctxabi.ErrLocked) {
		return "", fmt.Errorf("%w; make the session in its mount instead: mkdir -p MOUNTPOINT/%s", err, at.Ref)
	}
	if err != nil {
		return "", err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	x, err := store.Create(at.Ref, owner)
	if err != nil {
		return "", err
	}
	return x.Dir(), nil
}
