package build

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session"
)

// fetchers is how many records are fetched at a time.
const fetchers = 8

// fetcher returns what reads records of t at once, until ctx is done, so that those of parts that lie among the objects of a
// cluster are here when they are read one by one; nil where all parts are here. What cannot be read is read again by who
// needs it, who gets the error.
func fetcher(ctx context.Context, x *session.Session, t *session.Timeline) func([]record.Address) {
	if !x.MayLieElsewhere() {
		return nil
	}
	return func(list []record.Address) {
		var next atomic.Int64
		var all sync.WaitGroup
		for range min(fetchers, len(list)) {
			all.Go(func() {
				for i := int(next.Add(1)) - 1; i < len(list) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
					if list[i].Event {
						t.Events.Record(list[i].Line)
					} else {
						t.Messages.Record(list[i].Line)
					}
				}
			})
		}
		all.Wait()
	}
}
