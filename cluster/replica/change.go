package replica

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// Change is what a row of kind [journal.Control] or [journal.Child] has.
type Change struct {
	session.Change
	Key  log.Key // of the request
	Base uint64  // number of the next entry, as who made the change knew the journal
}

// kindOf returns the kind of the row of a change.
func kindOf(k session.ChangeKind) journal.Kind {
	switch k {
	case session.MakeChild, session.RemoveChild, session.RenameChild:
		return journal.Child
	}
	return journal.Control
}

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
	var numbers [24]byte
	binary.BigEndian.PutUint64(numbers[:], c.Key.Conn)
	binary.BigEndian.PutUint64(numbers[8:], c.Key.Unique)
	binary.BigEndian.PutUint64(numbers[16:], c.Base)
	row.Kind = kindOf(c.Kind)
	for _, field := range [][]byte{[]byte(c.Kind), []byte(c.Name), []byte(c.To), numbers[:], sum, c.Was} {
		row.Content = append(binary.AppendUvarint(row.Content, uint64(len(field))), field...)
	}
	if sum == nil {
		row.Body = body
	}
	return row, body
}

// parseChange reads the row of a change, but for its body. sum is that of the object which is the
// body; nil: the body is in the row. It returns journal.ErrDamaged for what Row does not write.
func parseChange(row *journal.Row) (c Change, sum []byte, err error) {
	var fields [6][]byte
	rest := row.Content
	for i := range fields {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) {
			return Change{}, nil, fmt.Errorf("%w: a change of %d bytes", journal.ErrDamaged, len(row.Content))
		}
		fields[i], rest = rest[size:size+int(n)], rest[size+int(n):]
	}
	numbers, sum := fields[3], fields[4]
	if c.Was = fields[5]; len(rest) > 0 || len(numbers) != 24 || len(sum) != 0 && len(sum) != sha256.Size {
		return Change{}, nil, fmt.Errorf("%w: a change of %d bytes", journal.ErrDamaged, len(row.Content))
	}
	c.Kind, c.Name, c.To = session.ChangeKind(fields[0]), string(fields[1]), string(fields[2])
	c.Key = log.Key{Conn: binary.BigEndian.Uint64(numbers), Unique: binary.BigEndian.Uint64(numbers[8:])}
	c.Base = binary.BigEndian.Uint64(numbers[16:])
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
func (c *Change) Alone() bool { return kindOf(c.Kind) == journal.Child || len(c.Was) > 0 }

// check returns ctxabi.ErrMalformed if the change is of something that is no part of a session.
func (c *Change) check() error {
	ok := false
	switch c.Kind {
	case session.SetFile, session.RemoveFile:
		inside := c.Name == ctxabi.InternalDir || strings.HasPrefix(c.Name, ctxabi.InternalDir+"/")
		ok = filepath.IsLocal(c.Name) && path.Clean(c.Name) == c.Name && c.Name != "." && !inside &&
			c.Name != ctxabi.MessagesFile && c.Name != ctxabi.EventsFile
	case session.SetNote:
		ok = session.IsNote(c.Name)
	case session.MakeChild, session.RemoveChild:
		ok = ctxabi.ValidName(c.Name) == nil
	case session.RenameChild:
		ok = ctxabi.ValidName(c.Name) == nil && ctxabi.ValidName(c.To) == nil
	}
	if !ok {
		return ctxabi.E("apply", "", ctxabi.ErrMalformed, "%.20q of %.80q is not a change of a session", c.Kind, c.Name)
	}
	return nil
}

// KeyOf returns what identifies a row that is neither a record nor a change: a hash of all of it.
func KeyOf(row *journal.Row) log.Key {
	h := sha256.New()
	h.Write([]byte{byte(row.Kind)})
	h.Write(binary.AppendUvarint(nil, uint64(len(row.Content))))
	h.Write(row.Content)
	h.Write(row.Body)
	sum := h.Sum(nil)
	return log.Key{Conn: binary.BigEndian.Uint64(sum), Unique: binary.BigEndian.Uint64(sum[8:])}
}

// setBody sets what the body of the row is for.
func (c *Change) setBody(body []byte) {
	if c.Kind == session.RemoveFile {
		c.If = body
	} else {
		c.Data = body
	}
}
