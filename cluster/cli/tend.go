package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/ctxfs/ctxfs/cluster/member"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/cluster/rows"
	"github.com/ctxfs/ctxfs/cluster/tend"
)

// metaTend is the key under which maintainers tell each other that they work.
const metaTend = "tend"

// tendCluster trims and parks journals, and collects objects, from the machine of a server until ctx is done.
func tendCluster(ctx context.Context, m member.Machine, o tend.Options, log io.Writer) {
	o.Host, o.Dir = m.Name, filepath.Join(m.Dir(), "tend")
	o.Log = func(s string) { fmt.Fprintln(log, time.Now().UTC().Format(time.RFC3339), "ctxfs cluster:", s) }
	for ctx.Err() == nil {
		e, err := openMaintenance(ctx, m)
		if err != nil { // the servers are not there yet, which the keeper says
			select {
			case <-time.After(10 * time.Second):
			case <-ctx.Done():
			}
			continue
		}
		o.Engine, o.Handlers, o.Turn = e, rows.New(e).Handlers(), tend.Turns(claims{e, m.Name})
		tend.New(o).Run(ctx)
		e.Close()
	}
}

// openMaintenance opens the links of the maintenance user.
func openMaintenance(ctx context.Context, m member.Machine) (*nats.Engine, error) {
	o, err := m.Maintenance()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return nats.Open(ctx, o)
}

// claims are notes in CTX_META.
type claims struct {
	e    *nats.Engine
	name string
}

func (c claims) Read(ctx context.Context) (uint64, error) {
	note, err := c.e.Meta(ctx, metaTend)
	return note.Seq, err
}

func (c claims) Write(ctx context.Context, after uint64) error {
	return c.e.SetMeta(ctx, metaTend, after, []byte(c.name))
}

// never turns 0, with which users say that something is not to happen, into what package tend takes for it.
func never(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}
