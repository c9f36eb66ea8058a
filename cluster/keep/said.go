package keep

import (
	"errors"

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
