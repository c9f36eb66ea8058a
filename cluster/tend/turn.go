package tend

import (
	"context"
	"errors"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Claims are the notes by which maintainers of several machines tell each other that they work. Read
// returns the sequence of the last one, 0 if there is none; Write adds one if the last one has the
// sequence after, and returns *engine.Conflict if not.
type Claims interface {
	Read(ctx context.Context) (seq uint64, err error)
	Write(ctx context.Context, after uint64) error
}

// Turns returns an Options.Turn for maintainers of several machines: one that finds that another has
// worked since its own last look leaves it at that. No clock is compared, and two that work at once do
// no harm.
func Turns(c Claims) func(ctx context.Context) (bool, error) {
	var seen uint64
	first := true
	return func(ctx context.Context) (bool, error) {
		seq, err := c.Read(ctx)
		if err != nil {
			return false, err
		}
		if seq != seen || first && seq > 0 {
			seen, first = seq, false
			return false, nil
		}
		first = false
		err = c.Write(ctx, seq)
		if _, conflict := errors.AsType[*engine.Conflict](err); conflict {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		seen, err = c.Read(ctx)
		return err == nil, err
	}
}
