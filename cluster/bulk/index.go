package bulk

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Index is what lies beside a part: the arrival rows of its commits, which are true, two caches of its records, as
// log.CacheSlices returns them, or nothing, and the end of the part's file, which describes its frames, so that this need
// not be fetched before the first frame; nil: it has to be.
type Index struct {
	Rows    []byte
	Index   []byte
	Counts  []byte
	Trailer []byte
}

const (
	indexMagic   = "ctxfs index of a part\n"
	indexVersion = 2 // with a trailer
)

// Encode returns the index in its one form.
func (x *Index) Encode() []byte {
	b := append([]byte(indexMagic), version)
	if x.Trailer != nil {
		b[len(b)-1] = indexVersion
	}
	b = appendBytes(appendBytes(appendBytes(b, x.Rows), x.Index), x.Counts)
	if x.Trailer != nil {
		b = appendBytes(b, x.Trailer)
	}
	return b
}

// object returns the index as it lies among the objects.
func (x *Index) object() []byte { return packer().EncodeAll(x.Encode(), nil) }

// packer and unpacker compress index objects. A cache of a record has more bytes than information.
var (
	packer = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(err) // options that are constants
		}
		return e
	})
	unpacker = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(engine.MaxObject))
		if err != nil {
			panic(err)
		}
		return d
	})
)

// parseIndexObject returns the index in an object: a packed one, or one of before they were packed. It returns [ErrDamaged]
// and the errors of ParseIndex.
func parseIndexObject(b []byte) (*Index, error) {
	if !bytes.HasPrefix(b, []byte(indexMagic)) {
		raw, err := unpacker().DecodeAll(b, nil)
		if err != nil {
			return nil, fmt.Errorf("an index object: %w: %w", ErrDamaged, err)
		}
		b = raw
	}
	return ParseIndex(b)
}

// ParseIndex returns what [Index.Encode] wrote, as parts of b. It returns [ErrDamaged] for any other
// bytes, and journal.ErrVersion for those of a later version.
func ParseIndex(b []byte) (*Index, error) {
	d, v := decodeTo(indexVersion, "an index object", indexMagic, b)
	x := &Index{Rows: d.bytes(), Index: d.bytes(), Counts: d.bytes()}
	if v == indexVersion {
		x.Trailer = d.bytes()
		d.want(len(x.Trailer) > 0, "no end of a part")
	}
	d.want(len(x.Rows) > 0 && x.Rows[len(x.Rows)-1] == '\n', "no whole rows")
	if err := d.end(); err != nil {
		return nil, err
	}
	return x, nil
}

// behind returns the chain of a log behind a part.
func behind(p *Part) arrival.Chain {
	return arrival.Chain{Value: arrival.Hash(p.Chain), Next: p.End(), Known: true}
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
