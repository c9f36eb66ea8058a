package segment

import "encoding/binary"

// Postings of a term are the records that have it, by numbers that grow, and how often each has it:
//
//	uvarint (number - the one before - 1)<<1 | once, then, unless once is 1, uvarint count-2
const blockLen = 128 // postings that are decoded together

func appendPostings(b []byte, prev int64, docs, counts []uint32) []byte {
	for i, d := range docs {
		v := uint64(int64(d)-prev-1) << 1
		prev = int64(d)
		if counts[i] == 1 {
			b = binary.AppendUvarint(b, v|1)
			continue
		}
		b = binary.AppendUvarint(b, v)
		b = binary.AppendUvarint(b, uint64(counts[i]-2))
	}
	return b
}

// decodePostings reads len(docs) postings of records below limit, and gives what follows them.
func decodePostings(b []byte, prev int64, limit uint32, docs, counts []uint32) (rest []byte, ok bool) {
	for i := range docs {
		v, n := uvarint(b)
		if n <= 0 {
			return nil, false
		}
		b = b[n:]
		count := uint64(1)
		if v&1 == 0 {
			if count, n = uvarint(b); n <= 0 {
				return nil, false
			}
			b = b[n:]
			count += 2
		}
		if v >>= 1; v >= uint64(limit) || count > 1<<31 {
			return nil, false
		}
		if prev += int64(v) + 1; prev >= int64(limit) {
			return nil, false
		}
		docs[i], counts[i] = uint32(prev), uint32(count)
	}
	return b, true
}

// skipPostings returns the bytes after n postings.
func skipPostings(b []byte, n int) (rest []byte, ok bool) {
	for range n {
		v, size := uvarint(b)
		if b = b[max(size, 0):]; size > 0 && v&1 == 0 {
			_, size = uvarint(b)
			b = b[max(size, 0):]
		}
		if size <= 0 {
			return nil, false
		}
	}
	return b, true
}

// uvarint is binary.Uvarint, fast for small numbers.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	if len(b) > 1 && b[1] < 0x80 {
		return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
	}
	return binary.Uvarint(b)
}

// Fields reads numbers one after the other and remembers when there was none.
type Fields struct {
	B   []byte
	Bad bool
}

// Next returns a number of at most most.
func (f *Fields) Next(most uint64) uint64 {
	v, n := uvarint(f.B)
	if n <= 0 || v > most || f.Bad {
		f.Bad = true
		return 0
	}
	f.B = f.B[n:]
	return v
}

func (f *Fields) Bytes(n uint64) []byte {
	if f.Bad || n > uint64(len(f.B)) {
		f.Bad = true
		return nil
	}
	b := f.B[:n]
	f.B = f.B[n:]
	return b
}
