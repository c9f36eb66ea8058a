package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/cli"
)

// MountHelperName is the name of this program as a helper of mount(8) for file systems of type
// fuse.ctxfs: a symbolic link in /sbin. umount(8) needs no helper, because a mount waits for a
// daemon that is about to exit.
const MountHelperName = "mount.fuse.ctxfs"

// Exit codes of mount(8).
const (
	mountUsage  = 1
	mountFailed = 32
)

// helperFlags are those of mount(8) for its helpers.
type helperFlags struct {
	options               []string
	sloppy, fake, verbose bool
	namespace             string
}

// MountHelperCommand returns the command mount.fuse.ctxfs, which also is the source of its man
// page.
func MountHelperCommand() *cobra.Command {
	var f helperFlags
	c := &cobra.Command{
		Use:   MountHelperName + " [flags] STORE DIR",
		Short: "Mount a ctxfs for mount(8) and fstab(5)",
		Long: `The helper that mount(8) calls for a file system of type fuse.ctxfs. STORE is
the directory of the store, as an absolute path. It is made if it does not
exist. The mount goes on in the background, like one of "ctxfs mount".

Each flag of "ctxfs mount" is an option: budget=64000, encoding=cl100k_base,
map=/work=/home/me/project (may be repeated), shutdown-timeout=10s, gc-interval,
gc-grace, log=FILE, log-level=debug. Put a value with commas in double quotes.

Of the options of mount(8), ro and noexec do what they do everywhere. A ctxfs is
always nosuid and nodev. Options for mount(8), fstab(5) and systemd (defaults,
auto, noauto, user, nofail, _netdev, comment=, x-*) are accepted and left to
them. Options about access times, sync and allow_other are accepted and change
nothing: root's mount serves everybody. remount is refused. With -s an unknown
option is ignored.

The exit codes are those of mount(8): 0 mounted, 1 wrong usage, 32 failed.`,
		Example: `  mount -t fuse.ctxfs /var/lib/ctxfs /ctx -o budget=64000
  # /etc/fstab
  /var/lib/ctxfs  /ctx  fuse.ctxfs  budget=64000,nofail,x-systemd.requires-mounts-for=/var/lib  0  0`,
		SilenceErrors: true, SilenceUsage: true, DisableFlagsInUseLine: true,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			line, err := f.mountArgs(args[0], args[1])
			if err != nil {
				return err
			}
			if f.verbose {
				fmt.Fprintln(c.OutOrStdout(), "ctxfs", strings.Join(line, " "))
			}
			if f.fake {
				return nil
			}
			if isMounted(args[0], args[1]) { // mount(8) reports that as a failure
				return fmt.Errorf("%s is already mounted at %s", args[0], args[1])
			}
			if code := cli.Run(line, c.OutOrStdout(), c.ErrOrStderr()); code != cli.ExitOK {
				return cli.Silent{Code: code}
			}
			return nil
		},
	}
	fl := c.Flags()
	fl.StringArrayVarP(&f.options, "options", "o", nil, "`OPTIONS`, separated by commas")
	fl.BoolVarP(&f.sloppy, "sloppy", "s", false, "ignore unknown options")
	fl.BoolVarP(&f.fake, "fake", "f", false, "check the options and do nothing")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "print what is done")
	fl.BoolP("no-mtab", "n", false, "has no effect")
	fl.StringP("types", "t", "", "`TYPE` of the file system; has no effect")
	fl.StringVarP(&f.namespace, "namespace", "N", "", "refused: enter the `NAMESPACE` with nsenter(1) before")
	return c
}

var errNamespace = cli.Usagef("-N is not supported: enter the mount namespace first, with nsenter -m -t PID")

// MountHelper runs mount.fuse.ctxfs and returns an exit code of mount(8).
func MountHelper(args []string, stdout, stderr io.Writer) int {
	c := MountHelperCommand()
	c.SetArgs(args)
	c.SetOut(stdout)
	c.SetErr(stderr)
	cli.MarkFailures(c)
	err := c.Execute()
	if err == nil {
		return cli.ExitOK
	}
	if !errors.As(err, new(cli.Silent)) {
		fmt.Fprintf(stderr, "%s: %s\n", c.Name(), cli.Message(err))
	}
	if cli.ExitCode(err) == cli.ExitUsage {
		return mountUsage
	}
	return mountFailed
}

// notOurs are options of mount(8) that others have dealt with, or that are always or never so with a ctxfs.
var notOurs = words(`defaults auto noauto user nouser users owner noowner group nogroup _netdev nofail comment
	suid nosuid dev nodev async sync dirsync silent loud mand nomand symfollow
	atime noatime diratime nodiratime relatime norelatime strictatime nostrictatime lazytime nolazytime iversion noiversion
	allow_other default_permissions fsname subtype helper uhelper`)

func words(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// mountArgs translates a call of mount(8) into the command line of ctxfs.
func (f *helperFlags) mountArgs(store, dir string) ([]string, error) {
	if f.namespace != "" {
		return nil, errNamespace
	}
	if !filepath.IsAbs(store) {
		return nil, cli.Usagef("%q is not an absolute path: what is mounted is the directory of a store, such as /var/lib/ctxfs", store)
	}
	line := []string{"mount", "--store=" + store}
	flags := mountCmd().Flags()
	readOnly, noExec := false, false // the last one counts: mount(8) puts those of the command line behind those of fstab
	for _, o := range splitOptions(f.options) {
		name, value, valued := strings.Cut(o, "=")
		switch {
		case name == "ro" || name == "rw":
			readOnly = name == "ro"
			continue
		case name == "exec":
			noExec = false
			continue
		case name == "noexec" && !valued:
			noExec = true
			continue
		case name == "remount":
			return nil, cli.Usagef("a ctxfs cannot be remounted: umount %s, then mount it with the new options", dir)
		case strings.HasPrefix(name, "x-") || strings.HasPrefix(name, "X-") || notOurs[name]:
			continue
		}
		flag := flags.Lookup(strings.ReplaceAll(name, "_", "-"))
		if flag == nil || words("store foreground help")[flag.Name] {
			if f.sloppy {
				continue
			}
			return nil, cli.Usagef("the option %q is not known; man %s lists them", name, MountHelperName)
		}
		if !valued && flag.NoOptDefVal == "" {
			return nil, cli.Usagef("the option %s needs a value: %s=...", name, name)
		}
		if !valued {
			value = flag.NoOptDefVal
		}
		if err := flags.Set(flag.Name, value); err != nil {
			return nil, cli.Usagef("the option %s: %w", o, err)
		}
		line = append(line, "--"+flag.Name+"="+value)
	}
	if readOnly {
		line = append(line, "--read-only")
	}
	if noExec {
		line = append(line, "--noexec")
	}
	return append(line, "--", dir), nil
}

// CheckFstab returns the error of mount.fuse.ctxfs for a line of fstab, nil if the line is valid.
func CheckFstab(source, dir, options string) error {
	helper := helperFlags{options: []string{options}}
	_, err := helper.mountArgs(source, dir)
	return err
}

// splitOptions splits at commas outside of double quotes, which it removes.
func splitOptions(lists []string) (options []string) {
	for _, list := range lists {
		var o strings.Builder
		quoted := false
		for _, r := range list + "," {
			switch {
			case r == '"':
				quoted = !quoted
			case r == ',' && !quoted:
				if o.Len() > 0 {
					options = append(options, o.String())
				}
				o.Reset()
			default:
				o.WriteRune(r)
			}
		}
		if last := strings.TrimSuffix(o.String(), ","); last != "" { // a quotation that does not end
			options = append(options, last)
		}
	}
	return options
}
