package source

import (
	"context"
	"errors"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// If a session is on several hosts ([session.Session.Keeps]), content that packs show and that cannot
// be made again is committed, and packs show it once it was applied, so that all hosts show the same.
// A pack does not wait long for that, because a host builds packs while it is cut off, too.

// KeptWithin is how long a pack waits for content to be committed.
const KeptWithin = time.Second

// maxKeptTries is how often a change is tried if other hosts are faster.
const maxKeptTries = 50

// Keep commits in the background the change that next returns, or none if next returns false. It calls
// next again whenever another host changed the content meanwhile. The result is sent once.
func Keep(ctx context.Context, x *session.Session, next func() (session.Kept, bool)) <-chan error {
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

// IsKept waits up to [KeptWithin] for the result of done, and reports whether it came.
func IsKept(done <-chan error) (ok bool, err error) {
	t := time.NewTimer(KeptWithin)
	defer t.Stop()
	select {
	case err = <-done:
		return true, err
	case <-t.C:
		return false, nil
	}
}
