package bulk

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Store is the objects of one owner. It checks all that an object store returns of them. It is safe
// for concurrent use.
type Store struct {
	objects engine.Objects
	owner   string
}

// NewStore returns the objects of an owner, as [engine.Key] calls it.
func NewStore(objects engine.Objects, owner string) *Store { return &Store{objects, owner} }

// Put stores data under n, unless it is there already. It returns once all of it was read back and was
// the same; n may be named in a journal from then on. Put returns engine.ErrInvalid if n does not end
// in the hash of data, engine.ErrDiffers if the store has, or returns, other content under n, and
// the other errors of [engine.Objects].
func (s *Store) Put(ctx context.Context, n Name, data []byte) error {
	if err := n.check(); err != nil {
		return err
	}
	if n.SHA != sha256.Sum256(data) {
		return fmt.Errorf("%w: %s is not the hash of its %d bytes", engine.ErrInvalid, n, len(data))
	}
	if err := s.objects.Put(ctx, s.key(n), data); err != nil {
		return fmt.Errorf("put %s: %w", n, err)
	}
	_, err := s.Get(ctx, n, int64(len(data)))
	return err
}

// Get returns the content of an object of size bytes. It returns engine.ErrNotFound if the store does
// not have it, engine.ErrDiffers if it returns other bytes or a part of them, and the other errors
// of [engine.Objects]; it returns no bytes then.
func (s *Store) Get(ctx context.Context, n Name, size int64) ([]byte, error) {
	data, err := s.Range(ctx, n, 0, size)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); sum != n.SHA {
		return nil, fmt.Errorf("%w: %s has the hash %x", engine.ErrDiffers, n, sum)
	}
	return data, nil
}

// index returns the index of a part, whose rows follow a chain up to that of the part. It returns the errors of Get, and
// [ErrDamaged].
func (s *Store) index(ctx context.Context, id string, p *Part, from arrival.Chain) (*Index, error) {
	data, err := s.Get(ctx, p.IndexName(id), p.Index.Size)
	if err != nil {
		return nil, err
	}
	x, err := parseIndexObject(data)
	if err != nil {
		return nil, err
	}
	chain, err := follow(from, x.Rows, p.End(), nil)
	if err == nil && journal.Hash(chain.Value) != p.Chain {
		err = fmt.Errorf("%w: the part at byte %d has another chain", ErrDamaged, p.Off)
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Range returns size bytes of an object from off on, which the caller holds against a hash that it
// has. It returns engine.ErrDiffers if the store returns more or fewer, and the errors of Get.
func (s *Store) Range(ctx context.Context, n Name, off, size int64) ([]byte, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	if off < 0 || size < 0 || size > engine.MaxObject {
		return nil, fmt.Errorf("%w: %d bytes at %d of %s", engine.ErrInvalid, size, off, n)
	}
	data, err := s.objects.Get(ctx, s.key(n), off, size)
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", n, err)
	}
	if int64(len(data)) != size {
		return nil, fmt.Errorf("%w: %s has %d bytes at %d, not %d", engine.ErrDiffers, n, len(data), off, size)
	}
	return data, nil
}

// Has returns nil if the store answers that it has n with size bytes and the hash in its name. It returns
// engine.ErrNotFound or engine.ErrDiffers if not, and the other errors of [engine.Objects]. That the
// bytes are right is for Get to find.
func (s *Store) Has(ctx context.Context, n Name, size int64) error {
	if err := n.check(); err != nil {
		return err
	}
	info, err := s.objects.Stat(ctx, s.key(n))
	if err != nil {
		return fmt.Errorf("look at %s: %w", n, err)
	}
	if info.Size != size || info.SHA != n.SHA {
		return fmt.Errorf("%w: %s has %d bytes with the hash %x", engine.ErrDiffers, n, info.Size, info.SHA)
	}
	return nil
}

// PutBody stores data as an object that is known by its hash alone, and returns the reference to it. It
// returns the errors of Put.
func (s *Store) PutBody(ctx context.Context, data []byte) (Ref, error) {
	r := RefOf(data)
	return r, s.Put(ctx, BlobName(r.SHA), data)
}

// Body returns what a reference refers to, or the errors of Get.
func (s *Store) Body(ctx context.Context, r Ref) ([]byte, error) {
	return s.Get(ctx, BlobName(r.SHA), r.Size)
}

func (s *Store) key(n Name) engine.Key { return engine.Key{Owner: s.owner, Name: n.String()} }

// Ref refers to the content of an object, from a row or a snapshot.
type Ref struct {
	SHA  journal.Hash
	Size int64
}

// RefOf returns the reference to data.
func RefOf(data []byte) Ref { return Ref{sha256.Sum256(data), int64(len(data))} }
