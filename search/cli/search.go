package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/internal/usage"
	"github.com/ctxfs/ctxfs/search"
	"github.com/ctxfs/ctxfs/session"
)

// NewEngine returns an engine that counts the tokens of its answers in an encoding.
func NewEngine(store *session.Store, c search.Config, encoding string) (*search.Engine, error) {
	counter, err := tokens.For(encoding)
	if err != nil {
		return nil, err
	}
	c.Count = counter.Count
	return search.New(store, c), nil
}

// searchFlags are those of ctxfs search.
type searchFlags struct {
	store, agent, space, color string
	home, json                 bool
	n, tokens                  int
	role, tool, in, span       string
	redact                     cli.RedactFlags
}

func searchCmd() *cobra.Command {
	var f searchFlags
	c := &cobra.Command{
		Use:   "search [flags] SESSION QUERY...\n  ctxfs search [flags] --agent AGENT | --home | --space SPACE QUERY...",
		Short: "Find records by their words",
		Long: `Search what was said and done: the records of messages.jsonl and events.jsonl of
one session, of all sessions of an agent, or of all sessions of a user or a shared
space. It prints the best passages, word for word, each with the address of its
record.

A record matches if it has one of the words in any form (fails finds failed). Rare
words count more. "Double quotes" hold text that must be there exactly. For a path,
an identifier or a number, records that contain exactly that come first.

In a mount, context/search/QUERY is the same as a file.

` + locate.SessionHelp + `

` + cli.ExitHelp,
		Example: `  ctxfs search coder/s1 token refresh bug
  ctxfs search . '"connection reset by peer"' --role tool -n 3
  ctxfs search --agent coder auth/refresh.go
  ctxfs search . deploy --redact             # no keys or passwords shown
  ctxfs search --home migration plan --json | jq -r '.hits[].path'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			q, where, err := f.query(args)
			if err != nil {
				return err
			}
			data, err := f.answer(c.Context(), q, where)
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			text := string(data)
			if !f.json && (f.color == "always" || f.color == "auto" && cli.ScreenOf(out).Bold) {
				text = search.Highlight(text, q, "\x1b[1;31m", "\x1b[0m")
			}
			_, err = fmt.Fprint(out, text)
			return err
		},
	}
	cli.StoreFlag(c, &f.store)
	f.redact.Add(c)
	fl := c.Flags()
	fl.StringVar(&f.agent, "agent", "", "search all sessions of your `AGENT`, or with --space of the space's")
	fl.BoolVar(&f.home, "home", false, "search all of your sessions")
	fl.StringVar(&f.space, "space", "", "search all sessions of the shared `SPACE`")
	fl.IntVarP(&f.n, "hits", "n", search.DefaultHits, "most `N` hits")
	fl.IntVar(&f.tokens, "tokens", search.DefaultTokens, "most `TOKENS` of the answer")
	fl.StringVar(&f.role, "role", "", "only records of `ROLE`: system, developer, user, assistant, tool or event")
	fl.StringVar(&f.tool, "tool", "", "only calls and results of the tool `NAME`")
	fl.StringVar(&f.in, "in", "", "only `LOG`: messages or events")
	fl.StringVar(&f.span, "range", "", "only lines `FROM-TO` of messages, or of what --in names")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.StringVar(&f.color, "color", "auto", "highlight the words that were found: `auto`, always or never")
	return c
}

// query reads the arguments: what to look for, and the session where it is not an owner's search.
func (f *searchFlags) query(args []string) (q search.Query, where string, err error) {
	if err := f.redact.Complete(); err != nil {
		return q, "", err
	}
	if f.color != "auto" && f.color != "always" && f.color != "never" {
		return q, "", cli.Usagef("--color is auto, always or never, not %q", f.color)
	}
	if f.home && (f.agent != "" || f.space != "") {
		return q, "", cli.Usagef("--home cannot be used with --agent or --space")
	}
	if !f.many() {
		if len(args) < 2 {
			return q, "", cli.Usagef("a session and a query are needed; --agent and --home search many sessions")
		}
		where, args = args[0], args[1:]
	}
	for _, name := range []string{f.agent, f.space} {
		if name != "" && ctxabi.ValidName(name) != nil {
			return q, "", cli.Usagef("%q is not a name", name)
		}
	}
	// The same checks as of a file's name.
	var filters []string
	for _, p := range [][2]string{{"n", fmt.Sprint(f.n)}, {"tokens", fmt.Sprint(f.tokens)}, {"role", f.role}, {"tool", f.tool}, {"in", f.in}, {"range", f.span}} {
		if p[1] != "" {
			filters = append(filters, p[0]+"="+strings.NewReplacer("%", "%25", "&", "%26", "?", "%3F").Replace(p[1]))
		}
	}
	text := search.Query{Text: strings.Join(args, " ")}
	q, err = search.ParseName(text.Name() + "?" + strings.Join(filters, "&"))
	if err != nil {
		return q, "", usage.Error{Err: err}
	}
	q.JSON = f.json
	return q, where, nil
}

func (f *searchFlags) many() bool { return f.home || f.agent != "" || f.space != "" }

// owner is whose sessions are searched, and of which agent.
func (f *searchFlags) owner() ctxabi.Ref {
	ref := ctxabi.Ref{Space: f.space, Agent: f.agent}
	if f.space == "" {
		ref.UID = uint32(os.Getuid())
	}
	return ref
}

// maxFileName is how long a name may be that every kernel looks up.
const maxFileName = 255

// answer reads the query's file in a mount, whose daemon keeps the index up to date, or else searches in the store.
func (f *searchFlags) answer(ctx context.Context, q search.Query, where string) (data []byte, err error) {
	name := q.Name()
	var at locate.Place
	dir, mounted := "", false
	if f.many() {
		if at.Store, err = locate.Store(f.store); err != nil {
			return nil, err
		}
		at.Ref = f.owner()
		if m, ok := mounts.OfStore(at.Store); ok {
			if _, err := daemon.Ask(m); err != nil {
				return nil, err
			}
			below := at.Ref.Owner()
			if at.Ref.Agent != "" {
				below = at.Ref.AgentHome()
			}
			dir, mounted = filepath.Join(m.Point, below, ctxabi.HomeSearchDir), true
		}
	} else {
		if at, err = locate.Session(where, f.store); err != nil {
			at = locate.Place{}
		}
		if dir, mounted = locate.MountedSession(where, at); mounted {
			dir = filepath.Join(dir, ctxabi.SearchDir)
		} else if err != nil {
			return nil, err
		}
	}
	if f.redact.On && mounted && at == (locate.Place{}) {
		return nil, cli.Usagef("ctxfs cannot see from here whether this mount redacts; omit --redact, or name the store")
	}
	if f.redact.On && mounted {
		if d, ok := daemon.Running(at.Store); !ok || !d.Redact || f.redact.Allow != "" && f.redact.Allow != d.RedactAllow {
			mounted = false // the mount's own answers show secrets, or others
		}
	}
	if mounted && len(name) <= maxFileName && !strings.HasPrefix(name, ".") {
		return os.ReadFile(filepath.Join(dir, name))
	}
	if at == (locate.Place{}) {
		return nil, cli.Usagef("the query is too long to be looked up in this mount")
	}
	return f.inStore(ctx, q, at)
}

func (f *searchFlags) inStore(ctx context.Context, q search.Query, at locate.Place) (data []byte, err error) {
	store, err := cli.OpenToRead(at.Store)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	redactor, err := f.redact.Redactor()
	if err != nil {
		return nil, err
	}
	engine, err := NewEngine(store, search.Config{ReadOnly: true, Wait: -1, Redact: redactor}, "")
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	var r *search.Result
	if f.many() {
		r, err = engine.Owner(ctx, at.Ref, q)
	} else {
		var x *session.Session
		if x, err = store.Session(at.Ref); err == nil {
			r, err = engine.Session(ctx, x, q)
		}
	}
	if err != nil {
		return nil, err
	}
	return engine.Render(r), nil
}
