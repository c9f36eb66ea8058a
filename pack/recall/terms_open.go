package recall

import (
	"encoding/binary"
	"slices"

	"github.com/ctxfs/ctxfs/compress"
)

// openBlock has the terms of the newest records. Its zero value is empty.
type openBlock struct {
	slots    []termSlot // a hash table of terms; as many as a power of two, at least half of them free
	count    int        // of terms
	pages    [][]openPosting
	postings uint32   // in the pages, each of which holds pagePostings
	lengths  []uint16 // of the records, in terms
	tools    int      // events up to its last record, or where it begins
}

// pagePostings is how many postings a page of an open block holds.
const pagePostings = 1 << 10

// termSlot is a term of an open block.
type termSlot struct {
	term uint32
	last uint32 // the place of its last posting, from 1; 0: the slot is free
}

// openPosting is a posting of an open block.
type openPosting struct {
	posting
	before uint32 // the place of the one of the same term before it; 0: it is the first
}

// leastSlots is how many slots the smallest table has.
const leastSlots = 1 << 8

// slot returns the place of a term in the table: its own, or the free one where it belongs. There is a table.
func (o *openBlock) slot(term uint32) *termSlot {
	mask := uint32(len(o.slots) - 1)
	for i := term & mask; ; i = (i + 1) & mask {
		if s := &o.slots[i]; s.last == 0 || s.term == term {
			return s
		}
	}
}

// room makes the table large enough for one term more.
func (o *openBlock) room() {
	if 2*(o.count+1) <= len(o.slots) {
		return
	}
	old := o.slots
	o.slots = make([]termSlot, max(leastSlots, 4*len(old)))
	for _, s := range old {
		if s.last > 0 {
			*o.slot(s.term) = s
		}
	}
}

// add indexes the next record, which says text.
func (o *openBlock) add(text string) {
	doc, length := uint16(len(o.lengths)), 0
	first := o.postings // of this record
	compress.Terms(text, func(term uint64) {
		length++
		t := numberOf(term)
		o.room()
		s := o.slot(t)
		if s.last > first {
			p := o.posting(s.last)
			p.count = uint16(min(int(p.count)+1, maxCount))
			return
		}
		if s.last == 0 {
			s.term = t
			o.count++
		}
		if o.postings++; o.postings > pagePostings*uint32(len(o.pages)) {
			o.pages = append(o.pages, make([]openPosting, pagePostings))
		}
		*o.posting(o.postings) = openPosting{posting{doc, 1}, s.last}
		s.last = o.postings
	})
	o.lengths = append(o.lengths, uint16(min(length, maxCount)))
}

// posting returns the one that stands at a place, from 1.
func (o *openBlock) posting(at uint32) *openPosting {
	return &o.pages[(at-1)/pagePostings][(at-1)%pagePostings]
}

// of calls do with the postings of a term, the newest record first.
func (o *openBlock) of(term uint32, do func(p posting)) {
	if o.count == 0 {
		return
	}
	o.chain(o.slot(term).last, do)
}

// chain calls do with the posting at a place and with those of the same term before it.
func (o *openBlock) chain(last uint32, do func(p posting)) {
	for last > 0 {
		p := o.posting(last)
		do(p.posting)
		last = p.before
	}
}

// bytes is about how many bytes of memory it takes.
func (o *openBlock) bytes() int {
	return 8*pagePostings*len(o.pages) + 8*len(o.slots) + 2*cap(o.lengths)
}

// clear forgets all but the memory that it has, for records behind so many tool events.
func (o *openBlock) clear(tools int) {
	clear(o.slots)
	o.count, o.postings, o.lengths, o.tools = 0, 0, o.lengths[:0], tools
}

// termEntry is how a block has a term: its number, where its postings end, and how many there are less one.
const termEntry = 4 + 4 + 2

// seal returns the block of the records in o.
func (o *openBlock) seal() *termBlock {
	b := &termBlock{lengths: slices.Clone(o.lengths), tools: o.tools, count: o.count}
	for _, n := range o.lengths {
		b.sum += int64(n)
	}
	terms := make([]uint64, 0, o.count) // each with its last posting
	for _, s := range o.slots {
		if s.last > 0 {
			terms = append(terms, uint64(s.term)<<32|uint64(s.last))
		}
	}
	slices.Sort(terms)
	b.terms = make([]byte, 0, termEntry*len(terms))
	b.postings = make([]byte, 0, 2*o.postings)
	var list []posting
	for _, t := range terms {
		list = list[:0]
		o.chain(uint32(t), func(p posting) { list = append(list, p) })
		before := -1
		for _, p := range slices.Backward(list) {
			b.postings = appendPosting(b.postings, p, before)
			before = int(p.doc)
		}
		b.terms = binary.LittleEndian.AppendUint32(b.terms, uint32(t>>32))
		b.terms = binary.LittleEndian.AppendUint32(b.terms, uint32(len(b.postings)))
		b.terms = binary.LittleEndian.AppendUint16(b.terms, uint16(len(list)-1))
	}
	b.postings = slices.Clip(b.postings)
	return b
}
