package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/internal/usage"
	"github.com/ctxfs/ctxfs/search"
)

func sessionForkCmd() *cobra.Command {
	var store string
	c := &cobra.Command{
		Use:   "fork [flags] SESSION[@LINE] NEW",
		Short: "Make a session with the history of another, up to a message",
		Long: `Make the session NEW (a name, or AGENT/NAME of the same owner). It gets the first
LINE messages of SESSION (all if no LINE is given), the events that had arrived by
then, and the settings, notes, pins and children as they are now. Its pack begins
like the other's did. From then on both are independent. The command prints the
directory of the new session, and on standard error how its history is stored: if
the disk can, both share the same blocks (a reflink), else it is a copy.

` + locate.SessionHelp,
		Example: "  ctxfs session fork coder/s1@120 another-way\n  cd \"$(ctxfs session fork . tried)\"",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := cli.ParseMoment(args[0])
			if err != nil {
				return err
			}
			n := -1
			if m.Point != "" {
				if n, err = strconv.Atoi(m.Point); err != nil || n < 0 {
					return cli.Usagef("%q is not a number of messages", m.Point)
				}
			}
			from, err := locate.Session(m.Session, store)
			if err != nil {
				return err
			}
			to := from.Ref
			if agent, name, ok := strings.Cut(args[1], "/"); ok {
				to.Agent, to.Session = agent, name
			} else {
				to.Session = args[1]
			}
			if err := cmp.Or(ctxabi.ValidName(to.Agent), ctxabi.ValidName(to.Session)); err != nil {
				return usage.Error{Err: err}
			}
			dir, how, err := fork(m.Session, from, n, to)
			if err == nil {
				fmt.Fprintln(c.OutOrStdout(), dir)
				fmt.Fprintln(c.ErrOrStderr(), how)
			}
			return err
		},
	}
	cli.StoreFlag(c, &store)
	return c
}

func fork(arg string, from locate.Place, n int, to ctxabi.Ref) (dir, how string, err error) {
	if mounted, err := locate.MountedDir(arg, from); err != nil {
		return "", "", err
	} else if mounted != "" {
		asked := to.Agent + "/" + to.Session
		if n >= 0 {
			asked += "@" + strconv.Itoa(n)
		}
		if err := unix.Setxattr(mounted, ctxabi.ForkAttr, []byte(asked), 0); err != nil {
			return "", "", mounts.Refused(mounted, &os.PathError{Op: "fork", Path: mounted, Err: err})
		}
		dir = strings.TrimSuffix(mounted, from.Ref.Path()) + to.Path()
		return dir, "made by the daemon that serves it", nil
	}
	owner, err := cli.NewOwner(from)
	if err != nil {
		return "", "", err
	}
	store, err := cli.OpenToChange(from.Store)
	if err != nil {
		return "", "", err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	x, err := store.Session(from.Ref)
	if err != nil {
		return "", "", err
	}
	f, shared, err := store.Fork(x, n, to, owner)
	if err != nil {
		return "", "", err
	}
	how = "its history is a copy"
	if shared {
		how = "its history shares the blocks of the other's on the disk"
	}
	return f.Dir(), how, nil
}

func sessionRmCmd() *cobra.Command {
	var store string
	var force bool
	c := &cobra.Command{
		Use:   "rm [flags] SESSION...",
		Short: "Remove sessions with their history, for good",
		Long: `Remove sessions for good: every message, event, setting and note. In a mount
rmdir and rm -r refuse that, so that it never happens by accident. On a terminal
the command asks first, unless --force is given. If a session is a child, its last
answer and its status stay with its parent.

` + locate.SessionHelp,
		Example: "  ctxfs session rm coder/s1\n  ctxfs session rm --force coder/s1 coder/s2",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for _, arg := range args {
				at, err := locate.Session(arg, store)
				if err == nil && !force {
					err = confirm(c.InOrStdin(), c.ErrOrStderr(), "Remove "+at.Ref.Path()+" with all its history?")
				}
				if err == nil {
					err = removeSession(arg, at)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	cli.StoreFlag(c, &store)
	c.Flags().BoolVarP(&force, "force", "f", false, "do not ask")
	return c
}

// confirm asks on a terminal, and fails where nobody can answer or the answer is not yes.
func confirm(in io.Reader, out io.Writer, question string) error {
	f, ok := in.(*os.File)
	if ok {
		_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
		ok = err == nil
	}
	if !ok {
		return errors.New("not removed: there is no terminal to confirm on; use --force")
	}
	fmt.Fprint(out, question+" [y/N] ")
	var answer string
	fmt.Fscanln(in, &answer)
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return errors.New("nothing was removed")
	}
	return nil
}

func removeSession(arg string, at locate.Place) (err error) {
	if mounted, err := locate.MountedDir(arg, at); err != nil {
		return err
	} else if mounted != "" {
		if err := unix.Setxattr(mounted, ctxabi.RemoveAttr, []byte(at.Ref.Session), 0); err != nil {
			return mounts.Refused(mounted, &os.PathError{Op: "remove", Path: mounted, Err: err})
		}
		return nil
	}
	store, err := cli.OpenToChange(at.Store)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	defer search.Follow(store)()
	return store.Remove(at.Ref)
}
