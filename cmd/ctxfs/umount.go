package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
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
	mounts, err := ctxfsMounts()
	if err != nil {
		return err
	}
	if !slices.Contains(mounts, mountpoint) {
		if mount, _ := mountOf(mountpoint); mount != "" {
			return fmt.Errorf("%s is inside the mount at %s; unmount that", mountpoint, mount)
		}
		return fmt.Errorf("%s: no ctxfs is mounted there", mountpoint)
	}
	daemon := daemonInfo{}
	if store := storeOfMount(mountpoint); store != "" {
		if d, ok := runningDaemon(store); ok && (d.Mountpoint == mountpoint || d.Mountpoint == "") {
			daemon = d
		}
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
		return err
	}
	if daemon.PID > 0 {
		return waitForExit(daemon.PID, limit)
	}
	return nil
}
