package cli

import (
	"context"
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

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc/world"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/volume"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/search"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
)

// checkup is what fsck --json prints.
type checkup struct {
	check.FsckSummary
	Found []check.Damage `json:"found"`
}

func fsckCmd() *cobra.Command {
	var store string
	var repair, asJSON bool
	c := &cobra.Command{
		Use:   "fsck [flags] [SESSION...]",
		Short: "Find damage in a store, and repair what can be repaired",
		Long: `Look at every file of the store, or of the given sessions: all that ctxfs verify
checks, and also caches, settings, records of packs, owners and modes, and files
that do not belong there. For each thing that is wrong fsck prints a line with how
bad it is, the file and what is wrong, and a line with what a repair does:

  lost         the history is damaged, or something else that has no second copy:
               the line names the records and bytes. The rest is served as it is
  rebuildable  ctxfs can make it again from what is whole
  odd          nothing is missing, but it does not belong so

Without --repair fsck changes nothing and does not disturb a running daemon.
--repair needs the store for itself. It never removes or changes a record that is
whole. It moves what is not a cache to the quarantine of the session (or of the
store) before it puts anything in its place.

The exit code is 0 if nothing is wrong, or nothing is wrong any more, else 1.

` + locate.SessionHelp,
		Example: "  ctxfs fsck\n  ctxfs fsck --repair coder/s1\n  ctxfs fsck --json | jq -r '.found[] | select(.severity == \"lost\") | .path + \": \" + .what'",
		RunE: func(c *cobra.Command, args []string) error {
			dir, wanted, err := locate.Sessions(args, store)
			if err != nil {
				return err
			}
			return fsck(c.Context(), dir, wanted, repair, asJSON, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	cli.StoreFlag(c, &store)
	c.Flags().BoolVar(&repair, "repair", false, "repair what can be repaired; the store must not be served")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object: counts, and a list of what was found")
	return c
}

func fsck(ctx context.Context, dir string, wanted []locate.Place, repair, asJSON bool, out, errOut io.Writer) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	d, served := daemon.Running(dir)
	if served && repair {
		return servedError(dir, d)
	}
	sum := checkup{Found: []check.Damage{}}
	remain := 0
	found := func(d check.Damage) {
		if !d.Repaired {
			remain++
		}
		sum.Found = append(sum.Found, d)
		if !asJSON {
			printDamage(out, d, repair)
		}
	}
	o := check.FsckOptions{Repair: repair, Served: served, Kinds: slices.Concat(builder.FileKinds(), search.FileKinds(), world.FileKinds()), Deep: builder.CheckChunks,
		OwnerKinds: search.OwnerKinds(), DeepOwner: search.Check}
	for _, at := range wanted {
		o.Sessions = append(o.Sessions, at.Ref)
	}
	if file, ok := errOut.(*os.File); ok && !asJSON && isTerminal(file) {
		o.Progress = func(ref ctxabi.Ref, done, all int) {
			fmt.Fprintf(errOut, "\r\x1b[K%d of %s: %s\r", done+1, sessions(all), ref)
		}
		defer fmt.Fprint(errOut, "\r\x1b[K")
	}
	if sum.FsckSummary, err = check.Fsck(ctx, dir, o, found); err != nil {
		if errors.Is(err, ctxabi.ErrLocked) {
			d, _ := daemon.Running(dir)
			return servedError(dir, d)
		}
		return err
	}
	if wanted == nil {
		checkVolumesFile(dir, repair, found)
		if !served {
			checkDaemonFile(dir, repair, found)
		}
	}
	if asJSON {
		err = cli.PrintJSON(out, sum)
	} else {
		fmt.Fprintln(out, sum.words(remain))
	}
	if remain > 0 {
		return errors.Join(cli.Silent{Code: cli.ExitFailed}, err)
	}
	return err
}

// words is the last line that people read.
func (s *checkup) words(remain int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d files, %.1f MB: ", sessions(s.Sessions), s.Files, float64(s.Bytes)/1e6)
	switch {
	case len(s.Found) == 0:
		b.WriteString("no problems")
	case remain == 0:
		fmt.Fprintf(&b, "%d found, none of them remain", len(s.Found))
	case remain == len(s.Found):
		fmt.Fprintf(&b, "%d found", len(s.Found))
	default:
		fmt.Fprintf(&b, "%d found, %d of them remain", len(s.Found), remain)
	}
	if s.Quarantined > 0 {
		fmt.Fprintf(&b, "; %d files in quarantines", s.Quarantined)
	}
	return b.String()
}

func printDamage(out io.Writer, d check.Damage, repair bool) {
	fmt.Fprintf(out, "%-11s  %s: %s\n", d.Severity, d.Path, d.What)
	switch {
	case d.Repair == "":
	case d.Repaired:
		fmt.Fprintf(out, "%-11s  → %s\n", "", d.Repair)
	case repair:
		fmt.Fprintf(out, "%-11s  not repaired: %s\n", "", d.Repair)
	default:
		fmt.Fprintf(out, "%-11s  --repair: %s\n", "", d.Repair)
	}
}

// servedError returns the error that a daemon is in the way of a repair, and which.
func servedError(dir string, d daemon.Info) error {
	switch {
	case d.Mountpoint != "":
		return daemon.BusyError{Err: fmt.Errorf("%s is served at %s by pid %d; a repair needs the store for itself: ctxfs umount %s", dir, d.Mountpoint, d.PID, d.Mountpoint)}
	case d.PID != 0:
		return daemon.BusyError{Err: fmt.Errorf("%s is held by pid %d; a repair needs the store for itself", dir, d.PID)}
	}
	return daemon.BusyError{Err: fmt.Errorf("%s is served by another ctxfs; a repair needs the store for itself", dir)}
}

// checkDaemonFile looks for the hint of a daemon that is gone.
func checkDaemonFile(dir string, repair bool, found func(check.Damage)) {
	name := filepath.Join(dir, session.DaemonFile)
	if _, err := os.Lstat(name); err != nil || daemon.Ended(dir) != "" { // doctor reports that
		return
	}
	d := check.Damage{Path: session.DaemonFile, Severity: check.Odd, What: "it speaks of a daemon that does not run any more", Repair: "removed"}
	if repair {
		err := os.Remove(name)
		if d.Repaired = err == nil; err != nil {
			d.Repair = err.Error()
		}
	}
	found(d)
}

// checkVolumesFile looks at the definitions of Docker's volumes, without which a daemon would not serve them. A repair
// keeps the file beside the log: its lines are easily mended by hand.
func checkVolumesFile(dir string, repair bool, found func(check.Damage)) {
	name := filepath.Join(dir, session.VolumesFile)
	wrong := volume.Check(name)
	if wrong == nil {
		return
	}
	d := check.Damage{Path: session.VolumesFile, Severity: check.Lost, What: cli.Message(wrong), Repair: "moved to the quarantine; the sessions are as they were"}
	if repair {
		aside := filepath.Join(dir, "quarantine")
		err := os.Mkdir(aside, 0o700)
		if err == nil || errors.Is(err, os.ErrExist) {
			err = os.Rename(name, filepath.Join(aside, fmt.Sprintf("%s.%d", session.VolumesFile, time.Now().Unix())))
		}
		if d.Repaired = err == nil; err != nil {
			d.Repair = err.Error()
		}
	}
	found(d)
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
