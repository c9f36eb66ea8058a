package bulk

import (
	"context"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
)

// TrimBefore returns the sequence below which the entries of a session's journal may go: that of the
// entry from, which stands in the journal at a position and names a snapshot of all before it. That the
// snapshot was saved once is not enough: TrimBefore reads it back now, with the bodies that it alone
// names, and asks for each part, index object and blob. It returns [ErrDamaged] if the entry names no
// snapshot of that position, the errors of journal.Open if it does not stand there, those of
// [Store.Load], and those of [Store.Has]; nothing may be trimmed then.
func (s *Store) TrimBefore(ctx context.Context, id string, at journal.Position, from engine.Entry) (before uint64, err error) {
	e, _, err := journal.Open(at, from)
	if err != nil {
		return 0, err
	}
	saved, err := SavedIn(e)
	if err == nil && saved.At != at {
		err = fmt.Errorf("a row of a snapshot: %w: it is of entry %d and stands in entry %d", ErrDamaged, saved.At.I, at.I)
	}
	if err != nil {
		return 0, err
	}
	if err := s.Whole(ctx, id, saved); err != nil {
		return 0, err
	}
	return from.Seq, nil
}

// Whole returns nil if a snapshot can be read back, with the bodies that it alone names, and the store
// answers that it has each part, index object and blob. It returns the errors of [Store.Load] and
// [Store.Has].
func (s *Store) Whole(ctx context.Context, id string, saved Saved) error {
	snap, err := s.Load(ctx, id, saved)
	if err != nil {
		return err
	}
	for _, r := range snap.bodies() {
		if _, err := s.Body(ctx, r); err != nil {
			return err
		}
	}
	for _, o := range snap.Objects() {
		if err := s.Has(ctx, o.Name, o.Size); err != nil {
			return err
		}
	}
	return nil
}

// SavedIn returns the content of the row of an entry that names a snapshot. It returns [ErrDamaged] if
// there is none, and the errors of [ParseSaved].
func SavedIn(e journal.Entry) (Saved, error) {
	for _, r := range e.Rows {
		if r.Kind == journal.Snapshot {
			return ParseSaved(r.Content)
		}
	}
	return Saved{}, fmt.Errorf("entry %d: %w: it names no snapshot", e.I, ErrDamaged)
}

// bodies returns the references to what is too long for the snapshot, but for blobs.
func (s *Snapshot) bodies() (list []Ref) {
	add := func(c Content) {
		if c.Ref.Size > 0 {
			list = append(list, c.Ref)
		}
	}
	for i := range s.Logs {
		add(s.Logs[i].Rows)
		add(s.Logs[i].Tail)
	}
	for _, f := range s.Files {
		add(f.Content)
	}
	return list
}
