package rows

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
)

// What a row of a blob says of it.
const (
	blobStored = iota
	blobUsed
	blobDropped
)

const idPrefix = "sha256-"

// blobRow returns the row of a change.
func blobRow(c *blob.Change) (journal.Row, error) {
	sum, err := hex.DecodeString(c.ID[min(len(idPrefix), len(c.ID)):])
	if err != nil || len(sum) != sha256.Size {
		return journal.Row{}, fmt.Errorf("%w: %q is no blob", engine.ErrInvalid, c.ID)
	}
	what := byte(blobStored)
	if c.Drop {
		what = blobDropped
	} else if c.Used {
		what = blobUsed
	}
	row := journal.Row{Kind: journal.Blob, Content: append(append(begin(), what), sum...)}
	for _, n := range []uint64{uint64(c.Size), uint64(c.UID), uint64(max(0, c.Time.UnixNano())), c.If} {
		row.Content = appendNumber(row.Content, n)
	}
	return row, nil
}

// parseBlob returns the change of a row. It returns journal.ErrDamaged for what blobRow does not write, and
// journal.ErrVersion.
func parseBlob(row *journal.Row) (c blob.Change, sum [sha256.Size]byte, err error) {
	d := decode(row)
	what := d.bits(2)
	sum = [sha256.Size]byte(d.take(sha256.Size))
	size, uid, at, position := d.number(), d.number(), d.number(), d.number()
	if what > blobDropped || size > ctxabi.MaxBlob || uid > 1<<32-1 || at > 1<<63-1 || len(row.Body) > 0 {
		d.fail()
	}
	c = blob.Change{ID: idPrefix + hex.EncodeToString(sum[:]), Used: what == blobUsed, Drop: what == blobDropped,
		Size: int64(size), UID: uint32(uid), Time: time.Unix(0, int64(at)), If: position}
	return c, sum, d.end()
}

// CommitBlob commits a change of what users stored, after the content of one that is stored was put
// among the objects; see [session.BlobCommitter]. It returns the errors of [host.Host.Commit].
func (c *Committer) CommitBlob(ctx context.Context, x *session.Session, b blob.Change) error {
	row, err := blobRow(&b)
	if err != nil {
		return err
	}
	if b.Content != nil {
		data := make([]byte, b.Size)
		if _, err := io.ReadFull(io.NewSectionReader(b.Content, 0, b.Size), data); err != nil {
			return ctxabi.E("close", b.ID, ctxabi.ErrIO, "the written bytes cannot be read back: %v", err)
		}
		if err := c.put(ctx, x, data); err != nil {
			return err
		}
	}
	return c.CommitRow(ctx, x, row)
}

// applyBlob applies a row of kind b.
func (r *Rows) applyBlob(ctx context.Context, x *session.Session, e *journal.Entry, row *journal.Row) error {
	c, sum, err := parseBlob(row)
	if err != nil {
		return err
	}
	return x.ApplyBlob(c, e.I, func() ([]byte, error) { return r.get(ctx, x, sum) })
}
