package rows

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/journal"
)

// version is that of the contents of rows.
const version = 1

// begin returns the beginning of the content of a row, which no other row has.
func begin() []byte {
	b := make([]byte, 17)
	b[0] = version
	rand.Read(b[1:])
	return b
}

func appendNumber(b []byte, n uint64) []byte { return binary.AppendUvarint(b, n) }

func appendText(b []byte, s string) []byte { return append(appendNumber(b, uint64(len(s))), s...) }

// decoder reads the content of a row. What it reads behind an error is zero.
type decoder struct {
	kind journal.Kind
	rest []byte
	err  error
}

// decode begins to read the content of a row.
func decode(row *journal.Row) *decoder {
	d := &decoder{kind: row.Kind, rest: row.Content}
	if len(d.rest) > 0 && d.rest[0] > version {
		d.err = fmt.Errorf("%w: a row of kind %q in form %d", journal.ErrVersion, d.kind, d.rest[0])
	}
	if head := d.take(17); d.err == nil && head[0] != version {
		d.fail()
	}
	return d
}

func (d *decoder) fail() {
	if d.err == nil {
		d.err = fmt.Errorf("%w: a row of kind %q", journal.ErrDamaged, d.kind)
	}
	d.rest = nil
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n < 0 || n > len(d.rest) {
		d.fail()
		return make([]byte, max(0, min(n, 64)))
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || size > 1 && d.rest[size-1] == 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) text() string {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.fail()
		return ""
	}
	return string(d.take(int(n)))
}

// bits returns a byte of which only the lowest n bits may be set.
func (d *decoder) bits(n int) byte {
	b := d.take(1)[0]
	if b>>n != 0 {
		d.fail()
	}
	return b
}

// end returns the error of what was read; journal.ErrDamaged if something is left.
func (d *decoder) end() error {
	if len(d.rest) > 0 {
		d.fail()
	}
	return d.err
}
