package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/gc/world"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/search"
	"github.com/ctxfs/ctxfs/session"
)

// gcFlags are what the user asked for.
type gcFlags struct {
	store   string
	dryRun  bool
	asJSON  bool
	verbose bool
	noWait  bool
}

func gcCmd() *cobra.Command {
	var f gcFlags
	c := &cobra.Command{
		Use:   "gc [flags] [SESSION...]",
		Short: "Remove what is not needed any more, by each session's gc.policy",
		Long: `Remove what a session's gc.policy does not keep: packs that were read long ago,
blobs that nothing names, caches. Messages, events, settings, notes and the
results of children stay. History is removed only if its owner decided so twice,
with keep_messages=0 or keep_events=0 and with an age.

Without SESSION, gc looks at all sessions of the calling user (for root: all of
the store). If a daemon serves the store, the daemon does the work, as it also
does by itself now and then. It marks what may go, and removes it after a grace
of a minute; this command waits for that. Without a daemon gc locks the store and
does not have to wait. context/gc.report of a session describes the last run.

With --dry-run nothing is removed: gc prints what would go, why, and how many bytes
that is. --verbose also prints what stays, and what protects it.

` + locate.SessionHelp,
		Example: "  ctxfs gc --dry-run --verbose coder/s1\n  ctxfs gc\n  ctxfs gc --json | jq '.[].removed.bytes'",
		RunE: func(c *cobra.Command, args []string) error {
			return collect(c.Context(), f, args, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	fl := c.Flags()
	cli.StoreFlag(c, &f.store)
	fl.BoolVarP(&f.dryRun, "dry-run", "n", false, "print what would go, and remove nothing")
	fl.BoolVar(&f.asJSON, "json", false, "print a JSON list of reports, one for each session")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "also print what stays, and what protects it")
	fl.BoolVar(&f.noWait, "no-wait", false, "mark what may go and leave the rest to the daemon")
	return c
}

func collect(ctx context.Context, f gcFlags, args []string, out, errOut io.Writer) (err error) {
	var named []locate.Place
	for _, arg := range args {
		at, err := locate.Session(arg, f.store)
		if err != nil {
			return err
		}
		if len(named) > 0 && named[0].Store != at.Store {
			return cli.Usagef("%s is in %s, not in %s: give sessions of one store only", arg, at.Store, named[0].Store)
		}
		named = append(named, at)
	}
	dir := ""
	if len(named) > 0 {
		dir = named[0].Store
	} else if dir, err = locate.Store(f.store); err != nil {
		return err
	}
	mounted := ""
	if len(args) > 0 {
		d, err := locate.MountedDir(args[0], named[0])
		if err != nil {
			return err
		}
		if d != "" {
			mounted = d[:len(d)-len(named[0].Ref.Path())]
		}
	} else if mounted, err = locate.ServedAt(dir); err != nil {
		return err
	}
	var reports []*gc.Report
	if mounted != "" {
		reports, err = collectMounted(ctx, f, mounted, named, errOut)
	} else {
		reports, err = collectStore(ctx, f, dir, named)
	}
	if err != nil && reports == nil {
		return err
	}
	if f.asJSON {
		if reports == nil {
			reports = []*gc.Report{}
		}
		return cmp.Or(err, cli.PrintJSON(out, reports))
	}
	printReports(out, f, reports)
	return err
}

// NewCollector returns a collector for a store. The caller calls end before it closes the store.
func NewCollector(store *session.Store) (c *world.Collector, end func(), err error) {
	packs, err := builder.NewBuilder(builder.Config{Budget: ctxabi.DefaultBudget})
	if err != nil {
		return nil, nil, err
	}
	c = world.New(store, packs, gc.Options{})
	return c, func() { c.Close(); packs.Close() }, nil
}

// collectStore does the work in a store that no daemon serves.
func collectStore(ctx context.Context, f gcFlags, dir string, named []locate.Place) (reports []*gc.Report, err error) {
	store, err := cli.OpenToChange(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	defer search.Follow(store)()
	c, end, err := NewCollector(store)
	if err != nil {
		return nil, err
	}
	defer end()
	run := c.Sweep
	if f.dryRun {
		run = c.Plan
	}
	var failed error
	for _, ref := range wanted(store, named) {
		r, err := run(ctx, ref)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", ref, err))
			continue
		}
		reports = append(reports, r)
	}
	return reports, failed
}

// wanted are the sessions that were named, or all of the calling user's, of root all.
func wanted(store *session.Store, named []locate.Place) (refs []ctxabi.Ref) {
	for _, at := range named {
		refs = append(refs, at.Ref)
	}
	if named != nil {
		return refs
	}
	uid := os.Getuid()
	for ref := range store.Sessions() {
		if uid == 0 || ref.Space == "" && int(ref.UID) == uid {
			refs = append(refs, ref)
		}
	}
	return refs
}

// collectMounted has the daemon do the work.
func collectMounted(ctx context.Context, f gcFlags, mountpoint string, named []locate.Place, errOut io.Writer) (reports []*gc.Report, failed error) {
	var refs []ctxabi.Ref
	for _, at := range named {
		refs = append(refs, at.Ref)
	}
	if named == nil {
		var err error
		if refs, err = locate.MountedSessions(mountpoint); err != nil {
			return nil, err
		}
	}
	waiting := []int{}
	ask := func(ref ctxabi.Ref) *gc.Report {
		r, err := collectOne(filepath.Join(mountpoint, ref.Path()), f.dryRun)
		if err != nil {
			failed = errors.Join(failed, err)
		}
		return r
	}
	for _, ref := range refs {
		r := ask(ref)
		if r == nil {
			continue
		}
		if r.Waiting.Count > 0 && !f.dryRun {
			waiting = append(waiting, len(reports))
		}
		reports = append(reports, r)
	}
	if len(waiting) == 0 || f.noWait {
		return reports, failed
	}
	grace := graceOf(mountpoint)
	fmt.Fprintf(errOut, "what is useless is marked; it is removed if it is still useless in %s\n", grace)
	select {
	case <-ctx.Done():
		return reports, ctx.Err()
	case <-time.After(grace):
	}
	for _, i := range waiting {
		ref, err := ctxabi.ParseRef(reports[i].Session)
		if err != nil {
			return reports, err
		}
		if r := ask(ref); r != nil {
			r.Removed.Count += reports[i].Removed.Count
			r.Removed.Bytes += reports[i].Removed.Bytes
			r.Removed.Rows = append(reports[i].Removed.Rows, r.Removed.Rows...)
			reports[i] = r
		}
	}
	return reports, failed
}

// graceOf is how long the daemon waits between marking and removing.
func graceOf(mountpoint string) time.Duration {
	status, _ := os.ReadFile(filepath.Join(mountpoint, ctxabi.StatusFile))
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "gc_grace="); ok {
			if d, err := time.ParseDuration(strings.TrimSpace(text)); err == nil {
				return d
			}
		}
	}
	return gc.DefaultGrace
}

