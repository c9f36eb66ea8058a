package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/log"
)

func sessionArchiveCmd() *cobra.Command {
	var store string
	c := &cobra.Command{
		Use:   "archive [flags] SESSION...",
		Short: "Compress the history of sessions; it stays readable in place",
		Long: fmt.Sprintf(`Compress what is in the logs of sessions. Nothing changes for those who read or
append: sizes, offsets, lines, packs and heads stay what they are. In the store
the records move from messages.jsonl to messages.jsonl.<n>.zst; zstdcat of these
and cat of the rest print all of them. A log that has less than %d KiB of new
records is left as it is. The command prints what it archived of each log.

archive_after in a session's context/gc.policy lets ctxfs gc do the same.

`, log.SealMin>>10) + locate.SessionHelp,
		Example: "  ctxfs session archive coder/s1\n  ctxfs session show coder/s1",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for _, arg := range args {
				at, err := locate.Session(arg, store)
				if err == nil {
					err = archiveSession(c.Context(), c.OutOrStdout(), arg, at)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	cli.StoreFlag(c, &store)
	return c
}

var archivedLogs = []string{ctxabi.MessagesFile, ctxabi.EventsFile}

func archiveSession(ctx context.Context, out io.Writer, arg string, at locate.Place) (err error) {
	say := func(logName string, size int64, a archive.Archived) {
		fmt.Fprintf(out, "%s/%s: %d of %d bytes are archived, in %d\n", at.Ref.Path(), logName, a.Raw, size, a.Packed)
	}
	if mounted, err := locate.MountedDir(arg, at); err != nil {
		return err
	} else if mounted != "" {
		if err := unix.Setxattr(mounted, ctxabi.ArchiveAttr, []byte("1"), 0); err != nil {
			return mounts.Refused(mounted, &os.PathError{Op: "archive", Path: mounted, Err: err})
		}
		for _, logName := range archivedLogs {
			file := filepath.Join(mounted, logName)
			fi, err := os.Stat(file)
			if err != nil {
				return err
			}
			say(logName, fi.Size(), archive.Archived{Raw: numberAttr(file, "user.ctx.sealed"), Packed: numberAttr(file, "user.ctx.packed")})
		}
		return nil
	}
	store, err := cli.OpenToChange(at.Store)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	x, err := store.Session(at.Ref)
	if err != nil {
		return err
	}
	if _, _, err := x.Archive(ctx); err != nil {
		return err
	}
	for _, l := range []*log.Log{x.Messages(), x.Events()} {
		a, err := l.Archived()
		if err != nil {
			return err
		}
		say(l.Name(), l.Len(), a)
	}
	return nil
}

// numberAttr reads an attribute that is a number; 0 when there is none.
func numberAttr(file, name string) int64 {
	v, _ := strconv.ParseInt(mounts.Attr(file, name), 10, 64)
	return v
}
