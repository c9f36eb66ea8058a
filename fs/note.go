package fs

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// A note (summary.md, facts.jsonl, ...) is a control file that is always there: ctxfs derives it
// until the agent writes it. What the agent writes of the summary is a version, without the derived
// text. It is one inode in both lives. A handle has a copy of what the file
// was when it was opened, so that no read is torn, and knows what is written to it: something
// behind what was there is added to what the agent has, anything else replaces it.

// noteView is a note as a reader finds it: what ctxfs derives, and behind it what the agent wrote.
type noteView struct {
	session.Note
	derived []byte
}

func (v *noteView) text() []byte { return slices.Concat(v.derived, v.Own) }

// note returns the note rel as it is now.
func (p *mountedSession) note(ctx context.Context, rel string) (v noteView, err error) {
	if v.Note, err = p.x.Note(rel); err != nil || v.Origin == ctxabi.OriginAgent {
		return v, err
	}
	late, cancel := patient(ctx)
	defer cancel()
	derived, err := p.t.builder.Notes(late, p.x)
	if err != nil {
		if errors.Is(err, ctxabi.ErrNoMemory) {
			p.refuse(ctx, "read", rel, err)
		}
		return v, err
	}
	v.derived = derived.Beside(rel, v.Own)
	return v, nil
}

// fillNote fills in the attributes of the note rel.
func (p *mountedSession) fillNote(ctx context.Context, rel string, a *fuse.Attr) error {
	v, err := p.note(ctx, rel)
	if err != nil {
		return err
	}
	p.own.setFile(a, p.own.fileMode(), int64(len(v.derived)+len(v.Own)), p.x.Updated())
	written := rel
	switch v.Origin {
	case ctxabi.OriginDerived:
		return nil
	case ctxabi.OriginMixed:
		written = ctxabi.OwnNote(rel)
	}

	if s, err := p.x.Summaries(); rel == ctxabi.SummaryFile && err == nil {
		if used, ok := s.InUse(); ok {
			a.SetTimes(nil, &used.At, &used.At)
		}
		return nil
	}
	if x, err := p.stat(written); err == nil { // it may be gone again
		a.SetTimes(nil, timeOf(x.Mtime.Sec, x.Mtime.Nsec), timeOf(x.Ctime.Sec, x.Ctime.Nsec))
		a.Uid, a.Gid = x.Uid, x.Gid
	}
	return nil
}

func timeOf(sec int64, nsec uint32) *time.Time {
	t := time.Unix(sec, int64(nsec))
	return &t
}

// noteEdit is what a handle did to its copy of a note. Of other files it is that they are replaced.
type noteEdit struct {
	derived  int  // bytes at the beginning of the copy that ctxfs derived
	base     int  // bytes of the copy that are no news
	touched  bool // something between both was changed
	replaced bool // what was derived was changed, or the file was emptied
	foreign  bool // of cwd: who wrote it may see other file systems than the daemon does
}

// change records a change of the copy from off on.
func (e *noteEdit) change(off int64) {
	e.touched = e.touched || off < int64(e.base)
	e.replaced = e.replaced || off < int64(e.derived)
}

// own returns the part of the copy that is the agent's.
func (e *noteEdit) own(data []byte) []byte {
	if e.replaced {
		return data
	}
	return data[e.derived:]
}

// withoutDerived returns what a program wrote over the whole summary without the derived text at
// its beginning, which an editor has loaded with the file. unchanged is true if there is nothing
// else.
func (p *mountedSession) withoutDerived(ctx context.Context, data []byte) (own []byte, unchanged bool, err error) {
	v, err := p.note(ctx, ctxabi.SummaryFile)
	if err != nil || len(v.derived) == 0 {
		return data, false, err
	}
	own, found := bytes.CutPrefix(data, v.derived)
	return own, found && len(own) == 0, nil
}

// commitNote writes the note rel as edit e changed the copy data.
func (p *mountedSession) commitNote(ctx context.Context, rel string, data []byte, e *noteEdit) (err error) {
	if rel == ctxabi.SummaryFile && e.replaced {
		unchanged := false
		if data, unchanged, err = p.withoutDerived(ctx, data); err != nil || unchanged {
			return err
		}
	}

	switch {
	case e.replaced:
		return p.x.SetNote(rel, data, ctxabi.OriginAgent)
	case !e.touched && len(data) == e.base:
		return nil
	case !e.touched: // others may have added something since, too
		err = p.x.AppendNote(rel, data[e.base:])
	case e.derived > 0:
		err = p.x.SetNote(rel, data[e.derived:], ctxabi.OriginMixed)
	default:
		return p.x.SetNote(rel, data, ctxabi.OriginAgent)
	}
	if err == nil {
		e.base, e.touched = len(data), false
	}
	return err
}

// A note that is removed is derived from then on, so that its name is never free. The same holds
// for a pack and for the files of a child. But programs that replace a file remove it first, then
// make the new one exclusively, and do both again as long as the file is there. So a file that a
// process has removed is absent once for that process, at its next look-up, and it may make a new
// one. A pack cannot be made in its place: it is absent only for a process that removes it twice
// without reading it.

// removeNote removes what the agent wrote in a note. From then on ctxfs derives the note.
func (p *mountedSession) removeNote(ctx context.Context, rel string) syscall.Errno {
	if err := p.x.DropNote(rel); err != nil {
		return errnoOf(err)
	}
	return p.removedBy(ctx, rel)
}

// removal is the process that removed a file that comes back, and how often since it opened the
// file last.
type removal struct {
	by    uint32
	times int
}

// removedBy records that the caller removed a file that comes back.
func (p *mountedSession) removedBy(ctx context.Context, rel string) syscall.Errno {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.removed == nil {
		p.removed = map[string]removal{}
	}
	r := p.removed[rel]
	if who := processOf(ctx); r.by != who {
		r = removal{by: who}
	}
	r.times++
	p.removed[rel] = r
	return 0
}

// seemsRemoved reports whether a look-up of rel, of which e is the row, is to find nothing: the
// caller has removed the file, a built file twice, and has not looked since. It reports true once
// per removal.
func (p *mountedSession) seemsRemoved(ctx context.Context, e *entry, rel string) bool {
	times := 1
	switch e.kind {
	case control:
	case built:
		times = 2
	default:
		return false
	}
	p.mu.Lock()
	r, ok := p.removed[rel]
	p.mu.Unlock()
	if !ok || r.times < times || r.by != processOf(ctx) {
		return false
	}
	p.forgetRemoval(rel)
	return true
}

// forgetRemoval forgets who removed a file.
func (p *mountedSession) forgetRemoval(rel string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.removed, rel)
}

// exists reports whether a control file is there for a caller whose look-up found nothing a moment
// ago.
func (p *mountedSession) exists(rel string) bool {
	if session.IsNote(rel) {
		note, err := p.x.Note(rel)
		return err != nil || note.Origin != ctxabi.OriginDerived
	}
	if ctxabi.IsChildFile(rel) {
		_, err := p.stat(rel)
		return err == nil
	}
	_, err := p.content(context.Background(), rel)
	return err == nil
}
