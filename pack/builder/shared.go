package builder

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// Where a session is on several hosts ([session.Session.Keeps]), what packs show and cannot be made again
// is committed, and enters packs once it was applied: all hosts then show the same. Nobody waits long for
// that, since packs are built while a host is cut off, too.

// keptWithin is how long a build waits for content to be committed.
const keptWithin = time.Second

// maxKeptTries is how often a change is tried that another host was faster with.
const maxKeptTries = 50

// keepBehind has the change committed that next returns, or none if it returns false. next is called again
// whenever another host changed the content meanwhile. The result is sent once.
func keepBehind(ctx context.Context, x *session.Session, next func() (session.Kept, bool)) <-chan error {
	done := make(chan error, 1)
	go func() {
		var err error
		for range maxKeptTries {
			k, ok := next()
			if !ok {
				err = nil
				break
			}
			if err = x.Keep(ctx, k); !errors.Is(err, ctxabi.ErrConflict) || ctx.Err() != nil {
				break
			}
		}
		done <- err
	}()
	return done
}

// keptSumIf returns [session.Session.KeptSum] of content if it is committed. It returns the error of that.
func keptSumIf(x *session.Session, name string) (sum [sha256.Size]byte, err error) {
	if x.Keeps() {
		sum, err = x.KeptSum(name)
	}
	return sum, err
}

// ended waits at most wait for a change to be committed, and reports whether it was, or err says why not.
func ended(done <-chan error, wait time.Duration) (ok bool, err error) {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case err = <-done:
		return true, err
	case <-t.C:
		return false, nil
	}
}
