package backup

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
)

// getter returns the content of an object of an owner.
type getter func(ctx context.Context, name string) ([]byte, error)

// beginOfNames returns the state of an owner that the first entry of a journal names, if those before it
// are gone. It returns ErrDamaged if the entry names none, journal.ErrVersion, and the errors of get.
func beginOfNames(ctx context.Context, s engine.Subject, first engine.Entry, get getter) (*names.State, error) {
	e, err := journal.Peek(first)
	if err != nil {
		return nil, err
	}
	missing := fmt.Errorf("%w: %s begins at entry %d, which names no snapshot", ErrDamaged, s, e.I)
	if len(e.Rows) == 0 {
		return nil, missing
	}
	parsed, err := names.ParseRow(e.Rows[0])
	if err != nil {
		return nil, err
	}
	n, ok := parsed.(names.Snapshot)
	if !ok || n.I != e.I {
		return nil, missing
	}
	data, err := get(ctx, names.SnapshotKey(s, n).Name)
	if err != nil {
		return nil, err
	}
	if hashOf(data) != n.Hash {
		return nil, fmt.Errorf("%w: snapshot %d of %s", engine.ErrDiffers, n.I, s)
	}
	return names.Decode(s, data)
}

// state returns what an owner's journal amounts to, as the directory has it.
func (d *directory) state(ctx context.Context, s engine.Subject, of saved, get getter) (*names.State, error) {
	state := names.New(s)
	err := d.entries(s, of, func(i uint64, e engine.Entry) (err error) {
		if i == of.First && i > 0 {
			if state, err = beginOfNames(ctx, s, e, get); err != nil {
				return err
			}
		}
		_, err = state.Apply(e)
		return err
	})
	if err != nil {
		return nil, err
	}
	if at, err := of.at(); err != nil || of.Seq > 0 && at != state.At() {
		return nil, fmt.Errorf("%w: %s ends at entry %d, not %d", ErrDamaged, s, state.At().I, of.I)
	}
	return state, nil
}

// beginOfSession returns where the first entry of a session's journal stands, if those before it are gone:
// it names a snapshot, or the session was parked there. It returns ErrDamaged if neither is so, and the
// errors of get and of bulk.ParseSnapshot.
func beginOfSession(ctx context.Context, s engine.Subject, first engine.Entry, parked names.Parked, get getter) (at journal.Position, err error) {
	e, err := journal.Peek(first)
	if err != nil {
		return at, err
	}
	if saved, err := bulk.SavedIn(e); err == nil && saved.At.I == e.I {
		return saved.At, nil
	}
	if parked.I != e.I || e.I == 0 {
		return at, fmt.Errorf("%w: %s begins at entry %d, which names no snapshot", ErrDamaged, s, e.I)
	}
	snap, err := loadParked(ctx, s, parked, get)
	if err != nil {
		return at, err
	}
	return snap.At, nil
}

// loadParked returns the snapshot in which a session is parked.
func loadParked(ctx context.Context, s engine.Subject, parked names.Parked, get getter) (*bulk.Snapshot, error) {
	name, err := parkedName(s, parked)
	if err != nil {
		return nil, err
	}
	data, err := get(ctx, name.String())
	if err != nil {
		return nil, err
	}
	snap, err := bulk.ParseSnapshot(data)
	if err == nil && (snap.Session != s.Session || hashOf(data) != parked.Hash) {
		err = fmt.Errorf("%w: %s", engine.ErrDiffers, name)
	}
	return snap, err
}

func parkedName(s engine.Subject, parked names.Parked) (bulk.Name, error) {
	var sha journal.Hash
	if raw, err := hex.DecodeString(parked.Hash); err != nil || copy(sha[:], raw) != len(sha) {
		return bulk.Name{}, fmt.Errorf("%w: %s is parked in %q", ErrDamaged, s, parked.Hash)
	}
	return bulk.SnapshotName(s.Session, parked.I, sha), nil
}
