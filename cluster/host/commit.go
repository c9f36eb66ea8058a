package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/peers"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// attempts is what one commit has met so far.
type attempts struct {
	skip    string // a home that did not take it
	busy    int
	older   int
	unknown int
}

// Limits of one commit.
const (
	maxOlder   = 8 // refusals by who knows less of the journal than this host
	maxUnknown = 3 // appends without an answer
)

// commit commits a group of requests and answers all of them. The caller holds the turns.
func (m *member) commit(group []*request) {
	ctx, cancel := context.WithDeadline(m.h.ctx, m.deadline(group, time.Now()))
	defer cancel()
	m.pending = group
	err := m.tryCommit(ctx)
	for n := 0; errors.Is(err, replica.ErrBehind) && ctx.Err() == nil; n++ { // a server has not taken in yet what others have
		m.h.o.Pause(ctx, min(time.Millisecond<<min(n, 8), 200*time.Millisecond))
		err = m.tryCommit(ctx)
	}
	if err == nil && len(m.pending) > 0 {
		err = ctxabi.ErrIO // never: it goes on until all are answered
	}
	for _, r := range m.pending {
		r.done <- r.failure(err)
	}
	m.pending = nil
}

// deadline returns until when a group is tried: until the first of it has waited for Options.Timeout. So
// those who wait behind others while there is no cluster are not kept for a multiple of that; but each
// is tried for a part of it.
func (m *member) deadline(group []*request, now time.Time) time.Time {
	first := now
	for _, r := range group {
		if r.since.Before(first) {
			first = r.since
		}
	}
	end := first.Add(m.h.o.Timeout)
	if least := now.Add(m.h.o.Timeout / 8); end.Before(least) {
		return least
	}
	return end
}

