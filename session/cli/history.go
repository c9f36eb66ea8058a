package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/session"
)

func historyCmd() *cobra.Command {
	var show string
	var asJSON bool
	c := &cobra.Command{
		Use:   "history [flags] FILE",
		Short: "List what a setting, a pin or a note of a cluster held before",
		Long: `Print a line for each time that FILE was written or removed, the newest first: the
number of the journal's entry, when it was, on which host, by which user, and how
many bytes it had then. --show prints what it held, once entry NUMBER had written
it; of a note that ctxfs derives, that is what was added or written.

FILE is a file of a session in a mount of a cluster that programs write as a whole:
state, meta.json, context/budget, context/pinned/*, context/todo.md, and so on. Who
may read it may read its history. The history goes back as far as the cluster keeps
the journal, and to one content before that. A store of one machine keeps the
present content alone, and logs have their history in themselves.`,
		Example: "  ctxfs history context/todo.md\n  ctxfs history --show 17 context/pinned/rules.md",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("show") {
				return printHistory(args[0], asJSON, c.OutOrStdout())
			}
			if _, err := strconv.ParseUint(show, 10, 64); err != nil {
				return cli.Usagef("%q is not the number of an entry", show)
			}
			return printEarlier(args[0], show, c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&show, "show", "", "print what entry `NUMBER` has written")
	c.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each")
	return c
}

// historyAttr returns the value of an attribute that begins with ctxabi.HistoryAttr. It returns the error of the
// file system, and one that explains where there is no history.
func historyAttr(file, asked string) ([]byte, error) {
	value := make([]byte, 64<<10) // as long as an attribute can be
	n, err := unix.Getxattr(file, ctxabi.HistoryAttr+asked, value)
	switch {
	case err != nil && os.IsTimeout(err):
		return nil, fmt.Errorf("the journal of %s cannot be read, because the cluster does not answer: %w", file, err)
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%s has no history: that is kept by a cluster alone, of the files that programs write as a whole (%w)", file, err)
	case err != nil:
		return nil, &os.PathError{Op: "history", Path: file, Err: err}
	}
	return value[:n], nil
}

func printHistory(file string, asJSON bool, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows := 0
	for asked := ""; ; {
		page, err := historyAttr(file, asked)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for line := range bytes.Lines(page) {
			var r session.Revision
			if err := json.Unmarshal(line, &r); err != nil {
				return err
			}
			asked = ".before." + strconv.FormatUint(r.Entry, 10)
			if rows++; asJSON {
				out.Write(line)
				continue
			}
			if rows == 1 {
				fmt.Fprintln(table, "ENTRY\tTIME\tHOST\tUSER\tBYTES")
			}
			at, who, size := "-", "-", strconv.FormatInt(r.Size, 10)
			if !r.Time.IsZero() {
				at = r.Time.UTC().Format(time.RFC3339)
			}
			if r.Known {
				who = strconv.FormatUint(uint64(r.UID), 10)
			}
			if r.Size < 0 {
				size = "removed"
			}
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", r.Entry, at, r.Host, who, size)
		}
	}
	if rows == 0 && !asJSON {
		fmt.Fprintf(out, "%s was never written\n", file)
	}
	return table.Flush()
}

func printEarlier(file, entry string, out io.Writer) error {
	for off := 0; ; {
		part, err := historyAttr(file, "."+entry+"."+strconv.Itoa(off))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("entry %s has not written %s, or is not kept any more; ctxfs history lists those that have", entry, file)
		}
		if err != nil || len(part) == 0 {
			return err
		}
		if _, err := out.Write(part); err != nil {
			return err
		}
		off += len(part)
	}
}
