package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// genManCmd writes the man pages; 'make man' calls it.
func genManCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "gen-man DIR",
		Short:  "Write the man pages into DIR",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := c.Root()
			root.DisableAutoGenTag = true
			// The date is that of SOURCE_DATE_EPOCH where it is set, so that the same source gives the same pages.
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "ctxfs " + thisVersion().Version, Manual: "ctxfs"}, args[0])
		},
	}
}
