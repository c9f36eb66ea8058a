package cli

import (
	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/fs"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

// touchCmd is the child by which a process touches a mount; nobody types it.
func touchCmd() *cobra.Command {
	return &cobra.Command{
		Use:    daemon.TouchVerb + " POINT [STORE]",
		Short:  "Find out whether a mount answers, or hang (started by ctxfs itself)",
		Hidden: true,
		Args:   cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 { // for the watchdog of that daemon
				return fs.Answers(args[0])
			}
			pid, _ := daemon.LockHolder(args[1])
			return mounts.Touched(c.OutOrStdout(), pid, func() bool { return fs.Dead(args[0]) })
		},
	}
}
