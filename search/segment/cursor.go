package segment

import (
	"io"
	"slices"
	"sort"
)

// End is the record behind all.
const End = ^uint32(0)

// skipEntry is a block of a list.
type skipEntry struct {
	last     uint32
	off      int64
	len      int
	most     uint32
	shortest uint32
}

// Cursor walks over the postings of a term.
type Cursor struct {
	s *Segment
	r io.ReaderAt
	e Entry

	skip  []skipEntry // of an inline term: none
	block int         // the next one to decode

	docs, counts [blockLen]uint32
	n, i         int // of the block that is decoded; where the cursor is

	window    []byte // of the file
	windowOff int64
	ahead     int
}

// Cursor returns a cursor in front of the postings of a term. It returns ErrDamaged, and the error of r.
func (s *Segment) Cursor(r io.ReaderAt, e Entry) (*Cursor, error) {
	c := &Cursor{s: s, r: r, e: e, ahead: 8 << 10}
	if e.inline != nil {
		return c, nil
	}
	b, err := readSummed(r, e.off, e.skip)
	if err != nil {
		return nil, err
	}
	in := Fields{B: b}
	blocks := (e.Records + blockLen - 1) / blockLen
	if blocks > len(b)/4 {
		return nil, Damaged("a skip table is too short")
	}
	c.skip = make([]skipEntry, blocks)
	at, prev := e.off+int64(e.skip), int64(-1)
	for i := range c.skip {
		prev += int64(in.Next(uint64(s.N)))
		k := skipEntry{last: uint32(prev), off: at, len: int(in.Next(uint64(e.len))), most: uint32(in.Next(1 << 31)), shortest: uint32(in.Next(maxLength))}
		if at += int64(k.len); in.Bad || prev < 0 || prev >= int64(s.N) || at > e.off+int64(e.len) || i > 0 && k.last <= c.skip[i-1].last {
			return nil, Damaged("a skip table is not in order")
		}
		c.skip[i] = k
	}
	if len(in.B) > 0 || at != e.off+int64(e.len) {
		return nil, Damaged("a skip table does not match its list")
	}
	return c, nil
}

// read returns bytes of the list, reading ahead.
func (c *Cursor) read(off int64, n int) ([]byte, error) {
	if _, ok := c.r.(Bytes); ok {
		return readExactly(c.r, off, n)
	}
	if off < c.windowOff || off+int64(n) > c.windowOff+int64(len(c.window)) {
		most := int(min(int64(max(n, c.ahead)), c.e.off+int64(c.e.len)-off))
		b, err := readExactly(c.r, off, most)
		if err != nil {
			return nil, err
		}
		c.window, c.windowOff = b, off
		c.ahead = min(c.ahead*4, 256<<10)
	}
	return c.window[off-c.windowOff:][:n], nil
}

// Step decodes the next block; behind the last one n is 0. It returns ErrDamaged, and the error of the
// file.
func (c *Cursor) Step() error {
	c.i = 0
	if c.e.inline != nil {
		if c.block++; c.block > 1 {
			c.n = 0
			return nil
		}
		c.n = c.e.Records
		if _, ok := decodePostings(c.e.inline, -1, uint32(c.s.N), c.docs[:c.n], c.counts[:c.n]); !ok {
			return Damaged("postings cannot be read")
		}
		return nil
	}
	if c.block >= len(c.skip) {
		c.n, c.block = 0, len(c.skip)+1
		return nil
	}
	k := c.skip[c.block]
	b, err := c.read(k.off, k.len)
	if err == nil {
		b, err = summed(b)
	}
	if err != nil {
		return err
	}
	prev := int64(-1)
	if c.block > 0 {
		prev = int64(c.skip[c.block-1].last)
	}
	c.n = min(blockLen, c.e.Records-c.block*blockLen)
	rest, ok := decodePostings(b, prev, uint32(c.s.N), c.docs[:c.n], c.counts[:c.n])
	if !ok || len(rest) > 0 || c.docs[c.n-1] != k.last {
		return Damaged("postings cannot be read")
	}
	c.block++
	return nil
}

// rank returns how many of the term's records have a number below doc. The cursor is anywhere
// afterwards.
func (c *Cursor) rank(doc uint32) (int, error) {
	before := 0
	if c.e.inline == nil {
		k := sort.Search(len(c.skip), func(i int) bool { return c.skip[i].last >= doc })
		if k == len(c.skip) {
			return c.e.Records, nil
		}
		before = k * blockLen
		if c.block != k+1 {
			c.block = k
			if err := c.Step(); err != nil {
				return 0, err
			}
		}
	} else if c.block == 0 {
		if err := c.Step(); err != nil {
			return 0, err
		}
	}
	at, _ := slices.BinarySearch(c.docs[:c.n], doc)
	return before + at, nil
}

// Doc is the record where the cursor is, which has stepped once; end behind all.
func (c *Cursor) Doc() uint32 {
	if c.i < c.n {
		return c.docs[c.i]
	}
	return End
}

// Count is how often the record has the term where the cursor is.
func (c *Cursor) Count() uint32 { return c.counts[c.i] }

// Records is how many records have the term.
func (c *Cursor) Records() int { return c.e.Records }

// Bound returns what gain is at most for the term's records, by how often they have it and how long
// they are. The cursor has stepped once.
func (c *Cursor) Bound(t Rows, gain func(count, length uint32) float64) (most float64) {
	if c.e.inline == nil {
		return gain(c.e.most, c.e.shortest)
	}
	for k := range c.n {
		most = max(most, gain(c.counts[k], t.Length(c.docs[k])))
	}
	return most
}

// Pass goes over blocks, from the one on that the cursor stands at the beginning of, in which no record
// may reach what is asked: reaches is given how often they have the term at most, and how long the
// shortest is. It returns the errors of Step.
func (c *Cursor) Pass(reaches func(most, shortest uint32) bool) error {
	if c.e.inline != nil || c.i > 0 || c.n == 0 {
		return nil
	}
	for {
		k := c.skip[c.block-1] // the one that is decoded
		if reaches(k.most, k.shortest) {
			return nil
		}
		for c.block < len(c.skip) && !reaches(c.skip[c.block].most, c.skip[c.block].shortest) {
			c.block++
		}
		if err := c.Step(); err != nil || c.n == 0 {
			return err
		}
	}
}

// Next goes to the next posting. It returns the errors of Step.
func (c *Cursor) Next() error {
	if c.i++; c.i < c.n {
		return nil
	}
	return c.Step()
}

// Seek goes to the first posting at doc or behind it. It returns the errors of Step.
func (c *Cursor) Seek(doc uint32) error {
	if c.Doc() >= doc {
		return nil
	}
	if c.n > 0 && c.docs[c.n-1] < doc {
		if c.e.inline == nil {
			c.block += sort.Search(max(0, len(c.skip)-c.block), func(i int) bool { return c.skip[c.block+i].last >= doc })
		}
		if err := c.Step(); err != nil || c.n == 0 {
			return err
		}
	}
	at, _ := slices.BinarySearch(c.docs[c.i:c.n], doc)
	c.i += at
	return nil
}
