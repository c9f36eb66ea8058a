package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/peers"
)

// maxRun is how many entries in a row a home commits for one other host alone before it lets that one
// be home.
const maxRun = 3

// home returns the home of the journal: the host of the last entry that was applied, if it is alive,
// else this one.
func (m *member) home() string {
	host := m.copy.Position().Host
	if host == "" || host == m.h.o.Name || m.h.o.Peers == nil || !m.h.o.Peers.Alive(host) {
		return m.h.o.Name
	}
	return host
}

// handOver asks the home to commit what is pending, and catches up with what it has committed. What the
// home does not take, or does not answer, this host will commit itself: then, too, the home cannot
// double it, because it finds the keys, or the entry of this host. handOver returns why nothing more
// can be done now.
func (m *member) handOver(ctx context.Context, home string, t *attempts) error {
	a := &peers.Append{Subject: m.subject, From: m.h.o.Name, Next: m.copy.Position().I}
	list := append([]*request(nil), m.pending...)
	for _, r := range list {
		a.Requests = append(a.Requests, r.Request)
		if r.object != nil {
			defer m.copy.Have(r.object)()
		}
	}
	short, cancel := context.WithTimeout(ctx, HandOver)
	receipt, err := m.h.o.Peers.Append(short, home, a)
	cancel()
	if err == nil && len(receipt.Outcomes) != len(list) {
		err = fmt.Errorf("%d outcomes of %d requests", len(receipt.Outcomes), len(list))
	}
	switch {
	case errors.Is(err, peers.ErrNobody):
		t.skip = home
		return nil
	case err != nil:
		t.skip = home
		m.doubted(list)
		if err := m.confirm(ctx); err != nil {
			return fmt.Errorf("%w: %w", errUnknown, err)
		}
		return nil
	}
	for i, r := range list {
		switch receipt.Outcomes[i] {
		case peers.Committed:
			r.stored = true
			m.h.handed.Add(1)
		case peers.Misplaced:
		case peers.Unknown:
			t.skip = home
			m.doubted(list[i : i+1])
		default:
			t.skip = home
		}
	}
	if err := m.copy.CatchUp(ctx, receipt.Seq); err != nil {
		return err
	}
	for i, r := range list {
		if r.stored && m.find(r.Key) == r {
			r.stored = false // not there: the home was wrong, and is not asked again
			t.skip = home
			m.doubted(list[i : i+1])
		}
		if receipt.Outcomes[i] == peers.Misplaced {
			m.answer(r, answer{outcome: peers.Misplaced, err: misplaced(r, m.copy.Position().Messages.Size)})
		}
	}
	return nil
}

// doubted notes that another host may commit requests of this one.
func (m *member) doubted(list []*request) {
	m.doubt = handed
	for _, r := range list {
		r.sent = handed
	}
}
