package main

import "github.com/spf13/cobra"

func init() { ClearMounts = clearMountsOf }

// registerFS adds the verbs of this package to root.
func registerFS(root *cobra.Command) {
	root.AddCommand(mountCmd(), umountCmd(), touchCmd())
}
