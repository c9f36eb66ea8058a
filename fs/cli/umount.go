package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/fs"
	"github.com/ctxfs/ctxfs/fs/mountpoint"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

func umountCmd() *cobra.Command {
	var limit time.Duration
	var store string
	var stop, force, dead bool
	c := &cobra.Command{
		Use:     "umount [flags] MOUNTPOINT",
		Aliases: []string{"unmount"},
		Short:   "Unmount, and wait until the daemon has ended",
		Long: `Unmount MOUNTPOINT and wait until its daemon has synced and left the store, so
that the store can be opened again at once. While programs have files of the mount
open, this is refused, as umount(8) does.

  --stop    tells the daemon to end. It removes the tree at once and serves open
            files until they are closed, or for its --shutdown-timeout
  --force   removes the tree at once, with every open file, and ends the daemon,
            even one that hangs. What was acknowledged is in the store already.
            It is no error if nothing is mounted
  --dead    removes only what a dead daemon left; a mount that answers stays

A mountpoint is protected against writes from its first mount on, also while its
daemon is down. umount ends that and restores the directory. If the mount is gone
already, umount only restores the directory, and needs the --store of the mount.
umount --dead keeps the protection. It also keeps the mount of a unit that systemd
starts again ($SERVICE_RESULT is not success): calls there fail with ENOTCONN.

If a daemon does not answer, its mount is named and left alone without --force:
the daemon may be stopped, or slow. What a daemon that was killed has left is
removed at once, even if it is in use.

` + cli.ExitHelp,
		Example: `  ctxfs umount /ctx
  ctxfs umount --stop /ctx          # although a shell still stands in it
  ctxfs umount --force /ctx         # the daemon hangs, or is gone and the mount in use`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if dead {
				return clearDead(args[0])
			}
			return umount(args[0], store, stop, force, limit)
		},
	}
	cli.StoreFlag(c, &store)
	c.Flags().DurationVar(&limit, "timeout", 40*time.Second, "how long to wait for the daemon")
	c.Flags().BoolVar(&stop, "stop", false, "end the daemon, even if files are open")
	c.Flags().BoolVar(&force, "force", false, "remove the mount at once and end the daemon, even if it hangs")
	c.Flags().BoolVar(&dead, "dead", false, "remove only what a dead daemon left")
	c.MarkFlagsMutuallyExclusive("stop", "force", "dead")
	return c
}

// clearDead takes mounts without a daemon away. It is what a unit does after its daemon: the mount may be another's.
func clearDead(arg string) error {
	if result := os.Getenv("SERVICE_RESULT"); result != "" && result != "success" {
		return nil // the unit is started again, and its mount repaired; until then each call in it fails
	}
	i, rest, ok := mounts.At(arg)
	if !ok || rest != "" {
		return nil
	}
	_, err := clearMount(i)
	return err
}

// clearMount takes a mount away whose daemon is gone, or was killed and hangs in the kernel. Nobody can save anything in it, and
// a daemon that hangs in its own mount ends with it. It says what it found; a mount that may answer is left alone.
func clearMount(i mounts.Info) (m mounts.Mount, err error) {
	m, _ = daemon.Ask(i)
	switch m.State {
	case mounts.Zombie:
		if err = fs.Abort(i.Point); err == nil && m.PID > 0 {
			err = daemon.WaitForExit(m.PID, cli.DaemonExitWait)
		}
	case mounts.Gone:
		err = fs.Clear(i.Point)
	}
	return m, err
}

// umount unmounts arg and restores its directory. If the mount is already gone, it restores the
// directory with the help of store. It returns an error if ctxfs is not mounted at arg, if arg is
// inside a mount, or if the unmount fails.
func umount(arg, store string, stop, force bool, limit time.Duration) error {
	i, rest, ok := mounts.At(arg)
	switch {
	case !ok:
		if lifted, err := mountpoint.Lift(locate.StoreDir(store), arg); lifted || force || err != nil {
			return err
		}
		if mountpoint.IsImmutable(arg) {
			return fmt.Errorf("%s: no ctxfs is mounted there, but the directory is protected against writes (chattr +i); name the --store of its mount", arg)
		}
		return fmt.Errorf("%s: no ctxfs is mounted there", arg)
	case rest != "":
		return fmt.Errorf("%s is inside the mount at %s; unmount that", arg, i.Point)
	}
	err := unmount(i, stop, force, limit)
	if err == nil {
		_, err = mountpoint.Lift(i.Source, i.Point)
	}
	return err
}

