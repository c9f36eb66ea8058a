package names

import (
	"context"
	"errors"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// takeOrJump applies the next entry, or goes on from the snapshot that the entry names, if what comes before
// it was trimmed.
func (r *Replica) takeOrJump(ctx context.Context, from engine.Entry) error {
	err := r.take(from)
	if !errors.Is(err, journal.ErrGap) {
		return err
	}
	n, ok := snapshotOf(from)
	if !ok || n.I <= r.state.at.I {
		return err
	}
	s, err := r.load(ctx, n)
	if err != nil {
		return err
	}
	a, err := s.Apply(from)
	if err == nil {
		err = a.Refused
	}
	if err != nil {
		return fmt.Errorf("the snapshot of %s before %d: %w", r.subject, from.Seq, err)
	}
	r.mu.Lock()
	r.state = s
	r.mu.Unlock()
	r.seq, r.jumped = from.Seq, true
	if r.taken != nil {
		r.taken(from, Applied{})
	}
	return nil
}

// snapshotOf returns the snapshot that an entry names, which may be of any place of the journal.
func snapshotOf(from engine.Entry) (n Snapshot, ok bool) {
	e, err := journal.Peek(from)
	if err != nil || len(e.Rows) != 1 {
		return n, false
	}
	parsed, err := parseRow(e.Rows[0])
	n, ok = parsed.(Snapshot)
	return n, ok && err == nil && n.I == e.I
}

// load reads the state that a snapshot is of.
func (r *Replica) load(ctx context.Context, n Snapshot) (*State, error) {
	data, err := r.e.Objects().Get(ctx, SnapshotKey(r.subject, n), 0, -1)
	if err != nil {
		return nil, err
	}
	if hashOf(data) != n.Hash {
		return nil, fmt.Errorf("%w: snapshot %d of %s", engine.ErrDiffers, n.I, r.subject)
	}
	s, err := Decode(r.subject, data)
	if err == nil && s.at.I != n.I {
		err = refuse("parse", "", ctxabi.ErrMalformed, "a state at entry %d in the snapshot of entry %d", s.at.I, n.I)
	}
	return s, err
}

// Checkpoint stores the state among the objects, names it in the journal and removes the entries before. The
// engine is one that may trim. It returns engine.ErrBusy if another entry came in between, so that it is to
// be done later, and an error of the engine; what was done stays then, and does no harm.
func (r *Replica) Checkpoint(ctx context.Context) error {
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.leave()
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	if r.state.at.I == 0 {
		return nil
	}
	data := r.state.Encode()
	n := Snapshot{I: r.state.at.I, Hash: hashOf(data)}
	if err := r.e.Objects().Put(ctx, SnapshotKey(r.subject, n), data); err != nil {
		return err
	}
	clear(r.sent)
	_, err := r.append(ctx, rowsOf(n))
	if _, conflict := errors.AsType[*engine.Conflict](err); conflict {
		err = fmt.Errorf("%w: %w", engine.ErrBusy, err)
	}
	if err != nil {
		return err
	}
	return r.e.Trim(ctx, r.subject, r.seq)
}
