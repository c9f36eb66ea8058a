package soak

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/rows"
	"github.com/ctxfs/ctxfs/cluster/tend"
)

// collectAfter is how long nothing names an object before it goes. No fault lasts so long.
const collectAfter = 10 * time.Minute

// maintainer trims, parks and collects while all else goes on, as ctxfs cluster serve does, but far earlier.
type maintainer struct {
	stop context.CancelFunc
	all  sync.WaitGroup

	mu  sync.Mutex
	did map[string]int // guarded by mu
}

// tendFleet starts a maintainer that does a round so often, and parks what nobody appends to for parkAfter.
func tendFleet(t *testing.T, f *fleet, every, parkAfter time.Duration) *maintainer {
	t.Helper()
	e := f.c.Open(t, "maintenance")
	tender := tend.New(tend.Options{Engine: e, Host: "maintenance", Dir: t.TempDir(), Handlers: rows.New(e).Handlers(), ParkAfter: parkAfter, CollectAfter: collectAfter})
	ctx, cancel := context.WithCancel(t.Context())
	m := &maintainer{stop: cancel, did: map[string]int{}}
	m.all.Go(func() {
		for pause(ctx, every) {
			r, err := tender.Round(ctx)
			m.note(r, err)
		}
	})
	return m
}

func (m *maintainer) note(r tend.Report, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for what, n := range map[string]int{
		"owners' journals checkpointed": r.Checkpoints, "journals trimmed": r.Trimmed, "journals parked": r.Parked, "objects collected": r.Collected,
	} {
		if n > 0 {
			m.did[what] += n
		}
	}
	m.did["rounds"]++
	if err != nil {
		m.did["rounds in which something failed"]++
	}
}

// end ends the work, and returns what was done how often.
func (m *maintainer) end() map[string]int {
	m.stop()
	m.all.Wait()
	return m.did
}
