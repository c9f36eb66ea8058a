package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sort"
	"sync/atomic"
)

var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged is what a segment is that does not hold what was written.
var ErrDamaged = errors.New("the search index is damaged")

// Damaged returns an ErrDamaged that names the damaged part.
func Damaged(what string) error { return fmt.Errorf("%w: %s", ErrDamaged, what) }

// Segment is the part of a segment that stays in memory; see write.go for its form. Everything that is read of it is checked.
type Segment struct {
	N     int      // records
	total uint64   // terms of all of them
	Runs  []Run    // in the order of its records
	Tools [][]byte // each a list of names that newlines end
	dict  []dictBlock
	at    int64 // of the rows
	end   int64 // of the last list and block
	Size  int64

	Name string // of its file; "": it is in memory
	Data []byte // of one in memory

	Rows atomic.Pointer[Rows] // once they were needed

	Views   int  // snapshots that have it; guarded by index.mu
	Merging bool // the builder is about to replace it; guarded by index.mu
}

// Bytes is a segment in memory.
type Bytes []byte

func (b Bytes) ReadAt(p []byte, off int64) (int, error) {
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
	if b, ok := r.(Bytes); ok {
		if off < 0 || n < 0 || off > int64(len(b)) || int64(n) > int64(len(b))-off {
			return nil, Damaged("it ends too early")
		}
		return b[off : off+int64(n) : off+int64(n)], nil
	}
	b := make([]byte, n)
	got, err := r.ReadAt(b, off)
	switch {
	case got == n:
		return b, nil
	case err == nil || errors.Is(err, io.EOF):
		return nil, Damaged("it ends too early")
	}
	return nil, err
}

// readSummed reads n bytes that end in their checksum and returns those before it. It returns ErrDamaged if
// the checksum differs, and the error of r.
func readSummed(r io.ReaderAt, off int64, n int) ([]byte, error) {
	b, err := readExactly(r, off, n)
	if err != nil {
		return nil, err
	}
	return summed(b)
}

// TrustSums accepts any checksum, so that fuzzing reaches the code behind them.
var TrustSums = false

func summed(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, Damaged("a part is too short")
	}
	b, sum := b[:len(b)-4], b[len(b)-4:]
	if !TrustSums && crc32.Checksum(b, Castagnoli) != binary.LittleEndian.Uint32(sum) {
		return nil, Damaged("a checksum does not match")
	}
	return b, nil
}

// Open reads the part of a segment of size bytes that stays in memory. It returns ErrDamaged, and the error
// of r.
func Open(r io.ReaderAt, size int64) (*Segment, error) {
	if size < int64(footerSize) {
		return nil, Damaged("a segment is too short")
	}
	f, err := readExactly(r, size-int64(footerSize), footerSize)
	if err != nil {
		return nil, err
	}
	at, n := binary.LittleEndian.Uint64(f), binary.LittleEndian.Uint32(f[8:])
	if string(f[16:]) != segmentMagic || at > uint64(size) || uint64(n) != uint64(size)-uint64(footerSize)-at {
		return nil, Damaged("a segment has no footer")
	}
	m, err := readExactly(r, int64(at), int(n))
	if err != nil {
		return nil, err
	}
	if !TrustSums && crc32.Checksum(m, Castagnoli) != binary.LittleEndian.Uint32(f[12:]) {
		return nil, Damaged("a checksum does not match")
	}
	s := &Segment{Size: size}
	in := Fields{B: m}
	s.at = int64(in.Next(at))
	s.end = s.at
	if err := s.readRuns(&in); err != nil {
		return nil, err
	}
	if uint64(s.at)+uint64(s.N)*RowSize+4 != at {
		return nil, Damaged("a segment's rows are not where they should be")
	}
	for range in.Next(maxTools) {
		if in.Bad {
			break
		}
		s.Tools = append(s.Tools, in.Bytes(in.Next(uint64(len(in.B)))))
	}
	blocks := in.Next(uint64(len(in.B)))
	for range blocks {
		b := dictBlock{first: in.Next(1<<64 - 1), off: int64(in.Next(uint64(s.end))), len: int(in.Next(1 << 30)), lists: int64(in.Next(uint64(s.end)))}
		if in.Bad || b.lists > b.off || b.off+int64(b.len) > s.end ||
			len(s.dict) > 0 && (b.first <= s.dict[len(s.dict)-1].first || b.lists < s.dict[len(s.dict)-1].off) {
			return nil, Damaged("a segment's dictionary is not in order")
		}
		s.dict = append(s.dict, b)
	}
	if in.Bad || len(in.B) > 0 {
		return nil, Damaged("a segment's summary cannot be read")
	}
	return s, nil
}