// tryCommit commits what is pending. It returns why it gave up; what is still pending then is not
// answered.
func (m *member) tryCommit(ctx context.Context) error {
	if err := m.open(); err != nil {
		return err
	}
	if err := m.settle(ctx); err != nil {
		return err
	}
	m.putObjects(ctx)
	var t attempts
	for {
		home := m.home()
		m.screen(home)
		if len(m.pending) == 0 {
			return nil
		}
		if m.ended {
			return errEnded
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if home != m.h.o.Name && home != t.skip {
			if err := m.handOver(ctx, home, &t); err != nil {
				return err
			}
			continue
		}
		rows, list := m.order()
		if len(rows) == 0 {
			continue // they were answered
		}
		if err := m.place(ctx, rows, list, &t); err != nil {
			return err
		}
	}
}

// settle decides what became of entries whose outcome is unknown, before anything else is sent: it puts
// an entry without rows, a fence, where they might come to stand. It returns the errors of place.
func (m *member) settle(ctx context.Context) error {
	var t attempts
	for m.doubt != sure {
		if err := m.confirm(ctx); err != nil {
			return err
		}
		if m.doubt == sure {
			break
		}
		if err := m.place(ctx, nil, nil, &t); err != nil {
			return err
		}
	}
	return nil
}

// putObjects puts bodies that are too large for an entry among the objects, and answers those whose
// body cannot be put there.
func (m *member) putObjects(ctx context.Context) {
	for _, r := range append([]*request(nil), m.pending...) {
		if r.object == nil {
			continue
		}
		sum := [32]byte(r.SHA)
		if !r.isRecords() {
			sum = engine.InfoOf(r.object).SHA
		}
		if err := m.h.o.Engine.Objects().Put(ctx, replica.BodyKey(m.subject, sum), r.object); err != nil {
			m.answer(r, r.failure(err))
		}
	}
}

// screen answers the pending requests that need no entry any more: that stand in the journal, or that
// another host has handed over and that are void.
func (m *member) screen(home string) {
	for _, r := range append([]*request(nil), m.pending...) {
		at, by := m.placed[r.from]
		switch {
		case r.from == "":
			if r.isRecords() {
				if end, ok := m.log(r.Kind).Committed(r.Key); ok {
					m.answer(r, answer{outcome: peers.Committed, end: end})
				}
			}
		case r.next >= m.recent.since && m.recent.has(r.Key):
			m.answer(r, answer{outcome: peers.Committed})
		case r.next < m.recent.since, by && at >= r.next, home != m.h.o.Name, m.run.host == r.from && m.run.n >= maxRun:
			m.answer(r, r.failure(peers.ErrNobody))
		}
	}
}

// log returns the log of rows of a kind.
func (m *member) log(k journal.Kind) *log.Log {
	if k == journal.Message {
		return m.x.Messages()
	}
	return m.x.Events()
}

// order returns the rows of the next entry and the requests that they are of. Records that must come to
// stand elsewhere than where their log ends are answered.
func (m *member) order() (rows []journal.Row, list []*request) {
	at := m.copy.Position()
	ends := map[journal.Kind]*log.Tail{}
	for _, k := range []journal.Kind{journal.Message, journal.Event} {
		tail, err := m.log(k).Tail()
		if err != nil {
			for _, r := range append([]*request(nil), m.pending...) {
				m.answer(r, r.failure(err))
			}
			return nil, nil
		}
		ends[k] = &tail
	}
	real := map[journal.Kind]int64{journal.Message: at.Messages.Size, journal.Event: at.Events.Size}
	now := m.x.Disk().Root.Now().UnixNano()
	for _, r := range append([]*request(nil), m.pending...) {
		if !r.isRecords() {
			rows = append(rows, journal.Row{Kind: r.Kind, Content: r.Content, Body: r.Body})
			list = append(list, r)
			continue
		}
		end := ends[r.Kind]
		if r.At != log.Anywhere && r.At != end.Size {
			if r.At != real[r.Kind] {
				m.answer(r, answer{outcome: peers.Misplaced, err: misplaced(r, real[r.Kind])})
			}
			continue // else those before it may yet come to nothing
		}
		a := arrival.Row{Len: r.Len, SHA: r.SHA, At: now, UID: r.UID, PID: r.PID, Events: -1, Key: r.Key}
		if r.Kind == journal.Message {
			a.Events = ends[journal.Event].Size
		}
		row := journal.Row{Kind: r.Kind, Body: r.Data}
		row.Content, *end = end.Order(nil, a)
		rows, list = append(rows, row), append(list, r)
	}
	return rows, list
}

// place appends an entry of rows behind the copy's position, and applies it. An entry that begins a parked
// journal again comes first, alone; of two hosts that try, one gets the conflict. place returns nil if there is
// something new to go on with: the entry stands there, or another one was applied, or it is to be
// tried again. It returns why nothing more can be done now, and what list has then is to be answered.
func (m *member) place(ctx context.Context, rows []journal.Row, list []*request, t *attempts) error {
	at := m.copy.Position()
	if at.Seq == 0 && m.h.o.Parked != nil {
		// A parked journal would take any entry. One that is empty, and then is not parked, has never begun.
		if err := m.confirm(ctx); err != nil || m.copy.Position() != at {
			return err
		}
	}
	if at.Seq == 0 && at.I > 0 {
		row, err := m.revival(ctx, at)
		if err != nil {
			return err
		}
		rows, list = []journal.Row{row}, nil
	}
	header, payload, _, err := journal.Seal(at.Position, m.h.o.Name, ctxabi.FormatVersion, rows)
	if err != nil {
		return err
	}
	id := m.h.id()
	seq, err := m.h.o.Engine.Append(ctx, m.subject, at.Seq, id, header, payload)
	c, conflict := errors.AsType[*engine.Conflict](err)
	switch {
	case err == nil:
		for _, r := range list {
			r.stored = true // until it is applied
			if r.object != nil {
				defer m.copy.Have(r.object)()
			}
		}
		m.h.own.Add(1)
		return m.copy.Apply(ctx, engine.Entry{Seq: seq, ID: id, Header: header, Payload: payload})
	case conflict && c.Last > at.Seq:
		m.h.conflicts.Add(1)
		return m.copy.CatchUp(ctx, c.Last)
	case conflict:
		return m.older(ctx, c.Last, t)
	case errors.Is(err, engine.ErrBusy):
		return m.busy(ctx, t)
	case errors.Is(err, engine.ErrIDTaken):
		return nil // another one is taken the next time
	case engine.Settled(err):
		return err
	}
	m.h.unknown.Add(1)
	for _, r := range list {
		r.sent = max(r.sent, sent)
	}
	m.doubt = max(m.doubt, sent)
	if t.unknown++; t.unknown > maxUnknown {
		return fmt.Errorf("%w: %w", errUnknown, err)
	}
	// The next entry at the same place, of whatever rows, decides it.
	if err := m.confirm(ctx); err != nil {
		return fmt.Errorf("%w: %w", errUnknown, err)
	}
	return nil
}

// revival returns the row that begins the journal again, which is parked at a position. It returns the
// errors of Options.Parked and of [replica.Copy.Empty], and replica.ErrOlder if the journal is not parked there.
func (m *member) revival(ctx context.Context, at replica.Position) (journal.Row, error) {
	if m.h.o.Parked == nil {
		return journal.Row{}, fmt.Errorf("%w: it has no entries", replica.ErrOlder)
	}
	if err := m.copy.Empty(ctx); err != nil {
		return journal.Row{}, err
	}
	p, ok, err := m.h.o.Parked(ctx, m.subject)
	if err == nil && (!ok || p.Position != at.Position) {
		err = fmt.Errorf("%w: it has no entries, and is not parked behind entry %d", replica.ErrOlder, at.I)
	}
	return p.Row, err
}

// busy waits a little while an entry of somebody is under way, and looks now and then whether it has
// arrived. It returns the errors of confirm.
func (m *member) busy(ctx context.Context, t *attempts) error {
	t.busy++
	m.h.o.Pause(ctx, min(time.Millisecond<<min(t.busy, 5), 20*time.Millisecond))
	if t.busy%3 != 0 {
		return ctx.Err()
	}
	return m.confirm(ctx)
}

// older is called when the engine refuses an entry because the journal ends before the expected one, at
// the sequence last. It never goes on behind that: it asks the leader. It returns nil if the leader has
// what this host has read, and errLost if that is not so even when it is asked again.
func (m *member) older(ctx context.Context, last uint64, t *attempts) error {
	t.older++
	err := m.confirmOnce(ctx)
	if err != nil && !errors.Is(err, replica.ErrOlder) {
		return err
	}
	if t.older < maxOlder {
		m.h.o.Pause(ctx, min(time.Millisecond<<min(t.older, 5), 20*time.Millisecond))
		return ctx.Err()
	}
	if err != nil {
		m.h.lost.Add(1)
		m.h.o.Logger.Error("the cluster lacks entries that this host has", "journal", m.subject.String(), "ends", last, "expected", m.copy.Position().Seq)
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return engine.ErrUnreachable // the leader has all, and who refuses is another one
}
