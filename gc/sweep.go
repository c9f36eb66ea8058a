package gc

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// DefaultGrace is how long a candidate must have been one before it goes.
const DefaultGrace = time.Minute

// Options are the parameters of a collector.
type Options struct {
	Grace  time.Duration // between the plan that marks a candidate and the one after which it goes; 0: one plan does both
	Logger *slog.Logger  // nil: discard
}

// Collector collects the garbage of a store. It is safe for concurrent use; it sweeps one session
// once at a time. Lock order: walking, then the mu of a state, then the Collector's mu.
type Collector struct {
	store Store
	o     Options

	walking sync.Mutex    // held by a round
	wake    chan struct{} // holds a token when a round is to begin at once

	mu     sync.Mutex
	states map[ctxabi.Ref]*state // guarded by mu
	totals Totals                // guarded by mu
}

// state is what is known of a session between two plans.
type state struct {
	mu    sync.Mutex // held while the session is planned or swept
	marks map[string]mark

	// Guarded by Collector.mu.
	stamp string
	due   time.Time // when another plan may differ
}

// mark is when something was seen as a candidate first.
type mark struct {
	at     time.Time
	before time.Time // of packs: rows before this
}

// Totals are the numbers of a collector since it was made.
type Totals struct {
	Runs    int64     // sweeps of the whole store, by the loop, and of one session, when asked for
	Removed int64     // candidates that went
	Freed   int64     // bytes
	Last    time.Time // when the last run ended
}

// LastUnix returns Last in seconds since 1970, or 0 if there was no run.
func (t Totals) LastUnix() int64 {
	if t.Last.IsZero() {
		return 0
	}
	return t.Last.Unix()
}

// New returns a collector of store. It does nothing by itself: see [Collector.Start].
func New(store Store, o Options) *Collector {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Collector{store: store, o: o, wake: make(chan struct{}, 1), states: map[ctxabi.Ref]*state{}}
}

// Grace returns how long a candidate must have been one before it goes.
func (c *Collector) Grace() time.Duration { return c.o.Grace }

// Totals returns the numbers so far.
func (c *Collector) Totals() Totals {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.totals
}

func (c *Collector) state(ref ctxabi.Ref) *state {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.states[ref]
	if st == nil {
		st = &state{}
		c.states[ref] = st
	}
	return st
}

// planned plans the session ref and calls do with the plan, while nobody else plans or sweeps it.
// It returns the error of the plan or of do.
func (c *Collector) planned(ctx context.Context, ref ctxabi.Ref, do func(x Session, st *state, p *Plan, r *Report) error) (*Report, error) {
	x, err := c.store.Session(ref)
	if err != nil {
		return nil, err
	}
	st := c.state(ref)
	st.mu.Lock()
	defer st.mu.Unlock()
	p, err := MakePlan(ctx, x, c.store.Now())
	if err != nil {
		return nil, err
	}
	r := newReport(ref, p)
	return r, do(x, st, p, r)
}

// Plan plans the session and stores the report for context/gc.report. It marks nothing and removes
// nothing. It returns ctxabi.ErrNotFound if there is no such session.
func (c *Collector) Plan(ctx context.Context, ref ctxabi.Ref) (*Report, error) {
	return c.planned(ctx, ref, func(x Session, _ *state, p *Plan, r *Report) error {
		r.plan(p)
		return x.SetReport(r.Text())
	})
}

// Preview plans the session and stores nothing, so that it works on a store that is only read. It
// returns ctxabi.ErrNotFound if there is no such session.
func (c *Collector) Preview(ctx context.Context, ref ctxabi.Ref) (*Report, error) {
	return c.planned(ctx, ref, func(_ Session, _ *state, p *Plan, r *Report) error {
		r.plan(p)
		return nil
	})
}

// Sweep plans the session, removes the candidates that were marked a grace ago, marks the others,
// and stores the report for context/gc.report. An item that cannot be removed is a row of the
// report and no error. It returns ctxabi.ErrNotFound if there is no such session.
func (c *Collector) Sweep(ctx context.Context, ref ctxabi.Ref) (*Report, error) {
	r, err := c.sweep(ctx, ref, true)
	c.mu.Lock()
	c.totals.Runs++
	c.totals.Last = c.store.Now()
	c.mu.Unlock()
	return r, err
}

