package tend

import (
	"context"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// trims trims journals below the snapshots that they named at the look before. Hosts that are behind by
// less than a round need no snapshot.
func (t *Tender) trims(ctx context.Context, all map[engine.Subject]uint64) error {
	return t.each(ctx, inOrder(all), "trim", func(s engine.Subject) error {
		w := t.walks[s]
		if w == nil {
			w = new(walk)
			t.walks[s] = w
		}
		before := w.last
		if w.count != all[s] || !w.known {
			if err := t.read(ctx, s, w, nil); err != nil {
				delete(t.walks, s)
				return err
			}
			w.count = all[s]
		}
		if before.seq <= w.trimmed {
			return nil
		}
		return t.trim(ctx, s, w, before)
	})
}

// trim trims a journal below the entry of a snapshot.
func (t *Tender) trim(ctx context.Context, s engine.Subject, w *walk, to snapshotAt) error {
	list, err := t.o.Engine.Read(ctx, s, engine.Range{From: to.seq, Count: 1})
	if err != nil {
		return err
	}
	if len(list) == 0 || list[0].Seq != to.seq {
		return fmt.Errorf("%w: the entry at sequence %d is not there", engine.ErrUnreachable, to.seq)
	}
	before, err := t.store(s.Owner).TrimBefore(ctx, s.Session, to.at, list[0])
	if err != nil {
		return err
	}
	if !t.o.DryRun {
		if err := t.o.Engine.Trim(ctx, s, before); err != nil {
			return err
		}
	}
	w.trimmed, w.count = to.seq, 0
	t.did(&t.r.Trimmed, "the journal %s is trimmed below entry %d, which names a snapshot", s, to.at.I)
	return nil
}
