package cli

import (
	"context"
	"fmt"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/keep"
	"github.com/ctxfs/ctxfs/cluster/member"
	"github.com/ctxfs/ctxfs/cluster/tend"
)

func clusterServeCmd() *cobra.Command {
	var dir string
	var o keep.Options
	var park, collect time.Duration
	c := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Run this machine's server, and look after the cluster",
		Long: `Run ctxfs-server with this machine's settings, until SIGTERM or SIGINT. Beside it,
under the maintenance user: make the streams of a new cluster, hand on who may
connect, and look every ten seconds whether all replicas have the same and the
servers sync every entry. What is wrong is printed with its remedy.

A replica of this server that lacks what the two others have is made anew: the
server is stopped, what it has of that stream is set aside in its store below
quarantine, and the server is started and catches up. It happens to one server at
a time, and only when the two others agree. --no-heal leaves it at an alarm.

Once a day all journals are read from each of the servers, in a twentieth of the
time, and once a month the objects, too (ctxfs cluster scrub does it at once).

One of the servers' machines also keeps the cluster small: what snapshots have is
trimmed from journals; a session that nobody appends to for --park-after lies among
the objects alone, until somebody does; an object that nothing has named for
--collect-after is removed. 0 leaves them.

A cluster that does not keep what it must is refused by hosts: a server older than
2.15.2, one that does not sync always, a stream with fewer than three replicas or
other settings, a link off this machine without TLS 1.3. --unsafe accepts it;
ctxfs cluster status names it for ever.`,
		Example: "  ctxfs cluster serve\n  ctxfs cluster serve --dir /srv/ctxfs-cluster",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := member.Read(clusterDir(dir))
			if err != nil {
				return err
			}
			if !m.IsServer() {
				return fmt.Errorf("%s is no server of cluster %s", m.Name, m.Cluster)
			}
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			tending, end := context.WithCancel(ctx)
			var tended sync.WaitGroup
			tended.Go(func() {
				tendCluster(tending, m, tend.Options{ParkAfter: never(park), CollectAfter: never(collect)}, c.ErrOrStderr())
			})
			defer tended.Wait()
			defer end()
			return keep.Serve(ctx, m, o, c.ErrOrStderr())
		},
	}
	clusterDirFlag(c, &dir)
	c.Flags().StringVar(&o.Program, "server-program", "", "`FILE` of ctxfs-server (default: beside ctxfs, else in PATH)")
	c.Flags().DurationVar(&o.ScrubEvery, "scrub-every", 24*time.Hour, "`TIME` from one scrub of all journals to the next; 0: none by itself")
	c.Flags().DurationVar(&park, "park-after", tend.ParkAfter, "`TIME` without an append after which a session is parked; 0: none is")
	c.Flags().DurationVar(&collect, "collect-after", bulk.KeepFor, "`TIME` after which an object goes that nothing names; 0: none does")
	c.Flags().BoolVar(&o.NoHeal, "no-heal", false, "do not stop the server to make a damaged replica anew; alarms alone")
	c.Flags().BoolVar(&o.Unsafe, "unsafe", false, "go on with a cluster that does not keep what it must, and name it for ever")
	return c
}
