package host

import (
	"context"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/peers"
)

// TakeAppend commits what another host asks for, if this one is the home of the journal and knows it
// from the entry on that came next for the other; see [peers.Handler]. It returns peers.ErrNobody if
// it takes nothing of it.
func (h *Host) TakeAppend(ctx context.Context, a *peers.Append) (*peers.Receipt, error) {
	h.mu.Lock()
	m := h.members[a.Subject.Session]
	h.mu.Unlock()
	if m == nil || m.subject != a.Subject || !m.isOpen.Load() || m.copy.Position().Host != h.o.Name || h.ctx.Err() != nil {
		return nil, peers.ErrNobody
	}
	list := make([]*request, len(a.Requests))
	for i, asked := range a.Requests {
		if len(asked.Data)+len(asked.Body) > journal.MaxBody {
			return nil, fmt.Errorf("%w: a request of %d bytes", engine.ErrTooLarge, len(asked.Data)+len(asked.Body))
		}
		r := newRequest("append", string(asked.Kind))
		r.Request, r.from, r.next = asked, a.From, a.Next
		list[i] = r
	}
	m.enqueue(list...)
	receipt := &peers.Receipt{Outcomes: make([]peers.Outcome, len(list))}
	for i, r := range list {
		receipt.Outcomes[i] = m.await(ctx, r).outcome
		if receipt.Outcomes[i] == peers.Committed {
			h.taken.Add(1)
		}
	}
	receipt.Seq = m.copy.Position().Seq
	return receipt, nil
}

// TakeHead returns how far the copy of a journal is; see [peers.Handler]. It returns peers.ErrNobody if
// it is not open here.
func (h *Host) TakeHead(_ context.Context, s engine.Subject) (peers.Head, error) {
	h.mu.Lock()
	m := h.members[s.Session]
	h.mu.Unlock()
	if m == nil || m.subject != s || !m.isOpen.Load() {
		return peers.Head{}, peers.ErrNobody
	}
	at := m.copy.Position()
	return peers.Head{Position: at.Position, Seq: at.Seq}, nil
}
