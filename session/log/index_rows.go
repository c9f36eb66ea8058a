package log

import (
	"sync/atomic"
	"unsafe"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Rows and counts are kept in chunks that never move, so that a snapshot is a
// slice header and stays true while the index grows. A session may have
// millions of rows, so a chunk has them packed: what follows from the rows
// before it, or is the same in all of them, is not kept in each.
const (
	chunkRows = 256
	chunkOffs = 16 // rows of which one has its offset
)

type (
	rowChunk struct {
		offs   [chunkRows / chunkOffs]int64
		kept   [chunkRows]keptRow
		flags  [chunkRows]EntryFlags
		roles  [chunkRows]ctxabi.Role
		first  int64                            // row.events of the first row
		events atomic.Pointer[[chunkRows]int64] // of all rows; nil while they are as in the first
	}
	keptRow struct {
		len, weight, callOf int32
		crc                 uint32
	}
	tokenChunk struct {
		counts atomic.Pointer[[chunkRows]atomic.Int32] // nil while nothing was counted
	}
)

// What a row takes in memory, about: with its count, and with events of its own.
const (
	bytesOfRow  = int64(unsafe.Sizeof(rowChunk{}))/chunkRows + 4
	bytesOfMore = 8
)

// reserve keeps memory for rows free; see [memory.Limit].
func (x *logIndex) reserve(rows int) (release func(), err error) {
	each, events := bytesOfRow, x.log.events
	if events == nil {
		events = x.log
	}
	if events.length.Load() > 0 {
		each += bytesOfMore
	}
	return x.log.set.memory.Reserve("index", x.log.name, int64(rows)*each)
}

// set fills in row i, which comes right behind row i-1. Readers of earlier rows may be there.
func (c *rowChunk) set(i int, r *row) {
	if i == 0 {
		c.first = r.events
	}
	if i%chunkOffs == 0 {
		c.offs[i/chunkOffs] = r.off
	}
	c.kept[i] = keptRow{r.len, r.weight, r.callOf, r.crc}
	c.flags[i], c.roles[i] = r.flags, r.role
	own := c.events.Load()
	if own == nil && r.events != c.first {
		own = new([chunkRows]int64)
		for k := range i {
			own[k] = c.first
		}
		own[i] = r.events
		c.events.Store(own)
	} else if own != nil {
		own[i] = r.events
	}
}

func (c *rowChunk) get(i int) row {
	from := i / chunkOffs * chunkOffs
	off := c.offs[from/chunkOffs]
	for k := from; k < i; k++ {
		off += int64(c.kept[k].len) + 1
	}
	events := c.first
	if own := c.events.Load(); own != nil {
		events = own[i]
	}
	k := &c.kept[i]
	return row{off: off, events: events, len: k.len, weight: k.weight, callOf: k.callOf, crc: k.crc, role: c.roles[i], flags: c.flags[i]}
}

// get returns a count; 0: it is not known.
func (c *tokenChunk) get(i int) int32 {
	if counts := c.counts.Load(); counts != nil {
		return counts[i].Load()
	}
	return 0
}

// swap sets a count and returns what it was. One does it at a time.
func (c *tokenChunk) swap(i int, tokens int32) int32 {
	counts := c.counts.Load()
	if counts == nil {
		counts = new([chunkRows]atomic.Int32)
		defer c.counts.Store(counts)
	}
	return counts[i].Swap(tokens)
}
