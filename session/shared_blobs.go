package session

import (
	"context"

	"github.com/ctxfs/ctxfs/session/blob"
)

// BlobCommitter is a [ChangeCommitter] that decides, for all hosts of a session, which blobs are stored.
// CommitBlob makes a change durable, its content with it, and has it applied here by
// [Session.ApplyBlob] before it returns; it returns the error of that. Position returns the number of
// entries that were applied to a session.
type BlobCommitter interface {
	CommitBlob(ctx context.Context, x *Session, c blob.Change) error
	Position(x *Session) uint64
}

// sharer returns who decides for the blobs of the session; nil: its disk.
func (x *Session) sharer() blob.Sharer {
	if x.store.shares == nil {
		return nil
	}
	return sharedBlobs{x}
}

type sharedBlobs struct{ x *Session }

func (s sharedBlobs) Commit(c blob.Change) error {
	return s.x.store.shares.CommitBlob(context.Background(), s.x, c)
}

func (s sharedBlobs) Position() uint64 { return s.x.store.shares.Position(s.x) }
