package recall

import (
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/pack/record"
)

// blockRecords is how many records a block of [Terms] has that grows no more.
const blockRecords = 8192

// Terms is the index of all records of one history: which of them have a term, and how often. It grows with
// the history, and answers for each prefix of it as one would that was made of that prefix alone. It is safe
// for concurrent use.
//
// It takes one or two hundred bytes for a record; with a [Store] those are on the disk, but for two of them.
type Terms struct {
	busy   chan struct{} // holds one token while somebody reads or changes what follows
	sealed []*termBlock
	open   openBlock
	kept   int   // bytes of memory that the sealed ones take
	unread []int // places that said nothing because they could not be read
	store  Store // of sealed blocks; nil: they stay in memory

	size atomic.Int64 // about, in bytes
}

// NewTerms returns an empty index whose blocks s keeps; nil: nothing does.
func NewTerms(s Store) *Terms { return &Terms{store: s, busy: make(chan struct{}, 1)} }

// termBlock has the terms of blockRecords records. It never changes.
type termBlock struct {
	lengths []uint16 // of the records, in terms
	sum     int64    // of these
	tools   int      // tool events up to its end

	terms    []byte // see termEntry; nil when a store has it
	postings []byte // see appendPosting; likewise
	count    int    // of terms
	from     int64  // where the terms begin in what the store has
}

// openBlock has the terms of the newest records.
type openBlock struct {
	terms    map[uint32][]posting
	lengths  []uint16
	postings int
	tools    int // events up to its last record, or where it begins
}

// posting is how often a term stands in a record, by its place in the block from 0.
type posting struct{ doc, count uint16 }

// maxCount is the highest number of occurrences and of terms of a record that is told from higher ones.
const maxCount = 1<<16 - 1

// appendPosting writes a posting behind that of record before, which is -1 for the first.
func appendPosting(b []byte, p posting, before int) []byte {
	v := uint64(int(p.doc)-before-1) << 1
	if p.count == 1 {
		return binary.AppendUvarint(b, v|1)
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, v), uint64(p.count))
}

// eachPosting calls do with the postings that b holds.
func eachPosting(b []byte, do func(p posting)) {
	doc := -1
	for len(b) > 0 {
		v, n := uint64(b[0]), 1
		if v >= 0x80 {
			v, n = binary.Uvarint(b)
		}
		if n <= 0 || v>>1 >= blockRecords {
			return
		}
		b = b[n:]
		if doc += int(v>>1) + 1; doc >= blockRecords {
			return
		}
		p := posting{uint16(doc), 1}
		if v&1 == 0 {
			count, n := binary.Uvarint(b)
			if n <= 0 {
				return
			}
			b, p.count = b[n:], uint16(count)
		}
		do(p)
	}
}

// numberOf is a term as an index has it. Two that share a number cost a wrong hit among many millions.
func numberOf(term uint64) uint32 { return uint32(term ^ term>>32) }

// len is how many records are indexed; x.busy is held.
func (x *Terms) len() int { return len(x.sealed)*blockRecords + len(x.open.lengths) }

// Size is about how many bytes of memory x takes. It waits for nobody.
func (x *Terms) Size() int { return int(x.size.Load()) }

// weigh notes how many bytes of memory x takes; x.busy is held.
func (x *Terms) weigh() {
	x.size.Store(int64(x.kept + 4*x.open.postings + 64*len(x.open.terms) + 2*len(x.open.lengths)))
}

// Clear forgets all of it.
func (x *Terms) Clear() {
	x.busy <- struct{}{}
	defer func() { <-x.busy }()
	x.reset(1)
}

// reset forgets the block of the record at a place and all behind it; x.busy is held.
func (x *Terms) reset(from int) {
	for n := len(x.sealed); n > 0 && n*blockRecords >= from; n-- {
		x.kept -= x.sealed[n-1].bytes()
		x.sealed = x.sealed[:n-1]
		if x.store != nil {
			x.store.Remove(n - 1)
		}
	}
	x.open = openBlock{}
	if n := len(x.sealed); n > 0 {
		x.open.tools = x.sealed[n-1].tools
	}
	first := len(x.sealed)*blockRecords + 1
	x.unread = slices.DeleteFunc(x.unread, func(at int) bool { return at >= first })
	x.weigh()
}

// upTo indexes the records of m that are not yet, up to the one at place n; x.busy is held. It returns the error of ctx when that ends.
func (x *Terms) upTo(ctx context.Context, m record.Records, n int) error {
	for k, b := range x.sealed { // an event came to stand in front of others
		if end := (k + 1) * blockRecords; end <= m.Len() && record.ToolsUpTo(m, end) != b.tools {
			x.reset(end)
			break
		}
	}
	if all := x.len(); all <= m.Len() && record.ToolsUpTo(m, all) != x.open.tools {
		x.reset(all)
	}
	for _, at := range slices.Clone(x.unread) {
		if at > m.Len() {
			continue
		}
		if old, _ := oldAt(m, at); old.read {
			x.reset(at)
			break
		}
	}
	defer x.weigh()
	for x.len() < n {
		if len(x.open.lengths) == 0 && x.load(m) {
			continue
		}
		at := x.len() + 1
		if at%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		old, _ := oldAt(m, at)
		if !old.read {
			x.unread = append(x.unread, at)
		}
		x.add(old.text)
		x.open.tools = record.ToolsUpTo(m, at)
		if len(x.open.lengths) == blockRecords {
			b := x.open.seal()
			x.keep(m, b)
			x.sealed, x.open = append(x.sealed, b), openBlock{tools: b.tools}
			x.kept += b.bytes()
			x.weigh()
		}
	}
	return nil
}

// add indexes the next record; x.busy is held.
func (x *Terms) add(text string) {
	o := &x.open
	if o.terms == nil {
		o.terms = map[uint32][]posting{}
	}
	doc, length := uint16(len(o.lengths)), 0
	compress.Terms(text, func(term uint64) {
		length++
		t := numberOf(term)
		list := o.terms[t]
		if k := len(list) - 1; k >= 0 && list[k].doc == doc {
			list[k].count = uint16(min(int(list[k].count)+1, maxCount))
			return
		}
		o.terms[t] = append(list, posting{doc, 1})
		o.postings++
	})
	o.lengths = append(o.lengths, uint16(min(length, maxCount)))
}

// termEntry is how a block has a term: its number, where its postings end, and how many there are less one.
const termEntry = 4 + 4 + 2

// seal returns the block of the records in o.
func (o *openBlock) seal() *termBlock {
	b := &termBlock{lengths: slices.Clip(o.lengths), tools: o.tools, count: len(o.terms)}
	for _, n := range o.lengths {
		b.sum += int64(n)
	}
	terms := make([]uint32, 0, len(o.terms))
	for t := range o.terms {
		terms = append(terms, t)
	}
	slices.Sort(terms)
	b.terms = make([]byte, 0, termEntry*len(terms))
	for _, t := range terms {
		list, before := o.terms[t], -1
		for _, p := range list {
			b.postings = appendPosting(b.postings, p, before)
			before = int(p.doc)
		}
		b.terms = binary.LittleEndian.AppendUint32(b.terms, t)
		b.terms = binary.LittleEndian.AppendUint32(b.terms, uint32(len(b.postings)))
		b.terms = binary.LittleEndian.AppendUint16(b.terms, uint16(len(list)-1))
	}
	b.postings = slices.Clip(b.postings)
	return b
}

func (b *termBlock) bytes() int { return 160 + len(b.terms) + len(b.postings) + 2*len(b.lengths) }
