package log

import (
	"sync/atomic"
	"unsafe"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// row is an Entry in memory and on disk, tokens aside. It follows from the log
// and its arrival rows alone; what rests on the other log is worked out by At.
type row struct {
	off                 int64
	events              int64 // committed length of events.jsonl when the record arrived; of a tool event: hashID of its call
	len, weight, callOf int32
	crc                 uint32 // CRC-32C of the record: ties rows and token counts to the bytes they describe
	role                ctxabi.Role
	flags               ctxabi.EntryFlags
}

func (r row) end() int64 { return r.off + int64(r.len) + 1 }

func (r row) isToolEvent() bool {
	return r.role == ctxabi.Event && r.flags&(ctxabi.HasCalls|ctxabi.HasResults) != 0
}

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
		longest int32 // bytes of the longest record before the first
		offs    [chunkRows / chunkOffs]int64
		kept    [chunkRows]keptRow
		flags   [chunkRows]ctxabi.EntryFlags
		roles   [chunkRows]ctxabi.Role
		first   int64                            // row.events of the first row
		events  atomic.Pointer[[chunkRows]int64] // of all rows; nil while they are as in the first
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

// rowTable is the rows of an index, a chunk each. Those that file has are in memory only while they
// are used. A copy of a table has the same chunks.
type rowTable struct {
	refs []*rowRef
	file *rowFile // nil: all chunks are in memory
}

// rowRef is a chunk, or nil where it is to be read from the file.
type rowRef struct{ held atomic.Pointer[rowChunk] }

func (t *rowTable) add(c *rowChunk) {
	ref := new(rowRef)
	ref.held.Store(c)
	t.refs = append(t.refs, ref)
}

func (t *rowTable) chunk(k int) *rowChunk {
	if c := t.refs[k].held.Load(); c != nil {
		return c
	}
	return t.file.chunk(k)
}

func (t *rowTable) at(line int) row {
	return t.chunk((line - 1) / chunkRows).get((line - 1) % chunkRows)
}

// bytes is what the table takes of memory, about.
func (t *rowTable) bytes() int64 {
	chunks, refs := len(t.refs), int64(0)
	if t.file != nil {
		refs = int64(len(t.file.refs)) * int64(unsafe.Sizeof(rowRef{})+unsafe.Sizeof(tokenChunk{})+2*unsafe.Sizeof(t))
		chunks -= max(len(t.file.refs)-len(t.file.ring), 0)
	}
	return int64(chunks)*chunkRows*bytesOfRow + refs
}

// lost reports whether rows stand for some that could neither be read nor made again.
func (t *rowTable) lost() bool { return t.file != nil && t.file.lost.Load() }

// newTokens returns the columns of n chunks, where nothing is counted.
func newTokens(n int) []*tokenChunk {
	chunks, all := make([]tokenChunk, n), make([]*tokenChunk, n)
	for i := range all {
		all[i] = &chunks[i]
	}
	return all
}

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
