package segment

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// A segment is the index of some records of an owner's sessions. It never changes. Its records are
// numbered so that those of a log in a row, a run, stand side by side, the newest first: a search
// for the best ones, and of equal ones the newest, can stop early, and a search of one session reads its
// runs alone:
//
//	lists, dictionary block, lists, dictionary block, ...
//	rows of the records, with their CRC-32C
//	meta: its runs, the tools, where the dictionary blocks and the rows are
//	footer: where meta is, its CRC-32C, the magic bytes
//
// A dictionary block has some terms in order, and behind them its CRC-32C:
//
//	uvarint term - the one before (the first of a block: 0; meta has it), uvarint records<<1 | inline, then
//	inline: the postings
//	else: uvarint bytes of the skip table, of the list with it, the largest count, the shortest record
//
// A list is its skip table (for each block of postings: uvarint last record - that of the block before, bytes, largest count, shortest
// record) and the blocks, each with its CRC-32C. The lists of a block's terms stand in front of it, one behind the other.
const (
	segmentMagic  = "ctxfsS2\n"
	footerSize    = 8 + 4 + 4 + len(segmentMagic)
	RowSize       = 10
	dictBlockSize = 4 << 10
	maxInline     = 48        // bytes of postings
	maxLength     = 1<<24 - 1 // terms of a record that count for its length
	maxTools      = 1<<16 - 1
)

// row is what is kept of a record, rowSize bytes: its length in terms and its role, its tools, a checksum of what it says.
type row struct {
	length uint32
	role   ctxabi.Role
	tools  uint16 // which of the segment's lists of tools, from 1; 0: none
	print  uint32
}

func (r row) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, min(r.length, maxLength)<<8|uint32(r.role))
	b = binary.LittleEndian.AppendUint16(b, r.tools)
	return binary.LittleEndian.AppendUint32(b, r.print)
}

// Rows are those of a segment, one behind the other.
type Rows []byte

func (t Rows) Length(doc uint32) uint32    { return binary.LittleEndian.Uint32(t[doc*RowSize:]) >> 8 }
func (t Rows) Role(doc uint32) ctxabi.Role { return ctxabi.Role(t[doc*RowSize]) }
func (t Rows) Tools(doc uint32) uint16     { return binary.LittleEndian.Uint16(t[doc*RowSize+4:]) }
func (t Rows) Print(doc uint32) uint32     { return binary.LittleEndian.Uint32(t[doc*RowSize+6:]) }

// Run is some records in a row of one log.
type Run struct {
	Of    uint32 // number of the session in its owner's index
	Event bool
	First int    // line
	N     int    // records
	total uint64 // terms of all of them
	Bytes int64  // of the log
	start uint32 // number of the newest one in the segment
}

func (r *Run) last() int   { return r.First + r.N - 1 }
func (r *Run) End() uint32 { return r.start + uint32(r.N) }

// Line is that of a record by its number in the segment.
func (r *Run) Line(doc uint32) int { return r.last() - int(doc-r.start) }

// follows reports whether the records of r stand right behind those of o in the same log.
func (r *Run) follows(o *Run) bool {
	return r.Of == o.Of && r.Event == o.Event && r.First == o.First+o.N
}

// appendRun adds a run behind those of a segment, as part of the last one where that goes on.
func appendRun(runs []Run, r Run) []Run {
	if k := len(runs) - 1; k >= 0 && runs[k].follows(&r) {
		old := &runs[k]
		old.First, old.N, old.total, old.Bytes = r.First, old.N+r.N, old.total+r.total, old.Bytes+r.Bytes
		return runs
	}
	if k := len(runs) - 1; k >= 0 {
		r.start = runs[k].End()
	} else {
		r.start = 0
	}
	return append(runs, r)
}

// dictBlock is where a block of the dictionary is.
type dictBlock struct {
	first uint64 // term
	off   int64
	len   int   // with its checksum
	lists int64 // where the lists of its terms begin
}

type segmentWriter struct {
	w     *bufio.Writer
	off   int64
	rows  Rows
	err   error
	block []byte // of the dictionary
	first uint64
	prev  uint64
	lists int64
	dict  []dictBlock
	buf   []byte
	skip  []byte
}

