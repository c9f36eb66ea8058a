package rows

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Bits of a row of kept content.
const (
	isLine   = 1 << iota // Kept.Line
	isDrop               // Kept.Drop
	isObject             // Data is an object, whose hash stands in the row
)

// keptKind returns the kind of the row of a change.
func keptKind(name string) journal.Kind {
	if name == session.SummariesFile {
		return journal.Summary
	}
	return journal.Output
}

// keptRow returns the row of a change. object is true if its Data has to be put among the objects.
func keptRow(k *session.Kept) (row journal.Row, object bool) {
	bits := byte(0)
	if k.Line {
		bits |= isLine
	}
	if k.Drop {
		bits |= isDrop
	}
	if object = len(k.Data) > journal.MaxBody; object {
		bits |= isObject
	}
	row = journal.Row{Kind: keptKind(k.Name), Content: append(begin(), bits)}
	row.Content = append(appendText(row.Content, k.Name), k.Was[:]...)
	row.Content = appendNumber(row.Content, uint64(k.Rest))
	if !object {
		row.Body = k.Data
		return row, false
	}
	sum := sha256.Sum256(k.Data)
	row.Content = append(row.Content, sum[:]...)
	return row, true
}

// parseKept returns the change of a row. sum is that of the object which is its Data; nil: the body is. It
// returns journal.ErrDamaged for what keptRow does not write, and journal.ErrVersion.
func parseKept(row *journal.Row) (k session.Kept, sum *[sha256.Size]byte, err error) {
	d := decode(row)
	bits := d.bits(3)
	k = session.Kept{Line: bits&isLine != 0, Drop: bits&isDrop != 0, Name: d.text(), Was: [sha256.Size]byte(d.take(sha256.Size)), Data: row.Body}
	rest := d.number()
	if k.Rest = int(rest); rest > engine.MaxObject || keptKind(k.Name) != row.Kind {
		d.fail()
	}
	if bits&isObject != 0 {
		s := [sha256.Size]byte(d.take(sha256.Size))
		if sum = &s; len(row.Body) > 0 {
			d.fail()
		}
	}
	return k, sum, d.end()
}

// CommitKept commits a change of what packs show; see [session.KeptCommitter]. It returns
// ctxabi.ErrConflict if it is another content by now, and the errors of [host.Host.Commit].
func (c *Committer) CommitKept(ctx context.Context, x *session.Session, k session.Kept) error {
	row, object := keptRow(&k)
	if object {
		if err := c.put(ctx, x, k.Data); err != nil {
			return err
		}
	}
	return c.CommitRow(ctx, x, row)
}

// applyKept applies a row of kind s or o.
func (r *Rows) applyKept(ctx context.Context, x *session.Session, _ *journal.Entry, row *journal.Row) error {
	k, sum, err := parseKept(row)
	if err == nil && sum != nil {
		k.Data, err = r.get(ctx, x, *sum)
	}
	if err != nil {
		return err
	}
	return x.ApplyKept(k)
}

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
		if err != nil || c.Drop || c.Used {
			return nil, err
		}
		return &sha, nil
	case journal.Summary, journal.Output:
		_, sum, err = parseKept(row)
	}
	return sum, err
}
