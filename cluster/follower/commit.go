package follower

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/cluster/shared"
)

const (
	maxInline      = 64 << 10         // bytes of records in an entry; more become an object
	attemptTimeout = 10 * time.Second // of one try; a new connection may reach another server
	lockedEntries  = 16               // after a conflict, committed under the lock of the journal
)

// Result is the place of a committed request.
type Result struct {
	I   uint64 // number of its entry
	End int64  // length of the log after its records; 0 for other rows
}

// waiter is a request in the queue, and its caller.
type waiter struct {
	Request
	ctx  context.Context
	done chan struct{} // closed when result and err are final

	// Copy.mu guards these.
	sent   bool // a statement with it may be stored
	gone   bool // the caller has its answer
	result Result
	err    error
}

// batch is a set of requests that become one entry.
type batch struct {
	waiters   []*waiter
	sealed    shared.Append
	opened    openedEntry
	results   []Result
	uncertain bool // the outcome of sealed is unknown
	found     bool // the copy has applied sealed
}

// Commit stores a request as a row of the next entry of the journal, together with other requests,
// and returns when the copy of this host has it. The deadline of ctx limits the whole operation.
//
// Commit returns shared.ErrUnavailable if the request was not and will not be stored in time,
// shared.ErrUnknown if it may be stored, ErrDiverged, ErrRemoved, shared.ErrDenied, ErrStale, and
// shared.ErrTooLarge.
func (c *Copy) Commit(ctx context.Context, r Request) (Result, error) {
	if len(r.Content)+len(r.Body) > shared.MaxBody && !isRecords(r.Kind) {
		return Result{}, fmt.Errorf("%w: a row of kind %q", shared.ErrTooLarge, r.Kind)
	}
	if isRecords(r.Kind) && len(r.Body) > maxInline {
		c.mu.Lock()
		err := c.refusal()
		c.mu.Unlock()
		if err != nil {
			return Result{}, err
		}
		if err := c.putObject(ctx, r.Body); err != nil {
			return Result{}, err
		}
	}

	w := &waiter{Request: r, ctx: ctx, done: make(chan struct{})}
	if err := c.enqueue(w); err != nil {
		return Result{}, err
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		c.abandon(w)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return w.result, w.err
}

// putObject stores records outside of entries. No entry names them yet, so any failure means that
// the request is not stored.
func (c *Copy) putObject(ctx context.Context, body []byte) error {
	for {
		err := c.host.waitConnected(ctx)
		if err == nil {
			_, err = c.host.store.PutObject(ctx, c.owner, body)
		}
		if err == nil || errors.Is(err, shared.ErrDenied) {
			return err
		}
		if !pause(ctx, retryPause) {
			return fmt.Errorf("%w: %v", shared.ErrUnavailable, err)
		}
	}
}

// enqueue adds a request and starts the worker if none runs.
func (c *Copy) enqueue(w *waiter) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refusal(); err != nil {
		return err
	}
	c.queue = append(c.queue, w)
	if !c.working {
		c.working = true
		go c.work()
	}
	return nil
}

// refusal returns why the copy takes no requests. The caller holds mu.
func (c *Copy) refusal() error {
	switch c.state {
	case Removed:
		return ErrRemoved
	case Ahead, Forked:
		return fmt.Errorf("%w: the copy is %s", ErrDiverged, c.state)
	}
	return nil
}

// abandon answers a request after its context ended.
func (c *Copy) abandon(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.gone {
		return
	}
	if w.sent {
		c.answer(w, Result{}, fmt.Errorf("%w: %v", shared.ErrUnknown, w.ctx.Err()))
	} else {
		c.answer(w, Result{}, fmt.Errorf("%w: %v", shared.ErrUnavailable, w.ctx.Err()))
	}
}

// answer ends a request. The caller holds mu.
func (c *Copy) answer(w *waiter, r Result, err error) {
	if w.gone {
		return
	}
	w.gone, w.result, w.err = true, r, err
	close(w.done)
}

// work places batches until the queue is empty.
func (c *Copy) work() {
	for {
		b := c.take()
		if b == nil {
			return
		}
		c.place(b)
	}
}

// take removes the requests of the next batch from the queue. It returns nil and ends the worker if
// there are none.
func (c *Copy) take() *batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batch = nil
	b := new(batch)
	bytes := 0
	for len(c.queue) > 0 && len(b.waiters) < shared.MaxRows {
		w := c.queue[0]
		if n := len(b.waiters); n > 0 && (w.Creates != nil || b.waiters[0].Creates != nil) {
			break // a row that creates a session has an entry of its own
		}

		size := len(w.Content) + len(w.Body)
		if isRecords(w.Kind) && size > maxInline {
			size = 0
		}
		if bytes += size; bytes > shared.MaxBody && len(b.waiters) > 0 {
			break
		}
		c.queue = c.queue[1:]
		if !w.gone {
			b.waiters = append(b.waiters, w)
		}
		if w.Kind == shared.End {
			break
		}
	}

	if len(b.waiters) == 0 {
		c.working = false
		return nil
	}
	c.batch = b
	return b
}

