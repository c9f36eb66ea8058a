package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

type importFlags struct {
	store, format string
	quiet         bool
	losses        losses
}

func importCmd() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import [flags] FILE... SESSION",
		Short: "Make a session from transcripts of other programs",
		Long: `Read transcripts of other programs into a session and print its directory. The
session is made if it is not there. Messages become messages, everything else
becomes events, and the conversation of a sub-agent becomes a child. Import a
transcript again when it has grown: only what is new is added. This is also true
after an import that was interrupted.

ctxfs detects the format; --format sets it. FILE - is standard input. A directory
is one transcript if the program keeps it in several files. Standard error lists
what cannot be carried; as far as it fits, it is kept in events.

` + formatHelp() + `

` + sessionHelp + `

` + exitHelp,
		Example: `  ctxfs import ~/.claude/projects/-home-me-app/5f1c2d7e.jsonl coder/monday
  ctxfs import --format openai - coder/s1 < chat.json
  cat "$(ctxfs import run.traj /ctx/home/$(id -u)/agent/swe/session/1)"/context/pack.md`,
		Args: func(c *cobra.Command, args []string) error {
			if f.format == listFormats {
				return cobra.NoArgs(c, args)
			}
			return cobra.MinimumNArgs(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.format == listFormats {
				return printFormats(c.OutOrStdout())
			}
			return f.run(args[:len(args)-1], args[len(args)-1], c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	storeFlag(c, &f.store)
	c.Flags().StringVar(&f.format, "format", "", "`FORMAT` of the transcripts, instead of the detected one; list: print all")
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
	transcripts, err := findTranscripts(files, interruptible(ctx, stdin))
	if err != nil {
		return err
	}
	defer transcripts.close()
	if err := transcripts.detect(format); err != nil {
		return err
	}
	at, err := findSession(arg, f.store)
	if err == nil && f.store == "" {
		err = meantAMount(at, "name the session there:")
	}
	if err != nil {
		return err
	}
	to, err := reach(arg, at, true)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, to.close()) }()
	im := &importer{ctx: ctx, to: to, ref: at.ref, losses: &f.losses, bar: newProgress(messages, transcripts.size(), f.quiet)}
	for _, t := range transcripts {
		if err = im.read(t); err != nil {
			break
		}
	}
	if err == nil {
		transcripts.unnamed(&f.losses)
	}
	err = cmp.Or(err, im.end())
	im.bar.end()
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

// errNothing: the transcripts have no record at all.
var errNothing = errors.New("nothing was imported")

// tell says what was done and what was not.
func (f *importFlags) tell(im *importer, from transcripts, err error, out, messages io.Writer) error {
	if im.main != nil && (err == nil || im.count.records > 0) {
		fmt.Fprintln(out, strings.TrimSuffix(im.main.h.dir(), "/"))
	}
	if !f.quiet {
		for _, t := range from {
			fmt.Fprintf(messages, "%s: %s\n", t.name, t.how)
		}
		if im.main != nil && (err == nil || im.count.records > 0) {
			im.count.tell(messages)
		}
	}
	if len(from) == 1 {
		f.losses.oneFile()
	}
	lost := f.losses.tell(messages)
	switch {
	case errors.Is(err, context.Canceled) && im.count.records == 0:
		return errors.New("interrupted; nothing was imported")
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; what was imported until then is in the session, import again for the rest")
	case err != nil && im.count.records > 0:
		return fmt.Errorf("%w; what was imported until then is in the session, import again for the rest", err)
	case err != nil:
		return err
	case im.main == nil:
		return fmt.Errorf("%w: there is no record in %s", errNothing, from.names())
	}
	return lost
}

// importer puts transcripts into a session and its children.
type importer struct {
	ctx    context.Context
	to     tree
	ref    ctxabi.Ref
	losses *losses
	bar    *progress

	main     *target
	children map[string]*target // by chain
	known    adapter.Known
	asked    map[string]bool // chains of which known has the records
	agents   map[string]subagent
	names    map[string]string // of children, by chain
	count    counts
}

// counts are what an import did.
type counts struct {
	records, messages, events, children, skipped int
}

func (c *counts) tell(w io.Writer) {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{c.messages, "message"}, {c.events, "event"}, {c.children, "child session"}} {
		if p.n > 0 {
			parts = append(parts, plural(p.n, p.what))
		}
	}
	there := ""
	if c.skipped > 0 {
		there = "; there already: " + plural(c.skipped, "record")
	}
	if len(parts) == 0 {
		parts = []string{"nothing new"}
	}
	fmt.Fprintf(w, "added %s%s\n", strings.Join(parts, ", "), there)
}

