package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/cluster/keep"
	"github.com/ctxfs/ctxfs/cluster/member"
	"github.com/ctxfs/ctxfs/internal/cli"
)

func clusterStatusCmd() *cobra.Command {
	var dir string
	var asJSON, metrics bool
	c := &cobra.Command{
		Use:   "status [flags]",
		Short: "Print the servers, streams and problems of the cluster",
		Long: `Print which servers answer this machine, who leads each stream, what its replicas
have, when all replicas were last looked at, and all problems. CTXJ_00 to CTXJ_0f
have the journals of sessions, CTXT those of users, and CTXO objects. A host that
is no server sees the replicas as they were at the last look.

What the cluster ever ran without (ctxfs cluster serve --unsafe) is named for ever.
The exit code is 1 if there are problems.`,
		Example: "  ctxfs cluster status\n  ctxfs cluster status --json | jq .problems\n  ctxfs cluster status --metrics > /var/lib/node_exporter/ctxfs.prom",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := member.Read(clusterDir(dir))
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), 30*time.Second)
			defer cancel()
			s := keep.Look(ctx, m)
			switch out := c.OutOrStdout(); {
			case metrics:
				return keep.WriteMetrics(out, s)
			case asJSON:
				err = cli.PrintJSON(out, s)
			default:
				err = keep.WriteTables(out, s)
			}
			if err == nil && len(s.Problems) > 0 {
				err = errors.New(cli.Plural(len(s.Problems), "problem"))
			}
			return err
		},
	}
	clusterDirFlag(c, &dir)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().BoolVar(&metrics, "metrics", false, "print OpenMetrics; the exit code does not tell problems")
	c.MarkFlagsMutuallyExclusive("json", "metrics")
	return c
}
