package bulk

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/ctxfs/ctxfs/session/arrival"
)

// Index is what lies beside a part: the arrival rows of its commits, which are true, and two caches of
// its records, as log.CacheSlices returns them, or nothing.
type Index struct {
	Rows   []byte
	Index  []byte
	Counts []byte
}

const indexMagic = "ctxfs index of a part\n"

// Encode returns the index as an object.
func (x *Index) Encode() []byte {
	b := append([]byte(indexMagic), version)
	return appendBytes(appendBytes(appendBytes(b, x.Rows), x.Index), x.Counts)
}

// ParseIndex returns what [Index.Encode] wrote, as parts of b. It returns [ErrDamaged] for any other
// bytes, and journal.ErrVersion for those of a later version.
func ParseIndex(b []byte) (*Index, error) {
	d := decode("an index object", indexMagic, b)
	x := &Index{Rows: d.bytes(), Index: d.bytes(), Counts: d.bytes()}
	d.want(len(x.Rows) > 0 && x.Rows[len(x.Rows)-1] == '\n', "no whole rows")
	if err := d.end(); err != nil {
		return nil, err
	}
	return x, nil
}

// follow returns the chain of a log behind rows, if they continue c and end at a byte. data is the
// records that they announce, or nil if these are not looked at. It returns [ErrDamaged] if a row is
// damaged, does not follow the one before it, or announces other records.
func follow(c arrival.Chain, rows []byte, end int64, data []byte) (arrival.Chain, error) {
	begin := c.Next
	for n := 1; len(rows) > 0; n++ {
		line, rest, whole := bytes.Cut(rows, []byte{'\n'})
		a, ok := arrival.ParseRow(line)
		if !ok || !whole || a.End() > end || !c.Add(&a) {
			return c, fmt.Errorf("%w: arrival row %d behind byte %d does not follow", ErrDamaged, n, begin)
		}
		if data != nil && a.SHA != sha256.Sum256(data[a.Off-begin:a.End()-begin]) {
			return c, fmt.Errorf("%w: bytes %d to %d are not those that arrived", ErrDamaged, a.Off, a.End())
		}
		rows = rest
	}
	if c.Next != end {
		return c, fmt.Errorf("%w: arrival rows end at byte %d, not %d", ErrDamaged, c.Next, end)
	}
	return c, nil
}

// all is as many bytes as a log can have.
const all = math.MaxInt64
