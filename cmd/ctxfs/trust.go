package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	packsource "github.com/ctxfs/ctxfs/pack/source"
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

` + exitHelp,
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
				return t.list(out)
			case revoke:
				t, name, err := trustOfPath(args[0])
				if err != nil {
					return err
				}
				return t.revoke(out, name)
			}
			t, name, err := trustOfPath(args[0])
			if err != nil {
				return err
			}
			return t.trust(out, name, args[0])
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

// trusts is the trust file of the calling user in one mount.
type trusts struct {
	mount string // the mountpoint
	file  string
}

func trustsIn(mountpoint string) trusts {
	return trusts{mountpoint, filepath.Join(mountpoint, ctxabi.HomeDir, fmt.Sprint(os.Getuid()), ctxabi.TrustFile)}
}

// trustOfMount finds the mount that --list is about.
func trustOfMount(given string) (trusts, error) {
	if given != "" {
		if i, rest, ok := mounts.At(given); ok && rest == "" {
			_, err := daemon.Ask(i)
			return trustsIn(i.Point), err
		}
		return trusts{}, fmt.Errorf("no ctxfs is mounted at %s", given)
	}
	if i, ok, err := daemon.MountAround("."); ok {
		return trustsIn(i.Point), err
	}
	root, err := locate.Mount("")
	return trustsIn(root), err
}

// trustOfPath finds the mount that a path lies in, and its name there.
func trustOfPath(arg string) (t trusts, name string, err error) {
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
		return t, "", usagef("%s is not in a mount of ctxfs; only a context.yaml (or a cwd) there can be trusted", arg)
	}
	name, err = filepath.Rel(m.Point, abs)
	if err != nil {
		return t, "", err
	}
	mine := path.Join(ctxabi.HomeDir, fmt.Sprint(os.Getuid()))
	if strings.HasPrefix(name, ctxabi.HomeDir+"/") && !locate.Inside(name, mine) {
		return t, "", fmt.Errorf("%s is in another user's home, and only that user can trust it; you are uid %d", arg, os.Getuid())
	}
	return trustsIn(m.Point), name, nil
}

func (t trusts) read() ([]ctxabi.Trust, error) {
	data, err := os.ReadFile(t.file)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ctxabi.ParseTrust(data)
}

// write replaces the file: the mount takes it as a whole when it is closed.
func (t trusts) write(rows []ctxabi.Trust) error {
	if len(rows) == 0 {
		return os.Remove(t.file)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, r := range rows {
		if err := e.Encode(r); err != nil {
			return err
		}
	}
	return os.WriteFile(t.file, b.Bytes(), 0o600)
}

// hash returns the SHA-256 of a file of the mount.
func (t trusts) hash(name string) (sum string, data []byte, err error) {
	data, err = os.ReadFile(filepath.Join(t.mount, name))
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:]), data, err
}

// lock keeps others of the same user from changing the file until unlock.
func (t trusts) lock() (unlock func() error, err error) {
	dir, err := os.Open(filepath.Dir(t.file))
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		dir.Close()
		return nil, fmt.Errorf("lock %s: %w", dir.Name(), err)
	}
	return dir.Close, nil
}

// trust adds a row for name, and for the files that a recipe of a package or of a shared space names; arg is what the user calls it.
func (t trusts) trust(out io.Writer, name, arg string) error {
	seen, _, err := t.hash(name)
	if err != nil {
		return err
	}
	unlock, err := t.lock()
	if err != nil {
		return err
	}
	defer unlock()
	rows, err := t.read()
	if err != nil {
		return err
	}
	names := []string{name}
	switch {
	case path.Base(name) == ctxabi.CwdFile:
		_, data, err := t.hash(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: the workspace %s\n", arg, bytes.TrimSpace(data))
	case isRecipe(t.mount, name):
		with, err := tellGenerators(out, t.mount, name, arg)
		if err != nil {
			return err
		}
		names = append(names, with...)
	default:
		fmt.Fprintf(out, "%s: a file that commands of a recipe may name\n", arg)
	}
	before := len(rows)
	for _, n := range names {
		sum, _, err := t.hash(n)
		if err != nil {
			return err
		}
		if n == name && sum != seen {
			return fmt.Errorf("%s changed in the meantime; nothing was trusted, try again", arg)
		}
		if row := (ctxabi.Trust{Path: n, SHA256: sum}); !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	if len(rows) == before {
		fmt.Fprintln(out, "trusted already")
		return nil
	}
	if err := t.write(rows); err != nil {
		return err
	}
	fmt.Fprintln(out, "trusted as it is now")
	return nil
}

// revoke takes the rows of name away, and with a package's recipe those of the package's files, with one of a shared space those of the agent's other
// files that are neither recipes nor settings of a session.
func (t trusts) revoke(out io.Writer, name string) error {
	unlock, err := t.lock()
	if err != nil {
		return err
	}
	defer unlock()
	rows, err := t.read()
	if err != nil {
		return err
	}
	home, entry := agentHomeOf(name)
	dir := path.Dir(name) + "/"
	kept := slices.DeleteFunc(slices.Clone(rows), func(r ctxabi.Trust) bool {
		switch {
		case r.Path == name:
			return true
		case path.Base(name) != ctxabi.AgentRecipeFile || !strings.HasPrefix(r.Path, dir):
			return false
		case packsource.InPackage(entry):
			return true
		}
		return inSpace(home) && isScript(strings.TrimPrefix(r.Path, home+"/"))
	})
	if len(kept) == len(rows) {
		return fmt.Errorf("%s is not trusted; 'ctxfs trust --list' shows what is", name)
	}
	if err := t.write(kept); err != nil {
		return err
	}
	fmt.Fprintln(out, "not trusted any more")
	return nil
}

// isScript reports whether a trusted file of an agent's home is one that a command names, and no recipe or setting.
func isScript(entry string) bool {
	ext, base := path.Ext(entry), path.Base(entry)
	setting := locate.Inside(entry, ctxabi.SessionDir) && (base == ctxabi.CwdFile || strings.HasSuffix(entry, "/"+ctxabi.EnvFile))
	return ext != ".yaml" && ext != ".yml" && !setting
}

// list prints one row for each path, in the order in which they were first trusted.
func (t trusts) list(out io.Writer) error {
	rows, err := t.read()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STATUS\tPATH")
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.Path] {
			continue
		}
		seen[r.Path] = true
		status := "changed"
		switch sum, _, err := t.hash(r.Path); {
		case errors.Is(err, iofs.ErrNotExist):
			status = "gone"
		case err != nil:
			status = "unreadable"
		case slices.Contains(rows, ctxabi.Trust{Path: r.Path, SHA256: sum}):
			status = "trusted"
		}
		fmt.Fprintf(w, "%s\t%s\n", status, r.Path)
	}
	return w.Flush()
}
