package recall

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
)

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

// keep stores the next block, so that only the file has its terms; x.busy is held. The stored state
// has numbers of 4 bytes, the lowest first: its tool events, terms, and bytes of postings; the
// lengths of its records, of 2 bytes; its terms; its postings.
func (x *Terms) keep(m record.Records, b *termBlock) {
	if x.store == nil || len(x.unread) > 0 {
		return
	}
	var state []byte
	for _, n := range []int{b.tools, b.count, len(b.postings)} {
		state = binary.LittleEndian.AppendUint32(state, uint32(n))
	}
	for _, n := range b.lengths {
		state = binary.LittleEndian.AppendUint16(state, n)
	}
	state = append(append(state, b.terms...), b.postings...)
	k := len(x.sealed)
	if stateOf(x.store(k)).Save(m, (k+1)*blockRecords, state) == nil {
		b.stored = len(b.terms) + len(b.postings)
		b.terms, b.postings = nil, nil
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
	x.sealed, x.open = append(x.sealed, b), openBlock{tools: b.tools}
	x.sizes += b.bytes()
	return true
}

// readBlock decodes the part of a stored block that stays in memory; ok is false if state is
// something else.
func readBlock(state []byte) (b *termBlock, ok bool) {
	rest := state
	if len(rest) < 12+2*blockRecords {
		return nil, false
	}
	next := func() int {
		n := binary.LittleEndian.Uint32(rest)
		rest = rest[4:]
		return int(n)
	}
	b = &termBlock{tools: next(), count: next(), lengths: make([]uint16, blockRecords)}
	b.stored = termEntry*b.count + next()
	for i := range b.lengths {
		b.lengths[i] = binary.LittleEndian.Uint16(rest[2*i:])
		b.sum += int64(b.lengths[i])
	}
	return b, len(rest) == 2*blockRecords+b.stored
}

// CheckBlock returns an error if data is not a block as a [Store] stores it.
func CheckBlock(data []byte) error {
	return prefix.Check("terms", termsVersion(), data, func(state []byte, _ int) bool {
		_, ok := readBlock(state)
		return ok
	})
}

// blockReader reads the terms of a block.
type blockReader struct {
	*termBlock
	io.Closer
	content io.ReaderAt // terms and postings; nil: they are in memory
	from    int64       // start of the terms in content
	buf     []byte
}

// reader returns one of block k, which the caller must close; x.busy is held. It returns an error
// where the block is not stored any more.
func (x *Terms) reader(k int, b *termBlock) (*blockReader, error) {
	if b.terms != nil || b.count == 0 {
		return &blockReader{termBlock: b, Closer: io.NopCloser(nil)}, nil
	}
	content, closer, size, err := x.store(k).Open()
	return &blockReader{termBlock: b, Closer: closer, content: content, from: size - int64(b.stored)}, err
}

// at returns n entries of terms from the i-th on.
func (r *blockReader) at(i, n int) ([]byte, error) {
	if r.content == nil {
		return r.terms[termEntry*i:][:termEntry*n], nil
	}
	if cap(r.buf) < termEntry*n {
		r.buf = make([]byte, termEntry*n)
	}
	b := r.buf[:termEntry*n]
	_, err := io.ReadFull(io.NewSectionReader(r.content, r.from+int64(termEntry*i), int64(len(b))), b)
	return b, err
}

// errBlock is a block that is not what was kept.
var errBlock = errors.New("a block of the index of terms is damaged")

// window is how many entries are read at once. Terms are spread evenly over their numbers, so that one is near where it is to be expected.
const window = 512

// find returns the postings of a term, and how many there are. It returns an error when the block cannot be read.
func (r *blockReader) find(t uint32) (postings []byte, having int, err error) {
	lo, hi := 0, r.count // it stands in between, if anywhere
	i := int(uint64(t)*uint64(r.count)>>32) - window/2
	for tries := 0; lo < hi; tries++ {
		i = max(lo, min(i, hi-window))
		n := min(window, hi-i)
		b, err := r.at(i, n)
		if err != nil {
			return nil, 0, err
		}
		number := func(k int) uint32 { return binary.LittleEndian.Uint32(b[termEntry*k:]) }
		switch {
		case t < number(0):
			hi = i
			i = hi - window
		case t > number(n-1):
			lo = i + n
			i = lo
		default:
			at := sort.Search(n, func(k int) bool { return number(k) >= t })
			if number(at) != t {
				return nil, 0, nil
			}
			end, having := binary.LittleEndian.Uint32(b[termEntry*at+4:]), int(binary.LittleEndian.Uint16(b[termEntry*at+8:]))+1
			from := uint32(0) // where the postings of the term before end
			switch {
			case at > 0:
				from = binary.LittleEndian.Uint32(b[termEntry*(at-1)+4:])
			case i > 0:
				before, err := r.at(i-1, 1)
				if err != nil {
					return nil, 0, err
				}
				from = binary.LittleEndian.Uint32(before[4:])
			}
			postings, err = r.list(from, end)
			return postings, having, err
		}
		if tries > 0 {
			i = (lo+hi)/2 - window/2
		}
	}
	return nil, 0, nil
}

// list returns the postings from one byte to another.
func (r *blockReader) list(from, end uint32) ([]byte, error) {
	if from > end {
		return nil, errBlock
	}
	if r.content == nil {
		return r.postings[from:end], nil
	}
	b := make([]byte, end-from)
	_, err := io.ReadFull(io.NewSectionReader(r.content, r.from+int64(termEntry*r.count)+int64(from), int64(len(b))), b)
	return b, err
}
