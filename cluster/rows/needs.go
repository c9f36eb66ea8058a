package rows

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Needs returns the hash of the object without which a row of records, of a control file, of a blob or of what packs
// show cannot be applied; nil: there is none. It returns journal.ErrDamaged and journal.ErrVersion.
func Needs(row *journal.Row) (sum *[sha256.Size]byte, err error) {
	switch row.Kind {
	case journal.Message, journal.Event:
		if len(row.Body) > 0 {
			return nil, nil
		}
		a, ok := arrival.ParseRow(bytes.TrimSuffix(row.Content, []byte{'\n'}))
		if !ok {
			return nil, fmt.Errorf("%w: a row of records", journal.ErrDamaged)
		}
		sha := [sha256.Size]byte(a.SHA)
		return &sha, nil
	case journal.Control:
		_, of, err := replica.ParseChange(row)
		if err != nil || of == nil {
			return nil, err
		}
		sha := [sha256.Size]byte(of)
		return &sha, nil
	case journal.Blob:
		c, sha, err := parseBlob(row)
		if err != nil || c.Drop {
			return nil, err
		}
		return &sha, nil
	case journal.Summary, journal.Output:
		_, sum, err = parseKept(row)
	}
	return sum, err
}
