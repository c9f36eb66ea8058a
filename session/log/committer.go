package log

import (
	"context"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Committer is the one commit point of records: it decides their order in a log. Commit makes batch durable against the death of the process at position expected of log and
// returns the log's new length. It is called with the log's turn held, may block, and must not keep
// batch.Data.
//
// Commit returns ctxabi.ErrConflict if the log is not at expected, and the position without an
// error if batch.Key was committed before. A committer that orders records elsewhere applies them here
// with a [Replica] and publishes the new length with [Log.Advance].
type Committer interface {
	Commit(ctx context.Context, log *Log, batch Batch, expected int64) (position int64, err error)
}

// SharedTurn is a [Committer] that orders the commits of both logs of a session together: where
// SharesTurn returns true, they have one turn, so that Commit is called for one of both at a time.
type SharedTurn interface {
	Committer
	SharesTurn() bool
}

// sharesTurn reports whether c wants one turn for both logs of a session.
func sharesTurn(c Committer) bool {
	s, ok := c.(SharedTurn)
	return ok && s.SharesTurn()
}

// turnOf returns the log's turn, which is that of the session's log of events if the committer wants
// one for both.
func (l *Log) turnOf() chan struct{} {
	at := &l.turn
	if l.set.shared && l.events != nil {
		at = &l.events.turn
	}
	if turn := at.Load(); turn != nil {
		return *turn
	}
	turn := make(chan struct{}, 1)
	if !at.CompareAndSwap(nil, &turn) {
		return *at.Load()
	}
	return turn
}

// Gatherer is a [SharedTurn] that commits the batches of several callers at once. Where Gathers
// returns true, Commit is called without a turn and by many at a time, and expected may be
// [Anywhere]. The committer takes the turn with [Hold] while it orders and applies.
type Gatherer interface {
	SharedTurn
	Gathers() bool
}

// gathers reports whether c takes turns itself.
func gathers(c Committer) bool {
	g, ok := c.(Gatherer)
	return ok && g.Gathers()
}

// Hold waits for the turns of logs, for who must have nothing appended to them: until release is
// called, nothing is. Turns are taken in the order of logs, and one that two of them share once.
func Hold(logs ...*Log) (release func()) {
	release, _ = HoldWithin(context.Background(), logs...)
	return release
}

// HoldWithin is [Hold] for who cannot wait for ever. It returns the error of ctx if that ends before
// all turns are held; then none is.
func HoldWithin(ctx context.Context, logs ...*Log) (release func(), err error) {
	var held []chan struct{}
	release = func() {
		for _, turn := range held {
			<-turn
		}
	}
	for _, l := range logs {
		turn := l.turnOf()
		if n := len(held); n > 0 && held[n-1] == turn {
			continue
		}
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			release()
			return nil, ctx.Err()
		}
		held = append(held, turn)
	}
	return release, nil
}

// syncedWithin is the most commits between two syncs of a log that counts as synced each time.
const syncedWithin = 2

// pace learns whether a log is synced after each commit or two. Then the disk begins to write at the
// commit, while the answer to it and the request for the sync are under way.
type pace struct {
	commits atomic.Int32 // since the last sync
	close   atomic.Bool  // syncs follow close on commits
}

// committed notes a commit and reports whether a sync is likely to follow.
func (p *pace) committed() bool {
	if p.commits.Add(1) > syncedWithin && p.close.Load() {
		p.close.Store(false)
	}
	return p.close.Load()
}

// synced notes a sync.
func (p *pace) synced() {
	if n := p.commits.Swap(0); n > 0 {
		p.close.Store(n <= syncedWithin)
	}
}

// JournalFile is where a copy keeps how far it follows a journal that is elsewhere, relative to the
// session.
const JournalFile = ctxabi.InternalDir + "/journal"

// SetsFile is where a copy keeps which entry of the journal has set which control file, relative to the
// session.
const SetsFile = ctxabi.InternalDir + "/sets"

// Mark is where a log ends: the size of its data and that of its rows, in bytes.
type Mark struct{ Size, Arrivals int64 }

// Mark returns the sizes.
func (t Tail) Mark() Mark { return Mark{t.Size, t.Arrivals} }

// Copies is a [Committer] of a store whose logs are copies of what is ordered elsewhere. Of what such
// a log has behind its mark nothing is adopted when it is opened: it comes again from elsewhere.
type Copies interface {
	Committer

	// Kept returns where the log called name of the session in dir may end at most. It is called while
	// the log is opened for the first time, with locks of the log and Root.Move held for reading, and
	// asks nothing of the store's logs but [Look]. ok is false if the log may end where its last row
	// ends.
	Kept(dir *disk.Dir, name string) (at Mark, ok bool)
}
