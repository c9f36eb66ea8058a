package engine

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
)

// Objects keeps content that never changes under names. A name is used for one content alone; the
// names of ctxfs end in the SHA-256 of the content. An object is there for all hosts once Put returns.
// List may lack it for a moment, and all calls may still have one that was deleted a moment ago.
type Objects interface {
	// Put stores data under key. It returns once the object is on the disks of a majority, was read
	// back and was found equal. If the object is there already it is read and compared instead, and what
	// the servers have lost of it is stored anew. Put
	// returns ErrDiffers if there is, or was read back, other content, ErrFull, ErrDenied, ErrTooLarge
	// above MaxObject, and ErrUnreachable or ErrUnknown when it should be repeated.
	Put(ctx context.Context, key Key, data []byte) error

	// Get returns n bytes of an object from off on, fewer if it ends before, all of them to its end
	// if n is negative. The whole object is checked against its hash; a part is not: whoever reads
	// parts checks them. It returns ErrNotFound, ErrDiffers, ErrDenied or ErrUnreachable.
	Get(ctx context.Context, key Key, off, n int64) ([]byte, error)

	// Stat returns size and hash of an object; it returns ErrNotFound, ErrDenied or ErrUnreachable.
	Stat(ctx context.Context, key Key) (ObjectInfo, error)

	// List returns the names of an owner's objects that begin with prefix, sorted; it returns
	// ErrDenied or ErrUnreachable.
	List(ctx context.Context, owner, prefix string) ([]string, error)

	// Delete removes an object, or does nothing if there is none. It returns ErrDenied if the host
	// may not, and ErrUnreachable or ErrUnknown when it should be repeated.
	Delete(ctx context.Context, key Key) error
}

// MaxObject is how large an object may be, in bytes.
const MaxObject = 256 << 20

// Key is the name of an object.
type Key struct {
	Owner string // as in Subject, or StoreOwner
	Name  string // up to 180 bytes of a-z, 0-9, "/", "-", "_" and "."
}

// StoreOwner is the owner of objects that belong to nobody but the store.
const StoreOwner = "store"

// Check returns ErrInvalid if k cannot be the name of an object.
func (k Key) Check() error {
	if k.Owner != StoreOwner {
		if err := CheckOwner(k.Owner); err != nil {
			return err
		}
	}
	if k.Name == "" || len(k.Name) > 180 || strings.Trim(k.Name, "abcdefghijklmnopqrstuvwxyz0123456789/-_.") != "" {
		return fmt.Errorf("%w: object %q", ErrInvalid, k.Name)
	}
	return nil
}

// ObjectInfo describes an object.
type ObjectInfo struct {
	Size int64
	SHA  [sha256.Size]byte
}

// InfoOf returns the description of data.
func InfoOf(data []byte) ObjectInfo { return ObjectInfo{int64(len(data)), sha256.Sum256(data)} }
