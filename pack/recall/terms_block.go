package recall

import (
	"fmt"
	"io"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/search/segment"
)

// termBlock has the terms of up to blockRecords records. A whole block is a segment and never changes.
type termBlock struct {
	lengths []uint16 // of the records, in terms
	sum     int64    // of these
	tools   int      // tool events up to its end

	chunk   *segment.Chunk   // while it is open; nil: it is empty
	segment *segment.Segment // else; Data is nil if a file has it
}

// maxCount is the largest number of terms of a record, and of occurrences in it, that is told from
// larger ones.
const maxCount = 1<<16 - 1

func (b *termBlock) bytes() (n int) {
	n = 160 + 2*cap(b.lengths)
	if b.segment != nil {
		n += b.segment.Memory()
	}
	if b.chunk != nil {
		n += b.chunk.Memory()
	}
	return n
}

// add indexes the text of the next record.
func (b *termBlock) add(text string) {
	if b.chunk == nil {
		b.chunk = segment.NewChunk()
	}
	length := 0
	b.chunk.Add(segment.Log{}, len(b.lengths)+1, segment.Record{}, func(emit func(term uint64)) {
		compress.Terms(text, func(term uint64) {
			length++
			emit(term)
		})
	})
	length = min(length, maxCount)
	b.lengths, b.sum = append(b.lengths, uint16(length)), b.sum+int64(length)
}

// seal returns the whole block as a segment in memory.
func (b *termBlock) seal() (*termBlock, error) {
	s, err := b.chunk.Segment()
	return &termBlock{lengths: b.lengths, sum: b.sum, tools: b.tools, segment: s}, err
}

// Store returns the file of a block of an index, by the number of the block from 0.
type Store func(block int) File

// File is the place in which a block is stored.
type File interface {
	prefix.File

	// Open opens the bytes of the last Keep and returns their number. It returns an error if there
	// are none.
	Open() (content io.ReaderAt, closer io.Closer, size int64, err error)

	// Remove removes the block.
	Remove()
}

func stateOf(f prefix.File) *prefix.Store { return prefix.NewStore("terms", termsVersion(), f) }

func termsVersion() string { return fmt.Sprintf("2.%d", compress.TermsVersion) }

// CheckBlock returns an error if data is not a block as a [Store] stores it.
func CheckBlock(data []byte) error {
	return prefix.Check("terms", termsVersion(), data, func(state []byte, _ int) bool {
		return segment.Verify(state) == nil
	})
}

// keep stores the next block, so that only the file has its terms; x.busy is held.
func (x *Terms) keep(m record.Records, b *termBlock) {
	if x.store == nil || len(x.unread) > 0 {
		return
	}
	k := len(x.sealed)
	if stateOf(x.store(k)).Save(m, (k+1)*blockRecords, b.segment.Data) == nil {
		b.segment.Data = nil
	}
}

// load loads the next block if one of m is stored, and reports whether it did; x.busy is held.
func (x *Terms) load(m record.Records) bool {
	k := len(x.sealed)
	end := (k + 1) * blockRecords
	if x.store == nil || end > m.Len() {
		return false
	}
	file := x.store(k)
	state, at, ok := stateOf(file).Load(m)
	b, whole := readBlock(state)
	if !ok || at != end || !whole {
		file.Remove()
		return false
	}
	b.tools = record.ToolsUpTo(m, end)
	x.sealed, x.open = append(x.sealed, b), termBlock{tools: b.tools}
	x.sizes += b.bytes()
	return true
}

// readBlock returns the part of a stored block that stays in memory; ok is false if state is
// something else.
func readBlock(state []byte) (b *termBlock, ok bool) {
	s, err := segment.Open(segment.Bytes(state), int64(len(state)))
	if err != nil || s.N != blockRecords || len(s.Runs) != 1 {
		return nil, false
	}
	rows, err := s.LoadRows(segment.Bytes(state))
	if err != nil {
		return nil, false
	}
	s.Rows.Store(nil) // the lengths are enough
	b = &termBlock{lengths: make([]uint16, s.N), segment: s}
	for doc := range uint32(s.N) { // the newest record first
		length := min(rows.Length(doc), maxCount)
		b.lengths[s.N-1-int(doc)], b.sum = uint16(length), b.sum+int64(length)
	}
	return b, true
}

// reader returns the bytes of the segment of block k, which the caller must close; x.busy is held. It
// returns an error if the block is no longer stored.
func (x *Terms) reader(k int) (io.ReaderAt, io.Closer, error) {
	s := x.sealed[k].segment
	if s.Data != nil {
		return segment.Bytes(s.Data), io.NopCloser(nil), nil
	}
	content, closer, size, err := x.store(k).Open()
	if err != nil {
		return nil, nil, err
	}
	return io.NewSectionReader(content, size-s.Size, s.Size), closer, nil
}
