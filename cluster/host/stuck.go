package host

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/replica"
)

// Stuck is a journal whose copy cannot go on: the servers lack what stands behind its end, or end before it.
type Stuck struct {
	Subject engine.Subject
	Seq     uint64 // where the copy ends
	Why     error
}

// stuckAfter is how long after a journal could not be continued it must still be so before the host says it.
const stuckAfter = time.Second

// Stuck returns the journals that two looks in a row, a second apart, could not continue, by their owners and
// sessions. What was stuck because servers did not answer is not among them.
func (h *Host) Stuck() (list []Stuck) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.members {
		m.mu.Lock()
		if m.stuck.told {
			list = append(list, m.stuck.Stuck)
		}
		m.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b Stuck) int { return cmp.Compare(a.Subject.String(), b.Subject.String()) })
	return list
}

// stuck is what the last looks at a journal found.
type stuck struct {
	Stuck
	since time.Time // when it began; zero: the journal can be continued
	told  bool      // it is so long enough
}

// found notes what a look at the journal returned, err.
func (m *member) found(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !missing(err) {
		if err == nil {
			m.stuck = stuck{}
		}
		return
	}
	now := m.h.o.Now()
	if m.stuck.since.IsZero() {
		m.stuck.since = now
	}
	m.stuck.Stuck = Stuck{m.subject, m.copy.Position().Seq, err}
	m.stuck.told = m.stuck.told || now.Sub(m.stuck.since) >= stuckAfter
}

// missing reports whether an error of [replica.Copy.Confirm] means that the servers do not have what the copy needs.
func missing(err error) bool {
	if errors.Is(err, engine.ErrUnreachable) || errors.Is(err, engine.ErrUnknown) {
		return false
	}
	for _, target := range []error{replica.ErrOlder, replica.ErrTrimmed, journal.ErrChain, journal.ErrGap, journal.ErrDamaged} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
