package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/formats"
	"github.com/ctxfs/ctxfs/agents/transcript"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
)

type exportFlags struct {
	store, format, output string
	to                    string
	dryRun                bool
	losses                losses
	redact                cli.RedactFlags
}

func exportCmd() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export {--format FORMAT | --to PROGRAM} [flags] SESSION",
		Short: "Write a session as a transcript of another program",
		Long: `Write the history of a session, its events and its children as a transcript. In
the format that it was imported from, this is the transcript that was imported,
and what was added to the session since. In another format it is what was said,
called and answered; standard error lists what that format cannot hold. The format
native is the session itself, for another ctxfs.

--to hands the session over to a program: the transcript gets an id of its own,
and becomes a new file where the program looks for those of the session's cwd (of
the working directory, if the session names none). The file and the command that
resumes it are printed. PROGRAM is ` + strings.Join(transcript.Receivers(), " or ") + `.

` + formats.Help() + `

` + locate.SessionHelp + `

` + cli.ExitHelp,
		Example: `  ctxfs export --format openai coder/s1 | jq length
  ctxfs export --format claude-code -o s1.jsonl coder/s1
  ctxfs export --to codex claude-code/5f1c7a02     # go on in Codex
  ctxfs export --format native coder/s1 | ctxfs import - coder/copy
  ctxfs export --format openai --redact coder/s1   # to give away`,
		Args: func(c *cobra.Command, args []string) error {
			if f.format == listFormats {
				return cobra.NoArgs(c, args)
			}
			return cobra.ExactArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.format == listFormats {
				return printFormats(c.OutOrStdout())
			}
			return f.run(args[0], c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	cli.StoreFlag(c, &f.store)
	c.Flags().StringVar(&f.format, "format", "", "`FORMAT` of the transcript; list: print all")
	c.Flags().StringVarP(&f.output, "output", "o", "", "write to `FILE` instead of standard output")
	c.Flags().StringVar(&f.to, "to", "", "hand the session over to `PROGRAM`: "+strings.Join(transcript.Receivers(), ", "))
	c.Flags().BoolVarP(&f.dryRun, "dry-run", "n", false, "with --to: print the file and the command, and write nothing")
	c.MarkFlagsMutuallyExclusive("to", "format")
	c.MarkFlagsMutuallyExclusive("to", "output")
	f.redact.Add(c)
	lossFlags(c, &f.losses)
	return c
}

// listFormats is what --format takes to print them.
const listFormats = "list"

func printFormats(w io.Writer) error {
	for _, f := range formats.Formats() {
		direction := "import, export"
		if f.Export == nil {
			direction = "import"
		}
		if _, err := fmt.Fprintf(w, "%-14s %-15s %s\n", f.Name, direction, f.Title); err != nil {
			return err
		}
	}
	return nil
}

func formatNamed(name string) (*adapter.Format, error) {
	f, ok := formats.Lookup(name)
	if !ok {
		return nil, cli.Usagef("%q is not a known format.\n%s", name, formats.Help())
	}
	return f, nil
}

func (f *exportFlags) run(arg string, out, messages io.Writer) (err error) {
	if f.to != "" && !slices.Contains(transcript.Receivers(), f.to) {
		return cli.Usagef("--to takes %s, not %q", strings.Join(transcript.Receivers(), " or "), f.to)
	}
	if f.dryRun && f.to == "" {
		return cli.Usagef("--dry-run is for --to")
	}
	if f.format == "" && f.to == "" {
		return cli.Usagef("--format or --to is needed.\n%s", formats.Help())
	}
	format, err := formatNamed(cmp.Or(f.format, f.to))
	if err != nil {
		return err
	}
	if format.Export == nil {
		return cli.Usagef("ctxfs can import %s, but not export it", format.Name)
	}
	if err := f.redact.Complete(); err != nil {
		return err
	}
	redactor, err := f.redact.Redactor()
	if err != nil {
		return err
	}
	told := ""
	at, err := locate.Session(arg, f.store)
	if err != nil {
		return err
	}
	from, err := reach(arg, at, false)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, from.Close()) }()
	loss := func(l adapter.Loss) { f.losses.all.Add("", l) }
	logs, err := transcript.Records(from, at.Ref, format.Verbatim, loss)
	if err != nil {
		return err
	}
	if redactor != nil {
		told = transcript.Redact(redactor, logs)
	}
	src := &adapter.Source{Name: at.Ref.Session, Records: format.Arrange(logs...), Loss: loss}
	export := func(w io.Writer) error { return format.Export(src, w) }
	switch {
	case f.to != "":
		var cwd string
		if cwd, err = transcript.Cwd(from, at.Ref); err == nil {
			err = transcript.HandOver(f.to, cwd, f.dryRun, export, out)
		}
	case f.output == "" || f.output == "-":
		err = export(out)
	default:
		err = writeWhole(f.output, export)
	}
	if err != nil {
		return err
	}
	if told != "" {
		fmt.Fprintln(messages, told)
	}
	return f.losses.tell(messages)
}

// writeWhole writes a file that only its owner reads: whole, or not at all
// where it is an ordinary one.
func writeWhole(name string, write func(io.Writer) error) error {
	fi, err := os.Stat(name)
	if err == nil && !fi.Mode().IsRegular() { // /dev/stdout, a pipe
		f, err := os.OpenFile(name, os.O_WRONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		return cmp.Or(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := cmp.Or(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
