package log

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// indexSize is how long a file of n rows is.
func indexSize(n int) int64 {
	size := indexHeader + int64(n/chunkRows)*indexChunk
	if rest := n % chunkRows; rest > 0 {
		size += chunkHeader + int64(rest)*indexRow
	}
	return size
}

// rowsIn is how many whole rows a file of a size has.
func rowsIn(size int64) int {
	size = max(size-indexHeader, 0)
	return int(size/indexChunk)*chunkRows + int(max(size%indexChunk-chunkHeader, 0)/indexRow)
}

// appendChunkHeader appends the header of chunk k, behind rows with the running checksum sum, and
// returns the checksum that runs on from it.
func appendChunkHeader(b []byte, k int, off int64, longest int32, sum uint32) ([]byte, uint32) {
	b = binary.LittleEndian.AppendUint64(b, uint64(off))
	b = binary.LittleEndian.AppendUint32(b, uint32(longest))
	b = binary.LittleEndian.AppendUint32(b, sum)
	running := chunkCheck(k, b[len(b)-16:])
	return binary.LittleEndian.AppendUint32(b, running), running
}

func chunkCheck(k int, fields []byte) uint32 {
	number := binary.LittleEndian.AppendUint32(make([]byte, 0, 4), uint32(k))
	return crc32.Update(crc32.Checksum(number, vfs.Castagnoli), vfs.Castagnoli, fields)
}

// appendIndexRow appends the row of a line, and returns the running checksum behind it.
func appendIndexRow(b []byte, r row, line int, running uint32) ([]byte, uint32) {
	start := len(b)
	back := uint16(0)
	if r.callOf > 0 {
		back = uint16(line - int(r.callOf))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(r.len))
	b = binary.LittleEndian.AppendUint32(b, uint32(r.weight))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.events))
	b = binary.LittleEndian.AppendUint32(b, r.crc)
	b = binary.LittleEndian.AppendUint16(b, back)
	b = append(b, byte(r.role), byte(r.flags))
	b = binary.LittleEndian.AppendUint16(b, uint16(crc32.Update(running, vfs.Castagnoli, b[start:])))
	return b, crc32.Update(running, vfs.Castagnoli, b[start:])
}

// parseIndexRow reads the row of a line, whose record begins at off. ok is false where it has a value
// that no row has; its check is not looked at.
func parseIndexRow(b []byte, line int, off int64) (r row, ok bool) {
	u32 := binary.LittleEndian.Uint32
	r = row{off: off, len: int32(u32(b)), weight: int32(u32(b[4:])), events: int64(binary.LittleEndian.Uint64(b[8:])), crc: u32(b[16:]),
		role: ctxabi.Role(b[22]), flags: ctxabi.EntryFlags(b[23])}
	back := int(binary.LittleEndian.Uint16(b[20:]))
	if back > 0 {
		r.callOf = int32(line - back)
	}
	return r, r.len >= 0 && r.role <= ctxabi.Event && back < line
}

// indexChunkBytes is a chunk of rows as it is in the file.
type indexChunkBytes struct {
	k       int
	raw     []byte // whole rows
	off     int64  // where the first record begins
	longest int32  // of the records before it
	sum     uint32 // behind the rows of the chunk before it
	running uint32 // behind the rows so far
	n       int    // rows so far
	ok      bool   // its header is whole
}

// parseIndexChunk reads the header of chunk k.
func parseIndexChunk(raw []byte, k int) indexChunkBytes {
	c := indexChunkBytes{k: k}
	if len(raw) < chunkHeader {
		return c
	}
	c.off, c.longest = int64(binary.LittleEndian.Uint64(raw)), int32(binary.LittleEndian.Uint32(raw[8:]))
	c.sum, c.running = binary.LittleEndian.Uint32(raw[12:]), binary.LittleEndian.Uint32(raw[16:])
	c.ok = c.running == chunkCheck(k, raw[:16]) && c.off >= 0 && c.longest >= 0
	c.raw = raw[chunkHeader:]
	return c
}

// readIndexChunk reads chunk k of a file of a size, which may have it in part.
func readIndexChunk(f io.ReaderAt, size int64, k int) (indexChunkBytes, error) {
	at := indexHeader + int64(k)*indexChunk
	raw := make([]byte, max(min(indexChunk, size-at), 0))
	if err := vfs.ReadFull(f, raw, at); err != nil {
		return indexChunkBytes{}, err
	}
	return parseIndexChunk(raw, k), nil
}

// rows yields the rows with their lines, until one does not match its checksum or yield returns
// false. c.n and c.running are those in front of a row until yield returned true for it.
func (c *indexChunkBytes) rows(yield func(line int, r row) bool) {
	for off := c.off; c.ok && c.n < chunkRows && len(c.raw) >= (c.n+1)*indexRow; c.n++ {
		b, line := c.raw[c.n*indexRow:][:indexRow], c.k*chunkRows+c.n+1
		check := crc32.Update(c.running, vfs.Castagnoli, b[:indexRow-2])
		r, ok := parseIndexRow(b, line, off)
		if !ok || binary.LittleEndian.Uint16(b[indexRow-2:]) != uint16(check) || !yield(line, r) {
			return
		}
		c.running, off = crc32.Update(c.running, vfs.Castagnoli, b), r.end()
	}
}

// whole returns the rows of a chunk that has all of them, if next is the chunk behind it.
func (c *indexChunkBytes) whole(next *indexChunkBytes) *rowChunk {
	if !c.ok || !next.ok || crc32.Update(c.running, vfs.Castagnoli, c.raw) != next.sum {
		return nil
	}
	rows, off := &rowChunk{longest: c.longest}, c.off
	for i := range chunkRows {
		r, ok := parseIndexRow(c.raw[i*indexRow:][:indexRow], c.k*chunkRows+i+1, off)
		if !ok {
			return nil
		}
		rows.set(i, &r)
		off = r.end()
	}
	if off != next.off {
		return nil
	}
	return rows
}
