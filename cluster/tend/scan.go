package tend

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/journal"
)

// scanner finds the hashes of objects in bytes.
type scanner struct {
	maybe [1 << 16 / 64]uint64      // which first two bytes a hash has
	want  map[uint64][]journal.Hash // by the first eight bytes
}

// newScanner returns a scanner for the hashes of the objects of the kind bulk.BlobObject among names.
func newScanner(listed []string) *scanner {
	s := &scanner{want: map[uint64][]journal.Hash{}}
	for _, text := range listed {
		n, err := bulk.ParseName(text)
		if err != nil || n.Kind != bulk.BlobObject {
			continue
		}
		first := binary.LittleEndian.Uint16(n.SHA[:])
		s.maybe[first/64] |= 1 << (first % 64)
		key := binary.LittleEndian.Uint64(n.SHA[:])
		s.want[key] = append(s.want[key], n.SHA)
	}
	return s
}

// scan calls found with each hash that stands in data, as 32 bytes or as 64 hexadecimal digits.
func (s *scanner) scan(data []byte, found func(journal.Hash)) {
	const size = len(journal.Hash{})
	digits := 0
	for i, c := range data {
		if i+size <= len(data) {
			if first := binary.LittleEndian.Uint16(data[i:]); s.maybe[first/64]&(1<<(first%64)) != 0 {
				s.match(data[i:i+size], found)
			}
		}
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'f' {
			digits++
		} else {
			digits = 0
		}
		if digits >= 2*size {
			var sum journal.Hash
			hex.Decode(sum[:], data[i+1-2*size:i+1])
			s.match(sum[:], found)
		}
	}
}

// match calls found if b is one of the hashes.
func (s *scanner) match(b []byte, found func(journal.Hash)) {
	for _, sum := range s.want[binary.LittleEndian.Uint64(b)] {
		if string(sum[:]) == string(b) {
			found(sum)
		}
	}
}
