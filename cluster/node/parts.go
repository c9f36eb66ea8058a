package node

import (
	"context"
	"maps"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/cluster/rows"
	"github.com/ctxfs/ctxfs/cluster/tend"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/log"
)

// parts are what other packages bring to a node.
type parts struct {
	// rows are blobs, and what packs show.
	rows *rows.Rows

	// handlers apply rows of kinds that package replica does not know.
	handlers map[journal.Kind]replica.Handler

	// restore goes on from a snapshot where the next entry of a journal was trimmed; nil: there are none.
	restore func(ctx context.Context, x *session.Session, s engine.Subject, from uint64) (replica.Position, error)

	// resume begins a session anew behind the end of its journal; nil: that cannot be.
	resume func(ctx context.Context, x *session.Session, s engine.Subject, content []byte, file func(ends [2]log.Mark) []byte) error

	// parked returns where a journal stands of which no entry is left; nil: there is none.
	parked func(ctx context.Context, s engine.Subject) (p replica.Parking, ok bool, err error)

	// source reads sealed parts that lie among the objects; nil: there are none.
	source archive.Source

	// fetched returns how many bytes source has read of objects.
	fetched func() int64

	// gate waits until a journal may be read of which this host has no copy, or returns why it may not; nil: it
	// always may.
	gate func(ctx context.Context, s engine.Subject) error

	// run is done as long as the node has its store.
	run []func(ctx context.Context)

	// close ends what the parts have under way, before the engine is closed.
	close []func()
}

// newParts returns the parts of n, whose host, keeper and store are there when a part is used, not yet when
// newParts is called.
func newParts(n *Node) parts {
	p := parts{rows: rows.New(n.o.Engine)}
	p.handlers = p.rows.Handlers()
	shelf := tend.NewShelf(tend.ShelfOptions{Engine: n.o.Engine, Host: n.o.Name, Logger: n.log})
	maps.Copy(p.handlers, shelf.Handlers())
	p.restore, p.resume, p.parked, p.source = shelf.Restore, shelf.Resume, shelf.Parked, shelf.Parts()
	p.fetched = shelf.Parts().Fetched
	p.run = append(p.run, func(ctx context.Context) { shelf.Run(ctx, n.Host) })
	return p
}
