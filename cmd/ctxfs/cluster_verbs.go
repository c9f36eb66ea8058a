package main

import (
	"github.com/spf13/cobra"

	fscli "github.com/ctxfs/ctxfs/fs/cli"
	"github.com/ctxfs/ctxfs/internal/cli"
)

func init() { fscli.NewCluster = func() fscli.Cluster { return &clusterFlags{} } }

// registerCluster adds the verbs of this package to root, and the sub-verbs of session that need a
// cluster.
func registerCluster(root *cobra.Command) {
	root.AddCommand(clusterCmd())
	cli.AddTo(root, "session", sessionPublishCmd(), sessionWithdrawCmd())
}
