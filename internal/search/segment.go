package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sort"
	"sync/atomic"
)

// errDamaged is what a segment is that does not hold what was written.
var errDamaged = errors.New("the search index is damaged")

func damaged(what string) error { return fmt.Errorf("%w: %s", errDamaged, what) }

// segment is what is kept in memory of one; see segment_write.go for its form. Everything that is read of it is checked.
type segment struct {
	covers
	tools [][]byte // each a list of names that newlines end
	dict  []dictBlock
	at    int64 // of the rows
	end   int64 // of the last list and block
	size  int64

	name string // of its file; "": it is in memory
	data []byte // of one in memory

	rows atomic.Pointer[rows] // once they were needed

	views int // that read it; guarded by index.mu
}

// bytesAt is a segment in memory.
type bytesAt []byte

func (b bytesAt) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= int64(len(b)) {
		return 0, io.EOF
	}
	n := copy(p, b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// readExactly reads n bytes.
func readExactly(r io.ReaderAt, off int64, n int) ([]byte, error) {
	if b, ok := r.(bytesAt); ok {
		if off < 0 || n < 0 || off > int64(len(b)) || int64(n) > int64(len(b))-off {
			return nil, damaged("it ends too early")
		}
		return b[off : off+int64(n) : off+int64(n)], nil
	}
	b := make([]byte, n)
	got, err := r.ReadAt(b, off)
	switch {
	case got == n:
		return b, nil
	case err == nil || errors.Is(err, io.EOF):
		return nil, damaged("it ends too early")
	}
	return nil, err
}

// readSummed reads n bytes that end in their checksum, and gives them without it.
func readSummed(r io.ReaderAt, off int64, n int) ([]byte, error) {
	b, err := readExactly(r, off, n)
	if err != nil {
		return nil, err
	}
	return summed(b)
}

// trustSums is for fuzzing what is behind the checksums.
var trustSums = false

func summed(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, damaged("a part is too short")
	}
	b, sum := b[:len(b)-4], b[len(b)-4:]
	if !trustSums && crc32.Checksum(b, castagnoli) != binary.LittleEndian.Uint32(sum) {
		return nil, damaged("a checksum does not match")
	}
	return b, nil
}

// openSegment reads what is kept in memory of a segment of some size.
func openSegment(r io.ReaderAt, size int64) (*segment, error) {
	if size < int64(footerSize) {
		return nil, damaged("a segment is too short")
	}
	f, err := readExactly(r, size-int64(footerSize), footerSize)
	if err != nil {
		return nil, err
	}
	at, n := binary.LittleEndian.Uint64(f), binary.LittleEndian.Uint32(f[8:])
	if string(f[16:]) != segmentMagic || at > uint64(size) || uint64(n) != uint64(size)-uint64(footerSize)-at {
		return nil, damaged("a segment has no footer")
	}
	m, err := readExactly(r, int64(at), int(n))
	if err != nil {
		return nil, err
	}
	if !trustSums && crc32.Checksum(m, castagnoli) != binary.LittleEndian.Uint32(f[12:]) {
		return nil, damaged("a checksum does not match")
	}
	s := &segment{size: size}
	in := fields{b: m}
	s.event = in.next(1) == 1
	s.first, s.n = int(in.next(1<<31)), int(in.next(1<<31/rowSize))
	s.total, s.bytes = in.next(1<<62), int64(in.next(1<<62))
	s.at = int64(in.next(at))
	s.end = s.at
	if s.first < 1 || uint64(s.at)+uint64(s.n)*rowSize+4 != at {
		return nil, damaged("a segment's rows are not where they should be")
	}
	for range in.next(maxTools) {
		if in.bad {
			break
		}
		s.tools = append(s.tools, in.bytes(in.next(uint64(len(in.b)))))
	}
	blocks := in.next(uint64(len(in.b)))
	for range blocks {
		b := dictBlock{first: in.next(1<<64 - 1), off: int64(in.next(uint64(s.end))), len: int(in.next(1 << 30)), lists: int64(in.next(uint64(s.end)))}
		if in.bad || b.lists > b.off || b.off+int64(b.len) > s.end ||
			len(s.dict) > 0 && (b.first <= s.dict[len(s.dict)-1].first || b.lists < s.dict[len(s.dict)-1].off) {
			return nil, damaged("a segment's dictionary is not in order")
		}
		s.dict = append(s.dict, b)
	}
	if in.bad || len(in.b) > 0 {
		return nil, damaged("a segment's summary cannot be read")
	}
	return s, nil
}

