package rows

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// Rows applies rows of the kinds b, s and o. It is safe for concurrent use.
type Rows struct{ e engine.Engine }

// New returns the rows of an engine.
func New(e engine.Engine) *Rows { return &Rows{e} }

// Handlers returns what applies the rows.
func (r *Rows) Handlers() map[journal.Kind]replica.Handler {
	return map[journal.Kind]replica.Handler{journal.Blob: r.applyBlob, journal.Summary: r.applyKept, journal.Output: r.applyKept}
}

// Committer is a host that commits blobs, and what packs show, too.
type Committer struct {
	*host.Host
	*Rows
}

var (
	_ log.Committer           = (*Committer)(nil)
	_ session.ChangeCommitter = (*Committer)(nil)
	_ session.KeptCommitter   = (*Committer)(nil)
	_ session.BlobCommitter   = (*Committer)(nil)
)

// Committer returns the committer of the store of a host whose handlers are those of r.
func (r *Rows) Committer(h *host.Host) *Committer { return &Committer{h, r} }

// put puts data among the objects of a session's owner. It returns ctxabi.ErrUnreachable, ctxabi.ErrNoSpace,
// ctxabi.ErrDenied or ctxabi.ErrIO; nothing was committed then.
func (r *Rows) put(ctx context.Context, x *session.Session, data []byte) error {
	err := r.e.Objects().Put(ctx, replica.BodyKey(host.Subject(x), sha256.Sum256(data)), data)
	if err == nil {
		return nil
	}
	kind := ctxabi.ErrUnreachable
	switch {
	case errors.Is(err, engine.ErrFull):
		kind = ctxabi.ErrNoSpace
	case errors.Is(err, engine.ErrDenied):
		kind = ctxabi.ErrDenied
	case errors.Is(err, engine.ErrDiffers), errors.Is(err, engine.ErrTooLarge):
		kind = ctxabi.ErrIO
	}
	return &ctxabi.Error{Op: "commit", Kind: kind, Err: err, Why: "its content was not stored"}
}

// get returns the content of an object. It returns journal.ErrDamaged if it is another one, and the errors
// of [engine.Objects].
func (r *Rows) get(ctx context.Context, x *session.Session, sum [sha256.Size]byte) ([]byte, error) {
	data, err := r.e.Objects().Get(ctx, replica.BodyKey(host.Subject(x), sum), 0, -1)
	if err != nil {
		return nil, fmt.Errorf("body %x of a row: %w", sum[:8], err)
	}
	if sha256.Sum256(data) != sum {
		return nil, fmt.Errorf("%w: body %x of a row has other content", journal.ErrDamaged, sum[:8])
	}
	return data, nil
}
