package log

import "sync/atomic"

// turnOf returns the log's turn.
func (l *Log) turnOf() chan struct{} {
	if turn := l.turn.Load(); turn != nil {
		return *turn
	}
	turn := make(chan struct{}, 1)
	if !l.turn.CompareAndSwap(nil, &turn) {
		return *l.turn.Load()
	}
	return turn
}

// Hold waits for the turns of logs, in their order. Until release is called, nothing is appended to
// them.
func Hold(logs ...*Log) (release func()) {
	for _, l := range logs {
		l.turnOf() <- struct{}{}
	}
	return func() {
		for _, l := range logs {
			<-l.turnOf()
		}
	}
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

// extent is the size of a log's data and that of its rows, in bytes.
type extent struct{ size, arrivals int64 }

// extent returns the sizes.
func (t Tail) extent() extent { return extent{t.Size, t.Arrivals} }
