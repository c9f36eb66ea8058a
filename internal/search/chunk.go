package search

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
)

// chunk collects the terms of some records in a row, of which a segment is made.
type chunk struct {
	covers
	rows   []row // oldest first
	tools  map[string]uint16
	names  []string // of tools, by number from 1
	slots  []slot   // a hash table of terms; as many as a power of two
	terms  []uint64 // by number, in the order in which they came
	having []uint32 // records, of each term
	last   []uint32 // where its last posting is
	all    []found  // postings, in the order of the records
}

type slot struct {
	term uint64
	at   uint32 // its number and one more; 0: free
}

type found struct{ term, doc, count uint32 }

func newChunk(event bool, first int) *chunk {
	return &chunk{covers: covers{event: event, first: first}, tools: map[string]uint16{}, slots: make([]slot, 1<<10)}
}

// number returns that of a term, which may be new.
func (c *chunk) number(term uint64) (n uint32, known bool) {
	mask := uint64(len(c.slots) - 1)
	for i := (term ^ term>>32) & mask; ; i = (i + 1) & mask {
		switch s := &c.slots[i]; {
		case s.at == 0:
			n = uint32(len(c.terms))
			s.term, s.at = term, n+1
			c.terms, c.having, c.last = append(c.terms, term), append(c.having, 0), append(c.last, 0)
			if 2*len(c.terms) > len(c.slots) {
				c.grow()
			}
			return n, false
		case s.term == term:
			return s.at - 1, true
		}
	}
}

func (c *chunk) grow() {
	old := c.slots
	c.slots = make([]slot, 4*len(old))
	mask := uint64(len(c.slots) - 1)
	for _, s := range old {
		if s.at == 0 {
			continue
		}
		i := (s.term ^ s.term>>32) & mask
		for c.slots[i].at != 0 {
			i = (i + 1) & mask
		}
		c.slots[i] = s
	}
}

// add adds the next record, of so many bytes in the log.
func (c *chunk) add(d *document, size int64) {
	doc := uint32(c.n)
	c.n++
	c.bytes += size
	r := row{role: d.role, print: d.print}
	d.terms(func(term uint64) {
		r.length++
		k, known := c.number(term)
		if known && c.all[c.last[k]].doc == doc {
			c.all[c.last[k]].count++
			return
		}
		c.last[k] = uint32(len(c.all))
		c.having[k]++
		c.all = append(c.all, found{k, doc, 1})
	})
	c.total += uint64(min(r.length, maxLength))
	if len(d.tools) > 0 {
		list := strings.Join(d.tools, "\n") + "\n"
		if r.tools = c.tools[list]; r.tools == 0 && len(c.names) < maxTools {
			c.names = append(c.names, list)
			r.tools = uint16(len(c.names))
			c.tools[list] = r.tools
		}
	}
	c.rows = append(c.rows, r)
}

// writeTo writes the chunk's segment. More may be added afterwards.
func (c *chunk) writeTo(to io.Writer) error {
	t := make(rows, 0, c.n*rowSize)
	for i := len(c.rows) - 1; i >= 0; i-- {
		t = c.rows[i].appendTo(t)
	}
	order := make([]uint32, len(c.terms))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(c.terms[a], c.terms[b]) })
	next := make([]uint32, len(c.terms)) // behind a term's postings, which are filled in from their end: newest first
	at := uint32(0)
	for _, k := range order {
		at += c.having[k]
		next[k] = at
	}
	docs, counts := make([]uint32, at), make([]uint32, at)
	for _, f := range c.all {
		next[f.term]--
		docs[next[f.term]], counts[next[f.term]] = uint32(c.n)-1-f.doc, f.count
	}
	w := newSegmentWriter(to, t)
	for _, k := range order {
		from := next[k]
		w.add(c.terms[k], docs[from:from+c.having[k]], counts[from:from+c.having[k]])
	}
	return w.finish(c.covers, c.names)
}

// segment makes a segment in memory of what there is so far.
func (c *chunk) segment() (*segment, error) {
	var b bytes.Buffer
	if err := c.writeTo(&b); err != nil {
		return nil, err
	}
	s, err := openSegment(bytesAt(b.Bytes()), int64(b.Len()))
	if err == nil {
		s.data = b.Bytes()
	}
	return s, err
}