// read imports one transcript.
func (im *importer) read(t *transcript) error {
	if im.asked == nil {
		im.asked, im.children, im.agents = map[string]bool{}, map[string]*target{}, map[string]subagent{}
		if err := im.openMain(); err != nil {
			return err
		}
	}
	im.known.Begin()
	if t.agent.chain != "" {
		im.agents[t.agent.chain] = t.agent
	}
	skipped := map[string]bool{}
	var failed error
	out := &importOutput{importer: im, from: t, holds: t.forced}
	in := &adapter.Input{R: im.bar.reader(t.r), Name: t.name, Beside: t.beside, Seen: func(chain, id string) bool {
		if err := im.learn(chain); err != nil {
			failed = cmp.Or(failed, err)
		}
		seen := im.known.Seen(chain, id)
		if seen {
			failed = cmp.Or(failed, out.release())
		}
		if seen && !skipped[chain+"\x00"+id] {
			skipped[chain+"\x00"+id] = true
			im.count.skipped++
		}
		return seen
	}}
	err := t.format.Import(in, out)
	if err = cmp.Or(failed, err); err == nil && len(out.held) == 0 {
		err = out.release()
	}
	if err == nil && out.holds {
		err = fmt.Errorf("%w: it has no message in the format %s; omit --format, and ctxfs detects the format", errNothing, t.format.Name)
	}
	err = cmp.Or(err, im.flush())
	if err != nil && !errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%s: %w", t.name, err)
	}
	return err
}

// openMain opens the session where it is there already.
func (im *importer) openMain() error {
	h, err := im.to.open(im.ref)
	if session.Gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	im.main = newTarget(im, h, "")
	return h.lock()
}

// target is where the records of a chain go.
func (im *importer) target(chain string) (t *target, err error) {
	if im.main == nil {
		h, err := im.to.create(im.ref)
		if err != nil {
			return nil, err
		}
		im.main = newTarget(im, h, "")
		im.asked[""] = true
		if err := h.lock(); err != nil {
			return nil, err
		}
	}
	if chain == "" {
		return im.main, nil
	}
	if t = im.children[chain]; t == nil {
		t, err = im.makeChild(chain)
		im.children[chain] = t
	}
	return t, err
}

// learn reads what the session, or the child of a chain, has.
func (im *importer) learn(chain string) error {
	if im.asked[chain] || im.main == nil {
		return nil
	}
	im.asked[chain] = true
	t := im.main
	if chain != "" {
		h, ok, err := im.openChild(chain)
		if !ok || err != nil {
			return err
		}
		t = newTarget(im, h, chain)
		im.children[chain] = t
	}
	return t.learn()
}

// flush writes what is waiting.
func (im *importer) flush() (err error) {
	for t := range im.targets {
		err = cmp.Or(err, t.flush())
	}
	return err
}

// end makes what was added durable, and closes the sessions.
func (im *importer) end() (err error) {
	for t := range im.targets {
		err = cmp.Or(err, t.flush(), t.describe(), t.h.sync(), t.h.close())
	}
	return err
}

func (im *importer) targets(yield func(*target) bool) {
	if im.main != nil && !yield(im.main) {
		return
	}
	for _, chain := range slices.Sorted(maps.Keys(im.children)) {
		if t := im.children[chain]; t != nil && !yield(t) {
			return
		}
	}
}
