package main

import (
	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/cli"
)

func init() { cli.ClearMounts = clearMountsOf }

// registerFS adds the verbs of this package to root.
func registerFS(root *cobra.Command) {
	root.AddCommand(mountCmd(), umountCmd(), touchCmd())
}
