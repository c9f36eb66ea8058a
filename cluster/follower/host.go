package follower

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/cluster/shared"
)

const (
	beatEvery        = time.Second
	beatTimeout      = 5 * time.Second
	maxBeatAge       = 3 * time.Second  // of the heartbeat of a host that sends
	maxConfirmAge    = 15 * time.Second // a copy with status ok was confirmed within this time
	disconnectedWait = 500 * time.Millisecond
	retryPause       = 100 * time.Millisecond
	maxPollWait      = 5 * time.Second // of one statement of a poll
)

// Store is the part of a shared store that a Host uses.
type Store interface {
	shared.Journals
	shared.Objects
}

// Options are the settings of a Host.
type Options struct {
	Name      string        // of the host in entries
	Format    int           // of the rows that it writes
	Freshness time.Duration // between two polls; 0 means one second
}

// Host holds the copies of one mount.
type Host struct {
	store Store
	o     Options

	mu     sync.Mutex
	copies map[shared.ID]*Copy
	opened int           // number of the copy that was opened last
	beat   time.Time     // when the last acknowledged heartbeat was sent
	server shared.Server // that acknowledged it
	beaten chan struct{} // closed at the next acknowledged heartbeat
}

// NewHost returns a host without copies. Until Run is called, it commits nothing.
func NewHost(store Store, o Options) *Host {
	if o.Freshness == 0 {
		o.Freshness = time.Second
	}
	return &Host{store: store, o: o, copies: map[shared.ID]*Copy{}, beaten: make(chan struct{})}
}

// Open returns the copy of a journal. All calls for one journal return the same Copy until Close;
// files of later calls are ignored. It returns the error of the disk.
func (h *Host) Open(owner string, journal shared.ID, files func() (Files, error)) (*Copy, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.copies[journal]; c != nil {
		return c, nil
	}

	f, err := files()
	if err != nil {
		return nil, err
	}
	c, err := newCopy(h, owner, journal, f)
	if err == nil {
		h.opened++
		c.number, h.copies[journal] = h.opened, c
	}
	return c, err
}

// Close forgets the copy of a journal, for a session that is no longer open. Callers of the copy
// must have returned.
func (h *Host) Close(journal shared.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.copies, journal)
}

// Run sends heartbeats and polls the journals of all copies until ctx ends.
func (h *Host) Run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() {
		for pause(ctx, h.sendBeat(ctx)) {
		}
	})
	all.Go(func() {
		for pause(ctx, h.o.Freshness) {
			h.poll(ctx)
		}
	})
	all.Wait()
}

// sendBeat sends one heartbeat and returns the time until the next one.
func (h *Host) sendBeat(ctx context.Context) time.Duration {
	began := time.Now()
	inner, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	server, err := h.store.Beat(inner)
	if err != nil {
		return retryPause
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	h.beat, h.server = began, server
	close(h.beaten)
	h.beaten = make(chan struct{})
	return beatEvery
}

// connected reports whether the last heartbeat is recent.
func (h *Host) connected() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.beat.IsZero() && time.Since(h.beat) <= maxBeatAge
}

// beatOn returns when the last heartbeat was sent if server acknowledged it, else the zero time.
func (h *Host) beatOn(server shared.Server) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server != server {
		return time.Time{}
	}
	return h.beat
}

// waitConnected waits until the host may send. It returns shared.ErrUnavailable when ctx ends.
func (h *Host) waitConnected(ctx context.Context) error {
	for !h.connected() {
		h.mu.Lock()
		beaten := h.beaten
		h.mu.Unlock()
		select {
		case <-beaten:
		case <-ctx.Done():
			return fmt.Errorf("%w: no heartbeat for %v", shared.ErrUnavailable, maxBeatAge)
		}
	}
	return nil
}

// poll compares all copies with the database in one statement, and lets those that differ catch up,
// at the same time.
func (h *Host) poll(ctx context.Context) {
	h.mu.Lock()
	copies := slices.SortedFunc(maps.Values(h.copies), func(a, b *Copy) int { return a.number - b.number })
	journals := make([]shared.ID, len(copies))
	for i, c := range copies {
		journals[i] = c.journal
	}
	h.mu.Unlock()
	if len(copies) == 0 {
		return
	}

	ctx, cancel := context.WithTimeout(ctx, maxPollWait)
	defer cancel()
	began := time.Now()
	heads, server, err := h.store.Heads(ctx, journals)
	if err != nil && !errors.Is(err, shared.ErrMissing) {
		return // a missing schema leaves no heads, and each copy looks for itself
	}
	if beat := h.beatOn(server); beat.Before(began) {
		began = beat // the zero time if another server acknowledged it
	}

	var all sync.WaitGroup
	for _, c := range copies {
		head, ok := heads[c.journal]
		if ok && c.matches(head, began) {
			continue
		}
		all.Go(func() { c.catchUp(ctx) })
	}
	all.Wait()
}

// matches reports whether a copy is complete and equal to a head of its journal that was read
// before, and if so, confirms it up to the time began.
func (c *Copy) matches(head shared.Head, began time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == Removed {
		return true
	}
	same := c.mark.I == head.Next && c.mark.Chain == head.Chain && c.mark.Complete
	if !same || c.state != Following || c.stale != nil || head.Removed {
		return false
	}
	if began.After(c.confirmed) {
		c.confirmed = began
	}
	return true
}
