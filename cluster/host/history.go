package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// LastSet returns the last change of a control file that was applied here; see [session.Historian].
func (h *Host) LastSet(x *session.Session, name string) (session.Revision, bool) {
	if m := h.member(x); m.isOpen.Load() {
		return m.copy.LastSet(name)
	}
	all, err := replica.ReadSets(x.Disk())
	if err != nil {
		return session.Revision{}, false
	}
	r, ok := all[name]
	return r, ok
}

// History returns the changes of a control file that the journal still has, up to what this host has
// applied; see [session.Historian]. Before them stands the last one that is in a snapshot, if earlier
// entries were trimmed, or all because the session is parked. Those of a child's file are the ones since the child
// has its name. It returns ctxabi.ErrUnreachable and the other errors of reading the journal.
func (h *Host) History(ctx context.Context, x *session.Session, name string) ([]session.Revision, error) {
	p := &past{h: h, x: x, name: name}
	if err := p.read(ctx); err != nil {
		return nil, kinded("history", name, err)
	}
	return p.list, nil
}

// Earlier returns what the change of an entry made of a control file; see [session.Historian]. Of a note
// it is what the agent wrote. It returns ctxabi.ErrNotFound if the entry is none of History, or removed
// the file, and the errors of History.
func (h *Host) Earlier(ctx context.Context, x *session.Session, name string, entry uint64) ([]byte, error) {
	p := &past{h: h, x: x, name: name, want: &entry}
	if err := p.read(ctx); err != nil {
		return nil, kinded("history", name, err)
	}
	if p.found == nil {
		return nil, ctxabi.E("history", name, ctxabi.ErrNotFound, "entry %d of the journal has not written it, or was trimmed; ask for the list", entry)
	}
	return p.found, nil
}

// past is the history of one control file, as far as it was read.
type past struct {
	h    *Host
	x    *session.Session
	name string
	want *uint64 // the entry whose content is wanted; nil: the list is

	sets  replica.Sets // the last change of the file
	now   session.Note // the file as it is by then; of one that is no note, Own
	list  []session.Revision
	found []byte
}

// read reads the journal from its beginning, or from the snapshot behind which it was trimmed, up to where
// the copy is. It returns the errors of the engine, of package journal and of package bulk.
func (p *past) read(ctx context.Context) error {
	p.sets, p.now = replica.Sets{}, session.Note{Origin: ctxabi.OriginDerived}
	s, end := Subject(p.x), ^uint64(0)
	if m := p.h.member(p.x); m.isOpen.Load() {
		end = m.copy.Position().I
	}
	at, began, leader := journal.Start(s), false, false
	for from := uint64(1); at.I < end; {
		list, err := p.h.o.Engine.Read(ctx, s, engine.Range{From: from, Leader: leader})
		if err != nil {
			return err
		}
		for _, e := range list {
			if e.ID != "" {
				if !began {
					began, err = p.begin(ctx, s, &at, e)
				}
				if began && err == nil && at.I < end {
					err = p.entry(ctx, &at, e)
				}
				if err != nil {
					break
				}
			}
			from = e.Seq + 1
		}
		switch {
		case err != nil && leader:
			return err
		case err != nil:
			leader = true // this replica has lost something
		case len(list) == 0 && at.I == 0:
			return p.parked(ctx, s)
		case len(list) == 0:
			return nil
		}
	}
	return nil
}

// parked begins with the snapshot in which the journal is parked, which has no entries. It returns replica.ErrBehind
// if it is not parked and this host has read entries of it, and the errors of package bulk.
func (p *past) parked(ctx context.Context, s engine.Subject) error {
	var at replica.Parking
	var ok bool
	var err error
	if p.h.o.Parked != nil {
		at, ok, err = p.h.o.Parked(ctx, s)
	}
	switch {
	case err == nil && !ok && p.h.Position(p.x) > 0:
		err = replica.ErrBehind
	case err == nil && ok:
		var saved bulk.Saved
		if saved, err = bulk.ParseSaved(at.Row.Content); err == nil {
			err = p.load(ctx, s, saved)
		}
	}
	return err
}

