package follower

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/cluster/shared"
)

// State is how a copy relates to its journal.
type State int

// States of a copy.
const (
	Following State = iota
	Ahead           // the database lacks the end of the copy, or the whole session
	Forked          // the database has other entries than the copy
	Removed         // the session was removed, and the copy deleted
)

// String returns the word that status prints.
func (s State) String() string {
	return [...]string{"following", "ahead", "forked", "removed"}[s]
}

// Errors of a copy. No change was stored.
var (
	ErrDiverged = errors.New("the copy of this host and the database differ; run ctxfs cluster resolve")
	ErrRemoved  = errors.New("the session was removed")
	ErrStale    = errors.New("the copy of this host lacks entries, because its disk failed")
)

// Copy is the local copy of one session. It implements all access to its Files.
type Copy struct {
	host    *Host
	owner   string
	journal shared.ID
	number  int // in the order of Host.Open

	mu        sync.Mutex
	files     Files
	mark      Mark
	root      shared.ID // zero: not known yet
	state     State
	stale     error     // of the last Apply that failed
	confirmed time.Time // the copy had everything that was committed then

	queue     []*waiter
	working   bool
	contested int    // entries to commit under the lock of the journal
	batch     *batch // that the worker places
}

// newCopy loads a copy. Files of another journal, an earlier life of the session, are set aside.
func newCopy(h *Host, owner string, journal shared.ID, files Files) (*Copy, error) {
	mark, err := files.Load()
	if err == nil && mark.Journal != journal && mark.Journal != (shared.ID{}) {
		if err = files.SetAside(); err == nil {
			mark = Mark{}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the copy of journal %s: %w", journal, err)
	}

	c := &Copy{host: h, owner: owner, journal: journal, files: files, mark: mark}
	if mark.Ended { // the process died before it deleted the copy
		c.state, c.stale = Removed, files.Drop() // after a failure, the next open tries again
		return c, nil
	}
	if mark.Journal == (shared.ID{}) {
		c.reset()
	}
	return c, nil
}

// reset makes the copy an empty one. The caller holds mu, or is the only user.
func (c *Copy) reset() {
	c.mark = Mark{Journal: c.journal}
	for i, seed := range c.files.Seeds() {
		c.mark.Logs[i].Chain = seed
	}
}

// Mark returns the position of the copy.
func (c *Copy) Mark() Mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mark
}

// State returns how the copy relates to its journal.
func (c *Copy) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Status returns the state, and the time up to which the copy is known to be complete. ok means
// that both are as they must be, and that the time is at most maxConfirmAge ago.
func (c *Copy) Status() (s State, confirmed time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ok = c.state == Following && c.stale == nil && c.mark.Complete && time.Since(c.confirmed) <= maxConfirmAge
	return c.state, c.confirmed, ok
}

// Look makes the copy as new as the journal is when Look begins. If the host still reaches a
// server that another one has replaced, the copy may be maxBeatAge older. Without a connection, a
// complete copy is served as it is after disconnectedWait. Look returns an error if the copy must
// not be read: shared.ErrUnavailable before it was complete once, ErrStale, or ErrRemoved.
func (c *Copy) Look(ctx context.Context) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	looked := make(chan error, 1)
	go func() { looked <- c.catchUpUntil(inner) }()
	patience := time.NewTimer(disconnectedWait)
	defer patience.Stop()

	for {
		var err error
		select {
		case err = <-looked:
		case <-ctx.Done():
			err = ctx.Err()
		case <-patience.C:
			if c.host.connected() {
				continue
			}
		}
		return c.readable(err)
	}
}

// readable returns nil if the copy may be read although a look failed with err.
func (c *Copy) readable(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.state == Removed:
		return ErrRemoved
	case c.stale != nil:
		return fmt.Errorf("%w: %w", ErrStale, c.stale)
	case !c.mark.Complete:
		return fmt.Errorf("%w: the first copy of the session is not complete: %v", shared.ErrUnavailable, err)
	case c.state == Following && err != nil && c.host.connected():
		return err
	}
	return nil
}

// catchUpUntil repeats catchUp after errors that pass, until ctx ends.
func (c *Copy) catchUpUntil(ctx context.Context) error {
	for {
		inner, cancel := context.WithTimeout(ctx, maxPollWait)
		err := c.catchUp(inner)
		cancel()
		if err == nil || !passes(err) || !pause(ctx, retryPause) {
			return err
		}
	}
}

// passes reports whether the same call may succeed later.
func passes(err error) bool {
	return errors.Is(err, shared.ErrUnavailable) || errors.Is(err, shared.ErrUnknown) || errors.Is(err, shared.ErrMoved)
}

