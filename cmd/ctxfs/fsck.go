package main

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
	"github.com/ctxfs/ctxfs/fs"
	"github.com/ctxfs/ctxfs/pack/build"
	"github.com/ctxfs/ctxfs/search"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/volume"
)

// checkup is what fsck --json prints.
type checkup struct {
	session.FsckSummary
	Found []session.Damage `json:"found"`
}

func fsckCmd() *cobra.Command {
	var store string
	var repair, asJSON bool
	c := &cobra.Command{
		Use:   "fsck [flags] [SESSION...]",
		Short: "Find damage in a store, and repair what can be",
		Long: `Look at every file of the store, or of the given sessions: all that ctxfs verify
looks at, and beside it caches, settings, what packs are remembered by, owners
and modes, files that do not belong there. For each thing that is wrong there
are a line that says how bad it is, which file and what, and one that says what
a repair does. How bad:

  lost         the history is damaged, or another thing that nothing else tells:
               the line names the records and bytes. The rest is served as it is
  rebuildable  it follows from what is whole
  odd          nothing is missing, but it does not belong so

Without --repair nothing is changed, and a running daemon is not disturbed.
--repair needs the store for itself. It never removes or changes a record that is
whole, and moves what is no cache to the quarantine of its session (or of the
store) before anything takes its place.

The exit code is 0 when nothing is wrong, or nothing is any more, else 1.

` + sessionHelp,
		Example: "  ctxfs fsck\n  ctxfs fsck --repair coder/s1\n  ctxfs fsck --json | jq -r '.found[] | select(.severity == \"lost\") | .path + \": \" + .what'",
		RunE: func(c *cobra.Command, args []string) error {
			dir, wanted, err := placesOf(args, store)
			if err != nil {
				return err
			}
			return fsck(c.Context(), dir, wanted, repair, asJSON, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	storeFlag(c, &store)
	c.Flags().BoolVar(&repair, "repair", false, "repair what can be repaired; the store must not be served")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object: counts, and a list of what was found")
	return c
}

func fsck(ctx context.Context, dir string, wanted []place, repair, asJSON bool, out, errOut io.Writer) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	daemon, served := runningDaemon(dir)
	if served && repair {
		return servedError(dir, daemon)
	}
	sum := checkup{Found: []session.Damage{}}
	remain := 0
	found := func(d session.Damage) {
		if !d.Repaired {
			remain++
		}
		sum.Found = append(sum.Found, d)
		if !asJSON {
			printDamage(out, d, repair)
		}
	}
	o := session.FsckOptions{Repair: repair, Served: served, Kinds: slices.Concat(build.FileKinds(), search.FileKinds(), fs.FileKinds()), Deep: checkDerived}
	for _, at := range wanted {
		o.Sessions = append(o.Sessions, at.ref)
	}
	if file, ok := errOut.(*os.File); ok && !asJSON && isTerminal(file) {
		o.Progress = func(ref ctxabi.Ref, done, all int) {
			fmt.Fprintf(errOut, "\r\x1b[K%d of %s: %s\r", done+1, sessions(all), ref)
		}
		defer fmt.Fprint(errOut, "\r\x1b[K")
	}
	if sum.FsckSummary, err = session.Fsck(ctx, dir, o, found); err != nil {
		if errors.Is(err, ctxabi.ErrLocked) {
			daemon, _ := runningDaemon(dir)
			return servedError(dir, daemon)
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
		err = printJSON(out, sum)
	} else {
		fmt.Fprintln(out, sum.words(remain))
	}
	if remain > 0 {
		return errors.Join(silent{exitFailed}, err)
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
		fmt.Fprintf(&b, "%d found, and dealt with", len(s.Found))
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

func printDamage(out io.Writer, d session.Damage, repair bool) {
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

// servedError says which daemon is in the way of a repair.
func servedError(dir string, d daemonInfo) error {
	switch {
	case d.Mountpoint != "":
		return busy{fmt.Errorf("%s is served at %s by pid %d; a repair needs it for itself: ctxfs umount %s", dir, d.Mountpoint, d.PID, d.Mountpoint)}
	case d.PID != 0:
		return busy{fmt.Errorf("%s is held by pid %d; a repair needs it for itself", dir, d.PID)}
	}
	return busy{fmt.Errorf("%s is served by another ctxfs; a repair needs it for itself", dir)}
}

// checkDaemonFile looks for the hint of a daemon that is gone.
func checkDaemonFile(dir string, repair bool, found func(session.Damage)) {
	name := filepath.Join(dir, daemonFile)
	if _, err := os.Lstat(name); err != nil {
		return
	}
	d := session.Damage{Path: daemonFile, Severity: session.Odd, What: "it speaks of a daemon that does not run any more", Repair: "removed"}
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
func checkVolumesFile(dir string, repair bool, found func(session.Damage)) {
	name := filepath.Join(dir, session.VolumesFile)
	wrong := volume.Check(name)
	if wrong == nil {
		return
	}
	d := session.Damage{Path: session.VolumesFile, Severity: session.Lost, What: inWords(wrong), Repair: "moved to the quarantine; the sessions are as they were"}
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

// placesOf finds the sessions that args name, which are of one store; nil when there are none.
func placesOf(args []string, store string) (dir string, wanted []place, err error) {
	for _, arg := range args {
		at, err := findSession(arg, store)
		if err != nil {
			return "", nil, err
		}
		if len(wanted) > 0 && at.store != dir {
			return "", nil, usagef("%q is in the store %s, the ones before it in %s: one store at a time", arg, at.store, dir)
		}
		dir = at.store
		wanted = append(wanted, at)
	}
	if wanted == nil {
		dir, err = storeMeant(store)
	}
	return dir, wanted, err
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// checkDerived looks at what packs and the search index keep of a session's history.
func checkDerived(ctx context.Context, x *session.Session) ([]session.Problem, error) {
	chunks, err := build.CheckChunks(ctx, x)
	if err != nil {
		return chunks, err
	}
	index, err := search.Check(ctx, x)
	return append(chunks, index...), err
}
