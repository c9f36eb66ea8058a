package main

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/usage"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/run/runner"
	"github.com/ctxfs/ctxfs/views/inspect"
	"github.com/ctxfs/ctxfs/views/web"
)

// looking is a session that a verb looks at; close ends it.
type looking struct {
	*inspect.History
	at    locate.Place // the zero place: a mount of somebody else's store
	close func() error
}

// look opens a session to look at its packs: in its store where that can be read, else through the files of its mount.
func (f *packFlags) look(c *cobra.Command, arg string) (*looking, error) {
	at, err := locate.Session(arg, f.store)
	if err == nil {
		var l *looking
		if l, err = f.lookInStore(c.Context(), at, c.Flags().Changed); err == nil {
			return l, nil
		}
		if errors.Is(err, ctxabi.ErrNoData) || errors.Is(err, ctxabi.ErrOverBudget) {
			return nil, err // there is no pack, wherever one looks
		}
	}
	dir, ok := locate.MountedSession(arg, at)
	if !ok {
		return nil, err
	}
	m, err := inspect.FromMount(dir)
	if err != nil {
		return nil, err
	}
	return &looking{inspect.NewHistory(m), at, func() error { return nil }}, nil
}

// lookInStore opens a session in its store. given reports whether the command line sets a flag.
func (f *packFlags) lookInStore(ctx context.Context, at locate.Place, given func(string) bool) (_ *looking, err error) {
	flags := *f
	if d, ok := daemon.Running(at.Store); ok {
		flags.inherit(d, given)
	}
	mapPath, err := parseMaps(flags.maps)
	if err != nil {
		return nil, err
	}
	redactor, err := flags.redact.redactor()
	if err != nil {
		return nil, err
	}
	store, err := openAt(at, redactor)
	if err != nil {
		return nil, err
	}
	var closers []func() error
	closeAll := func() (err error) {
		for i := len(closers) - 1; i >= 0; i-- {
			err = cmp.Or(err, closers[i]())
		}
		return err
	}
	closers = append(closers, store.Close)
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	x, err := store.Session(at.Ref)
	if err != nil {
		return nil, err
	}
	workspace, err := runner.Start(context.WithoutCancel(ctx), nil) // which close ends
	if err != nil {
		return nil, err
	}
	closers = append(closers, workspace.Close)
	var generators source.Generators = workspace
	if f.quiet {
		generators = unrun{workspace}
	}
	packs, err := builder.NewBuilder(builder.Config{
		Budget: flags.budget, Instead: flags.instead, Encoding: flags.encoding, Workspace: workspace, MapPath: mapPath,
		Generators: generators, Mountpoint: flags.mountpoint, WaitForAll: true, Redact: redactor, Memory: f.memory,
	})
	if err != nil {
		return nil, err
	}
	closers = append(closers, func() error { packs.Close(); return nil })
	stored, err := inspect.FromStore(ctx, packs, x)
	if err != nil {
		return nil, err
	}
	return &looking{inspect.NewHistory(stored), at, closeAll}, nil
}

// unrun is generators none of which is run: what they made before stands in a pack.
type unrun struct{ source.Generators }

// Run returns an output that has failed, and no error.
func (unrun) Run(context.Context, uint32, uint32, source.Command) (source.Output, error) {
	return source.Output{Failed: web.Unrun}, nil
}

// lookFlags are those that say which packs are looked at.
func lookFlags(c *cobra.Command, f *packFlags) {
	storeFlag(c, &f.store)
	buildFlags(c, &f.budget, &f.encoding, &f.maps)
}

// moment is one pack of a session: SESSION@POINT.
type moment struct {
	session string
	point   string // "": now
}

const momentHelp = `A pack is SESSION, the present one, or SESSION@POINT, where POINT is
  120                    a number: the pack of the first 120 messages
  2026-05-04T10:00:00Z   a time: the pack of the messages that were there then
  sha256-...             the id of a pack that was served (see context/packs.jsonl)
A pack of an earlier moment is made with today's files.`

// parseMoment reads SESSION@POINT. A path may have an @, too: what follows the last one is a point only if it looks like one.
func parseMoment(arg string) (moment, error) {
	i := strings.LastIndexByte(arg, '@')
	if i < 0 || strings.Contains(arg[i:], "/") {
		return moment{arg, ""}, nil
	}
	m := moment{arg[:i], arg[i+1:]}
	if m.session == "" {
		return m, usagef("%q names no session", arg)
	}
	if _, err := strconv.Atoi(m.point); err == nil || strings.HasPrefix(m.point, "sha256-") {
		return m, nil
	}
	if _, err := time.Parse(time.RFC3339, m.point); err != nil {
		return m, usagef("%q is not a moment of a session.\n%s", m.point, momentHelp)
	}
	return m, nil
}

// pack returns the pack of a moment.
func (m moment) pack(ctx context.Context, h *inspect.History) (*inspect.Pack, error) {
	if m.point == "" {
		return h.At(ctx, h.Len())
	}
	if strings.HasPrefix(m.point, "sha256-") {
		return h.AtServed(ctx, m.point)
	}
	n, err := strconv.Atoi(m.point)
	if err != nil {
		when, err := time.Parse(time.RFC3339, m.point)
		if err != nil {
			return nil, usage.Error{Err: err}
		}
		if n, err = h.Moment(ctx, when); err != nil {
			return nil, err
		}
	}
	return h.At(ctx, n)
}
