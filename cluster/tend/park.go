package tend

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// parks looks at the ends of all journals, and parks those that have not changed for long. A journal of a
// session that has no name any more is removed when that has been so for long.
func (t *Tender) parks(ctx context.Context, all map[engine.Subject]uint64, st *state) error {
	known := map[string]bool{}
	defer func() {
		maps.DeleteFunc(st.Ends, func(name string, _ seen) bool { return !known[name] })
		maps.DeleteFunc(st.Nameless, func(name string, _ time.Time) bool { return !known[name] })
	}()
	return t.each(ctx, inOrder(all), "park", func(s engine.Subject) error {
		known[s.String()] = true
		end, err := t.o.Engine.Last(ctx, s, true)
		if err != nil || end.Seq == 0 {
			return err
		}
		was, ok := st.Ends[s.String()]
		if !ok || was.Seq != end.Seq || was.Since.After(st.now) {
			was = seen{end.Seq, st.now}
			st.Ends[s.String()] = was
		}
		var x names.Session
		if err := t.state(ctx, s.Owner, func(state *names.State) { x, ok = state.SessionByID(s.Session) }); err != nil {
			return err
		}
		if !ok {
			return t.nameless(ctx, s, end.Seq, st)
		}
		delete(st.Nameless, s.String())
		if t.o.ParkAfter < 0 || st.now.Sub(was.Since) < t.o.ParkAfter {
			return nil
		}
		return t.park(ctx, s, x, end.Seq)
	})
}

// nameless removes the journal of a session that has had no name for long.
func (t *Tender) nameless(ctx context.Context, s engine.Subject, end uint64, st *state) error {
	since, ok := st.Nameless[s.String()]
	if !ok || since.After(st.now) {
		since = st.now
		st.Nameless[s.String()] = since
	}
	if t.o.CollectAfter < 0 || st.now.Sub(since) < t.o.CollectAfter {
		return nil
	}
	if !t.o.DryRun {
		if err := t.o.Engine.Trim(ctx, s, end+1); err != nil {
			return err
		}
	}
	t.did(&t.r.Ended, "the journal %s of a session that was removed is gone", s)
	return nil
}

// park parks a journal that ends with the sequence end.
func (t *Tender) park(ctx context.Context, s engine.Subject, x names.Session, end uint64) error {
	if t.o.DryRun {
		t.did(&t.r.Parked, "the journal %s is parked", s)
		return nil
	}
	p, err := t.snapshot(ctx, s, x, end)
	if err != nil {
		return err
	}
	if _, err := t.shelf.owner(engine.Subject{Owner: s.Owner}).Commit(ctx, names.ParkSessions{p}); err != nil {
		return err
	}
	last, err := t.o.Engine.Last(ctx, s, true)
	if err != nil {
		return err
	}
	if last.Seq != end {
		return nil // somebody has come back
	}
	if err := t.o.Engine.Trim(ctx, s, end+1); err != nil {
		return err
	}
	t.did(&t.r.Parked, "the journal %s is parked behind entry %d", s, p.I)
	return nil
}

// snapshot reads a journal into a store of its own and takes a snapshot of all of it.
func (t *Tender) snapshot(ctx context.Context, s engine.Subject, x names.Session, end uint64) (p names.Parking, err error) {
	if err := os.MkdirAll(t.o.Dir, 0o700); err != nil {
		return p, err
	}
	dir, err := os.MkdirTemp(t.o.Dir, "park-")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(dir)
	store, err := session.Open(dir+"/store", session.Options{Parts: t.shelf.Parts(), Now: t.o.Now})
	if err != nil {
		return p, err
	}
	defer store.Close()
	if err := store.ApplyName(session.NameChange{Kind: session.CreateSession, Ref: x.Ref, Owner: disk.Owner(x.Owner), ID: x.ID}); err != nil {
		return p, err
	}
	copied, err := store.Session(x.Ref)
	if err != nil {
		return p, err
	}
	handlers := maps.Clone(t.o.Handlers)
	if handlers == nil {
		handlers = map[journal.Kind]replica.Handler{}
	}
	maps.Copy(handlers, t.shelf.Handlers())
	c, err := replica.Open(copied, s, replica.Options{Engine: t.o.Engine, Handlers: handlers, Restore: t.shelf.Restore, Parked: t.shelf.Parked})
	if err != nil {
		return p, err
	}
	if err := c.Confirm(ctx); err != nil {
		return p, err
	}
	at := c.Position()
	if at.Seq != end {
		return p, fmt.Errorf("%w: somebody appends to it", engine.ErrBusy)
	}
	sh, err := load(copied)
	if err != nil {
		return p, err
	}
	objects := t.store(s.Owner)
	snap, err := objects.Take(ctx, copied, at.Position, sh.Parts)
	if err != nil {
		return p, err
	}
	saved, err := objects.Save(ctx, snap)
	if err == nil {
		err = objects.Whole(ctx, s.Session, saved)
	}
	return names.Parking{ID: s.Session, I: at.I, Hash: hex.EncodeToString(saved.Object.SHA[:])}, err
}
