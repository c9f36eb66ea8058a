package arrival

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Version is the version of the rows that AppendRow writes. It is their first byte.
const Version = 2

// A row is its version, the body in which no newline stands, and a newline. Numbers are little
// endian; a uvarint has 7 bits in each byte, the lowest first, and is as short as it can be.
//
//	flags u8 | at i64 | sha256 32 bytes | chain 8 bytes, or 32 where flags has whole
//	| connection u64, where flags has key | off, len, uid, pid uvarint | ev uvarint, where flags has events
//	| request uvarint, where flags has key | crc u32
//
// crc is the CRC-32C of the version and all of the body before it. The body is stuffed as COBS
// (consistent overhead byte stuffing) does it, which takes one byte and leaves no zero in it; each
// byte is then XORed with a newline, which leaves no newline.
const (
	hasKey       = 1 << 0
	hasEvents    = 1 << 1
	isEstimated  = 1 << 2
	isWhole      = 1 << 3
	allFlags     = hasKey | hasEvents | isEstimated | isWhole
	newline      = '\n'
	mostOfBody   = 1 + 8 + 32 + 32 + 8 + 3*binary.MaxVarintLen64 + 2*binary.MaxVarintLen32 + binary.MaxVarintLen64 + 4
	mostOfALine  = 2 + mostOfBody // without its newline
	stuffedBlock = 254            // COBS needs no second byte up to here
)

var _ [stuffedBlock - mostOfBody]struct{} // or it would not compile

// AppendRow appends a row with its newline to dst and returns it. It does not allocate if dst has
// room. Of the chain's value it takes the first [LinkSize] bytes where a.Whole is false.
func AppendRow(dst []byte, a *Row) []byte {
	flags := byte(0)
	if a.Key != (Key{}) {
		flags |= hasKey
	}
	if a.Events >= 0 {
		flags |= hasEvents
	}
	if a.Estimated {
		flags |= isEstimated
	}
	link := a.Chain[:LinkSize]
	if a.Whole {
		flags |= isWhole
		link = a.Chain[:]
	}
	start := len(dst)
	dst = append(dst, Version, 0, flags)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(a.At))
	dst = append(append(dst, a.SHA[:]...), link...)
	if flags&hasKey != 0 {
		dst = binary.LittleEndian.AppendUint64(dst, a.Key.Conn)
	}
	dst = binary.AppendUvarint(dst, uint64(a.Off))
	dst = binary.AppendUvarint(dst, uint64(a.Len))
	dst = binary.AppendUvarint(dst, uint64(a.UID))
	dst = binary.AppendUvarint(dst, uint64(a.PID))
	if flags&hasEvents != 0 {
		dst = binary.AppendUvarint(dst, uint64(a.Events))
	}
	if flags&hasKey != 0 {
		dst = binary.AppendUvarint(dst, a.Key.Unique)
	}
	dst = binary.LittleEndian.AppendUint32(dst, checksum(dst[start+2:]))
	stuff(dst[start+1:])
	return append(dst, newline)
}

// checksum is the CRC-32C of the version and a body without its checksum.
func checksum(body []byte) uint32 {
	return crc32.Update(versionSum, vfs.Castagnoli, body)
}

var versionSum = crc32.Checksum([]byte{Version}, vfs.Castagnoli)

// stuff takes the newlines out of b, of which the first byte is room for it.
func stuff(b []byte) {
	last := 0 // the place of the last length
	for i := 1; i < len(b); i++ {
		if b[i] == 0 {
			b[last], last = byte(i-last)^newline, i
		} else {
			b[i] ^= newline
		}
	}
	b[last] = byte(len(b)-last) ^ newline
}

// unstuff writes to dst what stuff was given, without the first byte. ok is false if stuff cannot
// have written b. dst is as long as b.
func unstuff(dst, b []byte) (body []byte, ok bool) {
	for i := 0; i < len(b); {
		next := i + int(b[i]^newline)
		if next <= i || next > len(b) {
			return nil, false
		}
		for k := i + 1; k < next; k++ {
			if dst[k] = b[k] ^ newline; dst[k] == 0 {
				return nil, false
			}
		}
		if i = next; i < len(b) {
			dst[i] = 0
		}
	}
	return dst[min(1, len(b)):len(b)], len(b) > 1
}

// ParseRow reads a row of any version without its newline. It accepts exactly what AppendRow writes
// and [AppendJSON] writes, and what format 1 of the store had: a row that is not so is damaged, and
// ok is false.
func ParseRow(line []byte) (a Row, ok bool) {
	if len(line) == 0 || line[0] != Version {
		return parseJSON(line)
	}
	var room [mostOfALine]byte
	if len(line) > len(room) {
		return Row{}, false
	}
	body, ok := unstuff(room[:], line[1:])
	if !ok || len(body) < 4 {
		return Row{}, false
	}
	end := len(body) - 4
	if checksum(body[:end]) != binary.LittleEndian.Uint32(body[end:]) {
		return Row{}, false
	}
	r := reader{rest: body[:end], ok: true}
	flags := r.take(1)[0]
	a.At = int64(binary.LittleEndian.Uint64(r.take(8)))
	copy(a.SHA[:], r.take(len(a.SHA)))
	a.Whole, a.Estimated, a.Events = flags&isWhole != 0, flags&isEstimated != 0, -1
	if a.Whole {
		copy(a.Chain[:], r.take(len(a.Chain)))
	} else {
		copy(a.Chain[:], r.take(LinkSize))
	}
	if flags&hasKey != 0 {
		a.Key.Conn = binary.LittleEndian.Uint64(r.take(8))
	}
	a.Off = int64(r.number(math.MaxInt64))
	a.Len = int64(r.number(math.MaxInt64))
	a.UID = uint32(r.number(math.MaxUint32))
	a.PID = uint32(r.number(math.MaxUint32))
	if flags&hasEvents != 0 {
		a.Events = int64(r.number(math.MaxInt64))
	}
	if flags&hasKey != 0 {
		a.Key.Unique = r.number(math.MaxUint64)
	}
	ok = r.ok && len(r.rest) == 0 && flags&^allFlags == 0 && (flags&hasKey != 0) == (a.Key != Key{}) && a.valid()
	return a, ok
}

// valid reports whether a row can be that of a commit.
func (a *Row) valid() bool { return a.Off >= 0 && a.Len > 0 && a.Off+a.Len > 0 }

// reader reads a body from its beginning; ok becomes false where it is too short, or not as it is
// written.
type reader struct {
	rest []byte
	ok   bool
}

var zeros [32]byte

// take returns the next n bytes, at most 32; zeros where there are fewer.
func (r *reader) take(n int) []byte {
	if len(r.rest) < n {
		r.ok, r.rest = false, nil
		return zeros[:n]
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// number reads a uvarint up to most.
func (r *reader) number(most uint64) uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || n > 1 && r.rest[n-1] == 0 || v > most {
		r.ok, r.rest = false, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// IsOld reports whether a row that can be read is of an older version than [Version].
func IsOld(line []byte) bool { return len(line) == 0 || line[0] != Version }