func newSegmentWriter(w io.Writer, t Rows) *segmentWriter {
	return &segmentWriter{w: bufio.NewWriterSize(w, 256<<10), rows: t}
}

func (w *segmentWriter) write(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
	w.off += int64(len(b))
}

func (w *segmentWriter) sum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, Castagnoli))
}

// add adds a term behind those that were added, with its postings.
func (w *segmentWriter) add(term uint64, docs, counts []uint32) {
	if len(w.block) == 0 {
		w.first, w.prev = term, term
	}
	w.block = binary.AppendUvarint(w.block, term-w.prev)
	w.prev = term
	if len(docs) <= maxInline {
		if w.buf = appendPostings(w.buf[:0], -1, docs, counts); len(w.buf) <= maxInline {
			w.block = binary.AppendUvarint(w.block, uint64(len(docs))<<1|1)
			w.block = append(w.block, w.buf...)
			w.endBlock(false)
			return
		}
	}
	var blocks []byte
	w.skip = w.skip[:0]
	prev, most, shortest := int64(-1), uint32(0), uint32(maxLength)
	for from := 0; from < len(docs); from += blockLen {
		to := min(from+blockLen, len(docs))
		last := int64(docs[to-1])
		w.buf = w.sum(appendPostings(w.buf[:0], prev, docs[from:to], counts[from:to]))
		blocks = append(blocks, w.buf...)
		m, s := w.extremes(docs[from:to], counts[from:to])
		w.skip = binary.AppendUvarint(w.skip, uint64(last-prev))
		w.skip = binary.AppendUvarint(w.skip, uint64(len(w.buf)))
		w.skip = binary.AppendUvarint(w.skip, uint64(m))
		w.skip = binary.AppendUvarint(w.skip, uint64(s))
		prev, most, shortest = last, max(most, m), min(shortest, s)
	}
	w.skip = w.sum(w.skip)
	w.block = binary.AppendUvarint(w.block, uint64(len(docs))<<1)
	for _, v := range []uint64{uint64(len(w.skip)), uint64(len(w.skip) + len(blocks)), uint64(most), uint64(shortest)} {
		w.block = binary.AppendUvarint(w.block, v)
	}
	w.write(w.skip)
	w.write(blocks)
	w.endBlock(false)
}

func (w *segmentWriter) extremes(docs, counts []uint32) (most, shortest uint32) {
	shortest = maxLength
	for i, d := range docs {
		most, shortest = max(most, counts[i]), min(shortest, w.rows.Length(d))
	}
	return most, shortest
}

// endBlock writes the dictionary's block when it is long enough.
func (w *segmentWriter) endBlock(now bool) {
	if len(w.block) == 0 || len(w.block) < dictBlockSize && !now {
		return
	}
	w.block = w.sum(w.block)
	w.dict = append(w.dict, dictBlock{first: w.first, off: w.off, len: len(w.block), lists: w.lists})
	w.write(w.block)
	w.block, w.lists = w.block[:0], w.off
}

// finish writes the rest.
func (w *segmentWriter) finish(runs []Run, tools []string) error {
	w.endBlock(true)
	at := w.off
	w.write(w.rows)
	w.write(binary.LittleEndian.AppendUint32(nil, crc32.Checksum(w.rows, Castagnoli)))
	var m []byte
	number := func(v uint64) { m = binary.AppendUvarint(m, v) }
	number(uint64(at))
	number(uint64(len(runs)))
	for _, r := range runs {
		number(uint64(r.Of)<<1 | map[bool]uint64{true: 1}[r.Event])
		for _, v := range []uint64{uint64(r.First), uint64(r.N), r.total, uint64(r.Bytes)} {
			number(v)
		}
	}
	number(uint64(len(tools)))
	for _, name := range tools {
		number(uint64(len(name)))
		m = append(m, name...)
	}
	number(uint64(len(w.dict)))
	for _, b := range w.dict {
		number(b.first)
		number(uint64(b.off))
		number(uint64(b.len))
		number(uint64(b.lists))
	}
	at = w.off
	w.write(m)
	f := binary.LittleEndian.AppendUint64(nil, uint64(at))
	f = binary.LittleEndian.AppendUint32(f, uint32(len(m)))
	f = binary.LittleEndian.AppendUint32(f, crc32.Checksum(m, Castagnoli))
	w.write(append(f, segmentMagic...))
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}
