package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/agents/install"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/internal/usage"
)

// installFlags are what the user asked for.
type installFlags struct {
	user, project, hooks, mcp, dryRun, remove bool
	agent, mount                              string
}

func installCmd() *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use:   "install [flags] [" + strings.Join(install.Names(), "|") + "]",
		Short: "Connect an agent program: its sessions are recorded and remembered",
		Long: `Write hooks and the entry of the MCP server into the settings of an agent program.
From its next start on the program records its sessions, and is told what it needs
of earlier ones. opencode gets a plugin for hooks.

Only the entries of ctxfs are changed. Comments, order and indentation stay. The
path of the mount is written in, and the path of ctxfs if PATH does not find it. If
all is there, nothing is done. What a program asks you itself (whether it may run a
hook, whether it trusts a project) is not answered for you: the command prints it.

--remove gives each file the bytes that it had, if nobody changed it since. Else it
takes out the entries of ctxfs, and nothing more. Files that install made go.

Without a program the command lists the ones that are here, and changes nothing.
'ctxfs doctor' shows what is connected, and when the last record came.

` + cli.ExitHelp,
		Example: `  ctxfs install                                  # which programs are here
  ctxfs install claude-code                      # hooks and MCP, in all projects
  ctxfs install claude-code --project            # in this project, for you alone
  ctxfs install codex --mcp --dry-run
  ctxfs install gemini --mount /ctx --agent reviewer
  ctxfs install claude-code --remove`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: install.Names(),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := f.options()
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if len(args) == 0 {
				if f.remove || f.dryRun {
					return cli.Usagef("name a program: %s", strings.Join(install.Names(), ", "))
				}
				return proposeInstall(out, o)
			}
			p, ok := install.Lookup(args[0])
			if !ok {
				return cli.Usagef("%q is not a program that can be connected: %s%s", args[0], strings.Join(install.Names(), ", "), usage.Meant(args[0], install.Names()))
			}
			if err := ofAnother(o.Home); err != nil {
				return err
			}
			if f.remove {
				changes, err := install.Disconnect(p, o)
				printChanges(out, p, o, changes, "not connected")
				return err
			}
			if o.Mount, err = f.mountpoint(c.ErrOrStderr()); err != nil {
				return err
			}
			changes, next, err := install.Connect(p, o)
			if err != nil {
				return err
			}
			printChanges(out, p, o, changes, "connected")
			if len(changes) > 0 {
				printNext(out, append(append(next, outOfTheRepository(o, changes)...), afterBoot(o)...))
			}
			return nil
		},
	}
	fl := c.Flags()
	fl.BoolVar(&f.user, "user", false, "write your own settings, which hold in all projects (the default)")
	fl.BoolVar(&f.project, "project", false, "write the settings of this project")
	fl.BoolVar(&f.hooks, "hooks", false, "only hooks, unless --mcp is given, too")
	fl.BoolVar(&f.mcp, "mcp", false, "only the MCP server, unless --hooks is given, too")
	fl.StringVar(&f.agent, "agent", "", "`AGENT` that owns the sessions (default: the program's name)")
	cli.MountFlag(c, &f.mount)
	fl.BoolVarP(&f.dryRun, "dry-run", "n", false, "print what would change, and change nothing")
	fl.BoolVar(&f.remove, "remove", false, "take out what install wrote")
	c.MarkFlagsMutuallyExclusive("user", "project")
	return c
}

// options returns what the flags say, but for the mount.
func (f *installFlags) options() (o install.Options, err error) {
	if f.agent != "" && ctxabi.ValidName(f.agent) != nil {
		return o, cli.Usagef("%q is not a name of an agent", f.agent)
	}
	o = install.Options{Hooks: f.hooks, Server: f.mcp, Agent: f.agent, Getenv: os.Getenv, DryRun: f.dryRun}
	if !f.hooks && !f.mcp {
		o.Hooks, o.Server = true, true
	}
	if o.Home, err = os.UserHomeDir(); err != nil {
		return o, err
	}
	if o.Command, err = ownCommand(); err != nil {
		return o, err
	}
	if f.project {
		if o.Project, err = os.Getwd(); err == nil {
			o.Project, err = filepath.EvalSymlinks(o.Project)
		}
		o.Project = install.ProjectOf(o.Project)
	}
	return o, err
}

// ofAnother returns an error for root with the home of the user who called sudo: what root made there, that user and the
// user's programs could not read.
func ofAnother(home string) error {
	var st unix.Stat_t
	if os.Geteuid() != 0 || unix.Stat(home, &st) != nil || st.Uid == 0 || strconv.Itoa(int(st.Uid)) != os.Getenv("SUDO_UID") {
		return nil
	}
	return fmt.Errorf("%s is the home of the user who called sudo; install without sudo, or with sudo -H for root", home)
}

// ownCommand returns how a program calls this one: by its name if PATH finds it, else by its path.
func ownCommand() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	name, err := exec.LookPath("ctxfs")
	if err == nil && filepath.IsAbs(name) {
		a, err1 := os.Stat(name)
		b, err2 := os.Stat(self)
		if err1 == nil && err2 == nil && os.SameFile(a, b) {
			return "ctxfs", nil
		}
	}
	return self, nil
}

// mountpoint returns the mount that is written into settings. One that is named need not be mounted now.
func (f *installFlags) mountpoint(warnings io.Writer) (point string, err error) {
	if f.mount == "" {
		point, err = locate.Mount("")
		if errors.As(err, new(locate.NoMountError)) {
			return "", fmt.Errorf("%w\nMount one first: ctxfs mount --mkdir ~/ctx", err)
		}
	} else {
		point = f.mount
	}
	if err == nil {
		point, err = filepath.Abs(point)
	}
	if err != nil {
		return "", err
	}
	if _, rest, ok := mounts.At(point); !ok || rest != "" {
		fmt.Fprintf(warnings, "ctxfs: no ctxfs is mounted at %s now; hooks do nothing until one is\n", point)
	}
	return point, nil
}

