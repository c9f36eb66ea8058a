package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/formats"
	"github.com/ctxfs/ctxfs/agents/transcript"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/usage"
)

type importFlags struct {
	store, format, agent string
	quiet                bool
	everything, follow   bool
	cwd                  string // where the program worked
	waits                bool   // for another import into the session
	added                transcript.Counts
	losses               losses
}

func importCmd() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import [flags] FILE... SESSION\n  ctxfs import [flags] FILE\n  ctxfs import --all [flags] [DIR...]",
		Short: "Make a session from transcripts of other programs",
		Long: `Read transcripts of other programs into a session and print its directory. The
session is made if it is not there. Messages become messages, everything else
becomes events, and the conversation of a sub-agent becomes a child. Import a
transcript again when it has grown: only what is new is added. This is also true
after an import that was interrupted.

ctxfs detects the format; --format sets it. FILE - is standard input. A directory
is one transcript if the program keeps it in several files. Standard error lists
what cannot be carried; as far as it fits, it is kept in events.

With --all, every transcript in the places where Claude Code, Codex, Gemini CLI,
opencode and pi keep theirs (or below each DIR) becomes a session: its agent is the
program (--agent sets it), its name the program's id, its cwd where the program
worked. A FILE of one of them without SESSION becomes the same session. With
--follow it goes on until it is interrupted, and adds what the programs write.

` + formats.Help() + `

` + locate.SessionHelp + `

` + cli.ExitHelp,
		Example: `  ctxfs import ~/.claude/projects/-home-me-app/5f1c2d7e.jsonl coder/monday
  ctxfs import ~/.claude/projects/-home-me-app/5f1c2d7e.jsonl    # claude-code/5f1c2d7e
  ctxfs import --format openai - coder/s1 < chat.json
  ctxfs import --all                       # again at any time: only what is new is added
  cat "$(ctxfs import run.traj /ctx/home/$(id -u)/agent/swe/session/1)"/context/pack.md`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case f.format == listFormats:
				return cobra.NoArgs(c, args)
			case f.everything && f.format != "":
				return usage.Errorf("--all finds transcripts of all formats; omit --format")
			case f.everything && f.losses.file != "":
				return usage.Errorf("--losses is for the losses of one session; omit it with --all")
			case f.everything:
				return nil
			case f.follow:
				return usage.Errorf("--follow goes with --all")
			case f.agent != "":
				return usage.Errorf("--agent goes with --all; a SESSION names its agent itself")
			}
			return cobra.MinimumNArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.format == listFormats {
				return printFormats(c.OutOrStdout())
			}
			if f.everything {
				return f.all(args, c.OutOrStdout(), c.ErrOrStderr())
			}
			if len(args) == 1 {
				return f.alone(args[0], c.OutOrStdout(), c.ErrOrStderr())
			}
			return f.run(args[:len(args)-1], args[len(args)-1], c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	cli.StoreFlag(c, &f.store)
	c.Flags().StringVar(&f.format, "format", "", "`FORMAT` of the transcripts, instead of the detected one; list: print all")
	c.Flags().BoolVar(&f.everything, "all", false, "all transcripts that programs have kept of you, each as a session")
	c.Flags().BoolVar(&f.follow, "follow", false, "with --all, go on: import what is new and what grows")
	c.Flags().StringVar(&f.agent, "agent", "", "with --all, the `NAME` of the agent that gets the sessions, instead of the program's")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no summary; losses are still listed")
	lossFlags(c, &f.losses)
	return c
}

func (f *importFlags) run(files []string, arg string, stdin io.Reader, out, messages io.Writer) (err error) {
	var format *adapter.Format
	if f.format != "" {
		if format, err = formatNamed(f.format); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second one ends what does not look at ctx, as a pipe that nobody writes to
	transcripts, err := transcript.Find(files, interruptible(ctx, stdin))
	if err != nil {
		return err
	}
	defer transcripts.Close()
	if err := transcripts.Detect(format); err != nil {
		return err
	}
	at, err := locate.Session(arg, f.store)
	if err == nil && f.store == "" {
		err = locate.CheckNewStore(at, "name the session there:")
	}
	if err != nil {
		return err
	}
	to, err := reach(arg, at, true)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, to.Close()) }()
	bar := newProgress(messages, transcripts.Size(), f.quiet)
	im := transcript.NewImporter(ctx, to, at.Ref, &f.losses.all, bar)
	im.Waits, im.AllBranches = f.waits, f.losses.strict
	for _, t := range transcripts {
		if err = im.Read(t); err != nil {
			break
		}
	}
	if err == nil {
		transcripts.Unnamed(&f.losses.all)
	}
	err = cmp.Or(err, im.WorkedIn(f.cwd))
	err = cmp.Or(err, im.End())
	bar.end()
	f.added = im.Count
	return f.tell(im, transcripts, err, out, messages)
}

// interruptible reads from r until ctx ends, also while r has nothing to give.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	var once sync.Once
	return readerFunc(func(p []byte) (int, error) {
		once.Do(func() {
			context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
			go func() { _, err := io.Copy(in, r); in.CloseWithError(err) }()
		})
		return out.Read(p)
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// tell prints what was done and what was not; it returns err in words, or the error that the losses mean.
func (f *importFlags) tell(im *transcript.Importer, from transcript.Transcripts, err error, out, messages io.Writer) error {
	if im.Dir() != "" && (err == nil || im.Count.Records > 0) {
		fmt.Fprintln(out, im.Dir())
	}
	if !f.quiet {
		for _, t := range from {
			fmt.Fprintf(messages, "%s: %s\n", t.Name, t.How)
		}
		if im.Dir() != "" && (err == nil || im.Count.Records > 0) {
			tellCounts(im.Count, messages)
		}
	}
	if len(from) == 1 {
		f.losses.all.OneFile()
	}
	lost := f.losses.tell(messages)
	switch {
	case errors.Is(err, context.Canceled) && im.Count.Records == 0:
		return errors.New("interrupted; nothing was imported")
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; what was imported until then is in the session, import again for the rest")
	case err != nil && im.Count.Records > 0:
		return fmt.Errorf("%w; what was imported until then is in the session, import again for the rest", err)
	case err != nil:
		return err
	case im.Dir() == "":
		return fmt.Errorf("%w: there is no record in %s", transcript.ErrNothing, from.Names())
	}
	return lost
}

// tellCounts writes what an import did to w.
func tellCounts(c transcript.Counts, w io.Writer) {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{c.Messages, "message"}, {c.Events, "event"}, {c.Children, "child session"}} {
		if p.n > 0 {
			parts = append(parts, cli.Plural(p.n, p.what))
		}
	}
	there := c.OnBranches()
	if c.Skipped > 0 {
		there += "; there already: " + cli.Plural(c.Skipped, "record")
	}
	if len(parts) == 0 {
		parts = []string{"nothing new"}
	}
	fmt.Fprintf(w, "added %s%s\n", strings.Join(parts, ", "), there)
}
