package shared

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Version is the format version of the entries that Seal writes.
const Version = 1

// Limits of one entry. A longer body becomes an object.
const (
	MaxRows  = 64
	MaxBody  = 256 << 10 // bytes of all bodies
	maxRows  = 256 << 10 // bytes of all rows without their bodies
	maxHost  = 64
	maxInner = 1 << 30 // largest number of a row format
)

// Errors of Open.
var (
	ErrVersion = errors.New("the entry was written by a newer ctxfs; update this one")
	ErrGap     = errors.New("the entry is not the next one of the journal")
	ErrChain   = errors.New("the entry does not continue the chain of the journal")
	ErrDamaged = errors.New("the entry is damaged")
)

// ErrTooLarge is the error of Seal for rows above a limit.
var ErrTooLarge = errors.New("the rows exceed the size of an entry")

// ID identifies a journal, an entry, or a boot of a host. Its text form is that of a UUID.
type ID [16]byte

// NewID returns a random UUID of version 4.
func NewID() (id ID) {
	rand.Read(id[:])
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// ParseID reads the text form of an id in lower case, with its four hyphens. It returns ErrDamaged
// for any other text.
func ParseID(s string) (id ID, err error) {
	raw, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err == nil && len(raw) == len(id) {
		id = ID(raw)
	}
	if id.String() != s {
		return ID{}, fmt.Errorf("%w: %q is not an id", ErrDamaged, s)
	}
	return id, nil
}

// String returns the text form of the id.
func (id ID) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// Hash is a SHA-256 value.
type Hash [sha256.Size]byte

// Position is a place in a journal: the number of the next entry, and the chain of all before it.
type Position struct {
	I     uint64
	Chain Hash
}

// Start returns the position before the first entry of a journal without a base.
func Start(journal ID) Position {
	return Position{Chain: sha256.Sum256([]byte(journal.String() + "journal"))}
}

// after returns the position after an entry.
func (p Position) after(rows, body []byte, format int, host string) Position {
	payload := sha256.New()
	payload.Write(rows)
	payload.Write(body)

	link := sha256.New()
	link.Write(p.Chain[:])
	link.Write(payload.Sum(nil))
	var number [8]byte
	for _, v := range []uint64{p.I, uint64(len(rows)), uint64(format)} {
		binary.BigEndian.PutUint64(number[:], v)
		link.Write(number[:])
	}
	link.Write([]byte(host))

	next := Position{I: p.I + 1}
	link.Sum(next.Chain[:0])
	return next
}

// Kind is the kind of a row.
type Kind byte

// Kinds of rows.
const (
	Message Kind = 'm' // an arrival row of messages, and the records
	Event   Kind = 'e' // an arrival row of events, and the records
	Control Kind = 'c' // a control file
	Child   Kind = 'd' // a child is created, removed, or renamed
	Blob    Kind = 'b' // a blob is stored or dropped
	Summary Kind = 's' // a derived summary
	Output  Kind = 'o' // output of a generator
	End     Kind = 'X' // the session is removed; no entry follows
)

// Row is one row of an entry.
type Row struct {
	Kind    Kind
	Content []byte
	Body    []byte
}

// Entry is one entry as a store keeps it. Equal keys identify attempts to store the same entry.
type Entry struct {
	I    uint64
	Key  ID
	Rows []byte
	Body []byte
}

// Opened is the content of an entry.
type Opened struct {
	I      uint64
	Key    ID
	Host   string // host that built the entry
	Format int    // of the contents of rows
	Rows   []Row
}

// Ends reports whether the entry removes its session.
func (o *Opened) Ends() bool {
	return len(o.Rows) > 0 && o.Rows[len(o.Rows)-1].Kind == End
}

// Seal returns the entry with the given rows at a position, and the position after it. It returns
// ErrTooLarge if the rows exceed a limit, and ErrDamaged if host is not 1 to 64 letters, digits,
// and hyphens, or format is not positive.
func Seal(at Position, key ID, host string, format int, rows []Row) (Entry, Position, error) {
	if !isHost(host) || format <= 0 || format > maxInner {
		return Entry{}, at, fmt.Errorf("%w: host %q, format %d", ErrDamaged, host, format)
	}

	var packed, body []byte
	for _, r := range rows {
		row := binary.AppendUvarint([]byte{byte(r.Kind)}, uint64(len(r.Body)))
		packed = binary.AppendUvarint(packed, uint64(len(row)+len(r.Content)))
		packed = append(append(packed, row...), r.Content...)
		body = append(body, r.Body...)
	}
	if len(rows) > MaxRows || len(packed) > maxRows || len(body) > MaxBody {
		const sizes = "%w: %d rows, %d bytes, bodies of %d bytes"
		return Entry{}, at, fmt.Errorf(sizes, ErrTooLarge, len(rows), len(packed), len(body))
	}

	next := at.after(packed, body, format, host)
	head := append([]byte{Version}, next.Chain[:]...)
	head = binary.AppendUvarint(head, uint64(format))
	head = binary.AppendUvarint(head, uint64(len(host)))
	head = append(head, host...)
	return Entry{I: at.I, Key: key, Rows: append(head, packed...), Body: body}, next, nil
}

// Open returns the content of the entry at a position, and the position after it. The result shares
// memory with the entry. Open returns ErrGap for another number, ErrVersion for a later version,
// ErrChain if the entry does not continue the chain, and ErrDamaged if it is malformed.
func Open(at Position, e Entry) (Opened, Position, error) {
	fail := func(err error) (Opened, Position, error) {
		return Opened{}, at, fmt.Errorf("entry %d: %w", e.I, err)
	}
	if e.I != at.I {
		return fail(fmt.Errorf("%w: the next one is %d", ErrGap, at.I))
	}
	if len(e.Rows) < 1+sha256.Size {
		return fail(ErrDamaged)
	}
	if e.Rows[0] > Version {
		return fail(ErrVersion)
	}

	chain, rest := e.Rows[1:1+sha256.Size], e.Rows[1+sha256.Size:]
	format, rest, err := readNumber(rest)
	if err != nil {
		return fail(err)
	}
	host, packed, err := cutText(rest)
	if err != nil || e.Rows[0] != Version || format == 0 || format > maxInner || !isHost(string(host)) {
		return fail(fmt.Errorf("%w: header of host %q", ErrDamaged, host))
	}

	next := at.after(packed, e.Body, int(format), string(host))
	if !bytes.Equal(chain, next.Chain[:]) {
		return fail(ErrChain)
	}
	rows, err := unpackRows(packed, e.Body)
	if err != nil {
		return fail(err)
	}
	return Opened{I: e.I, Key: e.Key, Host: string(host), Format: int(format), Rows: rows}, next, nil
}

func isHost(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
	return s != "" && len(s) <= maxHost && strings.Trim(s, letters) == ""
}

// unpackRows returns the rows of an entry.
func unpackRows(packed, bodies []byte) (rows []Row, err error) {
	for len(packed) > 0 {
		var row []byte
		if row, packed, err = cutText(packed); err != nil {
			return nil, err
		}
		if len(row) == 0 || len(rows) == MaxRows {
			return nil, fmt.Errorf("%w: row %d", ErrDamaged, len(rows))
		}

		size, content, err := readNumber(row[1:])
		if err != nil || size > uint64(len(bodies)) {
			return nil, fmt.Errorf("%w: body of row %d", ErrDamaged, len(rows))
		}
		rows = append(rows, Row{Kind: Kind(row[0]), Content: content, Body: bodies[:size:size]})
		bodies = bodies[size:]
	}
	if len(bodies) > 0 {
		return nil, fmt.Errorf("%w: %d bytes belong to no row", ErrDamaged, len(bodies))
	}
	return rows, nil
}

// cutText returns the text after its length, and the bytes after it.
func cutText(b []byte) (text, rest []byte, err error) {
	n, b, err := readNumber(b)
	if err != nil || n > uint64(len(b)) {
		return nil, nil, fmt.Errorf("%w: a text is longer than the entry", ErrDamaged)
	}
	return b[:n:n], b[n:], nil
}

// readNumber reads a varint in its shortest form, and returns the bytes after it.
func readNumber(b []byte) (uint64, []byte, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || size > 1 && b[size-1] == 0 {
		return 0, nil, fmt.Errorf("%w: malformed number", ErrDamaged)
	}
	return n, b[size:], nil
}
