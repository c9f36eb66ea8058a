package host

import (
	"context"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// Name returns the name of the host.
func (h *Host) Name() string { return h.o.Name }

// Copies calls yield with each session whose copy is open, and where it is.
func (h *Host) Copies(yield func(x *session.Session, at replica.Position) bool) {
	h.mu.Lock()
	list := make([]*member, 0, len(h.members))
	for _, m := range h.members {
		list = append(list, m)
	}
	h.mu.Unlock()
	for _, m := range list {
		if m.isOpen.Load() && !m.x.Removed() && !yield(m.x, m.copy.Position()) {
			return
		}
	}
}

// Snapshot has the journal of x name a snapshot of all before it. take makes it, while nothing is
// committed to x here, and returns the row that names it. Snapshot returns engine.ErrBusy if the journal
// has no entries, what became of an entry is unknown, or another host was faster; the errors of take,
// and those of Commit. Nobody names the snapshot then.
func (h *Host) Snapshot(ctx context.Context, x *session.Session, take func(at journal.Position) (journal.Row, error)) error {
	m := h.member(x)
	release, err := m.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	at := m.copy.Position()
	if m.doubt != sure || m.ended || at.Seq == 0 {
		return fmt.Errorf("%w: the journal is at rest, or not settled", engine.ErrBusy)
	}
	row, err := take(at.Position)
	if err != nil {
		return err
	}
	rows := []journal.Row{row}
	_, _, next, err := journal.Seal(at.Position, h.o.Name, ctxabi.FormatVersion, rows)
	if err != nil {
		return err
	}
	var t attempts
	if err := m.place(ctx, rows, nil, &t); err != nil {
		return kinded("snapshot", "", err)
	}
	if m.copy.Position().Position != next {
		return fmt.Errorf("%w: another host has appended", engine.ErrBusy)
	}
	return nil
}
