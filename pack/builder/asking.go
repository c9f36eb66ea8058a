package builder

import (
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
)

// asking returns the conditions under which packs of x ask for a summary. An agent is known if it
// delivered a version or read context/summary.request, in this session or another one.
func (b *Builder) asking(x *session.Session, e *entry, g *source.Gathered) (a pack.Asking) {
	asked, ref := x.Asked(), x.Ref()
	byAgent, last := g.Deliveries()
	if b.config.Mountpoint != "" {
		a.Path = path.Join(b.config.Mountpoint, ref.Path(), ctxabi.SummaryFile)
	}
	if !e.answers {
		known := x.Store().AnswersRequests(ref)
		if e.answers = known || byAgent || asked.Read; e.answers && !known {
			x.Store().NoteAnswers(ref) // if it fails, the agent's other sessions are not asked
		}
	}
	a.Known = e.answers
	for _, r := range asked.Shown {
		if r.Opened > last {
			a.Shown = append(a.Shown, r.Opened)
		}
	}
	if len(a.Shown) < pack.MaxUnanswered {
		a.Shown = nil // the first ones must not change the id of a pack
	}
	return a
}

// Asked records that a file of context/summary.request of build, which is one of x, was opened.
func (b *Builder) Asked(x *session.Session, build *pack.Build) { noteAsked(x, build, true) }

// noteAsked records that the open request of a build was shown, and with read that its directory
// was read. If storing fails, the record lasts until the process ends.
func noteAsked(x *session.Session, build *pack.Build, read bool) {
	q := &build.Request
	if q.State != ctxabi.RequestOpen {
		x.NoteAsked(nil, read)
		return
	}
	x.NoteAsked(&session.ShownRequest{Opened: q.OpenedAt, Upto: q.Upto}, read)
}

// RequestBody returns the body of a call that asks for a summary; build is one of x.
// It returns the errors of [pack.Build.RequestBody] and reports them in errors.jsonl.
func (b *Builder) RequestBody(x *session.Session, build *pack.Build, f native.Format) ([]byte, error) {
	return b.render(x, build, func(logs native.Logs) ([]byte, error) { return build.RequestBody(f, logs) })
}

// RequestPrompt returns the request for a summary; build is one of x.
// It returns the errors of [pack.Build.RequestPrompt] and reports them in errors.jsonl.
func (b *Builder) RequestPrompt(x *session.Session, build *pack.Build) ([]byte, error) {
	return b.render(x, build, func(logs native.Logs) ([]byte, error) {
		text, err := build.RequestPrompt(logs)
		return []byte(text), err
	})
}
