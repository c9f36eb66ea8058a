package recall

import (
	"slices"
	"sync/atomic"
)

// blockRecords is how many records a block of [Terms] has that grows no more.
const blockRecords = 8192

// Terms is the index of all records of one history: which of them have a term, and how often. It grows with
// the history, and answers for each prefix of it as one would that was made of that prefix alone. It is safe
// for concurrent use.
//
// It takes one or two hundred bytes for a record; with a [Store] those are on the disk, but for two of them.
type Terms struct {
	busy   chan struct{} // holds one token while somebody reads or changes what follows
	sealed []*termBlock
	open   termBlock
	sizes  int   // bytes of memory that the sealed ones take
	unread []int // places that said nothing because they could not be read
	store  Store // of sealed blocks; nil: they stay in memory

	workers int // that may read at a time

	size    atomic.Int64 // about, in bytes
	indexed atomic.Int64 // records, as size was noted
	stored  atomic.Int64 // records whose blocks the store was seen to have
}

// NewTerms returns an empty index whose blocks s keeps; nil: nothing does. Up to workers goroutines read a history at a time that
// lacks several blocks; it is safe for concurrent use then.
func NewTerms(s Store, workers int) *Terms {
	return &Terms{store: s, workers: workers, busy: make(chan struct{}, 1)}
}

// len is how many records are indexed; x.busy is held.
func (x *Terms) len() int { return len(x.sealed)*blockRecords + len(x.open.lengths) }

// Size is about how many bytes of memory x takes. It waits for nobody.
func (x *Terms) Size() int { return int(x.size.Load()) }

// weigh notes how many bytes of memory x takes, and how many records it has; x.busy is held.
func (x *Terms) weigh() {
	x.size.Store(int64(x.sizes + x.open.bytes()))
	x.indexed.Store(int64(x.len()))
}

// Clear forgets all of it.
func (x *Terms) Clear() {
	x.busy <- struct{}{}
	defer func() { <-x.busy }()
	x.reset(1)
}

// reset forgets the block of the record at a place and all behind it; x.busy is held.
func (x *Terms) reset(from int) {
	for n := len(x.sealed); n > 0 && n*blockRecords >= from; n-- {
		x.sizes -= x.sealed[n-1].bytes()
		x.sealed = x.sealed[:n-1]
		if x.store != nil {
			x.store(n - 1).Remove()
		}
	}
	x.open = termBlock{}
	x.stored.Store(min(x.stored.Load(), int64(from-1)))
	if n := len(x.sealed); n > 0 {
		x.open.tools = x.sealed[n-1].tools
	}
	first := len(x.sealed)*blockRecords + 1
	x.unread = slices.DeleteFunc(x.unread, func(at int) bool { return at >= first })
	x.weigh()
}
