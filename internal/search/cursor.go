package search

import (
	"io"
	"slices"
	"sort"
)

// end is the record behind all.
const end = ^uint32(0)

// skipEntry is a block of a list.
type skipEntry struct {
	last     uint32
	off      int64
	len      int
	most     uint32
	shortest uint32
}

// cursor walks over the postings of a term.
type cursor struct {
	s *segment
	r io.ReaderAt
	e entry

	skip  []skipEntry // of an inline term: none
	block int         // the next one to decode

	docs, counts [blockLen]uint32
	n, i         int // of the block that is decoded; where the cursor is

	window    []byte // of the file
	windowOff int64
	ahead     int
}

func (s *segment) cursor(r io.ReaderAt, e entry) (*cursor, error) {
	c := &cursor{s: s, r: r, e: e, ahead: 8 << 10}
	if e.inline != nil {
		return c, nil
	}
	b, err := readSummed(r, e.off, e.skip)
	if err != nil {
		return nil, err
	}
	in := fields{b: b}
	blocks := (e.records + blockLen - 1) / blockLen
	if blocks > len(b)/4 {
		return nil, damaged("a skip table is too short")
	}
	c.skip = make([]skipEntry, blocks)
	at, prev := e.off+int64(e.skip), int64(-1)
	for i := range c.skip {
		prev += int64(in.next(uint64(s.n)))
		k := skipEntry{last: uint32(prev), off: at, len: int(in.next(uint64(e.len))), most: uint32(in.next(1 << 31)), shortest: uint32(in.next(maxLength))}
		if at += int64(k.len); in.bad || prev < 0 || prev >= int64(s.n) || at > e.off+int64(e.len) || i > 0 && k.last <= c.skip[i-1].last {
			return nil, damaged("a skip table is not in order")
		}
		c.skip[i] = k
	}
	if len(in.b) > 0 || at != e.off+int64(e.len) {
		return nil, damaged("a skip table does not match its list")
	}
	return c, nil
}

// read returns bytes of the list, reading ahead.
func (c *cursor) read(off int64, n int) ([]byte, error) {
	if _, ok := c.r.(bytesAt); ok {
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

// step decodes the next block; behind the last one n is 0.
func (c *cursor) step() error {
	c.i = 0
	if c.e.inline != nil {
		if c.block++; c.block > 1 {
			c.n = 0
			return nil
		}
		c.n = c.e.records
		if _, ok := decodePostings(c.e.inline, -1, uint32(c.s.n), c.docs[:c.n], c.counts[:c.n]); !ok {
			return damaged("postings cannot be read")
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
	c.n = min(blockLen, c.e.records-c.block*blockLen)
	rest, ok := decodePostings(b, prev, uint32(c.s.n), c.docs[:c.n], c.counts[:c.n])
	if !ok || len(rest) > 0 || c.docs[c.n-1] != k.last {
		return damaged("postings cannot be read")
	}
	c.block++
	return nil
}

// doc is the record where the cursor is, which has stepped once; end behind all.
func (c *cursor) doc() uint32 {
	if c.i < c.n {
		return c.docs[c.i]
	}
	return end
}

// next goes to the next posting.
func (c *cursor) next() error {
	if c.i++; c.i < c.n {
		return nil
	}
	return c.step()
}

// seek goes to the first posting at doc or behind it.
func (c *cursor) seek(doc uint32) error {
	if c.doc() >= doc {
		return nil
	}
	if c.n > 0 && c.docs[c.n-1] < doc {
		if c.e.inline == nil {
			c.block += sort.Search(max(0, len(c.skip)-c.block), func(i int) bool { return c.skip[c.block+i].last >= doc })
		}
		if err := c.step(); err != nil || c.n == 0 {
			return err
		}
	}
	at, _ := slices.BinarySearch(c.docs[c.i:c.n], doc)
	c.i += at
	return nil
}
