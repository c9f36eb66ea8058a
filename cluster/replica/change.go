package replica

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Change is what a row of kind [journal.Control] or [journal.Child] has.
type Change struct {
	session.Change
	Key  arrival.Key // of the request
	Host string      // where it was asked for
	Len  uint64      // of Data, in bytes; set by Row
}

// kindOf returns the kind of the row of a change.
func kindOf(k session.ChangeKind) journal.Kind {
	switch k {
	case session.MakeChild, session.RemoveChild, session.RenameChild:
		return journal.Child
	}
	return journal.Control
}

// Bits of a change.
const (
	known = 1 << iota // Edit.Known
	only              // Edit.Only
)

// Row returns the row of a change. Its body is Data, or If of one that has no Data. A body that is
// longer than [journal.MaxBody] stays out of the row, which has its hash instead: it is to be put
// among the objects ([BodyKey]).
func (c *Change) Row() (row journal.Row, body []byte) {
	body = c.Data
	if c.Kind == session.RemoveFile {
		body = c.If
	}
	var sum []byte
	if len(body) > journal.MaxBody {
		s := sha256.Sum256(body)
		sum = s[:]
	}
	c.Len = uint64(len(c.Data))
	bits := byte(0)
	if c.Edit.Known {
		bits |= known
	}
	if c.Edit.Only {
		bits |= only
	}
	numbers := make([]byte, 0, numbersLen)
	for _, n := range []uint64{c.Key.Conn, c.Key.Unique, uint64(c.At), c.Len, c.Edit.Seen} {
		numbers = binary.BigEndian.AppendUint64(numbers, n)
	}
	numbers = append(binary.BigEndian.AppendUint32(numbers, c.Edit.UID), bits)
	row.Kind = kindOf(c.Kind)
	for _, field := range [][]byte{[]byte(c.Kind), []byte(c.Name), []byte(c.To), numbers, sum, c.Was, []byte(c.Host)} {
		row.Content = append(binary.AppendUvarint(row.Content, uint64(len(field))), field...)
	}
	if sum == nil {
		row.Body = body
	}
	return row, body
}

const numbersLen = 5*8 + 4 + 1

// ParseChange reads the row of a change, but for its body. sum is that of the object which is the
// body; nil: the body is in the row. It returns journal.ErrDamaged for what Row does not write.
func ParseChange(row *journal.Row) (c Change, sum []byte, err error) {
	var fields [7][]byte
	rest := row.Content
	for i := range fields {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) {
			return Change{}, nil, fmt.Errorf("%w: a change of %d bytes", journal.ErrDamaged, len(row.Content))
		}
		fields[i], rest = rest[size:size+int(n)], rest[size+int(n):]
	}
	numbers, sum := fields[3], fields[4]
	if c.Was = fields[5]; len(rest) > 0 || len(numbers) != numbersLen || numbers[numbersLen-1] > known|only || len(sum) != 0 && len(sum) != sha256.Size {
		return Change{}, nil, fmt.Errorf("%w: a change of %d bytes", journal.ErrDamaged, len(row.Content))
	}
	c.Kind, c.Name, c.To = session.ChangeKind(fields[0]), string(fields[1]), string(fields[2])
	c.Host = string(fields[6])
	n := func(i int) uint64 { return binary.BigEndian.Uint64(numbers[8*i:]) }
	c.Key, c.At, c.Len = arrival.Key{Conn: n(0), Unique: n(1)}, int64(n(2)), n(3)
	bits := numbers[numbersLen-1]
	c.Edit = session.Edit{Known: bits&known != 0, UID: binary.BigEndian.Uint32(numbers[40:]), Seen: n(4), Only: bits&only != 0}
	if kindOf(c.Kind) != row.Kind {
		return Change{}, nil, fmt.Errorf("%w: %q in a row of kind %q", journal.ErrDamaged, c.Kind, row.Kind)
	}
	if len(sum) == 0 {
		sum = nil
	}
	return c, sum, nil
}

// Alone reports whether the change has to stand in an entry of its own: when it is applied a second time,
// behind others of the entry, it would do something else.
func (c *Change) Alone() bool {
	return kindOf(c.Kind) == journal.Child || len(c.Was) > 0 || c.Edit.Only
}

// check returns ctxabi.ErrMalformed if the change is of something that is no part of a session.
func (c *Change) check() error {
	ok := false
	switch c.Kind {
	case session.SetFile, session.RemoveFile, session.DropFile, session.SetTime:
		inside := c.Name == ctxabi.InternalDir || strings.HasPrefix(c.Name, ctxabi.InternalDir+"/") && !slices.Contains(session.ForeignFiles(), c.Name)
		ok = filepath.IsLocal(c.Name) && path.Clean(c.Name) == c.Name && c.Name != "." && !inside &&
			c.Name != ctxabi.MessagesFile && c.Name != ctxabi.EventsFile
	case session.SetNote:
		ok = session.IsNote(c.Name)
	case session.SetSummary:
		ok = c.Name == ctxabi.SummaryFile
	case session.MakeChild, session.RemoveChild:
		ok = ctxabi.ValidName(c.Name) == nil
	case session.RenameChild:
		ok = ctxabi.ValidName(c.Name) == nil && ctxabi.ValidName(c.To) == nil
	}
	if !ok || len(c.Host) > 64 || strings.ContainsFunc(c.Host, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return ctxabi.E("apply", "", ctxabi.ErrMalformed, "%.20q of %.80q is not a change of a session", c.Kind, c.Name)
	}
	return nil
}

// KeyOf returns what identifies a row that is neither a record nor a change: a hash of all of it.
func KeyOf(row *journal.Row) arrival.Key {
	h := sha256.New()
	h.Write([]byte{byte(row.Kind)})
	h.Write(binary.AppendUvarint(nil, uint64(len(row.Content))))
	h.Write(row.Content)
	h.Write(row.Body)
	sum := h.Sum(nil)
	return arrival.Key{Conn: binary.BigEndian.Uint64(sum), Unique: binary.BigEndian.Uint64(sum[8:])}
}

// SetBody sets what the body of the row is for.
func (c *Change) SetBody(body []byte) {
	if c.Kind == session.RemoveFile {
		c.If = body
	} else {
		c.Data, c.Len = body, uint64(len(body))
	}
}
