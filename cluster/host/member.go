package host

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/peers"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// member is a session of the host. What is not guarded by mu belongs to the holder of the turns of the
// session's logs.
type member struct {
	h       *Host
	x       *session.Session
	subject engine.Subject

	mu    sync.Mutex
	queue []*request // guarded by mu
	works bool       // somebody commits what is in the queue; guarded by mu
	stuck stuck      // guarded by mu

	isOpen atomic.Bool // copy is there
	copy   *replica.Copy

	recent *recent
	placed map[string]uint64 // number of the last entry of each host, of those that recent is about
	run    struct {          // entries in a row that this host committed for another one alone
		host string
		n    int
	}
	doubt doubt // of entries whose writers were told that the outcome is unknown
	ended bool  // the journal takes nothing more

	pending []*request // that are being committed

	confirmed atomic.Int64 // ns after Host.began when the copy was known to be complete, at least 1; 0: never
}

// open opens the copy, the first time. The caller holds the turns.
func (m *member) open() error {
	if m.isOpen.Load() {
		return nil
	}
	m.placed = map[string]uint64{}
	c, err := replica.Open(m.x, m.subject, replica.Options{Engine: m.h.o.Engine, Handlers: m.h.o.Handlers,
		Resume: m.h.o.Resume, Restore: m.h.o.Restore, Restored: m.restored, Parked: m.h.o.Parked, Applied: m.applied,
		Repaired: func() { m.h.repaired.Add(1) }})
	if err != nil {
		return err
	}
	m.copy, m.recent, m.ended = c, newRecent(c.Position().I), c.Position().Ended
	m.isOpen.Store(true)
	return nil
}

// hold waits for the turns of the session's logs, and opens the copy. It returns the error of ctx, or
// of a copy that cannot be opened.
func (m *member) hold(ctx context.Context) (release func(), err error) {
	release, err = log.HoldWithin(ctx, m.x.Messages(), m.x.Events())
	if err != nil {
		return nil, err
	}
	if err := m.open(); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// answer answers a request, and takes it out of those that are being committed.
func (m *member) answer(r *request, a answer) {
	for i, p := range m.pending {
		if p == r {
			m.pending = append(m.pending[:i:i], m.pending[i+1:]...)
			r.done <- a
			return
		}
	}
}

// applied is called behind each entry that was applied: it answers those whose requests stand in it,
// and learns what is decided by it.
func (m *member) applied(a replica.Applied) {
	for _, r := range a.Results {
		m.recent.add(r.Key, a.Entry.I)
	}
	m.placed[a.Entry.Host] = a.Entry.I
	own := a.Entry.Host == m.h.o.Name
	from, alone := "", own && len(a.Results) > 0
	for _, result := range a.Results {
		r := m.find(result.Key)
		if alone = alone && r != nil && r.from != "" && (from == "" || from == r.from); alone {
			from = r.from
		}
		if r != nil {
			m.answer(r, committed(a.Entry.I, result))
		}
	}
	switch {
	case !alone:
		m.run.host, m.run.n = "", 0
	case m.run.host == from:
		m.run.n++
	default:
		m.run.host, m.run.n = from, 1
	}
	m.ended = m.copy.Position().Ended
	// What was under way stood behind the same entry as this one, or is void behind one of this host.
	if own || m.doubt == sent {
		m.doubt = sure
	}
	for _, r := range m.pending {
		if own || r.sent == sent {
			r.sent = sure
		}
	}
}

// restored is called when the copy goes on from a snapshot: what stands in the entries before is not known
// row by row. Records of this host are found by their keys; who waits for something else that was sent is told that it
// may stand there.
func (m *member) restored(at replica.Position) {
	m.recent, m.placed = newRecent(at.I), map[string]uint64{}
	m.run.host, m.run.n = "", 0
	if m.doubt == sent { // it stood behind an earlier entry, or it is void
		m.doubt = sure
	}
	for _, r := range append([]*request(nil), m.pending...) {
		switch {
		case !r.isRecords() && r.stored:
			m.answer(r, answer{outcome: peers.Committed})
		case r.sent != sure && (!r.isRecords() || r.from != ""):
			m.answer(r, r.failure(errUnknown))
		case r.sent == sent:
			r.sent = sure
		}
	}
}

// find returns the request with a key that is being committed, or nil.
func (m *member) find(key arrival.Key) *request {
	for _, r := range m.pending {
		if r.Key == key {
			return r
		}
	}
	return nil
}

// confirm catches up with what the leader has. It returns the errors of [replica.Copy.Confirm]. What this host has read
// from another replica the leader may take in a moment later: it is asked again then, maxOlder times.
func (m *member) confirm(ctx context.Context) error {
	for n := 1; ; n++ {
		err := m.confirmOnce(ctx)
		if !errors.Is(err, replica.ErrOlder) || n >= maxOlder || ctx.Err() != nil {
			return err
		}
		m.h.o.Pause(ctx, min(time.Millisecond<<min(n, 5), 20*time.Millisecond))
	}
}

// confirmOnce is confirm that asks once.
func (m *member) confirmOnce(ctx context.Context) error {
	asked := m.h.o.Now()
	err := m.copy.Confirm(ctx)
	m.found(err)
	if err == nil {
		m.confirmed.Store(max(1, int64(asked.Sub(m.h.began))))
	}
	return err
}

// complete returns when the copy was known to be complete; the zero time: never since the host began. The clock of
// the machine may be set meanwhile: how long ago it was is right all the same.
func (m *member) complete() time.Time {
	if at := m.confirmed.Load(); at != 0 {
		return m.h.began.Add(time.Duration(at))
	}
	return time.Time{}
}
