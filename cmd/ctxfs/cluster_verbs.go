package main

import "github.com/spf13/cobra"

func init() { newCluster = func() mountCluster { return &clusterFlags{} } }

// registerCluster adds the verbs of this package to root, and the sub-verbs of session that need a
// cluster.
func registerCluster(root *cobra.Command) {
	root.AddCommand(clusterCmd())
	AddTo(root, "session", sessionPublishCmd(), sessionWithdrawCmd())
}
