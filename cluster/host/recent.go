package host

import "github.com/ctxfs/ctxfs/session/arrival"

// maxRecent is how many rows of a journal are remembered by their keys.
const maxRecent = 1024

// recent remembers the keys of the last rows of a journal.
type recent struct {
	since uint64 // rows of entries from this number on are remembered
	keys  map[arrival.Key]int
	ring  []rememberedRow
	next  int
}

type rememberedRow struct {
	key arrival.Key
	i   uint64 // of its entry
}

// newRecent returns what is remembered of a journal that is read from the entry with the number i on.
func newRecent(i uint64) *recent { return &recent{since: i, keys: map[arrival.Key]int{}} }

// add remembers a row of the entry with the number i.
func (r *recent) add(key arrival.Key, i uint64) {
	r.keys[key]++
	if len(r.ring) < maxRecent {
		r.ring = append(r.ring, rememberedRow{key, i})
		return
	}
	old := r.ring[r.next]
	if r.keys[old.key]--; r.keys[old.key] == 0 {
		delete(r.keys, old.key)
	}
	r.since = old.i + 1
	r.ring[r.next] = rememberedRow{key, i}
	r.next = (r.next + 1) % maxRecent
}

// has reports whether a row with a key is among them.
func (r *recent) has(key arrival.Key) bool { return r.keys[key] > 0 }
