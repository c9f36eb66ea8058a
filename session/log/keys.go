package log

import (
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// MaxKeys is how many requests are remembered for each log.
const MaxKeys = 1024

// keyRing remembers where the last requests ended.
type keyRing struct {
	at   map[arrival.Key]int64
	ring []arrival.Key
	next int
}

func newKeyRing() *keyRing { return &keyRing{at: map[arrival.Key]int64{}} }

func (r *keyRing) find(k arrival.Key) (int64, bool) {
	position, ok := r.at[k]
	return position, ok
}

func (r *keyRing) add(k arrival.Key, position int64) {
	if len(r.ring) < MaxKeys {
		r.ring = append(r.ring, k)
	} else {
		delete(r.at, r.ring[r.next])
		r.ring[r.next] = k
		r.next = (r.next + 1) % MaxKeys
	}
	r.at[k] = position
}

// loadKeys reads the keys of the last rows, the first time one is asked for;
// Log.mu is held. Rows that cannot be read remember nothing.
func (f *logFiles) loadKeys() {
	if f.keys != nil {
		return
	}
	f.keys = newKeyRing()
	type known struct {
		key      arrival.Key
		position int64
	}
	var rows []known
	seen := 0
	vfs.ScanLinesBackward(f.arrivals, f.tail.Arrivals, func(_ int64, line []byte) bool {
		if a, ok := arrival.ParseRow(line); ok && a.Key != (arrival.Key{}) {
			rows = append(rows, known{a.Key, a.End()})
		}
		seen++
		return seen < MaxKeys
	})
	for i := len(rows) - 1; i >= 0; i-- {
		f.keys.add(rows[i].key, rows[i].position)
	}
}
