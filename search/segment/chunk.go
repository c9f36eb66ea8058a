package segment

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Chunk collects the terms of some records, of which a segment is made. Those of a log come in their
// order, with those of others between them.
type Chunk struct {
	N      int      // records
	Bytes  int64    // of the logs
	rows   []row    // in the order in which they came
	from   []uint32 // where the postings of each of them begin
	groups []*group // of each log, in the order of their first records
	at     map[Log]*group
	tools  map[string]uint16
	names  []string // of tools, by number from 1
	slots  []slot   // a hash table of terms; as many as a power of two
	terms  []uint64 // by number, in the order in which they came
	all    []found  // postings, in the order of the records
}

// Log is a log of an owner.
type Log struct {
	Of    uint32
	Event bool
}

// group is the records of one log in a chunk.
type group struct {
	Run
	docs []uint32 // by the order in which they came
}

type slot struct {
	term uint64
	at   uint32 // its number and one more; 0: free
	last uint32 // where its last posting is, and one more
}

type found struct{ term, count uint32 }

func NewChunk() *Chunk {
	return &Chunk{at: map[Log]*group{}, tools: map[string]uint16{}, slots: make([]slot, 1<<10)}
}

// find returns the slot of a term, or the free one where it belongs.
func (c *Chunk) find(term uint64) *slot {
	mask := uint64(len(c.slots) - 1)
	i := (term ^ term>>32) & mask
	for c.slots[i].at != 0 && c.slots[i].term != term {
		i = (i + 1) & mask
	}
	return &c.slots[i]
}

// slot returns that of a term, which may be new.
func (c *Chunk) slot(term uint64) *slot {
	s := c.find(term)
	if s.at != 0 {
		return s
	}
	if 2*len(c.terms) >= len(c.slots) {
		c.grow()
		s = c.find(term)
	}
	c.terms = append(c.terms, term)
	s.term, s.at = term, uint32(len(c.terms))
	return s
}

func (c *Chunk) grow() {
	old := c.slots
	c.slots = make([]slot, 4*len(old))
	for _, s := range old {
		if s.at != 0 {
			*c.find(s.term) = s
		}
	}
}

// Record is the row of a record in a segment.
type Record struct {
	Role  ctxabi.Role
	Tools []string // whose result it is, or which it calls
	Print uint32   // a checksum of its text
	Size  int64    // bytes of the log
}

// Add adds the next record of a log, which stands at a line; terms calls its argument with each of
// its terms.
func (c *Chunk) Add(log Log, line int, d Record, terms func(emit func(term uint64))) {
	g := c.at[log]
	if g == nil {
		g = &group{Run: Run{Of: log.Of, Event: log.Event, First: line}}
		c.at[log] = g
		c.groups = append(c.groups, g)
	}
	g.docs = append(g.docs, uint32(c.N))
	g.N++
	g.Bytes += d.Size
	c.N++
	c.Bytes += d.Size
	r := row{role: d.Role, print: d.Print}
	begin := uint32(len(c.all))
	c.from = append(c.from, begin)
	terms(func(term uint64) {
		r.length++
		k := c.slot(term)
		if k.last > begin {
			c.all[k.last-1].count++
			return
		}
		if len(c.all) == cap(c.all) {
			c.all = slices.Grow(c.all, max(len(c.all), 1<<10)) // by as much again: there will be many
		}
		c.all = append(c.all, found{k.at - 1, 1})
		k.last = uint32(len(c.all))
	})
	g.total += uint64(min(r.length, maxLength))
	if len(d.Tools) > 0 {
		list := strings.Join(d.Tools, "\n") + "\n"
		if r.tools = c.tools[list]; r.tools == 0 && len(c.names) < maxTools {
			c.names = append(c.names, list)
			r.tools = uint16(len(c.names))
			c.tools[list] = r.tools
		}
	}
	c.rows = append(c.rows, r)
}

// Each calls do for each record that has one of the terms, at most 254: with the index of the term,
// the number of the record in the order of the calls of Add, and how often it has the term.
func (c *Chunk) Each(terms []uint64, do func(i, record int, count uint32)) {
	asked := make([]uint8, len(c.terms)) // the index and one more, by the number of the term
	for i, term := range terms {
		if at := c.find(term).at; at != 0 {
			asked[at-1] = uint8(i + 1)
		}
	}
	record := 0
	for k, f := range c.all {
		for record+1 < len(c.from) && k >= int(c.from[record+1]) {
			record++
		}
		if i := int(asked[f.term]); i > 0 {
			do(i-1, record, f.count)
		}
	}
}

// Memory is about how many bytes the chunk takes.
func (c *Chunk) Memory() int {
	return 16*len(c.slots) + 8*cap(c.terms) + 8*cap(c.all) + 24*cap(c.rows)
}

// HasOther reports whether it has records of logs whose runs are not kept.
func (c *Chunk) HasOther(keep func(of *Run) bool) bool {
	return slices.ContainsFunc(c.groups, func(g *group) bool { return !keep(&g.Run) })
}

// order returns the records as a segment numbers them, by the order in which they came: log by log,
// the one that grew last in front, and of each the newest first; and the runs that they make.
func (c *Chunk) order() (docs []uint32, runs []Run) {
	groups := slices.Clone(c.groups)
	slices.SortFunc(groups, func(a, b *group) int { return cmp.Compare(b.docs[b.N-1], a.docs[a.N-1]) })
	docs = make([]uint32, 0, c.N)
	for _, g := range groups {
		runs = appendRun(runs, g.Run)
		for _, doc := range slices.Backward(g.docs) {
			docs = append(docs, doc)
		}
	}
	return docs, runs
}

// Write writes the chunk's segment. More may be added afterwards.
func (c *Chunk) Write(to io.Writer) error {
	order, runs := c.order()
	t := make(Rows, 0, c.N*RowSize)
	for _, doc := range order {
		t = c.rows[doc].appendTo(t)
	}
	terms := make([]uint32, len(c.terms))
	for i := range terms {
		terms[i] = uint32(i)
	}
	slices.SortFunc(terms, func(a, b uint32) int { return cmp.Compare(c.terms[a], c.terms[b]) })
	having := make([]uint32, len(c.terms)) // records, of each term
	for _, f := range c.all {
		having[f.term]++
	}
	next := make([]uint32, len(c.terms)) // where a term's next posting goes
	at := uint32(0)
	for _, k := range terms {
		next[k] = at
		at += having[k]
	}
	docs, counts := make([]uint32, at), make([]uint32, at)
	for number, doc := range order {
		to := uint32(len(c.all))
		if int(doc)+1 < len(c.from) {
			to = c.from[doc+1]
		}
		for _, f := range c.all[c.from[doc]:to] {
			docs[next[f.term]], counts[next[f.term]] = uint32(number), f.count
			next[f.term]++
		}
	}
	w := newSegmentWriter(to, t)
	for _, k := range terms {
		from := next[k] - having[k]
		w.add(c.terms[k], docs[from:next[k]], counts[from:next[k]])
	}
	return w.finish(runs, c.names)
}

// Segment makes a segment in memory of what there is so far. It returns an error if that cannot be
// read.
func (c *Chunk) Segment() (*Segment, error) {
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		return nil, err
	}
	s, err := Open(Bytes(b.Bytes()), int64(b.Len()))
	if err == nil {
		s.Data = b.Bytes()
	}
	return s, err
}
