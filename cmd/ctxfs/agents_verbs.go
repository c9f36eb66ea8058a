package main

import "github.com/spf13/cobra"

// registerAgents adds the verbs of this package to root.
func registerAgents(root *cobra.Command) {
	root.AddCommand(importCmd(), exportCmd(), installCmd(), mcpCmd(), memoryCmd(), snippetCmd(), hookCmd(), hookImportCmd())
}
