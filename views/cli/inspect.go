package cli

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/usage"
	"github.com/ctxfs/ctxfs/pack/builder"
	packcli "github.com/ctxfs/ctxfs/pack/cli"
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
func look(c *cobra.Command, f *packcli.Flags, arg string) (*looking, error) {
	at, err := locate.Session(arg, f.Store)
	if err == nil {
		var l *looking
		if l, err = lookInStore(c.Context(), f, at, c.Flags().Changed); err == nil {
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
func lookInStore(ctx context.Context, f *packcli.Flags, at locate.Place, given func(string) bool) (_ *looking, err error) {
	flags := *f
	if d, ok := daemon.Running(at.Store); ok {
		flags.Inherit(d, given)
	}
	mapPath, err := cli.ParseMaps(flags.Maps)
	if err != nil {
		return nil, err
	}
	redactor, err := flags.Redact.Redactor()
	if err != nil {
		return nil, err
	}
	store, err := cli.OpenShown(at.Store, redactor)
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
	if f.Quiet {
		generators = unrun{workspace}
	}
	packs, err := builder.NewBuilder(builder.Config{
		Budget: flags.Budget, Instead: flags.Instead, Encoding: flags.Encoding, Workspace: workspace, MapPath: mapPath,
		Generators: generators, Mountpoint: flags.Mountpoint, WaitForAll: true, Redact: redactor, Memory: f.Memory,
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

// unrun never runs a generator: a pack contains the stored outputs.
type unrun struct{ source.Generators }

// Run returns an output that has failed, and no error.
func (unrun) Run(context.Context, uint32, uint32, source.Command) (source.Output, error) {
	return source.Output{Failed: web.Unrun}, nil
}

// lookFlags are those that say which packs are looked at.
func lookFlags(c *cobra.Command, f *packcli.Flags) {
	cli.StoreFlag(c, &f.Store)
	cli.BuildFlags(c, &f.Budget, &f.Encoding, &f.Maps)
}

// packOf returns the pack of a moment.
func packOf(ctx context.Context, h *inspect.History, m cli.Moment) (*inspect.Pack, error) {
	if m.Point == "" {
		return h.At(ctx, h.Len())
	}
	if strings.HasPrefix(m.Point, "sha256-") {
		return h.AtServed(ctx, m.Point)
	}
	n, err := strconv.Atoi(m.Point)
	if err != nil {
		when, err := time.Parse(time.RFC3339, m.Point)
		if err != nil {
			return nil, usage.Error{Err: err}
		}
		if n, err = h.Moment(ctx, when); err != nil {
			return nil, err
		}
	}
	return h.At(ctx, n)
}
