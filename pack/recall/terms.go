package recall

import (
	"slices"
	"sync/atomic"
)

// BlockRecords is the number of records of the largest block of [Terms].
const BlockRecords = 8192

// blockSizes lists the possible numbers of records of a sealed block. mergedBlocks blocks of one size
// are merged into one of the next size, so that the store soon contains a new record and a search
// reads few blocks.
var blockSizes = [...]int{32, 512, BlockRecords}

const mergedBlocks = 16

// Terms is the index of all records of one history: which of them have a term, and how often. It grows with
// the history, and answers for each prefix of it as one would that was made of that prefix alone. It is safe
// for concurrent use.
//
// A record takes one or two hundred bytes. With a [Store], only the newest records take memory.
type Terms struct {
	busy   chan struct{} // holds one token while somebody reads or changes what follows
	sealed []*termBlock  // in the order of their records, without gaps
	open   termBlock     // of the records after them
	sizes  int           // bytes of memory that the sealed ones take
	read   int           // records that were indexed so far
	unread []int         // places that said nothing because they could not be read
	store  Store         // of sealed blocks; nil: they stay in memory

	workers int // that may read at a time

	Awaited *atomic.Uint64 // counts records that searches had to index first; nil: not counted

	size    atomic.Int64 // about, in bytes
	indexed atomic.Int64 // records, as size was noted
}

// NewTerms returns an empty index that stores its blocks in s, or keeps them in memory if s is nil.
// Up to workers goroutines read a history if several of the largest blocks are missing; the history
// must be safe for concurrent use then.
func NewTerms(s Store, workers int) *Terms {
	return &Terms{store: s, workers: workers, busy: make(chan struct{}, 1)}
}

// end returns the number of records in sealed blocks; x.busy is held.
func (x *Terms) end() int {
	if n := len(x.sealed); n > 0 {
		return x.sealed[n-1].end()
	}
	return 0
}

// len is how many records are indexed; x.busy is held.
func (x *Terms) len() int { return x.end() + len(x.open.lengths) }

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

// reset removes the block of the record at a place and all blocks after it; x.busy is held.
func (x *Terms) reset(from int) {
	for _, b := range x.sealed {
		if b.end() >= from && x.store != nil {
			x.store(b.first, len(b.lengths)).Remove()
		}
	}
	x.forget(from)
}

// forget drops these blocks from memory, but not from the store; x.busy is held.
func (x *Terms) forget(from int) {
	for n := len(x.sealed); n > 0 && x.sealed[n-1].end() >= from; n-- {
		x.sizes -= x.sealed[n-1].bytes()
		x.sealed = x.sealed[:n-1]
	}
	x.open = termBlock{first: x.end()}
	if n := len(x.sealed); n > 0 {
		x.open.tools = x.sealed[n-1].tools
	}
	x.unread = slices.DeleteFunc(x.unread, func(at int) bool { return at > x.end() })
	x.weigh()
}