// catchUp reads the journal from the copy's position to its end, and applies confirmed entries. It
// decides whether the copy diverged, which is no error. It returns the errors of the store, of
// shared.Open, and of the disk.
func (c *Copy) catchUp(ctx context.Context) error {
	for {
		from := c.Mark().Position
		began := time.Now()
		page, err := c.host.store.Read(ctx, c.journal, from.I)
		missing := errors.Is(err, shared.ErrMissing)
		if err != nil && !missing {
			return err
		}

		// A server that was replaced may show less than the truth, or entries that are lost.
		current := !missing && len(page.Entries) == 0 && page.Next == from.I && page.Head == from.Chain
		if beat := c.host.beatOn(page.Server); current && began.Sub(beat) <= maxBeatAge {
			if beat.Before(began) {
				began = beat
			}
		} else if err := c.host.store.Fence(ctx, page.Server); err != nil {
			if missing = missing && errors.Is(err, shared.ErrMissing); !missing {
				return err
			}
			// The whole schema is missing, and nothing can be fenced.
		}
		if missing {
			c.diverge(from, page, missing)
			return nil
		}

		opened, err := c.open(ctx, from, page)
		if err != nil && !errors.Is(err, shared.ErrChain) {
			return err
		}
		if err != nil || page.Next < from.I || page.Next == from.I && page.Head != from.Chain && from.I > 0 {
			c.diverge(from, page, false)
			return nil
		}
		end, err := c.absorb(opened, page, began)
		if end || err != nil {
			return err
		}
	}
}

// openedEntry is an entry with complete bodies, and the position after it.
type openedEntry struct {
	shared.Opened
	after shared.Position
}

// open verifies the entries of a page, which continue a position, and fetches the bodies that are
// objects. It returns the errors of shared.Open and of objects.
func (c *Copy) open(ctx context.Context, at shared.Position, page shared.Page) ([]openedEntry, error) {
	if at.I == 0 {
		at = shared.Start(page.Root)
	}

	list := make([]openedEntry, 0, len(page.Entries))
	for _, e := range page.Entries {
		opened, next, err := shared.Open(at, e)
		if err != nil {
			return nil, err
		}
		if err := fetchBodies(ctx, c.host.store, c.owner, opened.Rows); err != nil {
			return nil, err
		}
		list, at = append(list, openedEntry{opened, next}), next
	}
	if at.I == page.Next && at.Chain != page.Head {
		return nil, fmt.Errorf("end of journal %s: %w", c.journal, shared.ErrChain)
	}
	return list, nil
}

// absorb applies confirmed entries that the copy lacks. end reports whether the copy has reached
// the end of the page's journal. It returns the error of the disk; the entry counts as not applied.
func (c *Copy) absorb(list []openedEntry, page shared.Page, began time.Time) (end bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == Removed {
		return true, nil
	}
	if c.root = page.Root; c.mark.I == 0 {
		c.mark.Position = shared.Start(page.Root)
	}

	for i := range list {
		e := &list[i]
		if e.I != c.mark.I {
			continue // applied meanwhile
		}
		if err := c.apply(e, e.I < page.Own); err != nil {
			return false, err
		}
		if c.state == Removed {
			return true, nil
		}
	}
	if c.mark.I < page.Next {
		return false, nil
	}

	c.stale = nil
	if c.mark.I == page.Next && c.mark.Chain == page.Head && c.state != Following {
		c.state = Following
	}
	if began.After(c.confirmed) {
		c.confirmed = began
	}
	return true, c.complete()
}

// complete notes that the copy has reached the end of its journal. The caller holds mu.
func (c *Copy) complete() error {
	if c.mark.Complete {
		return nil
	}
	mark := c.mark
	mark.Complete = true
	if err := c.files.Note(mark); err != nil {
		c.stale = err
		return err
	}
	c.mark = mark
	return nil
}

// apply applies the next entry. The caller holds mu.
func (c *Copy) apply(e *openedEntry, inherited bool) error {
	after := c.mark
	after.Position, after.Ended = e.after, e.Ends() && !inherited
	err := moveEnds(e.Rows, &after.Logs, inherited)
	if err == nil {
		err = c.files.Apply(&e.Opened, after)
	}
	if err != nil {
		c.stale = err
		return err
	}

	c.mark = after
	if b := c.batch; b != nil && b.sealed.Entry.Key == e.Key {
		b.found = true
	}
	if after.Ended {
		c.state = Removed
		return c.files.Drop()
	}
	return nil
}

// diverge sets the state of a copy if its position from does not fit a confirmed page.
func (c *Copy) diverge(from shared.Position, page shared.Page, missing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == Removed || missing && from.I == 0 && !c.mark.Complete {
		return
	}
	c.state = Forked
	chain, known := c.files.ChainAt(page.Next)
	if missing || page.Next < from.I && known && chain == page.Head {
		c.state = Ahead
	}
}

// pause waits and reports whether ctx is still alive.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