// sweep is Sweep. asked is set if somebody asked for it: then the report is stored even if nothing
// happened.
func (c *Collector) sweep(ctx context.Context, ref ctxabi.Ref, asked bool) (*Report, error) {
	r, err := c.sweepOnce(ctx, ref, asked)
	if err != nil {
		if _, gone := c.store.Glance(ref, ""); errors.Is(gone, ctxabi.ErrNotFound) {
			return nil, gone // it was removed meanwhile, and what failed is no wonder
		}
	}
	return r, err
}

func (c *Collector) sweepOnce(ctx context.Context, ref ctxabi.Ref, asked bool) (*Report, error) {
	return c.planned(ctx, ref, func(x Session, st *state, p *Plan, r *Report) error {
		gone := false
		marks := map[string]mark{}
		for _, it := range p.Go {
			key := string(it.Kind) + " " + it.Path
			m, seen := st.marks[key]
			if !seen {
				m = mark{p.At, p.before}
			}
			if ripe := m.at.Add(c.o.Grace); p.At.Before(ripe) {
				marks[key] = m
				p.wake(ripe)
				r.add(&r.Waiting, it.Item, it.Reason)
				continue
			}
			freed, done, err := c.remove(ctx, x, it.Item, m)
			switch {
			case err != nil:
				marks[key] = m
				p.wake(p.At.Add(recheck))
				r.add(&r.Failed, it.Item, err.Error())
			case !done:
				p.wake(p.At.Add(recheck))
				r.add(&r.Kept, it.Item, "it is needed again")
			default:
				if it.Kind == Packs && p.before.After(m.before) { // younger rows have been candidates for a shorter while
					marks[key] = mark{p.At, p.before}
					p.wake(p.At.Add(c.o.Grace))
				}
				it.Size = freed
				r.add(&r.Removed, it.Item, it.Reason)
				gone = gone || it.Kind == Whole
			}
		}
		st.marks = marks
		var err error
		if !gone && (asked || !r.quiet()) {
			err = x.SetReport(r.Text())
		}
		c.note(ref, x, st, p, r, gone)
		return err
	})
}

// remove removes one candidate if it still is one.
func (c *Collector) remove(ctx context.Context, x Session, it Item, m mark) (freed int64, done bool, err error) {
	if it.Kind == Packs {
		// Rows are dropped by their time under the lock of the rows; a reader that came meanwhile has a
		// younger one. What is open and the policy are checked once more.
		now := &Plan{At: c.store.Now(), Policy: x.Policy()}
		if err := now.packs(x); err != nil || now.before.IsZero() {
			return 0, false, err
		}
		before := m.before
		if now.before.Before(before) {
			before = now.before
		}
		rows, freed, err := x.DropPacks(before)
		return freed, rows > 0, err
	}
	return x.Remove(ctx, it, func(it Item) (bool, error) { return stillGoes(ctx, x, c.store.Now(), it) })
}

// note adds r to the totals and records when the session is planned next.
func (c *Collector) note(ref ctxabi.Ref, x Session, st *state, p *Plan, r *Report, gone bool) {
	p.wake(p.At.Add(soonest(p.Policy)))
	if p.Policy == ctxabi.KeepPolicy() {
		p.wake(p.At.Add(recheck)) // the policy could not be read; that may pass
	}
	stamp := ""
	if g, err := c.store.Glance(ref, ""); err == nil && x.Policy() == p.Policy { // else it changed meanwhile, and the plan is out of date
		stamp = g.Stamp
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.totals.Removed += int64(r.Removed.Count)
	c.totals.Freed += r.Removed.Bytes
	if gone {
		delete(c.states, ref)
		return
	}
	st.stamp, st.due = stamp, p.Next
}

// sweepTmp removes what removals that crashed or failed have left in the store's tmp directory. It
// returns the errors, joined.
func (c *Collector) sweepTmp() error {
	var failed error
	for _, it := range c.store.Tmp(c.store.Now().Add(-TmpAge)) {
		freed, err := c.store.RemoveTmp(it)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		c.mu.Lock()
		c.totals.Removed++
		c.totals.Freed += freed
		c.mu.Unlock()
	}
	return failed
}
