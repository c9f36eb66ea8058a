package tend

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// sweepAtOnce is how many objects are removed before the journals are looked at again.
const sweepAtOnce = 32

// collects removes the objects that nothing has named for long, owner by owner.
func (t *Tender) collects(ctx context.Context, all map[engine.Subject]uint64, st *state) error {
	if t.o.CollectAfter < 0 {
		return nil
	}
	owners, err := t.o.Engine.Owners(ctx)
	if err != nil {
		return err
	}
	subjects := map[engine.Subject]bool{}
	for _, owner := range owners {
		subjects[engine.Subject{Owner: owner}] = true
	}
	for s := range all {
		subjects[engine.Subject{Owner: s.Owner}] = true
	}
	return t.each(ctx, inOrder(subjects), "collect objects of", func(s engine.Subject) error {
		return t.collect(ctx, s.Owner, st)
	})
}

// collect removes what is due of the objects of an owner.
func (t *Tender) collect(ctx context.Context, owner string, st *state) error {
	listed, err := t.o.Engine.Objects().List(ctx, owner, "") // before the journals
	if err != nil || len(listed) == 0 {
		return err
	}
	l := &look{t: t, owner: owner, scanner: newScanner(listed), walks: map[engine.Subject]*walk{}, snapshots: map[bulk.Name]bool{}}
	if err := l.look(ctx); err != nil {
		return err
	}
	unnamed := bulk.Unnamed{}
	if data := st.Unnamed[owner]; data != nil {
		if unnamed, err = bulk.ParseUnnamed(data); err != nil {
			unnamed = bulk.Unnamed{} // all begins to be old now
		}
	}
	due, next := unnamed.Plan(t.o.CollectAfter, listed, &l.named, st.now)
	st.Unnamed[owner] = next.Encode()
	t.r.Unnamed += len(next) - len(due)
	for batch := range slices.Chunk(due, sweepAtOnce) {
		if err := l.look(ctx); err != nil { // right before
			return err
		}
		batch = slices.DeleteFunc(slices.Clone(batch), l.named.Has)
		if !t.o.DryRun {
			gone, err := t.store(owner).Sweep(ctx, batch, func(bulk.Name) (bool, error) { return true, nil })
			for _, n := range gone {
				delete(next, n)
			}
			st.Unnamed[owner] = next.Encode()
			if err != nil {
				return err
			}
		}
		for _, n := range batch {
			t.did(&t.r.Collected, "the object %s of %s is gone, which nothing named for %v", n, owner, t.o.CollectAfter.Round(time.Second))
		}
	}
	return nil
}

// look is what the journals of an owner name.
type look struct {
	t         *Tender
	owner     string
	scanner   *scanner
	named     bulk.Named
	walks     map[engine.Subject]*walk // how far journals were read
	snapshots map[bulk.Name]bool       // that were read
}

// look reads what is new in the journals of the owner since the last look: all of them, each to the end
// that its leader has. It returns an error if anything of it cannot be read or understood: then it is not
// known what may go.
func (l *look) look(ctx context.Context) error {
	var sessions []names.Session
	err := l.t.state(ctx, l.owner, func(s *names.State) {
		for hash := range s.Contents() {
			l.scanner.scan([]byte(hash), l.name)
		}
		sessions = s.Sessions("")
	})
	if err != nil {
		return err
	}
	subjects := map[engine.Subject]names.Parked{}
	for shard := range engine.Shards {
		list, err := l.t.o.Engine.Journals(ctx, shard)
		if err != nil {
			return err
		}
		for s := range list {
			if s.Owner == l.owner {
				subjects[s] = names.Parked{}
			}
		}
	}
	for _, x := range sessions {
		subjects[engine.Subject{Owner: l.owner, Session: x.ID}] = x.Parked
	}
	for _, s := range slices.Collect(maps.Keys(subjects)) {
		begins, err := l.journal(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		if parked := subjects[s]; parked.I > 0 && !begins {
			saved, snap, err := findParked(ctx, l.t.store(l.owner), s.Session, parked)
			if err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
			l.named.AddSnapshot(saved, snap)
		}
	}
	return nil
}

// name names content.
func (l *look) name(sha journal.Hash) { l.named.Add(bulk.BlobName(sha)) }

// journal reads what is new in a journal. begins reports whether the journal has entries, and all before
// them is in the snapshot that the first one names, or there is nothing before.
func (l *look) journal(ctx context.Context, s engine.Subject) (begins bool, err error) {
	w := l.walks[s]
	if w == nil {
		w = new(walk)
		l.walks[s] = w
	}
	err = l.t.read(ctx, s, w, func(from engine.Entry, e *journal.Entry) error { return l.entry(ctx, s, from, e) })
	return w.begins, err
}

// entry names what an entry names.
func (l *look) entry(ctx context.Context, s engine.Subject, from engine.Entry, e *journal.Entry) error {
	l.scanner.scan(from.Payload, l.name)
	for _, r := range e.Rows {
		if r.Kind == journal.Message || r.Kind == journal.Event {
			a, ok := arrival.ParseRow(bytes.TrimSuffix(r.Content, []byte{'\n'})) // its bytes are escaped
			if !ok {
				return fmt.Errorf("%w: a row of records in entry %d", journal.ErrDamaged, e.I)
			}
			l.name(journal.Hash(a.SHA))
		}
		if err := l.named.AddRow(s.Session, r); err != nil {
			return err
		}
		if r.Kind != journal.Snapshot {
			continue
		}
		saved, err := bulk.ParseSaved(r.Content)
		if err != nil {
			return err
		}
		if name := saved.Name(s.Session); !l.snapshots[name] {
			snap, err := l.t.store(l.owner).Load(ctx, s.Session, saved)
			if err != nil {
				return err
			}
			l.named.AddSnapshot(saved, snap)
			l.snapshots[name] = true
		}
	}
	return nil
}