// atHome writes a path below the user's home with ~.
func atHome(name, home string) string {
	if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(home, "/")+"/"); ok {
		return "~/" + rest
	}
	return name
}

// printChanges prints what was done, or would be.
func printChanges(out io.Writer, p install.Program, o install.Options, changes []install.Change, state string) {
	if len(changes) == 0 {
		fmt.Fprintf(out, "%s: nothing to do, %s %s\n", p.Title, partsOf(o), state)
		return
	}
	for _, c := range changes {
		what := ""
		switch {
		case c.Gone:
			what = " (the file goes)"
		case c.Made:
			what = " (new)"
		case c.Whole:
			what = " (as it was before)"
		case c.Backup != "":
			what = " (before: " + atHome(c.Backup, o.Home) + ")"
		}
		fmt.Fprintf(out, "%s%s\n", atHome(c.File, o.Home), what)
		for _, l := range c.Lines {
			fmt.Fprintf(out, "  %s\n", l)
		}
		if len(c.Lines) == 0 {
			fmt.Fprintln(out, "  the same entries, as this ctxfs writes them")
		}
	}
	if o.DryRun {
		fmt.Fprintln(out, "Nothing was changed: --dry-run")
	} else {
		fmt.Fprintf(out, "%s: %s %s\n", p.Title, partsOf(o), state)
	}
}

// partsOf names what o is about, with its verb.
func partsOf(o install.Options) string {
	switch {
	case !o.Server:
		return "hooks are"
	case !o.Hooks:
		return "MCP is"
	}
	return "hooks and MCP are"
}

func printNext(out io.Writer, next []string) {
	fmt.Fprintln(out, "Next:")
	for _, n := range next {
		fmt.Fprintln(out, "- "+n)
	}
}

// outOfTheRepository returns what to do about files of a project that are new, and of this machine.
func outOfTheRepository(o install.Options, changes []install.Change) (next []string) {
	if _, err := os.Lstat(filepath.Join(o.Project, ".git")); o.Project == "" || err != nil {
		return nil
	}
	var names []string
	for _, c := range changes {
		if rel, err := filepath.Rel(o.Project, c.File); err == nil && filepath.IsLocal(rel) {
			names = append(names, rel)
		}
	}
	if len(names) > 0 {
		next = append(next, "Keep out of the repository what is of this machine alone (.git/info/exclude): "+strings.Join(names, " "))
	}
	return next
}

// afterBoot returns how the mount comes back after a boot, where nothing is set up for that.
func afterBoot(o install.Options) []string {
	for _, wants := range []string{
		filepath.Join(o.Home, ".config/systemd/user/default.target.wants"), "/etc/systemd/user/default.target.wants", "/etc/systemd/system/multi-user.target.wants",
	} {
		if _, err := os.Lstat(filepath.Join(wants, "ctxfs.service")); err == nil {
			return nil
		}
	}
	table, _ := os.ReadFile("/etc/fstab")
	for line := range strings.Lines(string(table)) {
		if w := strings.Fields(line); len(w) > 1 && !strings.HasPrefix(w[0], "#") && w[1] == o.Mount {
			return nil
		}
	}
	const boot = "After a boot nothing is mounted. To mount it each time: "
	i, _, ok := mounts.At(o.Mount)
	standard := !ok || i.Source == locate.DefaultStore()
	switch {
	case standard && o.Mount == filepath.Join(o.Home, "ctx") && hasUnit("user"):
		return []string{boot + "systemctl --user enable ctxfs"}
	case standard && o.Mount == "/ctx" && os.Getuid() == 0 && hasUnit("system"):
		return []string{boot + "systemctl enable ctxfs"}
	}
	again := "ctxfs mount "
	if !standard {
		again += "--store " + install.Line(i.Source) + " "
	}
	return []string{"After a boot nothing is mounted. Mount it again: " + again + install.Line(o.Mount) + "   or set up a unit or fstab for it, see docs/host.md"}
}

// hasUnit reports whether the unit of ctxfs is installed, for systemd's user or system.
func hasUnit(of string) bool {
	for _, dir := range []string{"/etc", "/usr/local/lib", "/usr/lib", "/lib"} {
		if _, err := os.Stat(filepath.Join(dir, "systemd", of, "ctxfs.service")); err == nil {
			return true
		}
	}
	return false
}

// proposeInstall lists the programs that are here, and how each is connected.
func proposeInstall(out io.Writer, o install.Options) error {
	found := false
	for _, p := range install.Programs {
		s := install.Look(p, o)
		if !s.Found {
			continue
		}
		found = true
		switch {
		case s.Err != nil:
			fmt.Fprintf(out, "%-12s cannot be looked at: %v\n", p.Title, s.Err)
		case s.Hooks && s.Server:
			fmt.Fprintf(out, "%-12s is connected\n", p.Title)
		default:
			fmt.Fprintf(out, "%-12s %s: ctxfs install %s\n", p.Title, connected(s), p.Name)
		}
	}
	if !found {
		fmt.Fprintln(out, "None of these programs is here: "+strings.Join(install.Names(), ", "))
	}
	return nil
}

// connected returns what of ctxfs a program has, in words.
func connected(s install.Status) string {
	yes := map[bool]string{true: "yes", false: "no"}
	return "hooks " + yes[s.Hooks] + ", MCP " + yes[s.Server]
}