// place stores a batch, or answers its requests with the reason why it is not or may be stored.
func (c *Copy) place(b *batch) {
	ctx, cancel := b.context()
	defer cancel()
	for {
		err := c.attempt(ctx, b)
		switch {
		case c.settled(b):
			return
		case err == nil:
		case ctx.Err() != nil || !passes(err) && !errors.Is(err, shared.ErrConflict):
			c.fail(b, err)
			return
		case !pause(ctx, retryPause):
			c.fail(b, err)
			return
		}
	}
}

// context returns a context that ends when all requests of the batch have ended.
func (b *batch) context() (context.Context, context.CancelFunc) {
	var last time.Time
	for _, w := range b.waiters {
		deadline, ok := w.ctx.Deadline()
		if !ok {
			return context.WithCancel(context.Background())
		}
		if deadline.After(last) {
			last = deadline
		}
	}
	return context.WithDeadline(context.Background(), last)
}

// settled reports whether no request of the batch waits any more, and answers those that were found
// in the journal.
func (c *Copy) settled(b *batch) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.found {
		for i, w := range b.waiters {
			c.answer(w, b.results[i], nil)
		}
	}
	waiting := slices.ContainsFunc(b.waiters, func(w *waiter) bool { return !w.gone })
	return b.found || !waiting && !b.uncertain
}

// fail answers the requests that still wait: those of which no statement can be stored with
// shared.ErrUnavailable or the given error, the others with shared.ErrUnknown.
func (c *Copy) fail(b *batch, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	refused := c.refusal()
	for _, w := range b.waiters {
		switch {
		case w.sent:
			c.answer(w, Result{}, fmt.Errorf("%w: %v", shared.ErrUnknown, err))
		case refused != nil:
			c.answer(w, Result{}, refused)
		case errors.Is(err, shared.ErrDenied) || errors.Is(err, ErrStale) || errors.Is(err, shared.ErrExists):
			c.answer(w, Result{}, err)
		default:
			c.answer(w, Result{}, fmt.Errorf("%w: %v", shared.ErrUnavailable, err))
		}
	}
}

// attempt makes one try to store a batch. It returns nil if the batch is stored, or must be tried
// again at once.
func (c *Copy) attempt(ctx context.Context, b *batch) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	if b.uncertain {
		return c.repeat(ctx, b)
	}

	c.mu.Lock()
	locked, complete, stale := c.contested > 0, c.mark.Complete, c.stale != nil
	c.mu.Unlock()
	if !complete || stale {
		if err := c.catchUp(ctx); err != nil {
			return c.staleError(err)
		}
	}
	// Without a recent heartbeat a host sends nothing, so that requests stay unsent in an outage.
	if err := c.host.waitConnected(ctx); err != nil {
		return err
	}
	if locked {
		return c.appendLocked(ctx, b)
	}

	if err := c.seal(b, nil, shared.ID{}); err != nil {
		return err
	}
	return c.conclude(ctx, b, nil, c.host.store.Append(ctx, b.sealed))
}

// staleError marks the error of a catchUp that failed because of the disk.
func (c *Copy) staleError(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if passes(err) || c.stale == nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrStale, err)
}

// seal builds the entry of a batch after the copy's position and earlier, entries that the copy has
// not applied yet. From now on, the requests count as sent. It returns the reason of a refusal.
func (c *Copy) seal(b *batch, earlier []openedEntry, root shared.ID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refusal(); err != nil {
		return err
	}
	b.waiters = slices.DeleteFunc(b.waiters, func(w *waiter) bool { return w.gone })
	if len(b.waiters) == 0 {
		return context.Canceled
	}

	at, ends := c.mark.Position, c.mark.Logs
	if at.I == 0 && root != (shared.ID{}) {
		at = shared.Start(root)
	}
	for i := range earlier {
		if earlier[i].I != at.I {
			return shared.ErrConflict
		}
		if err := moveEnds(earlier[i].Rows, &ends, false); err != nil {
			return err
		}
		at = earlier[i].after
	}

	var rows []shared.Row
	b.results = b.results[:0]
	ended := false
	var creates *shared.NewSession
	for _, w := range b.waiters {
		rows = append(rows, buildRow(&w.Request, &ends, time.Now()))
		result := Result{I: at.I}
		if isRecords(w.Kind) {
			result.End = ends[logOf(w.Kind)].Size
		}
		b.results = append(b.results, result)
		ended = ended || w.Kind == shared.End
		creates = w.Creates
	}
	entry, next, err := shared.Seal(at, shared.NewID(), c.host.o.Name, c.host.o.Format, rows)
	if err != nil {
		return err
	}

	for i, w := range b.waiters {
		w.sent = true
		if isRecords(w.Kind) {
			rows[i].Body = w.Body // also of an object
		}
	}
	b.sealed = shared.Append{
		Journal: c.journal, Prev: at, Entry: entry, Head: next.Chain,
		Sizes: [2]int64{ends[0].Size, ends[1].Size}, Removes: ended, Creates: creates,
	}
	b.opened = openedEntry{
		shared.Opened{I: at.I, Key: entry.Key, Host: c.host.o.Name, Format: c.host.o.Format, Rows: rows}, next,
	}
	return nil
}