// last is the line of its newest record.
func (s *segment) last() int { return s.first + s.n - 1 }

// line is that of a record by its number.
func (s *segment) line(doc uint32) int { return s.last() - int(doc) }

// loadRows reads the rows, once.
func (s *segment) loadRows(r io.ReaderAt) (rows, error) {
	if t := s.rows.Load(); t != nil {
		return *t, nil
	}
	t, err := s.readRows(r)
	if err == nil {
		s.rows.Store(&t)
	}
	return t, err
}

// readRows reads the rows for somebody who needs them once.
func (s *segment) readRows(r io.ReaderAt) (rows, error) {
	if t := s.rows.Load(); t != nil {
		return *t, nil
	}
	b, err := readSummed(r, s.at, s.n*rowSize+4)
	return rows(b), err
}

// rowsToLoad returns how many bytes the rows take that a search in views reads.
func rowsToLoad(views []*view) (n int64) {
	for _, v := range views {
		for _, segments := range v.segments {
			for _, s := range segments {
				if s.rows.Load() == nil {
					n += int64(s.n) * rowSize
				}
			}
		}
	}
	return n
}

// memory is about how many bytes it takes.
func (s *segment) memory() int {
	n := 256 + len(s.dict)*32 + len(s.data)
	if t := s.rows.Load(); t != nil && s.data == nil {
		n += len(*t)
	}
	return n
}

// entry is a term of the dictionary.
type entry struct {
	records  int
	most     uint32 // count in a record
	shortest uint32 // record; neither is known of an inline one
	inline   []byte // its postings, where they stand in the dictionary
	off      int64  // of its list
	skip     int    // bytes of the skip table
	len      int    // of the list
}

// eachEntry reads a block of the dictionary until yield says no.
func (s *segment) eachEntry(r io.ReaderAt, k int, yield func(term uint64, e entry) bool) error {
	d := s.dict[k]
	b, err := readSummed(r, d.off, d.len)
	if err != nil {
		return err
	}
	in := fields{b: b}
	lists := d.lists
	for term, begin := d.first, true; len(in.b) > 0; begin = false {
		delta := in.next(1<<64 - 1)
		if begin != (delta == 0) || term+delta < term {
			return damaged("terms are not in order")
		}
		term += delta
		v := in.next(1 << 33)
		e := entry{records: int(v >> 1)}
		if in.bad || e.records < 1 || e.records > s.n {
			return damaged("a term has no records")
		}
		if v&1 == 1 {
			if e.records > maxInline {
				return damaged("postings are too long")
			}
			var docs, counts [maxInline]uint32
			rest, ok := decodePostings(in.b, -1, uint32(s.n), docs[:e.records], counts[:e.records])
			if !ok {
				return damaged("postings cannot be read")
			}
			e.inline, in.b = in.b[:len(in.b)-len(rest)], rest
		} else {
			e.skip, e.len = int(in.next(1<<31)), int(in.next(1<<40))
			e.most, e.shortest = uint32(in.next(1<<31)), uint32(in.next(maxLength))
			if e.off = lists; in.bad || e.skip > e.len || lists+int64(e.len) > d.off {
				return damaged("a list is not where it should be")
			}
			lists += int64(e.len)
		}
		if in.bad {
			return damaged("the dictionary cannot be read")
		}
		if !yield(term, e) {
			return nil
		}
	}
	return nil
}

// find looks for a term; one that stands in no record has none.
func (s *segment) find(r io.ReaderAt, term uint64) (found entry, err error) {
	k := sort.Search(len(s.dict), func(i int) bool { return s.dict[i].first > term }) - 1
	if k < 0 {
		return found, nil
	}
	err = s.eachEntry(r, k, func(t uint64, e entry) bool {
		if t == term {
			found = e
		}
		return t < term
	})
	return found, err
}

// postings reads all of a term, behind what docs and counts hold.
func (s *segment) postings(r io.ReaderAt, e entry, docs, counts []uint32) ([]uint32, []uint32, error) {
	c, err := s.cursor(r, e)
	if err != nil {
		return nil, nil, err
	}
	for err = c.step(); err == nil && c.n > 0; err = c.step() {
		docs, counts = append(docs, c.docs[:c.n]...), append(counts, c.counts[:c.n]...)
	}
	return docs, counts, err
}
