package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/process"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// sessionInfo is what ls and show tell of a session.
type sessionInfo struct {
	Session  string    `json:"session"`
	ID       string    `json:"id,omitempty"`
	State    string    `json:"state"`
	Messages logInfo   `json:"messages"`
	Events   logInfo   `json:"events"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`

	// Only in show.
	Directory string          `json:"directory,omitempty"`
	Cwd       string          `json:"cwd,omitempty"`
	Budget    string          `json:"budget,omitempty"`
	Meta      json.RawMessage `json:"meta,omitempty"`
	Refusals  int             `json:"refusals,omitempty"`
	Last      string          `json:"last_message,omitempty"`
	Children  []childInfo     `json:"children,omitempty"`
	ChildOf   []childOf       `json:"child_of,omitempty"`
}

// childInfo is one of its children.
type childInfo struct {
	Name    string `json:"name"`
	Status  string `json:"status"`
	Session string `json:"session,omitempty"` // that it is linked to
	Result  string `json:"result"`            // where it is: of the linked session, or of the parent's hand
}

// childOf is the parent of a session, and its name there.
type childOf struct {
	Session string `json:"session"`
	Name    string `json:"name"`
}

// describeChildren fills in the children of x, and whose child it is.
func (s *sessionInfo) describeChildren(x *session.Session) error {
	children, err := x.Children()
	if err != nil {
		return err
	}
	for _, c := range children {
		info := childInfo{Name: c.Name, Status: c.Status, Result: c.ResultOrigin}
		if c.Linked {
			info.Session = c.Ref.Path()
		}
		s.Children = append(s.Children, info)
	}
	parents, err := x.Store().Parents(x.Ref())
	for _, l := range parents {
		s.ChildOf = append(s.ChildOf, childOf{l.Parent.Path(), l.Child.Name})
	}
	return err
}

type logInfo struct {
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"`
	Head    string `json:"head,omitempty"`
	Sealed  int64  `json:"sealed,omitempty"` // of the bytes, those in archived parts
	Packed  int64  `json:"packed,omitempty"` // bytes that these take
}

func describe(x *session.Session, store string) (sessionInfo, error) {
	messages, err := describeLog(x.Messages())
	if err != nil {
		return sessionInfo{}, err
	}
	events, err := describeLog(x.Events())
	return sessionInfo{
		Session: x.Ref().Path(), ID: x.ID(), State: process.StateIn(store, x.Ref().Path(), x.State()),
		Messages: messages, Events: events, Created: x.Created().UTC(), Updated: x.Updated().UTC(),
	}, err
}

func describeLog(l *log.Log) (logInfo, error) {
	n, err := l.Lines()
	if err != nil {
		return logInfo{}, err
	}
	a, err := l.Archived()
	return logInfo{Records: n, Bytes: l.Len(), Sealed: a.Raw, Packed: a.Packed}, err
}

// control reads a small control file as one line, "" when it is absent.
func control(x *session.Session, name string) string {
	b, err := x.Control(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func sessionShowCmd() *cobra.Command {
	var store string
	var asJSON bool
	c := &cobra.Command{
		Use:     "show [flags] SESSION",
		Short:   "Show one session",
		Long:    "Show one session: its id for life, its logs and the heads of their chains, its\nsettings, refusals, last message and children, and whose child it is. Users of\nroot's mount cannot read the store; for them the mount shows all except the id and\nthe parents.\n\n" + locate.SessionHelp,
		Example: "  ctxfs session show coder/s1\n  ctxfs session show . --json | jq .messages.records",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			at, err := locate.Session(args[0], store)
			if err != nil {
				return err
			}
			s, err := showSession(at)
			if err != nil {
				if dir, ok := locate.MountedSession(args[0], at); ok {
					s, err = showMounted(dir, at.Ref)
				}
			}
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c.OutOrStdout(), s)
			}
			return s.print(c.OutOrStdout())
		},
	}
	cli.StoreFlag(c, &store)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func showSession(at locate.Place) (s sessionInfo, err error) {
	store, err := cli.OpenToRead(at.Store)
	if err != nil {
		return s, err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	x, err := store.Session(at.Ref)
	if err != nil {
		return s, err
	}
	if s, err = describe(x, at.Store); err != nil {
		return s, err
	}
	if s.Messages.Head, err = x.Messages().Head(); err != nil {
		return s, err
	}
	if s.Events.Head, err = x.Events().Head(); err != nil {
		return s, err
	}
	s.Directory = x.Dir()
	s.Cwd = x.Cwd()
	s.Budget = control(x, ctxabi.BudgetFile)
	if meta := control(x, ctxabi.MetaFile); json.Valid([]byte(meta)) {
		s.Meta = json.RawMessage(meta)
	}
	s.Refusals = strings.Count(string(x.Errors()), "\n")
	if err := s.describeChildren(x); err != nil {
		return s, err
	}
	s.Last, err = lastMessage(x)
	return s, err
}

// lastMessage returns the last record as one short line: who, and how it begins.
func lastMessage(x *session.Session) (string, error) {
	index, err := x.Messages().Index()
	if err != nil || index.Len() == 0 {
		return "", err
	}
	line, err := index.Record(index.Len())
	if err != nil {
		return "", err
	}
	return shortMessage(line), nil
}

// shortMessage is a record as one short line.
func shortMessage(line []byte) string {
	m := ctxabi.DecodeMessage(line)
	text := strings.Join(strings.Fields(m.Text), " ")
	for _, call := range m.Calls {
		text = strings.TrimSpace(text + " → " + call.Name)
	}
	if r := []rune(text); len(r) > 100 {
		text = string(r[:99]) + "…"
	}
	return m.Role.String() + ": " + text
}

func (s sessionInfo) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, value)
		}
	}
	log := func(l logInfo) string {
		s := fmt.Sprintf("%d records, %d bytes, head %.16s", l.Records, l.Bytes, l.Head)
		if l.Sealed > 0 {
			s += fmt.Sprintf(", %d archived in %d", l.Sealed, l.Packed)
		}
		return s
	}
	row("session", s.Session)
	row("id", s.ID)
	row("directory", s.Directory)
	row("state", s.State)
	row("cwd", s.Cwd)
	row("budget", s.Budget)
	row("messages", log(s.Messages))
	row("events", log(s.Events))
	row("created", s.Created.Local().Format(time.RFC3339))
	row("updated", s.Updated.Local().Format(time.RFC3339))
	row("meta", string(s.Meta))
	row("refusals", strconv.Itoa(s.Refusals))
	row("last", s.Last)
	for _, c := range s.Children {
		text := c.Name + ": " + c.Status
		if c.Session != "" {
			text += ", " + c.Session
		}
		row("child", text)
	}
	for _, p := range s.ChildOf {
		row("child of", p.Session+", as "+p.Name)
	}
	return w.Flush()
}
