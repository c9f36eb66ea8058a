package engine

import (
	"errors"
	"fmt"
)

// Errors of an engine. What they mean for an entry stands in the documentation of the package.
var (
	ErrBusy        = errors.New("another entry of the journal is under way; try again")
	ErrUnknown     = errors.New("the cluster did not say whether it took the entry; find out before the next one")
	ErrUnreachable = errors.New("the cluster cannot be reached, or has no quorum; nothing was stored")
	ErrIDTaken     = errors.New("another entry of the journals has this id; use each id once")
	ErrInvalid     = errors.New("no engine takes this")
	ErrTooLarge    = errors.New("larger than an engine takes")
	ErrFull        = errors.New("the cluster has no room left; trim journals or give it a larger share of the disks")
	ErrDenied      = errors.New("the credentials of this host do not allow it; ask who runs the cluster")
	ErrGone        = errors.New("the cluster has lost a stream of this store; restore it, never make an empty one")
	ErrNotFound    = errors.New("there is no such object")
	ErrDiffers     = errors.New("the object has other content than its name or its size promise")
	ErrUnsafe      = errors.New("the cluster does not keep what ctxfs promises")
)

// Conflict is the error of an Append whose expected sequence is not that of the last entry of the
// subject.
type Conflict struct {
	Last uint64 // the sequence of the last entry, as who answered knows it; 0 if there is none
}

// Error returns the message.
func (c *Conflict) Error() string {
	return fmt.Sprintf("the journal ends with entry %d, not with the expected one", c.Last)
}

// Settled reports whether err, of an Append, means that the entry is not stored and never will be by
// that call.
func Settled(err error) bool {
	if _, ok := errors.AsType[*Conflict](err); ok {
		return true
	}
	for _, known := range []error{ErrBusy, ErrUnreachable, ErrIDTaken, ErrInvalid, ErrTooLarge, ErrFull, ErrDenied, ErrGone} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
