package journal

import (
	"encoding/binary"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Kind is what a row is about.
type Kind byte

// Kinds of rows.
const (
	Message  Kind = 'm' // a row of the arrivals of messages, and the records
	Event    Kind = 'e' // the same of events
	Control  Kind = 'c' // a control file
	Child    Kind = 'd' // a child is made, removed or renamed
	File     Kind = 'f' // an ordinary file
	Blob     Kind = 'b' // a blob is stored or dropped
	Summary  Kind = 's' // a derived summary
	Output   Kind = 'o' // output of a generator
	Part     Kind = 'P' // a sealed part of a log lies among the objects
	Snapshot Kind = 'S' // all before it lies among the objects
	End      Kind = 'X' // the journal ends
	Name     Kind = 'n' // a name of an owner is made, changed, removed or parked
	Link     Kind = 'k' // a directory or a link is made, or a file is removed
)

const (
	// MaxRows is how many rows an entry may have.
	MaxRows = 64
	// MaxBody is the largest total of the bodies of an entry, in bytes. A longer body becomes an object.
	MaxBody = 256 << 10
)

// Row is one row of an entry.
type Row struct {
	Kind    Kind
	Content []byte
	Body    []byte
}

// appendRows returns the payload of rows, and how long the rows are in it. It returns engine.ErrTooLarge
// if a limit is exceeded.
func appendRows(rows []Row) (payload []byte, length int, err error) {
	bodies := 0
	for _, r := range rows {
		bodies += len(r.Body)
	}
	if len(rows) > MaxRows || bodies > MaxBody {
		return nil, 0, fmt.Errorf("%w: an entry of %d rows with %d bytes", engine.ErrTooLarge, len(rows), bodies)
	}
	var row []byte
	for _, r := range rows {
		row = binary.AppendUvarint(append(row[:0], byte(r.Kind)), uint64(len(r.Body)))
		payload = binary.AppendUvarint(payload, uint64(len(row)+len(r.Content)))
		payload = append(append(payload, row...), r.Content...)
	}
	length = len(payload)
	for _, r := range rows {
		payload = append(payload, r.Body...)
	}
	if len(payload) > engine.MaxPayload {
		return nil, 0, fmt.Errorf("%w: an entry of %d bytes", engine.ErrTooLarge, len(payload))
	}
	return payload, length, nil
}

// parseRows returns the rows of a payload, as parts of it, or ErrDamaged.
func parseRows(payload []byte, length int) (rows []Row, err error) {
	if length < 0 || length > len(payload) {
		return nil, fmt.Errorf("%w: rows of %d bytes in %d", ErrDamaged, length, len(payload))
	}
	head, bodies := payload[:length], payload[length:]
	for len(head) > 0 {
		var row []byte
		var size uint64
		row, head, err = cut(head)
		if err == nil && len(row) == 0 {
			err = fmt.Errorf("%w: a row without a kind", ErrDamaged)
		}
		if err != nil {
			return nil, err
		}
		r := Row{Kind: Kind(row[0])}
		if size, r.Content, err = number(row[1:]); err != nil {
			return nil, err
		}
		if size > uint64(len(bodies)) {
			return nil, fmt.Errorf("%w: a body of %d bytes in %d", ErrDamaged, size, len(bodies))
		}
		r.Body, bodies = bodies[:size:size], bodies[size:]
		if rows = append(rows, r); len(rows) > MaxRows {
			return nil, fmt.Errorf("%w: more than %d rows", ErrDamaged, MaxRows)
		}
	}
	if len(bodies) > 0 {
		return nil, fmt.Errorf("%w: %d bytes that no row has", ErrDamaged, len(bodies))
	}
	if len(payload)-length > MaxBody {
		return nil, fmt.Errorf("%w: bodies of %d bytes", ErrDamaged, len(payload)-length)
	}
	return rows, nil
}

// cut returns what stands behind its length, and the rest.
func cut(b []byte) (front, rest []byte, err error) {
	n, b, err := number(b)
	if err == nil && n > uint64(len(b)) {
		err = fmt.Errorf("%w: a row of %d bytes in %d", ErrDamaged, n, len(b))
	}
	if err != nil {
		return nil, nil, err
	}
	return b[:n:n], b[n:], nil
}

// number reads a number in its shortest form, and returns the rest.
func number(b []byte) (uint64, []byte, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || size > 1 && b[size-1] == 0 {
		return 0, nil, fmt.Errorf("%w: no number", ErrDamaged)
	}
	return n, b[size:], nil
}
