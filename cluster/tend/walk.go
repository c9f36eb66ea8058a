package tend

import (
	"context"
	"errors"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
)

// walk is a journal as far as it was read and its chain was followed.
type walk struct {
	known  bool             // where it begins
	begins bool             // with its first entry, or one that names a snapshot of all before it
	at     journal.Position // behind the last entry that was read
	seq    uint64           // of it
	count  uint64           // entries that the engine had then

	last    snapshotAt // the last snapshot that was read
	trimmed uint64     // below this sequence
}

// snapshotAt is an entry that names a snapshot of all before it.
type snapshotAt struct {
	at  journal.Position // where it stands
	seq uint64
}

// read reads on to the end of the journal as the leader has it, and calls each with the entries, nil: with
// none. It returns journal.ErrGap and the other errors of journal.Open if the chain breaks there, the error of
// each, and those of the engine.
func (t *Tender) read(ctx context.Context, s engine.Subject, w *walk, each func(from engine.Entry, e *journal.Entry) error) error {
	end, err := t.o.Engine.Last(ctx, s, true)
	if err != nil {
		return err
	}
	for leader := false; w.seq < end.Seq; {
		list, err := t.o.Engine.Read(ctx, s, engine.Range{From: w.seq + 1, Leader: leader})
		if err != nil {
			return err
		}
		was := w.seq
		for _, from := range list {
			if err = t.take(ctx, s, w, from, each); err != nil {
				break
			}
		}
		if w.seq == was && leader {
			return errors.Join(fmt.Errorf("entries up to sequence %d cannot be read", end.Seq), err)
		}
		leader = w.seq == was // a replica that lost something, or is behind
	}
	return nil
}

// take follows the chain over the next entry.
func (t *Tender) take(ctx context.Context, s engine.Subject, w *walk, from engine.Entry, each func(engine.Entry, *journal.Entry) error) error {
	if from.ID == "" {
		w.seq = from.Seq
		return nil
	}
	if !w.known {
		if err := t.begin(ctx, s, w, from); err != nil {
			return err
		}
	}
	e, next, err := journal.Open(w.at, from)
	if err != nil {
		return err
	}
	for _, r := range e.Rows {
		if r.Kind == journal.Snapshot {
			if saved, ok := beginsWith(from); ok && saved.At == w.at {
				w.last = snapshotAt{w.at, from.Seq}
			}
		}
	}
	if each != nil {
		if err := each(from, &e); err != nil {
			return err
		}
	}
	w.at, w.seq = next, from.Seq
	return nil
}

// begin finds out where the first entry of a journal stands: at the beginning, behind the snapshot that
// it names, or behind the one under which the session was parked.
func (t *Tender) begin(ctx context.Context, s engine.Subject, w *walk, first engine.Entry) error {
	if saved, ok := beginsWith(first); ok {
		w.at, w.known, w.trimmed, w.begins = saved.At, true, first.Seq, true
		return nil
	}
	w.at = journal.Start(s)
	if _, _, err := journal.Open(w.at, first); err == nil {
		w.known, w.begins = true, true
		return nil
	} else if !errors.Is(err, journal.ErrGap) {
		return err
	}
	saved, _, ok, err := t.shelf.parked(ctx, s)
	if err == nil && !ok {
		err = fmt.Errorf("%w: nothing names what stood before sequence %d", engine.ErrNotFound, first.Seq)
	}
	w.at, w.known = saved.At, err == nil
	return err
}