func unmount(i mounts.Info, stop, force bool, limit time.Duration) error {
	point := i.Point
	d, ok := daemon.Running(i.Source)
	if !ok || d.Mountpoint != point && d.Mountpoint != "" {
		d = daemon.Info{}
	}
	if force {
		return abort(point, d.PID, limit)
	}
	switch m, err := clearMount(i); {
	case err != nil || m.State == mounts.Gone || m.State == mounts.Zombie:
		return err
	case m.State == mounts.Stopped || m.State == mounts.Silent && !stop:
		return daemon.BusyError{Err: mounts.SilentError{Mount: m}}
	}
	if stop && d.PID > 0 {
		if err := signalDaemon(d.PID, unix.SIGTERM); err != nil {
			return err
		}
	} else if err := fs.Unmount(point); err != nil {
		return orBusy(point, err)
	} else if below, rest, ok := mounts.At(point); ok && rest == "" { // left over from before it
		if _, err := clearMount(below); err != nil {
			return err
		}
	}
	if d.PID > 0 {
		return withHolders(daemon.WaitForExit(d.PID, limit), i.Device)
	}
	return nil
}

// withHolders adds to the error that a daemon has not ended who still has its mount, in other namespaces.
func withHolders(err error, device string) error {
	if err == nil {
		return nil
	}
	if who := holders(device); len(who) > 0 {
		return fmt.Errorf("%w; these have it: %s", err, strings.Join(who, ", "))
	}
	return err
}

// mostHolders is how many namespaces are named.
const mostHolders = 5

// holders names a process of each mount namespace that shows a device: container runtimes, and who was begun with
// unshare(1) while it was mounted. Of other users' processes only root is told.
func holders(device string) (who []string) {
	procs, _ := filepath.Glob("/proc/[0-9]*/ns/mnt")
	seen := map[string]bool{}
	for _, name := range procs {
		ns, err := os.Readlink(name)
		if err != nil || seen[ns] || len(who) == mostHolders {
			continue
		}
		seen[ns] = true
		pid := strings.Split(name, "/")[2]
		all, _ := mounts.TableOf(pid)
		if slices.ContainsFunc(all, func(i mounts.Info) bool { return i.Device == device }) {
			comm, _ := os.ReadFile("/proc/" + pid + "/comm")
			who = append(who, fmt.Sprintf("%s (pid %s)", strings.TrimSpace(string(comm)), pid))
		}
	}
	return who
}

// forceWait is how long a daemon whose mount was taken away may need to end by itself before it is killed.
const forceWait = 2 * time.Second

// abort takes the mount away at once and waits until its daemon, where one is known, is gone.
func abort(mountpoint string, pid int, limit time.Duration) error {
	if pid > 0 {
		signalDaemon(pid, unix.SIGTERM) // for a daemon that can listen an abort without a stop is a failure
	}
	if err := fs.Abort(mountpoint); err != nil || pid == 0 {
		return err
	}
	if daemon.WaitForExit(pid, forceWait) == nil {
		return nil
	}
	if err := signalDaemon(pid, unix.SIGKILL); err != nil {
		return err
	}
	return daemon.WaitForExit(pid, max(limit, forceWait)) // what it is writing is finished first, on a disk that may be slow
}

func signalDaemon(pid int, sig unix.Signal) error {
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(sig)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the daemon (pid %d): %w", pid, err)
	}
	return nil
}

// orBusy returns the error of a failed mount or unmount, in words where it failed because the
// mountpoint is in use: the only reason for which a mount is still there
// afterwards, apart from missing permission.
func orBusy(mountpoint string, err error) error {
	if _, rest, ok := mounts.At(mountpoint); ok && rest == "" && !errors.Is(err, os.ErrPermission) {
		return daemon.BusyError{Err: err}
	}
	return err
}

// ClearDeadMounts removes the mounts of a store, and the mounts at points, whose daemon is gone or
// was killed and hangs in the kernel. It reports each removal to said. It tries all mounts and
// returns their errors joined.
func ClearDeadMounts(said io.Writer, store string, points []string) error {
	own, err := mounts.Own()
	meant := slices.DeleteFunc(own, func(i mounts.Info) bool { return i.Source != store })
	for _, p := range points {
		if i, rest, ok := mounts.At(p); ok && rest == "" && !slices.Contains(meant, i) {
			meant = append(meant, i)
		}
	}
	for _, i := range meant {
		m, failed := clearMount(i)
		if failed == nil && (m.State == mounts.Gone || m.State == mounts.Zombie) {
			fmt.Fprintf(said, "ctxfs: %s; it was removed\n", m.Trouble())
		}
		err = errors.Join(err, failed)
	}
	return err
}
