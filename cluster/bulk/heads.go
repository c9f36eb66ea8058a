package bulk

import (
	"maps"
	"math"
	"slices"

	"github.com/ctxfs/ctxfs/cluster/journal"
)

// Heads are the ends of journals of one shard, by session, as a host committed them. Kept beside the
// journals, they prove that an end was not cut off.
type Heads map[string]journal.Position

const headsMagic = "ctxfs heads\n"

// Encode returns the heads as an object. Equal ones have equal bytes.
func (h Heads) Encode() []byte {
	b := appendNumber(append([]byte(headsMagic), version), uint64(len(h)))
	for _, id := range slices.Sorted(maps.Keys(h)) {
		at := h[id]
		b = append(appendNumber(appendBytes(b, id), at.I), at.Chain[:]...)
	}
	return b
}

// ParseHeads returns what [Heads.Encode] wrote. It returns [ErrDamaged] for any other bytes, and
// journal.ErrVersion for those of a later version.
func ParseHeads(b []byte) (Heads, error) {
	d := decode("heads of journals", headsMagic, b)
	h, last := Heads{}, ""
	d.each(func(int) {
		id := d.text()
		d.want(isSession(id) && id > last, "session %q", id)
		h[id] = journal.Position{I: d.number(math.MaxUint64), Chain: d.hash()}
		last = id
	})
	if err := d.end(); err != nil {
		return nil, err
	}
	return h, nil
}