// collectOne has the daemon plan or sweep a session. A session that goes whole takes its report with it: what it held is
// asked before. The report is nil where the session went for another reason.
func collectOne(dir string, dryRun bool) (*gc.Report, error) {
	var before *gc.Report
	text, err := os.ReadFile(filepath.Join(dir, ctxabi.PolicyFile))
	if p, bad := ctxabi.ParsePolicy(text); !dryRun && err == nil && bad == nil && p.DeleteAfter > 0 && !p.KeepMessages && !p.KeepEvents {
		if before, err = askDaemon(dir, true); err != nil || before == nil {
			return nil, err
		}
	}
	r, err := askDaemon(dir, dryRun)
	if r == nil && err == nil && before != nil {
		before.RemovedWhole()
		r = before
	}
	return r, err
}

// askDaemon sets the attribute that plans or sweeps a session, and reads what came of it; nil where it is gone.
func askDaemon(dir string, dryRun bool) (*gc.Report, error) {
	what := gc.RunSweep
	if dryRun {
		what = gc.RunPlan
	}
	if err := unix.Setxattr(dir, ctxabi.CollectAttr, []byte(what), 0); err != nil {
		return nil, mounts.Refused(dir, &os.PathError{Op: "gc", Path: dir, Err: err})
	}
	text, err := os.ReadFile(filepath.Join(dir, ctxabi.GCReportFile))
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return gc.ParseReport(text)
}

func printReports(out io.Writer, f gcFlags, reports []*gc.Report) {
	var removed, waiting, failed gc.Group
	add := func(sum *gc.Group, g gc.Group) {
		sum.Count += g.Count
		sum.Bytes += g.Bytes
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range reports {
		add(&removed, r.Removed)
		add(&waiting, r.Waiting)
		add(&failed, r.Failed)
		if r.Removed.Count+r.Waiting.Count+r.Failed.Count == 0 && !f.verbose {
			continue
		}
		fmt.Fprintf(w, "%s\n", r.Session)
		rows := func(word string, g gc.Group) {
			for _, row := range g.Rows {
				fmt.Fprintf(w, "  %s\t%s\t%d\t%s\t%s\n", word, row.Kind, row.Bytes, row.Path, row.Reason)
			}
			if more := g.Count - len(g.Rows); more > 0 {
				fmt.Fprintf(w, "  %s\t\t\tand %d more\t\n", word, more)
			}
		}
		would := "waits"
		if f.dryRun {
			would = "would go"
		}
		rows("gone", r.Removed)
		rows(would, r.Waiting)
		rows("failed", r.Failed)
		if f.verbose {
			rows("stays", r.Kept)
		}
		w.Flush()
	}
	w.Flush()
	switch {
	case f.dryRun:
		fmt.Fprintf(out, "%s looked at, %d bytes would go\n", sessions(len(reports)), waiting.Bytes)
	case waiting.Count > 0:
		fmt.Fprintf(out, "%s looked at, %d bytes are gone, %d wait\n", sessions(len(reports)), removed.Bytes, waiting.Bytes)
	default:
		fmt.Fprintf(out, "%s looked at, %d bytes are gone\n", sessions(len(reports)), removed.Bytes)
	}
}
