package tend

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// Restore brings x to the snapshot with which its journal begins now; see replica.Options. It returns
// engine.ErrNotFound if nothing names one, the errors of the engine, of [bulk.Store.Renew], and those of
// [Shelf.Parked].
func (s *Shelf) Restore(ctx context.Context, x *session.Session, subject engine.Subject, from uint64) (replica.Position, error) {
	saved, snap, seq, err := s.beginning(ctx, subject)
	if err != nil {
		return replica.Position{}, err
	}
	if saved.At.I <= from {
		return replica.Position{}, fmt.Errorf("%w: a snapshot behind entry %d", engine.ErrNotFound, from)
	}
	sh := bulk.SharedIn(saved, snap)
	at := replica.Position{Position: saved.At, Seq: seq}
	err = bulk.NewStore(s.o.Engine.Objects(), subject.Owner).Renew(ctx, x, snap, func(ends [2]log.Mark) map[string][]byte {
		at.Messages, at.Events = ends[0], ends[1]
		return map[string][]byte{log.JournalFile: at.Row(), SharedFile: sh.Encode()}
	})
	if err != nil {
		return replica.Position{}, err
	}
	s.note(x, sh)
	return at, nil
}

// Resume makes x what the snapshot has that content, of a row, names: with it the session begins anew behind the end
// of its journal; see replica.Options. It returns the errors of bulk.ParseSaved, of [bulk.Store.Load] and of
// [bulk.Store.Renew].
func (s *Shelf) Resume(ctx context.Context, x *session.Session, subject engine.Subject, content []byte, file func(ends [2]log.Mark) []byte) error {
	saved, err := bulk.ParseSaved(content)
	if err != nil {
		return err
	}
	objects := bulk.NewStore(s.o.Engine.Objects(), subject.Owner)
	snap, err := objects.Load(ctx, subject.Session, saved)
	if err != nil {
		return err
	}
	sh := bulk.SharedIn(saved, snap)
	err = objects.Renew(ctx, x, snap, func(ends [2]log.Mark) map[string][]byte {
		return map[string][]byte{log.JournalFile: file(ends), SharedFile: sh.Encode()}
	})
	if err == nil {
		s.note(x, sh)
	}
	return err
}

// beginning returns the snapshot of all that is not in a journal any more, and the sequence behind which
// what is there begins; 0 if nothing is.
func (s *Shelf) beginning(ctx context.Context, subject engine.Subject) (saved bulk.Saved, snap *bulk.Snapshot, seq uint64, err error) {
	list, err := s.o.Engine.Read(ctx, subject, engine.Range{From: 1, Count: 1})
	if err != nil {
		return saved, nil, 0, err
	}
	if len(list) > 0 {
		seq = list[0].Seq - 1
		if saved, ok := beginsWith(list[0]); ok {
			snap, err = bulk.NewStore(s.o.Engine.Objects(), subject.Owner).Load(ctx, subject.Session, saved)
			return saved, snap, seq, err
		}
	}
	saved, snap, ok, err := s.parked(ctx, subject)
	if err == nil && !ok {
		err = fmt.Errorf("%w: a snapshot of what was trimmed of %s", engine.ErrNotFound, subject)
	}
	if err == nil && len(list) > 0 {
		_, _, err = journal.Open(saved.At, list[0])
	}
	return saved, snap, seq, err
}

// beginsWith returns the snapshot that an entry names, if it is of all before the entry.
func beginsWith(from engine.Entry) (saved bulk.Saved, ok bool) {
	e, err := journal.Peek(from)
	if err != nil {
		return saved, false
	}
	if saved, err = bulk.SavedIn(e); err != nil || saved.At.I != e.I {
		return saved, false
	}
	_, _, err = journal.Open(saved.At, from)
	return saved, err == nil
}

// Parked returns where a journal stands that is parked; see replica.Options. It returns the errors of
// names.Replica.CatchUp, and those of [bulk.Store.Find].
func (s *Shelf) Parked(ctx context.Context, subject engine.Subject) (p replica.Parking, ok bool, err error) {
	saved, _, ok, err := s.parked(ctx, subject)
	if err != nil || !ok {
		return p, false, err
	}
	return replica.Parking{Position: saved.At, Row: journal.Row{Kind: journal.Snapshot, Content: saved.Encode()}}, true, nil
}

// parked returns the snapshot under which the owner of a session has it as parked.
func (s *Shelf) parked(ctx context.Context, subject engine.Subject) (saved bulk.Saved, snap *bulk.Snapshot, ok bool, err error) {
	r := s.owner(engine.Subject{Owner: subject.Owner})
	if err := r.CatchUp(ctx); err != nil {
		return saved, nil, false, err
	}
	var at names.Parked
	r.View(func(state *names.State) {
		x, _ := state.SessionByID(subject.Session)
		at = x.Parked
	})
	if at.I == 0 {
		return saved, nil, false, nil
	}
	saved, snap, err = findParked(ctx, bulk.NewStore(s.o.Engine.Objects(), subject.Owner), subject.Session, at)
	return saved, snap, err == nil, err
}

// owner returns the journal of an owner.
func (s *Shelf) owner(subject engine.Subject) *names.Replica {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.owners[subject]
	if r == nil {
		r = names.NewReplica(s.o.Engine, s.o.Host, subject, names.Options{})
		s.owners[subject] = r
	}
	return r
}

// findParked returns the snapshot that a park names.
func findParked(ctx context.Context, store *bulk.Store, id string, at names.Parked) (bulk.Saved, *bulk.Snapshot, error) {
	var sha journal.Hash
	if n, err := hex.Decode(sha[:], []byte(at.Hash)); err != nil || n != len(sha) {
		return bulk.Saved{}, nil, fmt.Errorf("%w: %q is not the hash of a snapshot", engine.ErrInvalid, at.Hash)
	}
	return store.Find(ctx, id, at.I, sha)
}