// begin reports whether the history can be read from an entry on: it is the first one of the journal, or
// has a snapshot of what was before, which is loaded. It returns the errors of package bulk.
func (p *past) begin(ctx context.Context, s engine.Subject, at *journal.Position, from engine.Entry) (bool, error) {
	e, err := journal.Peek(from)
	if err != nil || e.I == 0 {
		return err == nil, err
	}
	for _, row := range e.Rows {
		if row.Kind != journal.Snapshot {
			continue
		}
		saved, err := bulk.ParseSaved(row.Content)
		if err != nil || saved.At.I != e.I {
			continue
		}
		*at = saved.At
		err = p.load(ctx, s, saved)
		return err == nil, err
	}
	return false, nil
}

// load begins with what a snapshot has of the file. It returns the errors of package bulk.
func (p *past) load(ctx context.Context, s engine.Subject, saved bulk.Saved) error {
	objects := bulk.NewStore(p.h.o.Engine.Objects(), s.Owner)
	snap, err := objects.Load(ctx, s.Session, saved)
	if err != nil {
		return err
	}
	own := ctxabi.OwnNote(p.name)
	for _, f := range snap.Files {
		if f.Name != log.SetsFile && f.Name != p.name && f.Name != own {
			continue
		}
		data := f.Content.Data
		if f.Content.Ref.Size > 0 {
			if data, err = objects.Body(ctx, f.Content.Ref); err != nil {
				return err
			}
		}
		switch {
		case f.Name == log.SetsFile:
			sets, err := replica.ParseSets(data)
			if err != nil {
				return err
			}
			p.sets = sets
		case f.Name == p.name:
			p.now = session.Note{Origin: ctxabi.OriginAgent, Own: data}
		case p.now.Origin != ctxabi.OriginAgent: // else the file counts
			p.now = session.Note{Origin: ctxabi.OriginMixed, Own: data}
		}
	}
	if last, ok := p.sets[p.name]; ok {
		p.add(last)
	}
	return nil
}

// entry goes on by an entry. It returns the errors of journal.Open and of objects.
func (p *past) entry(ctx context.Context, at *journal.Position, from engine.Entry) error {
	e, next, err := journal.Open(*at, from)
	if err != nil {
		return err
	}
	for i := range e.Rows {
		if e.Rows[i].Kind != journal.Control {
			continue
		}
		c, sum, err := replica.ParseChange(&e.Rows[i])
		if err != nil {
			return err
		}
		if sum == nil {
			c.SetBody(e.Rows[i].Body)
		}
		if c.Name == p.name {
			if err := p.change(ctx, &c, sum, e.I); err != nil {
				return err
			}
		}
	}
	*at = next
	return nil
}

// change goes on by a change of the file in entry i, if it was made. It returns the errors of objects.
func (p *past) change(ctx context.Context, c *replica.Change, sum []byte, i uint64) error {
	if p.sets.Stale(c, i) != nil {
		return nil
	}
	if last := p.now.Sum(); len(c.Was) > 0 && !bytes.Equal(last[:], c.Was) {
		return nil
	}
	if sum != nil {
		body, err := p.h.o.Engine.Objects().Get(ctx, replica.BodyKey(Subject(p.x), [32]byte(sum)), 0, -1)
		if err != nil {
			return err
		}
		if sha256.Sum256(body) != [32]byte(sum) {
			return fmt.Errorf("%w: what entry %d has written is another content", journal.ErrDamaged, i)
		}
		c.SetBody(body)
	}
	if c.Kind == session.SetTime {
		return nil
	}
	isNote := c.Kind == session.SetNote || c.Kind == session.SetSummary
	if last, ok := p.sets[p.name]; ok && last.Size < 0 && c.Revision(i).Size < 0 && !isNote {
		return nil // there was nothing to be removed
	}
	if c.Kind == session.RemoveFile && p.now.Origin != ctxabi.OriginDerived && !bytes.Equal(p.now.Own, c.If) {
		return nil
	}
	r := c.Revision(i)
	switch {
	case r.Size < 0:
		p.now = session.Note{Origin: ctxabi.OriginDerived}
	case c.Kind == session.SetNote:
		p.now = session.Note{Origin: c.To, Own: c.Data}
	default:
		p.now = session.Note{Origin: ctxabi.OriginAgent, Own: c.Data}
	}
	p.sets[p.name] = r
	p.add(r)
	return nil
}

// add adds a change that was made.
func (p *past) add(r session.Revision) {
	p.list = append(p.list, r)
	if p.want != nil && r.Entry == *p.want {
		p.found = nil
		if r.Size >= 0 {
			p.found = append([]byte{}, p.now.Own...)
		}
	}
}
