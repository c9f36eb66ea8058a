package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/fs"
)

func umountCmd() *cobra.Command {
	var limit time.Duration
	var stop bool
	c := &cobra.Command{
		Use:     "umount [flags] MOUNTPOINT",
		Aliases: []string{"unmount"},
		Short:   "Unmount and wait until the daemon has gone",
		Long: `Unmount MOUNTPOINT and wait until its daemon has synced and left the store, so
that the store can be opened again at once. While programs hold files of the
mount open this is refused, as umount(8) does it; with --stop the daemon is
told to end: it takes the tree away at once and serves what is still open until
it is closed, or for its --shutdown-timeout.

` + exitHelp,
		Example: `  ctxfs umount /ctx
  ctxfs umount --stop /ctx          # although a shell still stands in it`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return umount(args[0], stop, limit) },
	}
	c.Flags().DurationVar(&limit, "timeout", 40*time.Second, "how long to wait for the daemon")
	c.Flags().BoolVar(&stop, "stop", false, "end the daemon although files are open")
	return c
}

func umount(arg string, stop bool, limit time.Duration) error {
	mountpoint, err := cleanMountpoint(arg)
	if err != nil {
		return err
	}
	m, ok := mountOf(mountpoint)
	switch {
	case !ok:
		return fmt.Errorf("%s: no ctxfs is mounted there", mountpoint)
	case m.point != mountpoint:
		return fmt.Errorf("%s is inside the mount at %s; unmount that", mountpoint, m.point)
	}
	daemon, ok := runningDaemon(m.store)
	if !ok || daemon.Mountpoint != mountpoint && daemon.Mountpoint != "" {
		daemon = daemonInfo{}
	}
	if stop && daemon.PID > 0 {
		p, err := os.FindProcess(daemon.PID)
		if err == nil {
			err = p.Signal(unix.SIGTERM)
		}
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stop the daemon (pid %d): %w", daemon.PID, err)
		}
	} else if err := fs.Unmount(mountpoint); err != nil {
		return orBusy(mountpoint, err)
	}
	if daemon.PID > 0 {
		return waitForExit(daemon.PID, limit)
	}
	return nil
}

// orBusy says of a failed mount or unmount that it failed because the
// mountpoint is in use: the only reason for which a mount is still there
// afterwards, apart from missing permission.
func orBusy(mountpoint string, err error) error {
	if m, ok := mountOf(mountpoint); ok && m.point == mountpoint && !errors.Is(err, os.ErrPermission) {
		return busy{err}
	}
	return err
}
