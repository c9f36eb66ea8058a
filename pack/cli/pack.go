package cli

import (
	"cmp"
	"context"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/run/runner"
)

// Flags holds the flags of a verb that compiles packs, and the settings that it takes from a
// daemon.
type Flags struct {
	Store, format, Encoding string
	Budget                  int
	Instead                 int  // tokens that replace the session's own budget; 0 keeps it
	Quiet                   bool // runs no command of a recipe
	Memory                  *memory.Limit
	Maps                    []string
	Redact                  cli.RedactFlags
	Mountpoint              string // of the daemon that serves the store, "" without a daemon
}

func packCmd() *cobra.Command {
	var f Flags
	c := &cobra.Command{
		Use:   "pack [flags] SESSION",
		Short: "Print a session's prompt, without a mount",
		Long: `Print the pack of a session: the same bytes that context/pack.md (pack.json,
pack.report.md, pack.openai.json, ...) has in a mount. The store is only read, so
this works without FUSE and beside a running daemon. For each flag that you do
not give, that daemon's value is used, so that both print the same.

` + locate.SessionHelp + `

` + cli.ExitHelp,
		Example: `  ctxfs pack coder/s1
  ctxfs pack coder/s1 --budget 8000 | wc
  ctxfs pack coder/s1 --redact             # no keys or passwords in it
  ctxfs pack coder/s1 --format anthropic > body.json
  ctxfs pack coder/s1 --format json | jq '.tokens, .omitted'
  ctxfs pack --store /data/ctx home/1000/agent/coder/session/s1 --format report
  cd /ctx/home/1000/agent/coder/session/s1 && ctxfs pack .`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			at, err := locate.Session(args[0], f.Store)
			if err != nil {
				return err
			}
			if d, ok := daemon.Running(at.Store); ok {
				f.Inherit(d, c.Flags().Changed)
			}
			out, err := f.build(c.Context(), at)
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(out)
			return err
		},
		PreRunE: func(*cobra.Command, []string) error {
			switch {
			case !slices.Contains(packFormats, f.format):
				return cli.Usagef("--format %q: one of %s", f.format, strings.Join(packFormats, ", "))
			case f.Redact.Complete() != nil:
				return f.Redact.Complete()
			case f.Budget < 0:
				return cli.Usagef("--budget %d: a number of tokens, or 0 for no limit", f.Budget)
			}
			return nil
		},
	}
	fl := c.Flags()
	cli.StoreFlag(c, &f.Store)
	fl.StringVar(&f.format, "format", "md", "`FORMAT`: "+strings.Join(packFormats, ", "))
	cli.BuildFlags(c, &f.Budget, &f.Encoding, &f.Maps)
	f.Redact.Add(c)
	c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(packFormats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// packFormats are the renderings of a pack: the last five are bodies of requests to providers.
var packFormats = []string{"md", "json", "report", string(native.OpenAI), string(native.Anthropic), string(native.Responses), string(native.Gemini), string(native.GenAI)}

// Inherit copies the settings of a daemon for each flag that the command line does not have. given
// reports whether it has a flag.
func (f *Flags) Inherit(d daemon.Info, given func(string) bool) {
	if d.Mountpoint == "" {
		return // it left no note of its flags
	}
	f.Mountpoint = d.Mountpoint
	if !given("budget") {
		f.Budget = d.Budget
	}
	if !given("encoding") {
		f.Encoding = d.Encoding
	}
	if !given("map") {
		f.Maps = d.Maps
	}
	f.Redact.Inherit(d, given)
}

// build compiles the session's pack from the store as it stands and gives the rendering that was asked for.
func (f *Flags) build(ctx context.Context, at locate.Place) (_ []byte, err error) {
	mapPath, err := cli.ParseMaps(f.Maps)
	if err != nil {
		return nil, err
	}
	redactor, err := f.Redact.Redactor()
	if err != nil {
		return nil, err
	}
	store, err := cli.OpenShown(at.Store, redactor)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	x, err := store.Session(at.Ref)
	if err != nil {
		return nil, err
	}
	inside := insideGenerator(at.Ref)
	workspace, err := runner.Start(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, workspace.Close()) }()
	packs, err := builder.NewBuilder(builder.Config{
		Budget: f.Budget, Encoding: f.Encoding, Workspace: workspace, MapPath: mapPath,
		Generators: workspace, Mountpoint: f.Mountpoint, WaitForAll: !inside, Redact: redactor, Inside: inside,
	})
	if err != nil {
		return nil, err
	}
	defer packs.Close()
	b, err := packs.Current(ctx, x)
	if err != nil {
		if page, ok := packs.FailureReport(x, err); ok && f.format == "report" {
			return page, nil
		}
		return nil, err
	}
	switch f.format {
	case "md":
		return b.Markdown, nil
	case "json":
		return b.JSON(), nil
	case "report":
		return b.Report, nil
	}
	return packs.Native(x, b, native.Format(f.format))
}

// insideGenerator reports whether this is part of a generator of the session: it must not start itself. A generator
// that asks for its own pack gets one without generators. Where the mount is does not matter: the daemon
// cannot be seen from in there.
func insideGenerator(ref ctxabi.Ref) bool {
	return os.Getenv("CTX_AGENT") == ref.Agent && os.Getenv("DELTA_RUN_ID") == ref.Session && os.Getenv("CTX_BUDGET") != "" &&
		strings.HasSuffix(path.Clean(os.Getenv("CTX_SESSION")), "/"+ref.Path())
}