// appendLocked commits a batch under the lock of the journal, after the entries of other hosts that
// it finds there. They are applied only after the commit, which confirms them too.
func (c *Copy) appendLocked(ctx context.Context, b *batch) error {
	var earlier []openedEntry
	sealed := false
	from := c.Mark().Position
	err := c.host.store.AppendLocked(ctx, c.journal, from.I, func(page shared.Page) (shared.Append, error) {
		var err error
		if earlier, err = c.open(ctx, from, page); err != nil {
			return shared.Append{}, shared.ErrConflict
		}
		if err := c.seal(b, earlier, page.Root); err != nil {
			return shared.Append{}, err
		}
		sealed = true
		return b.sealed, nil
	})

	c.mu.Lock()
	c.contested--
	c.mu.Unlock()
	if !sealed {
		if errors.Is(err, shared.ErrConflict) {
			return c.catchUp(ctx) // a page was not enough, or the copy diverged
		}
		return err
	}
	return c.conclude(ctx, b, earlier, err)
}

// conclude acts on the outcome of the first statement with an entry. earlier are entries that were
// read before it in the same transaction.
func (c *Copy) conclude(ctx context.Context, b *batch, earlier []openedEntry, err error) error {
	switch {
	case err == nil:
		return c.adopt(ctx, b, earlier)
	case errors.Is(err, shared.ErrUnknown):
		c.mu.Lock()
		b.uncertain = true
		c.mu.Unlock()
		return err
	}

	c.unsent(b)
	if !errors.Is(err, shared.ErrConflict) {
		return err
	}
	c.mu.Lock()
	before := c.mark.I
	c.contested = lockedEntries
	c.mu.Unlock()
	if caught := c.catchUp(ctx); caught != nil {
		return c.staleError(caught)
	}
	if c.Mark().I > before {
		return nil
	}
	return err
}

// errLost reports that a restore of the database removed an entry before the copy had it.
var errLost = errors.New("the database no longer has an entry that it acknowledged")

// adopt applies an entry that was acknowledged, after the entries before it. The write succeeded,
// even if the copy cannot have it now; then the copy is stale. It returns errLost.
func (c *Copy) adopt(ctx context.Context, b *batch, earlier []openedEntry) error {
	gap, err := c.applyOwn(b, earlier)
	if gap {
		err = c.catchUp(ctx)
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && !b.found {
		return errLost // the copy has another entry in its place
	}
	if err != nil {
		c.stale = err
	}
	b.found = true
	return nil
}

// applyOwn applies earlier and the entry of a batch. gap reports that the copy lacks entries before
// them. It returns the error of the disk.
func (c *Copy) applyOwn(b *batch, earlier []openedEntry) (gap bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mark.I == 0 && b.sealed.Prev.I == 0 {
		c.mark.Position = b.sealed.Prev
	}
	for _, e := range append(earlier, b.opened) {
		if e.I < c.mark.I {
			continue // a poll was faster
		}
		if e.I > c.mark.I {
			return true, nil
		}
		if err := c.apply(&e, false); err != nil {
			return false, err
		}
	}
	return false, nil
}

// unsent notes that no statement with the batch is or will be stored.
func (c *Copy) unsent(b *batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b.uncertain = false
	for _, w := range b.waiters {
		w.sent = false
	}
}

// repeat sends an entry of unknown outcome again, and looks for it in the journal. The outcome is
// certain once a confirmed read shows this entry, or another one in its place.
func (c *Copy) repeat(ctx context.Context, b *batch) error {
	err := c.host.waitConnected(ctx)
	if err == nil {
		err = c.host.store.Append(ctx, b.sealed)
	}
	if err == nil {
		return c.adopt(ctx, b, nil)
	}
	if !errors.Is(err, shared.ErrConflict) {
		return err
	}

	if err := c.catchUp(ctx); err != nil {
		if passes(err) {
			return err
		}
		return fmt.Errorf("%w: %w", shared.ErrUnknown, c.staleError(err))
	}
	c.mu.Lock()
	found, passed := b.found, c.mark.I > b.sealed.Prev.I
	refused := c.refusal()
	c.contested = lockedEntries
	c.mu.Unlock()
	switch {
	case found:
		return nil
	case passed:
		c.unsent(b)
		return nil
	case refused != nil:
		return refused
	}
	return err
}
