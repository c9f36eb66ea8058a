package keep

import (
	"context"
	"errors"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// say logs a sentence about a matter, if it is another one than the last. An empty one is for a matter
// that is settled.
func (k *Keeper) say(matter, sentence string) {
	if k.said[matter] != sentence {
		if k.said[matter] = sentence; sentence != "" {
			k.Log(sentence)
		} else {
			k.Log(matter + ": settled")
		}
	}
}

// isConflict reports whether somebody else was first, which is as good.
func isConflict(err error) bool {
	_, ok := errors.AsType[*engine.Conflict](err)
	return ok || errors.Is(err, engine.ErrBusy)
}

// unlessConflict returns err, or nil for one that isConflict reports.
func unlessConflict(err error) error {
	if isConflict(err) {
		return nil
	}
	return err
}

// wait waits so long. It reports whether ctx goes on.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
