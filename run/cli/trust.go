package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/run/trust"
)

func trustCmd() *cobra.Command {
	var list, revoke bool
	var at string
	c := &cobra.Command{
		Use:   "trust [flags] [PATH]",
		Short: "Allow a recipe that is not your own to run its generators",
		Long: `Allow the generators (programs) of the recipe PATH, a context.yaml in a mount, to
run as you. Your own recipes need no trust. Recipes need it that were imported from
a package, that belong to somebody else, or that are in a shared space. There, trust
in a context.yaml or in a session's cwd also allows packs to hold files from outside
of the store. The command prints the programs. It does not ask: to run it is to
consent.

Trust is for the content that the file has now: after an edit, trust it again. The
same holds for files of a package that its commands name (sh
${RECIPE_DIR}/tools/map.sh): they are trusted together with its recipe, as they are
now, and after an update that changes one you are asked again. In a shared space
this holds for every file of the agent's home that a command names, unless it is
yours and nobody else can write it. What such a file loads itself, and programs
outside of packages and spaces, may change without new trust. Trust is kept in
home/UID/trust.jsonl of the mount, which is yours only.

` + cli.ExitHelp,
		Example: `  ctxfs trust /ctx/home/$(id -u)/agent/billing/packages/@acme/base/context.yaml
  ctxfs trust /ctx/shared/team/agent/coder/context.yaml
  ctxfs trust --list
  ctxfs trust --revoke /ctx/shared/team/agent/coder/context.yaml`,
		Args: func(c *cobra.Command, args []string) error {
			if list {
				return cobra.NoArgs(c, args)
			}
			return cobra.ExactArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			out := c.OutOrStdout()
			switch {
			case list:
				t, err := trustOfMount(at)
				if err != nil {
					return err
				}
				return listTrust(out, t)
			case revoke:
				t, name, err := trustOfPath(args[0])
				if err != nil {
					return err
				}
				return revokeTrust(out, t, name)
			}
			t, name, err := trustOfPath(args[0])
			if err != nil {
				return err
			}
			return addTrust(out, t, name, args[0])
		},
	}
	fl := c.Flags()
	fl.BoolVar(&list, "list", false, "list what is trusted, and whether it is still what was trusted")
	fl.BoolVar(&revoke, "revoke", false, "withdraw the trust in PATH")
	fl.StringVar(&at, "mount", "", "with --list: the `MOUNTPOINT`, if there is more than one mount")
	c.MarkFlagsMutuallyExclusive("list", "revoke")
	c.MarkFlagDirname("mount")
	return c
}

// trustOfMount finds the mount that --list is about.
func trustOfMount(given string) (trust.File, error) {
	if given != "" {
		if i, rest, ok := mounts.At(given); ok && rest == "" {
			_, err := daemon.Ask(i)
			return trust.In(i.Point), err
		}
		return trust.File{}, fmt.Errorf("no ctxfs is mounted at %s", given)
	}
	if i, ok, err := daemon.MountAround("."); ok {
		return trust.In(i.Point), err
	}
	root, err := locate.Mount("")
	return trust.In(root), err
}

// trustOfPath finds the mount that a path lies in, and its name there.
func trustOfPath(arg string) (t trust.File, name string, err error) {
	m, ok, err := daemon.MountAround(arg)
	if err != nil {
		return t, "", err
	}
	abs, err := filepath.Abs(arg)
	if err != nil {
		return t, "", err
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(dir, filepath.Base(abs))
	}
	if !ok || m.Point == abs {
		return t, "", cli.Usagef("%s is not in a mount of ctxfs; only a context.yaml (or a cwd) there can be trusted", arg)
	}
	name, err = filepath.Rel(m.Point, abs)
	if err != nil {
		return t, "", err
	}
	mine := path.Join(ctxabi.HomeDir, fmt.Sprint(os.Getuid()))
	if strings.HasPrefix(name, ctxabi.HomeDir+"/") && !locate.Inside(name, mine) {
		return t, "", fmt.Errorf("%s is in another user's home, and only that user can trust it; you are uid %d", arg, os.Getuid())
	}
	return trust.In(m.Point), name, nil
}

// addTrust trusts name, and the files that a recipe of a package or of a shared space names; arg is what the user calls it.
func addTrust(out io.Writer, t trust.File, name, arg string) error {
	added, err := t.Add(name, func(data []byte) (with []string, err error) {
		switch {
		case path.Base(name) == ctxabi.CwdFile:
			fmt.Fprintf(out, "%s: the workspace %s\n", arg, bytes.TrimSpace(data))
		case isRecipe(t.Mount, name):
			return tellGenerators(out, t.Mount, name, arg)
		default:
			fmt.Fprintf(out, "%s: a file that commands of a recipe may name\n", arg)
		}
		return nil, nil
	})
	switch {
	case errors.Is(err, trust.ErrChanged):
		return fmt.Errorf("%s changed in the meantime; nothing was trusted, try again", arg)
	case err != nil:
		return err
	case !added:
		fmt.Fprintln(out, "trusted already")
	default:
		fmt.Fprintln(out, "trusted as it is now")
	}
	return nil
}

func revokeTrust(out io.Writer, t trust.File, name string) error {
	revoked, err := t.Revoke(name)
	if err != nil {
		return err
	}
	if !revoked {
		return fmt.Errorf("%s is not trusted; 'ctxfs trust --list' shows what is", name)
	}
	fmt.Fprintln(out, "not trusted any more")
	return nil
}

// listTrust prints one row for each path, in the order in which they were first trusted.
func listTrust(out io.Writer, t trust.File) error {
	rows, err := t.List()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STATUS\tPATH")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\n", r.Status, r.Path)
	}
	return w.Flush()
}
