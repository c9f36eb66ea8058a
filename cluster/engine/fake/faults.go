package fake

import "slices"

// Fault is something that goes wrong once.
type Fault int

// Faults of the next append, except where a comment names another call.
const (
	LoseAck     Fault = iota // the entry is stored, and the host does not know
	LoseRequest              // the entry is not stored, and the host does not know
	Delay                    // the host gives up; the entry arrives at Servers.Land
	Busy                     // refused as if another entry were under way
	OldLeader                // refused by a leader that knows only an earlier end of the subject
	CutAfter                 // it goes as it would, and then the host is cut off
	StaleRead                // the next Read or Last, not of the leader, misses the last entries of the shard
	Drop                     // the next delivery is lost and nobody knows
	LoseFeed                 // the next delivery is lost, and the feed knows
	Double                   // the next delivery comes twice
	Swap                     // the next delivery comes behind the one after it
	kinds
)

// Kinds is how many faults there are: they are 0 to Kinds-1.
const Kinds = int(kinds)

// Inject makes a fault happen to this host, once, at the next occasion. Several faults happen one after
// the other, those of each occasion in their order.
func (h *Host) Inject(f Fault) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	h.faults = append(h.faults, f)
}

// Cut separates the host from the servers.
func (h *Host) Cut() {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	h.cut = true
}

// Heal connects the host again. Its feeds know that they may have missed something.
func (h *Host) Heal() {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	h.cut, h.faults = false, nil
	for _, f := range h.s.feeds {
		if f.host == h {
			f.miss()
		}
	}
}

// take returns the first of the faults that are to happen and are of the given kinds, and forgets it.
// The caller holds mu.
func (h *Host) take(of ...Fault) (Fault, bool) {
	i := slices.IndexFunc(h.faults, func(f Fault) bool { return slices.Contains(of, f) })
	if i < 0 {
		return 0, false
	}
	f := h.faults[i]
	h.faults = slices.Delete(h.faults, i, i+1)
	return f, true
}
