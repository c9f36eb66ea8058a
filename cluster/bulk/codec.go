package bulk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/ctxfs/ctxfs/cluster/journal"
)

// ErrDamaged is the error of bytes that are not in the form of what they should be.
var ErrDamaged = errors.New("it is not in the form that ctxfs writes")

// All that this package writes begins with a magic text, which rows do not have, and the number of a
// version. Numbers are unsigned varints in their shortest form; bytes stand behind their length.

// version is the version of everything here, and the first one of what has several.
const version = 1

func appendNumber(b []byte, n uint64) []byte { return binary.AppendUvarint(b, n) }

func appendBytes[T []byte | string](b []byte, v T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

func appendRef(b []byte, r Ref) []byte { return appendNumber(append(b, r.SHA[:]...), uint64(r.Size)) }

// decoder reads what was appended. After the first error it returns zeros.
type decoder struct {
	what string // for errors
	rest []byte
	err  error
}

// decode returns a decoder of what stands behind a magic text and the version.
func decode(what, magic string, b []byte) *decoder {
	d, _ := decodeTo(version, what, magic, b)
	return d
}

// decodeTo is decode of something that has several versions, up to newest. It returns which one it is.
func decodeTo(newest uint64, what, magic string, b []byte) (*decoder, uint64) {
	d := &decoder{what: what, rest: b}
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		d.fail("it does not begin as one")
		return d, 0
	}
	d.rest = b[len(magic):]
	v := d.number(math.MaxUint32)
	if d.err == nil && v > newest {
		d.err = fmt.Errorf("%s: %w: version %d", what, journal.ErrVersion, v)
	} else if v < version {
		d.fail("version %d", v)
	}
	return d, v
}

// fail notes the first error.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %w: %s", d.what, ErrDamaged, fmt.Sprintf(format, args...))
	}
	d.rest = nil
}

// want fails unless ok.
func (d *decoder) want(ok bool, format string, args ...any) {
	if !ok && d.err == nil {
		d.fail(format, args...)
	}
}

// number returns a number up to most.
func (d *decoder) number(most uint64) uint64 {
	if d.err != nil {
		return 0
	}
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || size > 1 && d.rest[size-1] == 0 || n > most {
		d.fail("a number is wrong")
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// size returns a number of bytes.
func (d *decoder) size() int64 { return int64(d.number(math.MaxInt64)) }

// take returns the next n bytes, as a part of what is decoded.
func (d *decoder) take(n uint64) []byte {
	if d.err != nil {
		return nil
	}
	if n > uint64(len(d.rest)) {
		d.fail("%d bytes are missing", n-uint64(len(d.rest)))
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) bytes() []byte { return d.take(d.number(math.MaxInt64)) }

func (d *decoder) text() string { return string(d.bytes()) }

func (d *decoder) hash() (h journal.Hash) {
	copy(h[:], d.take(uint64(len(h))))
	return h
}

func (d *decoder) ref() Ref { return Ref{d.hash(), d.size()} }

// each calls one for each item of a list. An item takes a byte at least, so that a wrong count ends.
func (d *decoder) each(one func(i int)) {
	n := int(d.number(uint64(len(d.rest))))
	for i := 0; i < n && d.err == nil; i++ {
		one(i)
	}
}

// end returns the first error; that there is more is one.
func (d *decoder) end() error {
	d.want(len(d.rest) == 0, "%d bytes are behind its end", len(d.rest))
	return d.err
}