// readRuns reads the runs from a segment's summary.
func (s *Segment) readRuns(in *Fields) error {
	for range in.Next(uint64(len(in.B))) {
		of := in.Next(1<<33 - 1)
		r := Run{Of: uint32(of >> 1), Event: of&1 == 1, First: int(in.Next(1 << 31)), N: int(in.Next(1 << 31 / RowSize)),
			total: in.Next(1 << 62), Bytes: int64(in.Next(1 << 62)), start: uint32(s.N)}
		if in.Bad || r.First < 1 || r.N < 1 {
			return Damaged("a segment's summary cannot be read")
		}
		s.Runs = append(s.Runs, r)
		if s.N += r.N; s.N > 1<<31/RowSize {
			return Damaged("a segment has too many records")
		}
		s.total += r.total
	}
	return nil
}

// Run returns the run that a record is in, by its place among the runs; near is where to look first.
func (s *Segment) Run(doc uint32, near int) int {
	if near < len(s.Runs) && s.Runs[near].start <= doc && doc < s.Runs[near].End() {
		return near
	}
	return sort.Search(len(s.Runs), func(i int) bool { return s.Runs[i].End() > doc })
}

// HasOther reports whether a segment has runs that are not kept.
func (s *Segment) HasOther(keep func(*Run) bool) bool {
	for i := range s.Runs {
		if !keep(&s.Runs[i]) {
			return true
		}
	}
	return false
}

// LoadRows reads the rows, once. It returns ErrDamaged, and the error of r.
func (s *Segment) LoadRows(r io.ReaderAt) (Rows, error) {
	if t := s.Rows.Load(); t != nil {
		return *t, nil
	}
	t, err := s.readRows(r)
	if err == nil {
		s.Rows.Store(&t)
	}
	return t, err
}

// readRows reads the rows for somebody who needs them once.
func (s *Segment) readRows(r io.ReaderAt) (Rows, error) {
	if t := s.Rows.Load(); t != nil {
		return *t, nil
	}
	b, err := readSummed(r, s.at, s.N*RowSize+4)
	return Rows(b), err
}

// Memory is about how many bytes it takes.
func (s *Segment) Memory() int {
	n := 256 + len(s.dict)*32 + len(s.Runs)*48 + len(s.Data)
	if t := s.Rows.Load(); t != nil && s.Data == nil {
		n += len(*t)
	}
	return n
}

// Entry is a term of the dictionary.
type Entry struct {
	Records  int
	most     uint32 // count in a record
	shortest uint32 // record; neither is known of an inline one
	inline   []byte // its postings, where they stand in the dictionary
	off      int64  // of its list
	skip     int    // bytes of the skip table
	len      int    // of the list
}

// eachEntry calls yield with each term of a block of the dictionary until yield returns false.
func (s *Segment) eachEntry(r io.ReaderAt, k int, yield func(term uint64, e Entry) bool) error {
	d := s.dict[k]
	b, err := readSummed(r, d.off, d.len)
	if err != nil {
		return err
	}
	in := Fields{B: b}
	lists := d.lists
	for term, begin := d.first, true; len(in.B) > 0; begin = false {
		delta := in.Next(1<<64 - 1)
		if begin != (delta == 0) || term+delta < term {
			return Damaged("terms are not in order")
		}
		term += delta
		v := in.Next(1 << 33)
		e := Entry{Records: int(v >> 1)}
		if in.Bad || e.Records < 1 || e.Records > s.N {
			return Damaged("a term has no records")
		}
		if v&1 == 1 {
			if e.Records > maxInline {
				return Damaged("postings are too long")
			}
			rest, ok := skipPostings(in.B, e.Records) // Cursor.Step checks them
			if !ok {
				return Damaged("postings cannot be read")
			}
			e.inline, in.B = in.B[:len(in.B)-len(rest)], rest
		} else {
			e.skip, e.len = int(in.Next(1<<31)), int(in.Next(1<<40))
			e.most, e.shortest = uint32(in.Next(1<<31)), uint32(in.Next(maxLength))
			if e.off = lists; in.Bad || e.skip > e.len || lists+int64(e.len) > d.off {
				return Damaged("a list is not where it should be")
			}
			lists += int64(e.len)
		}
		if in.Bad {
			return Damaged("the dictionary cannot be read")
		}
		if !yield(term, e) {
			return nil
		}
	}
	return nil
}

// Find looks for a term; one that stands in no record has none. It returns ErrDamaged, and the error
// of r.
func (s *Segment) Find(r io.ReaderAt, term uint64) (found Entry, err error) {
	k := sort.Search(len(s.dict), func(i int) bool { return s.dict[i].first > term }) - 1
	if k < 0 {
		return found, nil
	}
	err = s.eachEntry(r, k, func(t uint64, e Entry) bool {
		if t == term {
			found = e
		}
		return t < term
	})
	return found, err
}

// Postings reads all of a term, behind what docs and counts hold. It returns ErrDamaged, and the error
// of r.
func (s *Segment) Postings(r io.ReaderAt, e Entry, docs, counts []uint32) ([]uint32, []uint32, error) {
	c, err := s.Cursor(r, e)
	if err != nil {
		return nil, nil, err
	}
	for err = c.Step(); err == nil && c.n > 0; err = c.Step() {
		docs, counts = append(docs, c.docs[:c.n]...), append(counts, c.counts[:c.n]...)
	}
	return docs, counts, err
}
