package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/cli"
)

// errCluster answers commands that earlier releases had for a cluster on NATS.
var errCluster = cli.Usagef("the cluster on NATS was removed, and a shared store on PostgreSQL will replace it; " +
	"until then a store serves one host (docs/cluster.md)")

// clusterFlag is the value of --cluster, which [errCluster] refuses.
type clusterFlag struct{}

func (clusterFlag) String() string   { return "" }
func (clusterFlag) Type() string     { return "string" }
func (clusterFlag) Set(string) error { return errCluster }

// addClusterFlag defines --cluster, which help does not list.
func addClusterFlag(c *cobra.Command) {
	fl := c.Flags()
	fl.Var(clusterFlag{}, "cluster", "removed")
	fl.Lookup("cluster").NoOptDefVal = "machine"
	fl.MarkHidden("cluster")
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if errors.Is(err, errCluster) {
			return errCluster // without the name of the flag, which cobra adds
		}
		return err
	})
}

// clusterCmd returns the hidden verb cluster, which [errCluster] refuses.
func clusterCmd() *cobra.Command {
	return &cobra.Command{
		Use: "cluster", Short: "Removed", Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error { return errCluster },
	}
}
