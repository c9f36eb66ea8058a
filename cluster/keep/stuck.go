package keep

import (
	"context"
	"errors"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/cluster/scrub"
)

// livingHosts returns what the hosts that live told last. It returns the errors of nats.Engine's Hosts and HostRow,
// with the rows of the others.
func livingHosts(ctx context.Context, e *nats.Engine) (list []nats.HostRow, err error) {
	names, err := e.Hosts(ctx)
	for _, name := range names {
		row, seq, bad := e.HostRow(ctx, name)
		if seq > 0 {
			list = append(list, row)
		}
		err = errors.Join(err, bad)
	}
	return list, err
}

// stuck returns what hosts cannot continue as findings about all servers: no look at replicas that agree shows that
// they have all lost the end of a journal, and who has read that end knows it. A journal that is none is left out.
func stuck(hosts []nats.HostRow) (found []scrub.Finding) {
	for _, h := range hosts {
		for _, x := range h.Stuck {
			s := engine.Subject{Owner: x.Owner, Session: x.Session}
			if s.Check() != nil {
				continue
			}
			found = append(found, scrub.Finding{
				Stream: nats.StreamOf(s.Shard()), Journal: x.Owner + "/" + x.Session, Seq: x.Seq,
				What: fmt.Sprintf("host %s has read it to here and cannot go on: %q", h.Host, x.Why),
			})
		}
	}
	return found
}
