package cli

import (
	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/run/runner"
)

// runnerCmd returns the hidden verb with which the daemon starts the runner process.
func runnerCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "runner",
		Short:  "Read workspace files and run generators for a daemon (started by ctxfs itself)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return runner.Main() },
	}
}
