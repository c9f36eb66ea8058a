package cli

import (
	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/cli"
)

func init() { cli.ClearMounts = clearMountsOf }

// Register adds the verbs of this package to root.
func Register(root *cobra.Command) {
	root.AddCommand(mountCmd(), umountCmd(), touchCmd(), clusterCmd())
}
