package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Hash is a SHA-256 value.
type Hash [sha256.Size]byte

// Position is a place in a journal: behind so many entries, which the chain stands for.
type Position struct {
	I     uint64 // number of the next entry
	Chain Hash
}

// Start returns the beginning of a journal.
func Start(s engine.Subject) Position {
	return Position{Chain: sha256.Sum256([]byte(s.Owner + "/" + s.Session + "journal"))}
}

// Ends reports whether the engine's entry e is the one that p stands behind.
func (p Position) Ends(e engine.Entry) bool {
	return e.Header[chainHeader] == hex.EncodeToString(p.Chain[:])
}

// next returns the position behind an entry.
func (p Position) next(payload []byte, rows, format int, host string) Position {
	h := sha256.New()
	h.Write(p.Chain[:])
	sum := sha256.Sum256(payload)
	h.Write(sum[:])
	var n [8]byte
	for _, v := range []uint64{p.I, uint64(rows), uint64(format)} {
		binary.BigEndian.PutUint64(n[:], v)
		h.Write(n[:])
	}
	h.Write([]byte(host))
	next := Position{I: p.I + 1}
	h.Sum(next.Chain[:0])
	return next
}
