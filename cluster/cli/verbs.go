package cli

import (
	"github.com/spf13/cobra"

	fscli "github.com/ctxfs/ctxfs/fs/cli"
	"github.com/ctxfs/ctxfs/internal/cli"
)

func init() { fscli.NewCluster = func() fscli.Cluster { return &clusterFlags{} } }

// Register adds the verbs of this package to root, and the sub-verbs of session that need a
// cluster.
func Register(root *cobra.Command) {
	root.AddCommand(clusterCmd())
	cli.AddTo(root, "session", sessionPublishCmd(), sessionWithdrawCmd())
}

func clusterCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "cluster",
		Short: "Run three servers that keep sessions for many hosts (experimental)",
		Long: `Make a cluster of three servers, join machines to it, run the servers and look
how they are. The servers keep what hosts append on two disks of three before
they acknowledge it. ctxfs mount --cluster shows the sessions of all hosts on this
machine: docs/cluster.md has what holds then, and what does not.`,
		Example: `  ctxfs cluster init --server n1=10.0.0.1 --server n2=10.0.0.2 --server n3=10.0.0.3
  ctxfs cluster join TOKEN      # on n2 and n3, each with its own
  ctxfs cluster serve           # on all three
  ctxfs mount --cluster /ctx    # on each host
  ctxfs cluster status
  ctxfs cluster backup --to /srv/backup`,
	}
	return cli.Group(c, clusterInitCmd(), clusterJoinCmd(), clusterTokenCmd(), clusterServeCmd(), clusterStatusCmd(), clusterHealCmd(), clusterScrubCmd(), clusterBackupCmd(), clusterRestoreCmd())
}
