package builder

import (
	"path"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/session"
)

// asking returns the conditions under which packs of x ask for a summary. If the versions
// cannot be read, no pack asks; the report of the pack has the reason.
func (b *Builder) asking(x *session.Session) (a pack.Asking) {
	list, err := x.Summaries()
	if err != nil {
		return a
	}
	asked, ref := x.Asked(), x.Ref()
	if b.config.Mountpoint != "" {
		a.Path = path.Join(b.config.Mountpoint, ref.Path(), ctxabi.SummaryFile)
	}

	// An import and a summarizer do not show that the agent can write a summary.
	byAgent, last := asked.Read, -1
	for _, v := range list.List {
		byAgent = byAgent || slices.Contains([]string{ctxabi.WriterFile, ctxabi.WriterEvent, ctxabi.WriterMCP},
			v.Writer)
		last = max(last, v.Messages)
	}
	a.Known = x.Store().AnswersRequests(ref)
	if byAgent && !a.Known {
		x.Store().NoteAnswers(ref) // without it the agent's other sessions are not asked
		a.Known = true
	}
	for _, r := range asked.Shown {
		if r.Opened > last {
			a.Shown = append(a.Shown, r.Opened)
		}
	}
	if len(a.Shown) < pack.MaxUnanswered {
		a.Shown = nil // so that no pack changes by being read
	}
	return a
}

// Asked records that a file of context/summary.request of build, which is one of x, was opened.
func (b *Builder) Asked(x *session.Session, build *pack.Build) { noteAsked(x, build, true) }

// noteAsked remembers that the open request of a build was shown, or that its directory was read.
// What cannot be stored is forgotten at the end of the process.
func noteAsked(x *session.Session, build *pack.Build, read bool) {
	q := &build.Request
	if q.State != ctxabi.RequestOpen {
		x.NoteAsked(nil, read)
		return
	}
	x.NoteAsked(&session.ShownRequest{Opened: q.OpenedAt, Upto: q.Upto}, read)
}

// RequestBody returns the body of a call that asks for a summary; build is one of x.
// It returns an error as [pack.Build.RequestBody] does, which stands in errors.jsonl, too.
func (b *Builder) RequestBody(x *session.Session, build *pack.Build, f native.Format) ([]byte, error) {
	return b.render(x, build, func(logs native.Logs) ([]byte, error) { return build.RequestBody(f, logs) })
}
