package source

import (
	"crypto/sha256"
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// A source that names summary.md shows the version in use. The store has no such file once a
// version was delivered, so the text comes from the session.

// summary adds the version of the session's own summary that is in use. delivered is false if the
// session has no version, or only the file of an older store.
func (s *sources) summary(at int, id string) (c *content, delivered bool) {
	f := blocks.File{At: at, ID: id, Path: ctxabi.SummaryFile, Life: ctxabi.OriginAgent}
	s.g.in.SummaryFiles = append(s.g.in.SummaryFiles, f)
	return s.delivered(s.x, f)
}

// delivered adds f with the version of x that is in use.
func (s *sources) delivered(x *session.Session, f blocks.File) (c *content, delivered bool) {
	list, err := x.Summaries()
	if err == nil && (list.OfOldStore() || len(list.List) == 0) {
		return nil, false
	}
	if err == nil {
		v, used := list.InUse()
		if !used {
			return absent, true
		}
		f.Data, err = x.SummaryText(v)
	}
	c = &content{data: f.Data, sum: sha256.Sum256(f.Data)}
	if err != nil {
		c.reason, c.failed = why(err), true
	}
	f.Reason, f.Sum = c.reason, &c.sum
	s.g.in.Files = append(s.g.in.Files, f)
	return c, true
}

// sibling returns the session whose summary is the file rel of the agent's home, or nil.
func (s *sources) sibling(rel string) *session.Session {
	name, ok := strings.CutSuffix(rel, "/"+ctxabi.SummaryFile)
	if !ok || path.Dir(name) != ctxabi.SessionDir || name == s.rel {
		return nil
	}
	ref := s.g.Ref
	ref.Session = path.Base(name)
	x, err := s.x.Store().Session(ref)
	if err != nil {
		return nil
	}
	return x
}

// versions describes the versions of a session's summary. A delivery or a retraction changes it.
type versions struct {
	count, inUse int  // inUse is a number, or 0
	byAgent      bool // the agent delivered one; an import and a summarizer do not count
	last         int  // messages at the last delivery; -1: nothing was delivered
}

// versionsOf returns the versions of x. If they cannot be read, it returns the value for none.
func versionsOf(x *session.Session) versions {
	v := versions{last: -1}
	list, err := x.Summaries()
	if err != nil {
		return v
	}
	used, _ := list.InUse()
	v.count, v.inUse = len(list.List), used.N
	for i := range list.List {
		d := &list.List[i]
		v.last = max(v.last, d.Messages)
		v.byAgent = v.byAgent || d.Writer != ctxabi.WriterImport && d.Writer != ctxabi.WriterSummarizer
	}
	return v
}

// Deliveries reports whether the agent delivered a version of the summary, and how many messages
// the session had at the last delivery; -1 means that nothing was delivered.
func (g *Gathered) Deliveries() (byAgent bool, last int) { return g.versions.byAgent, g.versions.last }

// summaryText returns the text of a delivered version without blanks around it, and with a final
// newline. It returns the errors of [session.Session.SummaryText].
func (l *Logs) summaryText(x *session.Session, v session.Version) (string, error) {
	if text, ok := l.summaries.Load(v.SHA256); ok {
		return text.(string), nil
	}
	data, err := x.SummaryText(v)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(data))
	if text != "" {
		text += "\n"
	}
	l.summaries.Store(v.SHA256, text)
	return text, nil
}

// deliver sets in.Summaries to the versions and retractions in the history of t; in already has the
// records. It skips a version without a readable text. If the versions cannot be read, in has none,
// and in.SummaryNote has the reason.
func (l *Logs) deliver(in *pack.Input, x *session.Session, t *log.Timeline) {
	in.Summaries = nil
	list, err := x.SummariesAt(t.Messages.Len())
	if err != nil {
		in.SummaryNote = "the versions of the summary cannot be read: " + why(err)
		return
	}
	// before counts the messages up to upto and the tool events between them, of the first
	// messages and events.
	before := func(messages, events, upto int) int {
		n := min(upto, messages)
		for _, e := range in.Tools {
			if int(e.Line) <= events && int(e.After) <= upto {
				n++
			}
		}
		return n
	}

	removed := list.Removed
	retract := func(versions int) {
		for len(removed) > 0 && removed[0].Versions <= versions {
			r := removed[0]
			in.Summaries = append(in.Summaries, journal.Summary{After: before(r.Messages, r.Events, r.Messages)})
			removed = removed[1:]
		}
	}
	for i, v := range list.List {
		retract(i)
		text, err := l.summaryText(x, v)
		if err != nil {
			continue
		}
		in.Summaries = append(in.Summaries, journal.Summary{N: v.N, Text: text, Writer: v.Writer,
			To: before(v.Messages, v.Events, v.Upto), After: before(v.Messages, v.Events, v.Messages)})
	}
	retract(len(list.List))
	for i := range in.Summaries {
		sum := in.Summaries[i].ID()
		in.Summaries[i].Sum = &sum
	}
}

// summaryUntil replaces the summary in the files of a pack by the version that was in use when the
// session had the messages of t. It returns the errors of [session.Session.SummariesAt].
func summaryUntil(in *pack.Input, x *session.Session, t *log.Timeline) error {
	if len(in.SummaryFiles) == 0 {
		return nil
	}
	list, err := x.SummariesAt(t.Messages.Len())
	if err != nil {
		return err
	}
	v, used := list.InUse()
	if all, err := x.Summaries(); err != nil || all.OfOldStore() && used {
		return err // the file is as it was
	}

	in.Files = slices.DeleteFunc(slices.Clone(in.Files), func(f blocks.File) bool {
		return f.Path == ctxabi.SummaryFile && f.Life != ""
	})
	if !used {
		return nil
	}
	text, err := x.SummaryText(v)
	if err != nil {
		return err
	}
	if in.Redaction != nil {
		text = []byte(in.Redaction.Text(string(text)))
	}
	for _, f := range in.SummaryFiles {
		sum := sha256.Sum256(text)
		f.Data, f.Sum = text, &sum
		in.Files = append(in.Files, f)
	}
	slices.SortStableFunc(in.Files, func(a, b blocks.File) int { return a.At - b.At })
	return nil
}
