package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc"
	gccli "github.com/ctxfs/ctxfs/gc/cli"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/memory"
	packcli "github.com/ctxfs/ctxfs/pack/cli"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/views/inspect"
	"github.com/ctxfs/ctxfs/views/web"
)

// maxFromMount is how much of a history is held in memory where the store cannot be read, in bytes.
const maxFromMount = 256 << 20

// uiMemory is how much memory ctxfs ui and ctxfs top take where nothing limits it otherwise, in bytes.
const uiMemory = 1 << 30

type uiFlags struct {
	mount          string
	port           int
	noOpen, anyUID bool
}

func uiCmd() *cobra.Command {
	var f uiFlags
	c := &cobra.Command{
		Use:   "ui [flags] [SESSION]",
		Short: "Show sessions and their prompts in a browser",
		Long: `Show the sessions of a mount in the browser: what the model sees, where each
record stands in it, what calls cost over time, notes, refusals, children. The
pages follow what is appended. Nothing is changed by looking: a prompt that is
shown counts as read by no program, and no command of a recipe runs.

The server is part of this process, listens on 127.0.0.1 and answers the calling
user only. It opens a file that holds a key, which works once and for a minute.
$BROWSER is used if it is set, else xdg-open. It ends with Ctrl-C.

Over ssh, forward the port and copy the file that --no-open prints:
  ssh -L 8765:127.0.0.1:8765 HOST ctxfs ui --no-open --port 8765

` + locate.SessionHelp + `

` + cli.ExitHelp,
		Example: `  ctxfs ui                         # all sessions of the mount
  ctxfs ui coder/s1                # one of them first
  ctxfs ui --no-open --port 8765   # print the file to open in a browser`,
		Args: cobra.MaximumNArgs(1),
		PreRunE: func(*cobra.Command, []string) error {
			if f.port < 0 || f.port > 65535 {
				return cli.Usagef("--port %d: a number up to 65535, or 0 for one that is free", f.port)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			config, err := f.config(append(args, "")[0])
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
			defer stop()
			boundMemory()
			s, err := web.Listen(config)
			if err != nil {
				return err
			}
			if err := f.announce(c.OutOrStdout(), s); err != nil {
				return err
			}
			return s.Serve(ctx)
		},
	}
	cli.MountFlag(c, &f.mount)
	fl := c.Flags()
	fl.IntVar(&f.port, "port", 0, "listen on `PORT` of 127.0.0.1; 0: one that is free")
	fl.BoolVar(&f.noOpen, "no-open", false, "open no browser; print the file to open")
	fl.BoolVar(&f.anyUID, "any-uid", false, "answer every user who has the key, as behind a published port of a container")
	return c
}

// config finds the mount and the session that are meant.
func (f *uiFlags) config(arg string) (c web.Config, err error) {
	c = web.Config{Port: f.port, AnyUID: f.anyUID, Version: ctxabi.Version, Look: lookForPages, Plan: planForPages}
	dir := ""
	if arg != "" {
		if dir, err = locate.SessionDir(arg, f.mount, false); err != nil {
			return c, err
		}
		for _, up := range []string{"../../../../../..", "."} { // of a tree; of a session that is seen alone
			root := filepath.Join(dir, up)
			rel, err := filepath.Rel(root, dir)
			if _, bad := ctxabi.ParseRef(rel); err == nil && bad == nil {
				c.Root, c.First = root, rel
				break
			}
		}
		if c.Root == "" {
			c.Root, c.First = filepath.Dir(dir), filepath.Base(dir)
			c.Only = []string{c.First}
		}
	} else if c.Root, err = locate.Mount(f.mount); err != nil {
		return c, err
	}
	every := sessionsSeen(c.Root)
	c.Sessions = func() []string {
		if c.Only != nil {
			return c.Only
		}
		return every()
	}
	return c, nil
}

// sessionsSeen returns what lists the paths of the sessions that the caller sees below the root of a mount: their own, and
// those of spaces; for root those of all users.
func sessionsSeen(root string) func() []string {
	owners := []string{fmt.Sprintf("home/%d", os.Getuid()), "shared/*"}
	if os.Getuid() == 0 {
		owners[0] = "home/*"
	}
	return func() (names []string) {
		refs, err := locate.SessionsIn(root, owners...)
		if err != nil {
			return nil
		}
		for _, ref := range refs {
			names = append(names, ref.Path())
		}
		return names
	}
}

// boundMemory sets how much memory a process takes that looks at sessions, where nothing limits it otherwise.
func boundMemory() {
	if memory.OfProcess() == nil {
		debug.SetMemoryLimit(uiMemory)
	}
}

// announce opens the page, or says how.
func (f *uiFlags) announce(out io.Writer, s *web.Server) error {
	entry := s.Entry()
	fmt.Fprintf(out, "ctxfs ui: %s, until Ctrl-C\n", s.Origin())
	open := browser()
	switch {
	case f.noOpen:
	case open == nil:
		fmt.Fprintf(out, "There is no browser here: neither $BROWSER nor xdg-open with a display.\n"+
			"From another machine: start it with --port 8765, forward that with ssh -L 8765:127.0.0.1:8765,\n"+
			"copy the file below there and open it.\n")
	default:
		cmd := exec.Command(open[0], append(open[1:], entry)...)
		if err := cmd.Start(); err == nil {
			go cmd.Wait()
			fmt.Fprintf(out, "opened with %s; if nothing appears, open this file within a minute:\n%s\n", open[0], entry)
			return nil
		}
		fmt.Fprintf(out, "%s could not be started.\n", open[0])
	}
	_, err := fmt.Fprintf(out, "open this file in a browser within a minute; it works once:\n%s\n", entry)
	return err
}

// browser returns the command that opens a file; nil where there is none.
func browser() []string {
	for name := range strings.SplitSeq(os.Getenv("BROWSER"), ":") {
		if words := strings.Fields(strings.ReplaceAll(name, "%s", "")); len(words) > 0 {
			if _, err := exec.LookPath(words[0]); err == nil {
				return words
			}
		}
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	if path, err := exec.LookPath("xdg-open"); err == nil {
		return []string{path}
	}
	return nil
}

// lookForPages opens the session in dir as ctxfs why does, but runs no command of its recipe. Where the store cannot be
// read, the files of the mount are, which have one budget alone.
func lookForPages(ctx context.Context, dir string, budget int) (*web.Look, error) {
	f := packcli.Flags{Instead: budget, Budget: ctxabi.DefaultBudget, Quiet: true, Memory: memory.New(debug.SetMemoryLimit(-1))}
	at, err := locate.Session(dir, "")
	if err == nil {
		l, failed := lookInStore(ctx, &f, at, func(string) bool { return false })
		if failed == nil {
			return webLook(l.History, l.close, true), nil
		}
		if errors.Is(failed, ctxabi.ErrNoData) || errors.Is(failed, ctxabi.ErrOverBudget) || ctx.Err() != nil {
			return nil, failed
		}
		err = failed
	}
	if budget != 0 {
		return nil, fmt.Errorf("other budgets are made from the store, which cannot be read here: %w", err)
	}
	if fi, err := os.Stat(filepath.Join(dir, ctxabi.MessagesFile)); err == nil && fi.Size() > maxFromMount {
		return nil, fmt.Errorf("the history has %d bytes; without access to the store %d are read at most", fi.Size(), maxFromMount)
	}
	m, err := inspect.FromMount(dir)
	if err != nil {
		return nil, err
	}
	return webLook(inspect.NewHistory(m), func() error { return nil }, false), nil
}

func webLook(h *inspect.History, end func() error, budgets bool) *web.Look {
	return &web.Look{History: h, Close: end, Budgets: budgets, Native: func(ctx context.Context, n int, form native.Format) ([]byte, error) {
		s, ok := h.Source.(interface {
			Native(context.Context, int, native.Format) ([]byte, error)
		})
		if !ok {
			return nil, errors.ErrUnsupported
		}
		return s.Native(ctx, n, form)
	}}
}

// planForPages plans the session in dir, in its store. The error is os.ErrPermission where that cannot be read.
func planForPages(ctx context.Context, dir string) (_ *gc.Report, err error) {
	at, err := locate.Session(dir, "")
	if err != nil {
		return nil, errors.Join(os.ErrPermission, err)
	}
	store, err := cli.OpenToRead(at.Store)
	if err != nil {
		return nil, errors.Join(os.ErrPermission, err)
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	c, end, err := gccli.NewCollector(store)
	if err != nil {
		return nil, err
	}
	defer end()
	return c.Preview(ctx, at.Ref)
}
