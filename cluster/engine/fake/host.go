package fake

import (
	"context"
	"fmt"
	"slices"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Host is the engine of one host.
type Host struct {
	s         *Servers
	name      string
	owners    []string // that it serves; all if there are none
	maintains bool

	cut    bool    // guarded by Servers.mu
	faults []Fault // guarded by Servers.mu
}

var _ engine.Engine = (*Host)(nil)

// Host returns the engine of a host that serves owners, or all of them if none is named. It may not trim
// and not delete.
func (s *Servers) Host(name string, owners ...string) *Host {
	return &Host{s: s, name: name, owners: owners}
}

// Maintenance returns an engine that may do everything.
func (s *Servers) Maintenance() *Host { return &Host{s: s, name: "maintenance", maintains: true} }

// reach returns ErrUnreachable if the host cannot reach the servers or ctx is done. The caller holds mu.
func (h *Host) reach(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	if h.cut {
		return engine.ErrUnreachable
	}
	return nil
}

func (h *Host) serves(owner string) bool {
	return h.maintains || len(h.owners) == 0 || slices.Contains(h.owners, owner)
}

// enter checks what all calls on a subject check, and locks mu if it returns no error.
func (h *Host) enter(ctx context.Context, s engine.Subject) error {
	if err := s.Check(); err != nil {
		return err
	}
	h.s.mu.Lock()
	err := h.reach(ctx)
	if err == nil && !h.serves(s.Owner) {
		err = fmt.Errorf("%w: journals of %s", engine.ErrDenied, s.Owner)
	}
	if err != nil {
		h.s.mu.Unlock()
	}
	return err
}

// Append implements [engine.Engine] and returns the errors documented there.
func (h *Host) Append(ctx context.Context, s engine.Subject, expected uint64, id string, header engine.Header, payload []byte) (uint64, error) {
	if err := engine.CheckEntry(id, header, payload); err != nil {
		return 0, err
	}
	if err := h.enter(ctx, s); err != nil {
		return 0, err
	}
	defer h.s.mu.Unlock()
	if _, ok := h.take(CutAfter); ok {
		h.cut = true
	}
	e := engine.Entry{ID: id, Header: header, Payload: payload}
	fault, ok := h.take(LoseAck, LoseRequest, Delay, Busy, OldLeader)
	if !ok {
		return h.s.commit(s, expected, e)
	}
	switch fault {
	case Busy:
		return 0, engine.ErrBusy
	case OldLeader:
		if expected == 0 {
			return 0, engine.ErrBusy
		}
		return 0, &engine.Conflict{Last: expected - 1}
	case LoseAck:
		h.s.commit(s, expected, e) // the answer is lost, be it an error
	case Delay:
		late := entry{s, e}.copy()
		h.s.delayed = append(h.s.delayed, func() { h.s.commit(s, expected, late) })
	}
	return 0, fmt.Errorf("%w: %s", engine.ErrUnknown, id)
}

// Read implements [engine.Engine] and returns the errors documented there.
func (h *Host) Read(ctx context.Context, s engine.Subject, r engine.Range) ([]engine.Entry, error) {
	if err := h.enter(ctx, s); err != nil {
		return nil, err
	}
	defer h.s.mu.Unlock()
	sh := &h.s.shards[s.Shard()]
	if r.Leader {
		return sh.read(s, r.Limited(), sh.leader, 0), nil
	}
	return sh.read(s, r.Limited(), h.s.next(), h.behind()), nil
}

// next returns the replica that answers the next read.
func (s *Servers) next() int {
	s.turn = (s.turn + 1) % replicas
	return s.turn
}

// behind returns how many entries the next read misses.
func (h *Host) behind() int {
	if _, ok := h.take(StaleRead); ok {
		return 3
	}
	return 0
}

// Last implements [engine.Engine] and returns the errors documented there.
func (h *Host) Last(ctx context.Context, s engine.Subject, leader bool) (engine.Entry, error) {
	if err := h.enter(ctx, s); err != nil {
		return engine.Entry{}, err
	}
	defer h.s.mu.Unlock()
	sh := &h.s.shards[s.Shard()]
	if leader {
		return sh.lastOf(s, sh.leader), nil
	}
	old := shard{entries: sh.entries[:max(0, len(sh.entries)-h.behind())], lost: sh.lost}
	return old.lastOf(s, h.s.next()), nil
}

// Follow implements [engine.Engine] and returns the errors documented there.
func (h *Host) Follow(ctx context.Context, s engine.Subject) (*engine.Feed, error) {
	if err := h.enter(ctx, s); err != nil {
		return nil, err
	}
	defer h.s.mu.Unlock()
	sh := &h.s.shards[s.Shard()]
	return h.s.follow(ctx, h, s, sh.lastOf(s, sh.leader).Seq), nil
}

// Trim implements [engine.Engine] and returns the errors documented there.
func (h *Host) Trim(ctx context.Context, s engine.Subject, before uint64) error {
	if before == 0 {
		return fmt.Errorf("%w: trim without a sequence", engine.ErrInvalid)
	}
	if err := h.enter(ctx, s); err != nil {
		return err
	}
	defer h.s.mu.Unlock()
	if !h.maintains {
		return fmt.Errorf("%w: to trim %s", engine.ErrDenied, s)
	}
	h.s.shards[s.Shard()].trim(s, before)
	return nil
}

// Owners returns the owners that have a journal and that the host serves, in order. It returns
// ErrUnreachable.
func (h *Host) Owners(ctx context.Context) (list []string, err error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	for _, e := range h.s.shards[engine.OwnerShard].entries {
		if h.serves(e.subject.Owner) {
			list = append(list, e.subject.Owner)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), h.reach(ctx)
}

// Journals returns the journals of a shard that have entries and that the host serves, and how many. It
// returns ErrInvalid and ErrUnreachable.
func (h *Host) Journals(ctx context.Context, shard int) (map[engine.Subject]uint64, error) {
	if err := engine.CheckShard(shard); err != nil {
		return nil, err
	}
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	list := map[engine.Subject]uint64{}
	for _, e := range h.s.shards[shard].entries {
		if h.serves(e.subject.Owner) {
			list[e.subject]++
		}
	}
	return list, h.reach(ctx)
}

// Attest implements [engine.Engine] and returns the errors documented there.
func (h *Host) Attest(ctx context.Context, shard int) (engine.Attestation, error) {
	if err := engine.CheckShard(shard); err != nil {
		return engine.Attestation{}, err
	}
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	if err := h.reach(ctx); err != nil {
		return engine.Attestation{}, err
	}
	if !h.maintains {
		return engine.Attestation{}, fmt.Errorf("%w: to attest", engine.ErrDenied)
	}
	return h.s.shards[shard].attest(shard), nil
}

// Objects returns the store of content.
func (h *Host) Objects() engine.Objects { return objects{h} }
