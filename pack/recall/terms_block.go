package recall

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/search/segment"
)

// termBlock has the terms of up to BlockRecords records. A whole block has one of blockSizes, is a segment,
// and never changes.
type termBlock struct {
	first   int      // records before it
	lengths []uint16 // of the records, in terms
	sum     int64    // of these
	tools   int      // tool events up to its end

	chunk   *segment.Chunk   // while it is open; nil: it is empty
	segment *segment.Segment // else; Data is nil if a file has it
}

// maxCount is the largest number of terms of a record, and of occurrences in it, that is told from
// larger ones.
const maxCount = 1<<16 - 1

// end returns the number of records up to the end of the block.
func (b *termBlock) end() int { return b.first + len(b.lengths) }

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
	b.chunk.Add(segment.Log{}, b.end()+1, segment.Record{}, func(emit func(term uint64)) {
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
	return &termBlock{first: b.first, lengths: b.lengths, sum: b.sum, tools: b.tools, segment: s}, err
}

// Store returns the file of a block of an index, by the number of records before it and its own number
// of records.
type Store func(first, n int) File

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

// keep stores the next block, so that only the file has its terms, unless it is one of the smallest: a
// search would open too many files. x.busy is held.
func (x *Terms) keep(m record.Records, b *termBlock) {
	if x.store == nil || len(x.unread) > 0 {
		return
	}
	err := stateOf(x.store(b.first, len(b.lengths))).Save(m, b.end(), b.segment.Data)
	if err == nil && len(b.lengths) > blockSizes[0] {
		b.segment.Data = nil
	}
}

// load appends the largest stored block of m that begins after the sealed ones, and reports whether
// there was one. x.busy is held.
func (x *Terms) load(m record.Records) bool {
	at := x.end()
	for _, size := range slices.Backward(blockSizes[:]) {
		if x.store == nil || at%size != 0 || at+size > m.Len() {
			continue
		}
		file := x.store(at, size)
		state, end, ok := stateOf(file).Load(m)
		b, whole := readBlock(state, size)
		if !ok || end != at+size || !whole {
			file.Remove()
			continue
		}
		b.first, b.tools = at, record.ToolsUpTo(m, end)
		if size == blockSizes[0] {
			b.segment.Data = state
		}
		x.sealed, x.open = append(x.sealed, b), termBlock{first: end, tools: b.tools}
		x.sizes += b.bytes()
		return true
	}
	return false
}

// isStored reports whether the store contains the largest block that begins after first records.
func (x *Terms) isStored(first int) bool {
	return x.store != nil && x.store(first, BlockRecords).Load() != nil
}

// merged returns one block of adjacent blocks. x.busy is held. It returns an error if a block cannot be
// read, and that of ctx.
func (x *Terms) merged(ctx context.Context, parts []*termBlock) (*termBlock, error) {
	whole := &termBlock{first: parts[0].first, tools: parts[len(parts)-1].tools}
	var segments []*segment.Segment
	var contents []io.ReaderAt
	for _, p := range parts {
		whole.lengths, whole.sum = append(whole.lengths, p.lengths...), whole.sum+p.sum
		content, closer, err := x.reader(p)
		if err != nil {
			return nil, err
		}
		defer closer.Close()
		segments, contents = append(segments, p.segment), append(contents, content)
	}

	var data bytes.Buffer
	all := func(*segment.Run) bool { return true }
	if err := segment.Merge(ctx, &data, segments, contents, all); err != nil {
		return nil, err
	}
	s, err := segment.Open(segment.Bytes(data.Bytes()), int64(data.Len()))
	if err != nil {
		return nil, err
	}
	s.Data, whole.segment = data.Bytes(), s
	return whole, nil
}

// readBlock returns the part of a stored block of n records that stays in memory; ok is false if state
// is something else.
func readBlock(state []byte, n int) (b *termBlock, ok bool) {
	s, err := segment.Open(segment.Bytes(state), int64(len(state)))
	if err != nil || s.N != n || len(s.Runs) != 1 {
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

// reader returns the bytes of the segment of a block, which the caller must close; x.busy is held. It
// returns an error if the block is no longer stored.
func (x *Terms) reader(b *termBlock) (io.ReaderAt, io.Closer, error) {
	s := b.segment
	if s.Data != nil {
		return segment.Bytes(s.Data), io.NopCloser(nil), nil
	}
	content, closer, size, err := x.store(b.first, len(b.lengths)).Open()
	if err != nil {
		return nil, nil, err
	}
	return io.NewSectionReader(content, size-s.Size, s.Size), closer, nil
}
