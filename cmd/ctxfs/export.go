package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

type exportFlags struct {
	store, format, output string
	losses                losses
	redact                redactFlags
}

func exportCmd() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export --format FORMAT [flags] SESSION",
		Short: "Write a session as a transcript of another program",
		Long: `Write the history of a session, its events and its children as a transcript. In
the format that it was imported from, this is the transcript that was imported,
and what was added to the session since. In another format it is what was said,
called and answered; standard error lists what that format cannot hold. The format
native is the session itself, for another ctxfs.

` + formatHelp() + `

` + sessionHelp + `

` + exitHelp,
		Example: `  ctxfs export --format openai coder/s1 | jq length
  ctxfs export --format claude-code -o s1.jsonl coder/s1
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
	storeFlag(c, &f.store)
	c.Flags().StringVar(&f.format, "format", "", "`FORMAT` of the transcript; list: print all")
	c.Flags().StringVarP(&f.output, "output", "o", "", "write to `FILE` instead of standard output")
	f.redact.add(c)
	lossFlags(c, &f.losses)
	return c
}

// listFormats is what --format takes to print them.
const listFormats = "list"

// formatHelp lists the formats for a verb's help.
func formatHelp() string {
	var b strings.Builder
	b.WriteString("FORMAT is one of\n")
	for _, f := range adapter.Formats() {
		fmt.Fprintf(&b, "  %-14s %s\n", f.Name, f.Title)
	}
	return strings.TrimSpace(b.String())
}

func printFormats(w io.Writer) error {
	for _, f := range adapter.Formats() {
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
	f, ok := adapter.Lookup(name)
	if !ok {
		return nil, usagef("%q is not a known format.\n%s", name, formatHelp())
	}
	return f, nil
}

func (f *exportFlags) run(arg string, out, messages io.Writer) (err error) {
	if f.format == "" {
		return usagef("--format is needed.\n%s", formatHelp())
	}
	format, err := formatNamed(f.format)
	if err != nil {
		return err
	}
	if format.Export == nil {
		return usagef("ctxfs can import %s, but not export it", format.Name)
	}
	if err := f.redact.complete(); err != nil {
		return err
	}
	redactor, err := f.redact.redactor()
	if err != nil {
		return err
	}
	told := ""
	at, err := findSession(arg, f.store)
	if err != nil {
		return err
	}
	from, err := reach(arg, at, false)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, from.close()) }()
	loss := func(l adapter.Loss) { f.losses.add("", l) }
	logs, err := recordsOf(from, at.ref, loss)
	if err != nil {
		return err
	}
	if redactor != nil {
		told = redacted(redactor, logs)
	}
	src := &adapter.Source{Name: at.ref.Session, Records: format.Arrange(logs...), Loss: loss}
	if f.output == "" || f.output == "-" {
		err = format.Export(src, out)
	} else {
		err = writeWhole(f.output, func(w io.Writer) error { return format.Export(src, w) })
	}
	if err != nil {
		return err
	}
	if told != "" {
		fmt.Fprintln(messages, told)
	}
	return f.losses.tell(messages)
}

// recordsOf gives the records of a session log by log: its messages, its
// events, and then those of its children, and of theirs. A child is the chain
// that its directory is called, the child b of the child a is a.b.
func recordsOf(from tree, ref ctxabi.Ref, loss func(adapter.Loss)) (logs [][]adapter.Record, err error) {
	h, err := from.open(ref)
	if err != nil {
		return nil, noSession(err, ref)
	}
	read := map[ctxabi.Ref]bool{}
	var walk func(h history, ref ctxabi.Ref, chain string) error
	walk = func(h history, ref ctxabi.Ref, chain string) error {
		read[ref] = true
		for _, log := range []string{ctxabi.MessagesFile, ctxabi.EventsFile} {
			records, err := recordsOfLog(h, log, chain, loss)
			if err != nil {
				return fmt.Errorf("%s: %w", filepath.Join(h.dir(), log), err)
			}
			logs = append(logs, records)
		}
		names, err := h.children()
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			return err
		}
		slices.Sort(names)
		for _, name := range names {
			at := strings.TrimPrefix(chain+"."+name, ".")
			to, ok := childRef(h, ref, name)
			if !ok || read[to] {
				loss(adapter.Loss{Where: "child " + at, What: "names no session, or one that is exported already; its result is not part of a transcript"})
				continue
			}
			child, err := from.open(to)
			if session.Gone(err) {
				loss(adapter.Loss{Where: "child " + at, What: "is linked to a session that is not there"})
				continue
			}
			if err == nil {
				err = walk(child, to, at)
			}
			if err != nil {
				return err
			}
		}
		return h.close()
	}
	return logs, walk(h, ref, "")
}

// recordsOfLog leaves out what is damaged.
func recordsOfLog(h history, log, chain string, loss func(adapter.Loss)) (records []adapter.Record, err error) {
	n := 0
	err = eachRecord(h, log, 0, func(line []byte) error {
		n++
		r := adapter.Record{Chain: chain, Event: log == ctxabi.EventsFile, Line: bytes.TrimSpace(line)}
		if err := r.Check(); err != nil {
			where := fmt.Sprintf("record %d of %s", n, log)
			if chain != "" {
				where += " of child " + chain
			}
			loss(adapter.Loss{Where: where, What: "is damaged, and left out"})
			return nil
		}
		records = append(records, r)
		return nil
	})
	return records, err
}

// noSession says in words that there is none.
func noSession(err error, ref ctxabi.Ref) error {
	if session.Gone(err) {
		return fmt.Errorf("there is no session %s; 'ctxfs session ls' lists them", ref)
	}
	return err
}

// writeWhole writes a file that only its owner reads: whole, or not at all
// where it is an ordinary one.
func writeWhole(name string, write func(io.Writer) error) error {
	fi, err := os.Stat(name)
	if err == nil && !fi.Mode().IsRegular() { // /dev/stdout, a pipe
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
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
