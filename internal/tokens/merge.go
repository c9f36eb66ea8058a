package tokens

import (
	"math"
	"sync"
)

// Byte pair encoding: a piece starts as single bytes; again and again the two
// neighbours whose concatenation has the lowest rank are joined, the leftmost
// of equals first, until no concatenation is a token.

const (
	shortPiece = 64   // bytes; up to here a plain scan for the lowest rank is fastest
	window     = 4096 // bytes of a long piece that are encoded at once
)

// count is the number of tokens of one piece.
func (r *ranks) count(piece string) int {
	switch {
	case len(piece) <= 1:
		return len(piece)
	case r.rank(piece) != none: // tiktoken looks here first, too
		return 1
	case len(piece) <= shortPiece:
		return r.countShort(piece)
	}
	return r.countLong(piece, window)
}

// countShort joins by scanning for the lowest rank each time.
func (r *ranks) countShort(piece string) int {
	var starts [shortPiece + 1]uint8  // of the parts, and the end of the last
	var joined [shortPiece + 1]uint32 // rank of part i with part i+1
	n := len(piece)
	for i := range n {
		starts[i] = uint8(i)
		joined[i] = none
		if i+1 < n {
			joined[i] = r.pair[int(piece[i])<<8|int(piece[i+1])]
		}
	}
	starts[n] = uint8(n)
	for {
		low, at := uint32(none), 0
		for i, rank := range joined[:n] {
			if rank < low {
				low, at = rank, i
			}
		}
		if low == none {
			return n
		}
		copy(starts[at+1:n], starts[at+2:n+1])
		copy(joined[at+1:n-1], joined[at+2:n])
		n--
		joined[at] = none
		if at+1 < n {
			joined[at] = r.rank(piece[starts[at]:starts[at+2]])
		}
		if at > 0 {
			joined[at-1] = r.rank(piece[starts[at-1]:starts[at+1]])
		}
	}
}

// countLong encodes a piece in windows of size bytes, so that a piece of 16 MiB
// costs neither quadratic time nor memory for all of it.
//
// It rests on this: a sequence of tokens is the encoding of its bytes if and
// only if each two neighbours are the encoding of theirs. (The order of joins,
// restricted to two neighbours, is the order of joins of these two alone,
// until a join crosses a border; so the first join that crosses would cross in
// the two alone.) Hence a window may be committed, but for its last tokens,
// which the bytes to come could change, and the next window begins with them.
// If then the last committed token and the first of the new window do not
// stand the test, the guess was wrong and the piece is done again with windows
// twice as large; a window as large as the piece is always right.
func (r *ranks) countLong(piece string, size int) int {
	m := mergers.Get().(*merger)
	defer mergers.Put(m)
	for ; size < len(piece); size *= 2 {
		if n, ok := r.countWindows(m, piece, size); ok {
			return n
		}
	}
	return len(m.encode(r, piece))
}

func (r *ranks) countWindows(m *merger, piece string, size int) (n int, ok bool) {
	from, last := 0, "" // the first byte not committed; the last token committed
	for {
		part := piece[from:min(from+size, len(piece))]
		ends := m.encode(r, part)
		if last != "" && !r.apart(last, part[:ends[0]]) {
			return 0, false
		}
		if from+len(part) == len(piece) {
			return n + len(ends), true
		}
		k, start := 0, 0 // commit tokens 0 to k; tokens are far shorter than size/8
		for k+1 < len(ends) && int(ends[k+1]) <= size-size/8 {
			start = int(ends[k])
			k++
		}
		last = part[start:ends[k]]
		n += k + 1
		from += int(ends[k])
	}
}

// apart reports whether a and b, two tokens, are the encoding of their concatenation.
func (r *ranks) apart(a, b string) bool {
	m := mergers.Get().(*merger)
	defer mergers.Put(m)
	ends := m.encode(r, a+b)
	return len(ends) == 2 && int(ends[0]) == len(a)
}

// merger is the working memory of an encoding in n log n.
type merger struct {
	next   []int32  // start of the part after the one that starts here
	prev   []int32  // start of the part before
	joined []uint32 // rank of the part that starts here with the next
	queue  []uint64 // a heap of rank<<32 | start; entries that joined contradicts are out of date
	ends   []int32
}

var mergers = sync.Pool{New: func() any { return new(merger) }}

// encode returns the ends of the tokens of text, which is not empty and has less
// than 2^31 bytes. The result is valid until the next call.
func (m *merger) encode(r *ranks, text string) []int32 {
	n := len(text)
	if n >= math.MaxInt32 {
		panic("tokens: piece too large")
	}
	m.next, m.prev = grow(m.next, n), grow(m.prev, n)
	m.joined, m.queue = grow(m.joined, n), m.queue[:0]
	for i := range n {
		m.next[i], m.prev[i], m.joined[i] = int32(i+1), int32(i-1), none
		if i+1 < n {
			m.join(i, r.pair[int(text[i])<<8|int(text[i+1])])
		}
	}
	for i := len(m.queue)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	for len(m.queue) > 0 {
		top := m.queue[0]
		last := len(m.queue) - 1
		m.queue[0] = m.queue[last]
		m.queue = m.queue[:last]
		m.down(0)
		at := int(uint32(top))
		if m.joined[at] != uint32(top>>32) {
			continue
		}
		gone := m.next[at]
		after := m.next[gone]
		m.joined[gone], m.joined[at] = none, none
		m.next[at] = after
		if int(after) < n {
			m.prev[after] = int32(at)
			m.join(at, r.rank(text[at:m.next[after]]))
			m.up()
		}
		if before := m.prev[at]; before >= 0 {
			m.joined[before] = none
			m.join(int(before), r.rank(text[before:after]))
			m.up()
		}
	}
	m.ends = m.ends[:0]
	for i := int32(0); int(i) < n; i = m.next[i] {
		m.ends = append(m.ends, m.next[i])
	}
	return m.ends
}

// join notes that the part at start and the next would make a token of rank;
// the caller restores the heap.
func (m *merger) join(start int, rank uint32) {
	if rank != none {
		m.joined[start] = rank
		m.queue = append(m.queue, uint64(rank)<<32|uint64(start))
	}
}

// up moves the last entry of the heap to its place. It does no harm when the
// last entry is in place already.
func (m *merger) up() {
	q := m.queue
	for i := len(q) - 1; i > 0; {
		parent := (i - 1) / 2
		if q[parent] <= q[i] {
			return
		}
		q[parent], q[i] = q[i], q[parent]
		i = parent
	}
}

// down moves entry i of the heap to its place.
func (m *merger) down(i int) {
	q := m.queue
	for {
		c := 2*i + 1
		if c >= len(q) {
			return
		}
		if c+1 < len(q) && q[c+1] < q[c] {
			c++
		}
		if q[i] <= q[c] {
			return
		}
		q[i], q[c] = q[c], q[i]
		i = c
	}
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
