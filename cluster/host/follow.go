package host

import (
	"context"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// Fresh brings the copy of a session up to date if it was last known to be complete longer ago than
// age; with 0 always. Before that, what is unknown about earlier appends is decided. It returns
// ctxabi.ErrUnreachable or another error if the copy may be older; it can be read all the same.
func (h *Host) Fresh(ctx context.Context, x *session.Session, age time.Duration) error {
	m := h.member(x)
	if at := m.complete(); age > 0 && !at.IsZero() && h.o.Now().Sub(at) < age {
		return nil
	}
	release, err := m.current(ctx)
	if err == nil {
		release()
	}
	return err
}

// current waits for the turns of the session's logs, decides what is unknown about earlier appends, and brings the
// copy up to date. It returns the errors of [Host.Fresh]; then the turns are not held.
func (m *member) current(ctx context.Context) (release func(), err error) {
	release, err = m.hold(ctx)
	if err != nil {
		return nil, kinded("open", "", err)
	}
	if m.doubt != sure {
		err = m.settle(ctx)
	}
	if err == nil {
		err = m.confirm(ctx)
	}
	if err != nil {
		release()
		return nil, kinded("open", "", err)
	}
	return release, nil
}

// Complete returns when the copy of a session was last known to have all that was acknowledged; the
// zero time if that was never so since the host began.
func (h *Host) Complete(x *session.Session) time.Time { return h.member(x).complete() }

// Holds reports whether the store has something of a session's journal. It opens the copy if nobody did, and
// waits for nobody who commits to it.
func (h *Host) Holds(ctx context.Context, x *session.Session) bool {
	m := h.member(x)
	if !m.isOpen.Load() {
		if release, err := m.hold(ctx); err == nil {
			release()
		}
	}
	return m.isOpen.Load() && m.copy.Position().I > 0
}

// begin puts the first entry into the journal of a session that this host has made, so that it has a
// home. It returns the errors of the engine.
func (h *Host) begin(ctx context.Context, x *session.Session) error {
	m := h.member(x)
	release, err := m.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	var t attempts
	for m.copy.Position().I == 0 {
		if err := m.place(ctx, nil, nil, &t); err != nil {
			return err
		}
	}
	return nil
}

// End ends the journal of a session: nothing is appended to it any more, by nobody. The caller holds
// the turns of both logs, as who commits [session.RemoveSession] does. It returns ctxabi.ErrUnreachable
// and the other errors of Commit.
func (h *Host) End(ctx context.Context, x *session.Session) error {
	m := h.member(x)
	if err := m.open(); err != nil {
		return err
	}
	var t attempts
	for !m.ended {
		if err := m.place(ctx, []journal.Row{{Kind: journal.End}}, nil, &t); err != nil {
			return kinded("remove", "", err)
		}
	}
	return nil
}

// Copy calls look with the position of the copy of a session once it has all that was acknowledged before, while
// nothing is committed to it here. It returns the errors of Fresh, and that of look.
func (h *Host) Copy(ctx context.Context, x *session.Session, look func(at replica.Position) error) error {
	m := h.member(x)
	release, err := m.current(ctx)
	if err != nil {
		return err
	}
	defer release()
	return look(m.copy.Position())
}

// Forget drops what the host knows of a session, which is no copy any more, or not yet. Nobody follows it.
func (h *Host) Forget(x *session.Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.members, x.ID())
}

// Due returns how long after it was confirmed last the copy of a session that is followed is confirmed again, though
// nobody looks at the session: ConfirmEvery. It is longer for a session that nobody has open, where the host follows so
// many that it would ask more often than QuietLooks. Entries come by themselves meanwhile, and who looks at the
// session asks.
func (h *Host) Due(x *session.Session) time.Duration {
	all := time.Duration(h.following.Load()) * time.Second / QuietLooks
	if all <= ConfirmEvery || h.o.InUse == nil || h.o.InUse(x.ID()) {
		return ConfirmEvery
	}
	return all
}

// Follow keeps the copy of a session up to date until ctx ends, with one goroutine.
func (h *Host) Follow(ctx context.Context, x *session.Session) {
	m := h.member(x)
	h.tasks.Add(1)
	h.following.Add(1)
	go func() {
		defer h.tasks.Done()
		defer h.following.Add(-1)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(h.ctx, cancel)()
		tick := time.NewTicker(ConfirmEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			feed, err := h.o.Engine.Follow(ctx, m.subject)
			if err != nil {
				m.note(err)
				select {
				case <-tick.C:
				case <-ctx.Done():
				}
				continue
			}
			m.note(m.look(ctx)) // what came before the feed
			m.follow(ctx, feed, tick.C)
		}
	}()
}

// follow applies what a feed delivers until ctx is done or the feed ends.
func (m *member) follow(ctx context.Context, feed *engine.Feed, tick <-chan time.Time) {
	for {
		select {
		case e, ok := <-feed.Entries:
			if !ok {
				return
			}
			m.note(m.offer(ctx, e))
		case <-feed.Lost:
			m.h.gaps.Add(1)
			m.note(m.look(ctx))
		case <-tick:
			if m.h.o.Now().Sub(m.complete()) >= m.h.Due(m.x)-ConfirmEvery/2 {
				m.note(m.look(ctx))
			}
		case <-ctx.Done():
			return
		}
	}
}

// offer applies an entry of a feed. It returns the errors of [replica.Copy.Offer].
func (m *member) offer(ctx context.Context, e engine.Entry) error {
	if m.isOpen.Load() && e.Seq <= m.copy.Position().Seq {
		return nil
	}
	release, err := log.HoldWithin(ctx, m.x.Messages(), m.x.Events())
	if err != nil {
		return err
	}
	defer release()
	if err := m.open(); err != nil {
		return err
	}
	if at := m.copy.Position().Seq; e.Seq > at && e.Prev != at {
		m.h.gaps.Add(1)
	}
	return m.copy.Offer(ctx, e)
}

// look asks the leader for what the copy lacks. It returns the errors of [replica.Copy.Confirm].
func (m *member) look(ctx context.Context) error {
	release, err := m.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	return m.confirm(ctx)
}

// note logs what went wrong with a copy that follows; it is tried again.
func (m *member) note(err error) {
	if err != nil && m.h.ctx.Err() == nil {
		m.h.o.Logger.Warn("a copy may be behind", "journal", m.subject.String(), "err", err)
	}
}
