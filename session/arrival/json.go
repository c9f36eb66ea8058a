package arrival

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strconv"

	"github.com/ctxfs/ctxfs/internal/vfs"
)

// AppendJSON appends a row as a line of JSON and returns it: a row of version 1, which ends in the
// CRC-32C of the fields before it. Of a chain value that is not whole it writes the known digits.
func AppendJSON(b []byte, a *Row) []byte {
	start := len(b)
	b = strconv.AppendInt(append(b, `{"off":`...), a.Off, 10)
	b = strconv.AppendInt(append(b, `,"len":`...), a.Len, 10)
	b = hex.AppendEncode(append(b, `,"sha256":"`...), a.SHA[:])
	chain := a.Chain[:]
	if !a.Whole {
		chain = a.Chain[:LinkSize]
	}
	b = hex.AppendEncode(append(b, `","chain":"`...), chain)
	b = strconv.AppendInt(append(b, `","at":`...), a.At, 10)
	b = strconv.AppendUint(append(b, `,"uid":`...), uint64(a.UID), 10)
	b = strconv.AppendUint(append(b, `,"pid":`...), uint64(a.PID), 10)
	if a.Events >= 0 {
		b = strconv.AppendInt(append(b, `,"ev":`...), a.Events, 10)
	}
	if a.Key != (Key{}) {
		b = strconv.AppendUint(append(b, `,"key":"`...), a.Key.Conn, 10)
		b = strconv.AppendUint(append(b, '-'), a.Key.Unique, 10)
		b = append(b, '"')
	}
	if a.Estimated {
		b = append(b, `,"estimated":true`...)
	}
	sum := crc32.Checksum(b[start:], vfs.Castagnoli)
	b = append(b, `,"crc":"`...)
	b = hex.AppendEncode(b, binary.BigEndian.AppendUint32(nil, sum))
	return append(b, '"', '}', '\n')
}

// parseJSON reads a row of version 1 without its newline. It accepts what AppendJSON writes of a row
// that is whole, and that without a checksum.
func parseJSON(line []byte) (a Row, ok bool) {
	p := rowParser{rest: line, ok: true}
	a.Whole = true
	a.Off = p.number(`{"off":`)
	a.Len = p.number(`,"len":`)
	a.SHA = p.hash(`,"sha256":"`)
	a.Chain = p.hash(`","chain":"`)
	a.At = p.number(`","at":`)
	a.UID = uint32(p.number(`,"uid":`))
	a.PID = uint32(p.number(`,"pid":`))
	a.Events = -1
	if p.has(`,"ev":`) {
		a.Events = p.number(`,"ev":`)
		p.ok = p.ok && a.Events >= 0
	}
	if p.has(`,"key":"`) {
		a.Key.Conn = p.unsigned(`,"key":"`)
		a.Key.Unique = p.unsigned(`-`)
		p.skip(`"`)
	}
	if p.has(`,"estimated":true`) {
		p.skip(`,"estimated":true`)
		a.Estimated = true
	}
	if p.has(`,"crc":"`) { // rows of format 1 have none
		sum := crc32.Checksum(line[:len(line)-len(p.rest)], vfs.Castagnoli)
		p.skip(`,"crc":"`)
		p.ok = p.ok && p.sum() == sum
		p.skip(`"`)
	}
	p.skip(`}`)
	return a, p.ok && len(p.rest) == 0 && a.valid()
}

type rowParser struct {
	rest []byte
	ok   bool
}

func (p *rowParser) has(prefix string) bool {
	return len(p.rest) >= len(prefix) && string(p.rest[:len(prefix)]) == prefix
}

func (p *rowParser) skip(prefix string) {
	if !p.has(prefix) {
		p.ok = false
		return
	}
	p.rest = p.rest[len(prefix):]
}

func (p *rowParser) unsigned(prefix string) (n uint64) {
	p.skip(prefix)
	i := 0
	for ; i < len(p.rest) && p.rest[i]-'0' <= 9; i++ {
		d := uint64(p.rest[i] - '0')
		if n > (1<<64-1-d)/10 {
			p.ok = false
			return 0
		}
		n = n*10 + d
	}
	if i == 0 {
		p.ok = false
	}
	p.rest = p.rest[i:]
	return n
}

func (p *rowParser) number(prefix string) int64 {
	p.skip(prefix)
	negative := p.has("-")
	if negative {
		p.skip("-")
	}
	n := p.unsigned("")
	if n > 1<<63-1 && !(negative && n == 1<<63) {
		p.ok = false
	}
	if negative {
		return -int64(n)
	}
	return int64(n)
}

func (p *rowParser) hash(prefix string) (h Hash) {
	p.skip(prefix)
	if len(p.rest) < 2*len(h) {
		p.ok = false
		return h
	}
	if _, err := hex.Decode(h[:], p.rest[:2*len(h)]); err != nil {
		p.ok = false
	}
	p.rest = p.rest[2*len(h):]
	return h
}

// sum reads a CRC-32C as AppendJSON writes it.
func (p *rowParser) sum() uint32 {
	var b [4]byte
	if len(p.rest) < 2*len(b) {
		p.ok = false
		return 0
	}
	for _, c := range p.rest[:2*len(b)] {
		p.ok = p.ok && (c < 'A' || c > 'F') // one way to write a row
	}
	if _, err := hex.Decode(b[:], p.rest[:2*len(b)]); err != nil {
		p.ok = false
	}
	p.rest = p.rest[2*len(b):]
	return binary.BigEndian.Uint32(b[:])
}
