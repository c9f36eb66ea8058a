package recall

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Store keeps the blocks of an index beyond this process, by their numbers from 0, and out of its memory.
type Store interface {
	// Load returns a block whole, as it was kept; nil where there is none.
	Load(k int) []byte
	// Open returns a block to be read in parts. It returns an error where there is none.
	Open(k int) (Stored, error)
	// Keep keeps a block. It returns an error when it is not kept.
	Keep(k int, data []byte) error
	// Remove forgets a block.
	Remove(k int)
	// Head returns what stands for the first at places of m. It returns an error when the history cannot be read.
	Head(m record.Records, at int) (string, error)
}

// Stored is a block that is open to be read.
type Stored interface {
	io.ReaderAt
	io.Closer
}

// A block as it is kept has a line of its form, then what stands for the history up to its end, in a line, then numbers of 4 bytes, the
// lowest first: its tool events, terms and bytes of postings; the lengths of its records, of 2 bytes; its terms; its postings.
var blockForm = fmt.Sprintf("ctxfs terms 1.%d\n", compress.TermsVersion)

// keep writes the next block to the store, which has it instead of the memory then; x.busy is held.
func (x *Terms) keep(m record.Records, b *termBlock) {
	if x.store == nil || len(x.unread) > 0 {
		return
	}
	k := len(x.sealed)
	head, err := x.store.Head(m, (k+1)*blockRecords)
	if err != nil {
		return
	}
	data := append([]byte(blockForm), head+"\n"...)
	for _, n := range []int{b.tools, b.count, len(b.postings)} {
		data = binary.LittleEndian.AppendUint32(data, uint32(n))
	}
	for _, n := range b.lengths {
		data = binary.LittleEndian.AppendUint16(data, n)
	}
	from := int64(len(data))
	data = append(append(data, b.terms...), b.postings...)
	if x.store.Keep(k, data) == nil {
		b.terms, b.postings, b.from = nil, nil, from
	}
}

// load takes the next block as an earlier process kept it, and reports whether there is one of m; x.busy is held.
func (x *Terms) load(m record.Records) bool {
	k := len(x.sealed)
	end := (k + 1) * blockRecords
	if x.store == nil || end > m.Len() {
		return false
	}
	data := x.store.Load(k)
	if data == nil {
		return false
	}
	b, head, ok := readBlock(data)
	if now, err := x.store.Head(m, end); !ok || err != nil || now != head || b.tools != record.ToolsUpTo(m, end) {
		x.store.Remove(k)
		return false
	}
	x.sealed, x.open = append(x.sealed, b), openBlock{tools: b.tools}
	x.sizes += b.bytes()
	return true
}

// readBlock reads what is kept in memory of a block that a store has, and what stands for the history up to its end.
func readBlock(data []byte) (b *termBlock, head string, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(blockForm))
	line, rest, found := bytes.Cut(rest, []byte("\n"))
	if !ok || !found || len(rest) < 12+2*blockRecords {
		return nil, "", false
	}
	next := func() int {
		n := binary.LittleEndian.Uint32(rest)
		rest = rest[4:]
		return int(n)
	}
	b = &termBlock{tools: next(), count: next(), lengths: make([]uint16, blockRecords)}
	postings := next()
	for i := range b.lengths {
		b.lengths[i] = binary.LittleEndian.Uint16(rest[2*i:])
		b.sum += int64(b.lengths[i])
	}
	b.from = int64(len(data) - len(rest) + 2*blockRecords)
	return b, string(line), len(data) == int(b.from)+termEntry*b.count+postings
}

// CheckBlock returns an error when data is no block as a [Store] keeps it.
func CheckBlock(data []byte) error {
	if _, _, ok := readBlock(data); !ok {
		return errBlock
	}
	return nil
}

// blockReader reads the terms of a block.
type blockReader struct {
	*termBlock
	Stored // nil: they are in memory
	buf    []byte
}

// reader returns one of block k; x.busy is held. It returns an error where it is not kept any more.
func (x *Terms) reader(k int, b *termBlock) (*blockReader, error) {
	r := &blockReader{termBlock: b}
	if b.terms != nil || b.count == 0 {
		return r, nil
	}
	var err error
	r.Stored, err = x.store.Open(k)
	return r, err
}

// Close closes what it reads.
func (r *blockReader) Close() {
	if r.Stored != nil {
		r.Stored.Close()
	}
}

// at returns n entries of terms from the i-th on.
func (r *blockReader) at(i, n int) ([]byte, error) {
	if r.Stored == nil {
		return r.terms[termEntry*i:][:termEntry*n], nil
	}
	if cap(r.buf) < termEntry*n {
		r.buf = make([]byte, termEntry*n)
	}
	b := r.buf[:termEntry*n]
	_, err := io.ReadFull(io.NewSectionReader(r.Stored, r.from+int64(termEntry*i), int64(len(b))), b)
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
	if r.Stored == nil {
		return r.postings[from:end], nil
	}
	b := make([]byte, end-from)
	_, err := io.ReadFull(io.NewSectionReader(r.Stored, r.from+int64(termEntry*r.count)+int64(from), int64(len(b))), b)
	return b, err
}
