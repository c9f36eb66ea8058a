package backup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// ErrDamaged is the error of a file of a backup that is not what its name or its backup promises.
var ErrDamaged = errors.New("the backup is damaged")

const chunkMagic = "ctxfs entries 1\n"

// encodeChunk returns entries as a file, without their sequences.
func encodeChunk(list []engine.Entry) []byte {
	b := []byte(chunkMagic)
	for _, e := range list {
		b = appendField(b, []byte(e.ID))
		b = binary.AppendUvarint(b, uint64(len(e.Header)))
		for _, name := range slices.Sorted(maps.Keys(e.Header)) {
			b = appendField(appendField(b, []byte(name)), []byte(e.Header[name]))
		}
		b = appendField(b, e.Payload)
	}
	return b
}

func appendField(b, field []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(field))), field...)
}

// decodeChunk returns the entries that encodeChunk wrote. It returns ErrDamaged for any other bytes.
func decodeChunk(b []byte) (list []engine.Entry, err error) {
	if len(b) < len(chunkMagic) || string(b[:len(chunkMagic)]) != chunkMagic {
		return nil, fmt.Errorf("%w: no file of entries", ErrDamaged)
	}
	d := &chunkReader{rest: b[len(chunkMagic):]}
	for len(d.rest) > 0 && !d.bad {
		e := engine.Entry{ID: string(d.field()), Header: engine.Header{}}
		for n := d.number(); n > 0 && !d.bad; n-- {
			name := string(d.field())
			e.Header[name] = string(d.field())
		}
		e.Payload = d.field()
		list = append(list, e)
	}
	if d.bad {
		return nil, fmt.Errorf("%w: entries are cut off", ErrDamaged)
	}
	return list, nil
}

// chunkReader reads fields; bad is set once one is cut off.
type chunkReader struct {
	rest []byte
	bad  bool
}

func (d *chunkReader) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *chunkReader) field() []byte {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return nil
	}
	field := d.rest[:n:n]
	d.rest = d.rest[n:]
	return field
}
