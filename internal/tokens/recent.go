package tokens

import (
	"hash/maphash"
	"sync/atomic"
)

const (
	pieceSlots = 1 << 14 // as many as a power of two
	maxPiece   = 30      // bytes; longer pieces seldom come again
)

// recent remembers the counts of pieces that came lately: a few words are most of a text, and the
// vocabulary is too large for the caches of a processor. Each piece has one slot, which the last
// one that came takes; all of them have 650 kB. It is safe for concurrent use.
type recent struct {
	slots [pieceSlots]atomic.Pointer[countedPiece]
}

type countedPiece struct {
	text        [maxPiece]byte
	size, count uint8
}

// pieceSeed is that of the hash that chooses a piece's slot.
var pieceSeed = maphash.MakeSeed()

// count returns the number of tokens of one piece.
func (p *recent) count(r *ranks, piece string) int {
	if len(piece) <= 2 || len(piece) > maxPiece {
		return r.count(piece)
	}
	slot := &p.slots[maphash.String(pieceSeed, piece)%pieceSlots]
	if known := slot.Load(); known != nil && string(known.text[:known.size]) == piece {
		return int(known.count)
	}
	n := r.count(piece)
	now := &countedPiece{size: uint8(len(piece)), count: uint8(n)}
	copy(now.text[:], piece)
	slot.Store(now)
	return n
}
