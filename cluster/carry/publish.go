package carry

import (
	"context"
	"encoding/hex"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// Options are what sessions are carried with.
type Options struct {
	Engine engine.Engine
	Name   string     // of the host
	Host   *host.Host // which commits to sessions of the store

	// View calls look with the names that the owner of ref has, all that were acknowledged before.
	View func(ctx context.Context, ref ctxabi.Ref, look func(s *names.State)) error
	// Commit commits an operation on the names of the owner of ref, and makes it true in the store.
	Commit func(ctx context.Context, ref ctxabi.Ref, op names.Op) error

	// Step is called before each step, and ends it with an error: for tests. nil: nothing.
	Step func(what string) error
}

// Carrier brings sessions of one store into a cluster and out of it. It is safe for concurrent use, but for one session
// at a time.
type Carrier struct{ o Options }

// New returns a carrier.
func New(o Options) *Carrier {
	if o.Step == nil {
		o.Step = func(string) error { return nil }
	}
	return &Carrier{o}
}

// Publish brings x, a session of this host alone, into the cluster under its name. A session that is there already
// stays as it is. Publish returns ctxabi.ErrExists if the cluster has another session of that name, the errors of an
// engine that could not be reached, with ctxabi.ErrIO where nobody knows whether it happened, and those of the
// disk. It may be called again then: until it returns nil x is as it was, but frozen.
func (c *Carrier) Publish(ctx context.Context, x *session.Session) error {
	ref, s := x.Ref(), host.Subject(x)
	named, err := c.named(ctx, x, true)
	if err != nil {
		return err
	}
	if !named {
		if err := c.publish(ctx, x, s, ref); err != nil {
			return err
		}
	}
	return c.unmark(x)
}

func (c *Carrier) publish(ctx context.Context, x *session.Session, s engine.Subject, ref ctxabi.Ref) error {
	if err := c.o.Step("freeze"); err != nil {
		return err
	}
	was, err := freeze(ctx, x)
	if err != nil {
		return err
	}
	w, err := c.place(ctx, s, was)
	if err != nil {
		return err
	}
	if err := c.o.Step("take a snapshot"); err != nil {
		return err
	}
	saved, snap, err := c.save(ctx, x, s, w.at)
	if err != nil {
		return err
	}
	children, err := x.Children()
	if err != nil {
		return err
	}
	op := names.PublishSession{CreateSession: names.CreateSession{Agent: ref.Agent, Session: ref.Session, ID: x.ID()}, Parent: len(children) > 0,
		Parked: names.Parked{I: saved.At.I, Hash: hex.EncodeToString(saved.Object.SHA[:])}}
	at := replica.Position{Position: w.at}
	if w.seq > 0 {
		if err := c.o.Step("name the snapshot"); err != nil {
			return err
		}
		if w, err = c.put(ctx, s, w, journal.Row{Kind: journal.Snapshot, Content: saved.Encode()}); err != nil {
			return err
		}
		op.Parked = names.Parked{}
		at = replica.Position{Position: w.at, Seq: w.seq, Host: c.o.Name}
	}
	if err := c.o.Step("become a copy"); err != nil {
		return err
	}
	if err := replace(x, sharedFile, bulk.SharedIn(saved, snap).Encode()); err != nil {
		return err
	}
	if err := note(ctx, x, log.JournalFile, at); err != nil {
		return err
	}
	c.o.Host.Forget(x)
	owner, err := x.Disk().Owner()
	if err != nil {
		return err
	}
	op.Owner = names.Owner(owner)
	if err := c.o.Step("name the session"); err != nil {
		return err
	}
	return c.o.Commit(ctx, ref, op)
}

// named reports whether the cluster has x under its name. It returns ctxabi.ErrExists if it has another session of that
// name and free is set, and the errors of View.
func (c *Carrier) named(ctx context.Context, x *session.Session, free bool) (named bool, err error) {
	ref := x.Ref()
	var other bool
	err = c.o.View(ctx, ref, func(s *names.State) {
		_, named = s.SessionByID(x.ID())
		_, other = s.Session(ref.Agent, ref.Session)
	})
	if err == nil && free && !named && other {
		err = ctxabi.E("publish", "", ctxabi.ErrExists, "the cluster has another session %s; rename one of both", ref)
	}
	return named, err
}

// place returns where a snapshot of a session can stand that has no name in the cluster, and is here a copy at was:
// behind the end of its journal, which is made if it has none, or, where there is no journal, behind all that any
// copy has read of one.
func (c *Carrier) place(ctx context.Context, s engine.Subject, was replica.Position) (walked, error) {
	w, err := c.walk(ctx, s)
	if err != nil {
		return w, err
	}
	if w.seq == 0 {
		at := was.Position
		if at.I == 0 {
			at = journal.Start(s)
		}
		_, _, w.at, err = journal.Seal(at, c.o.Name, ctxabi.FormatVersion, nil)
		return w, err
	}
	if !w.ended { // of one that was made, or published, in part
		if err := c.o.Step("end the journal"); err != nil {
			return w, err
		}
		return c.put(ctx, s, w, journal.Row{Kind: journal.End, Content: endedBy(c.o.Name)})
	}
	return w, nil
}

// partLeast is how many bytes of a log become a part of their own.
const partLeast = 1 << 20

// save puts all of x among the objects, and returns the snapshot of it at a position.
func (c *Carrier) save(ctx context.Context, x *session.Session, s engine.Subject, at journal.Position) (saved bulk.Saved, snap *bulk.Snapshot, err error) {
	objects := bulk.NewStore(c.o.Engine.Objects(), s.Owner)
	var shared [2][]bulk.Part
	for i, l := range []*log.Log{x.Messages(), x.Events()} {
		for end := int64(0); l.Len()-end >= partLeast; {
			p, err := objects.Share(ctx, x, l, shared[i])
			if err != nil {
				return saved, nil, err
			}
			shared[i], end = append(shared[i], *p), p.End()
		}
	}
	if snap, err = objects.Take(ctx, x, at, shared); err != nil {
		return saved, nil, err
	}
	saved, err = objects.Save(ctx, snap)
	return saved, snap, err
}

// unmark forgets that x was withdrawn once, now that it is in the cluster. What is about to be withdrawn stays so.
func (c *Carrier) unmark(x *session.Session) error {
	if err := c.o.Step("forget the withdrawal"); err != nil {
		return err
	}
	marker, ok, err := replica.ReadPosition(x.Disk(), MarkerFile)
	if err != nil || !ok {
		return err
	}
	at, ok, err := replica.ReadPosition(x.Disk(), log.JournalFile)
	if err != nil || !ok || at.I == marker.I {
		return err
	}
	return remove(x.Disk(), MarkerFile)
}
