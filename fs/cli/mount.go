package cli

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/internal/volume"
)

// mountFlags are what the user asked for. The background daemon gets the same
// command line again, so everything here must come from flags.
type mountFlags struct {
	store      string
	foreground bool
	budget     int
	encoding   string
	maps       []string
	log        string
	logLevel   string
	fuseDebug  bool
	readOnly   bool
	noExec     bool
	mkdir      bool
	deadline   time.Duration
	gcInterval time.Duration
	gcGrace    time.Duration
	volumes    string // the socket on which Docker is answered; "": none
	redact     cli.RedactFlags

	mountpoint string // absolute; from the argument
}

func mountCmd() *cobra.Command {
	var f mountFlags
	c := &cobra.Command{
		Use:   "mount [flags] [MOUNTPOINT]",
		Short: "Serve a store at a directory",
		Long: `Serve a store at MOUNTPOINT, an empty directory. Without MOUNTPOINT it is ~/ctx,
which ctxfs makes; root must name one. ctxfs makes the store if it does not exist.
Without --foreground the command returns as soon as the mount answers. A daemon
goes on in the background and logs to ctxfs.log in the store (4 MiB, and the 4 MiB
before in ctxfs.1.log). If the store is mounted there already, mount says so and
changes nothing. If the mount fails, the reason is printed and the exit code is not
0.

MOUNTPOINT is protected against writes while its daemon is down, until 'ctxfs
umount'. If programs wrote there before, as if it was the mount, their files are
moved to the store, and 'ctxfs doctor' says how to import the records.

The program is installed with mount.fuse.ctxfs for mount(8) and fstab, and with
units for systemd; docs/host.md describes them.

If root mounts it, the filesystem serves every user of the machine, each in their
own home/UID. If a user mounts it, it serves that user only.

` + cli.ExitHelp,
		Example: `  ctxfs mount /ctx                          # root: store in /var/lib/ctxfs
  ctxfs mount                               # user: ~/ctx, store in ~/.local/share/ctxfs
  ctxfs mount --store /data/ctx --budget 64000 /ctx
  ctxfs mount --map /work=/home/me/project /ctx   # what a container calls its workspace
  ctxfs mount --volume-plugin /ctx          # sessions are Docker volumes, too
  ctxfs mount --redact /ctx                 # no keys or passwords in packs
  ctxfs mount --foreground /ctx             # under systemd, or to watch the log`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				home, err := os.UserHomeDir()
				if err != nil || os.Geteuid() == 0 {
					return cli.Usagef("name a MOUNTPOINT: ctxfs mount /ctx")
				}
				args, f.mkdir = []string{filepath.Join(home, "ctx")}, true
			}
			if err := f.complete(args[0]); err != nil {
				return err
			}
			if f.foreground {
				return serve(c.Context(), f, c.OutOrStdout())
			}
			if isMounted(f.store, f.mountpoint) {
				fmt.Fprintf(c.OutOrStdout(), "%s is already mounted at %s\n", f.store, f.mountpoint)
				return nil
			}
			return daemonise(f)
		},
	}
	fl := c.Flags()
	cli.StoreFlag(c, &f.store)
	fl.BoolVarP(&f.foreground, "foreground", "f", false, "stay in the foreground and log to standard error")
	cli.BuildFlags(c, &f.budget, &f.encoding, &f.maps)
	fl.StringVar(&f.log, "log", "", "`FILE` for the log of a background daemon (default ctxfs.log in the store)")
	f.redact.Add(c)
	addClusterFlag(c)
	fl.StringVar(&f.logLevel, "log-level", "info", "`LEVEL` of the log: debug, info, warn or error")
	fl.DurationVar(&f.deadline, "shutdown-timeout", 30*time.Second, "how long open files are still served after the daemon was told to stop")
	fl.DurationVar(&f.gcInterval, "gc-interval", gc.DefaultInterval, "how often the collector looks for what may be removed; 0: only when ctxfs gc asks")
	fl.DurationVar(&f.gcGrace, "gc-grace", gc.DefaultGrace, "how long something must be unused before the collector removes it")
	fl.StringVar(&f.volumes, "volume-plugin", "", "serve Docker's volume plugin on `SOCKET`, by default on "+volume.DefaultSocket+": docker volume create -d ctxfs")
	fl.Lookup("volume-plugin").NoOptDefVal = volume.DefaultSocket
	fl.BoolVar(&f.readOnly, "read-only", false, "allow no changes through the mount, and change nothing in the store: it keeps an older format")
	fl.BoolVar(&f.noExec, "noexec", false, "do not run programs that are in the mount")
	fl.BoolVar(&f.mkdir, "mkdir", false, "make MOUNTPOINT if it does not exist")
	fl.BoolVar(&f.fuseDebug, "debug-fuse", false, "log every FUSE request")
	return c
}

// isMounted reports whether store is mounted at point and its daemon answers.
func isMounted(store, point string) bool {
	i, rest, ok := mounts.At(point)
	if !ok || rest != "" || i.Source != store {
		return false
	}
	_, err := daemon.Ask(i)
	return err == nil
}

// complete makes paths absolute and checks what can be checked without touching the mountpoint.
func (f *mountFlags) complete(mountpoint string) (err error) {
	if f.mountpoint, err = locate.Mountpoint(mountpoint); err != nil {
		return err
	}
	if f.store == "" {
		f.store = locate.DefaultStore()
	}
	if f.store, err = filepath.Abs(f.store); err != nil {
		return err
	}
	if f.log == "" {
		f.log = filepath.Join(f.store, "ctxfs.log")
	} else if f.log, err = filepath.Abs(f.log); err != nil {
		return err
	}
	if f.budget < 0 {
		return cli.Usagef("--budget %d: a number of tokens, or 0 for no limit", f.budget)
	}
	if err = f.redact.Complete(); err != nil {
		return err
	}
	if f.gcInterval < 0 || f.gcGrace < 0 {
		return cli.Usagef("--gc-interval and --gc-grace: a duration like 1m, or 0")
	}
	if f.volumes != "" {
		if os.Geteuid() != 0 {
			return cli.Usagef("--volume-plugin needs a mount made by root: Docker could not enter this one")
		}
		if f.volumes, err = filepath.Abs(f.volumes); err != nil {
			return err
		}
	}
	if _, err = f.level(); err != nil {
		return err
	}
	_, err = cli.ParseMaps(f.maps)
	return err
}

// args is the command line that makes the same mount in the foreground.
func (f *mountFlags) args() []string {
	a := []string{
		"mount", "--foreground", "--store=" + f.store, fmt.Sprintf("--budget=%d", f.budget),
		"--encoding=" + f.encoding, "--log=" + f.log, "--log-level=" + f.logLevel,
		fmt.Sprintf("--shutdown-timeout=%s", f.deadline), fmt.Sprintf("--gc-interval=%s", f.gcInterval), fmt.Sprintf("--gc-grace=%s", f.gcGrace), fmt.Sprintf("--debug-fuse=%t", f.fuseDebug),
		fmt.Sprintf("--read-only=%t", f.readOnly), fmt.Sprintf("--noexec=%t", f.noExec), fmt.Sprintf("--mkdir=%t", f.mkdir),
	}
	a = append(a, f.redact.Args()...)
	for _, m := range f.maps {
		a = append(a, "--map="+m)
	}
	if f.volumes != "" {
		a = append(a, "--volume-plugin="+f.volumes)
	}
	return append(a, "--", f.mountpoint)
}

func (f *mountFlags) level() (l slog.Level, err error) {
	if l.UnmarshalText([]byte(f.logLevel)) != nil {
		return l, cli.Usagef("--log-level %q: one of debug, info, warn, error", f.logLevel)
	}
	return l, nil
}
