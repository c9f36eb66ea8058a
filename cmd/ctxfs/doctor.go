package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	agentscli "github.com/ctxfs/ctxfs/agents/cli"
	fscli "github.com/ctxfs/ctxfs/fs/cli"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/views/doctor"
)

func doctorCmd() *cobra.Command {
	var store string
	var asJSON, serving, repair bool
	c := &cobra.Command{
		Use:   "doctor [flags] [MOUNTPOINT]",
		Short: "Check that a mount will work, and print what to do if not",
		Long: `Check everything that a mount needs on this machine: the kernel, /dev/fuse,
fusermount3, the store with its lock, disk and descriptors, and MOUNTPOINT if
you give one.

Then show how ctxfs is connected to the machine: other mounts and dead ones, the
units of systemd, the helper of mount(8), the lines of fstab, the socket of the
volume plugin, container runtimes, whether running containers will see a new mount,
which records programs wrote at a mountpoint while nothing was mounted there, with
the command that imports them, and which agent programs are connected ('ctxfs
install'), with the time of the last record of each. Where something is missing,
doctor prints the exact remedy. It changes nothing without --repair. Without
--store it looks at the store of MOUNTPOINT, if that is mounted.

doctor asks the daemon of a mount before it touches the mount, so a mount that
hangs does not stop it. A mount that does not answer is named: its daemon is
stopped, slow, gone, or was killed and hangs in the kernel. --repair removes what
the last two left at MOUNTPOINT or of the store.

The exit code is 0 if a mount will work, 1 if something is missing. With
--serving doctor does one thing only, a health check: the exit code is 0 if a
ctxfs answers at MOUNTPOINT now.`,
		Example: "  ctxfs doctor\n  ctxfs doctor --serving /ctx\n  ctxfs doctor /ctx\n  ctxfs doctor --json | jq -r '.[] | select(.state == \"missing\").remedy'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if serving {
				if len(args) == 0 {
					return cli.Usagef("--serving needs a MOUNTPOINT")
				}
				return doctor.Serves(args[0])
			}
			if store == "" && len(args) == 1 {
				if i, rest, ok := mounts.At(args[0]); ok && rest == "" {
					store = i.Source
				}
			}
			dir, err := filepath.Abs(locate.StoreDir(store))
			if err != nil {
				return err
			}
			if repair {
				if err := fscli.ClearDeadMounts(c.ErrOrStderr(), dir, args); err != nil {
					return err
				}
			}
			mountpoint := ""
			if len(args) == 1 {
				if mountpoint, err = locate.Mountpoint(args[0]); err != nil {
					return err
				}
			}
			found := append(doctor.Examine(dir, mountpoint, thisProgram()), agentscli.CheckPrograms(time.Now())...)
			bad := false
			for _, f := range found {
				bad = bad || f.State == doctor.Missing
			}
			if asJSON {
				err = cli.PrintJSON(c.OutOrStdout(), found)
			} else {
				for _, f := range found {
					fmt.Fprintf(c.OutOrStdout(), "%-8s %-12s %s\n", f.State, f.Check, f.Text)
					if f.Remedy != "" {
						fmt.Fprintf(c.OutOrStdout(), "%-8s %-12s → %s\n", "", "", f.Remedy)
					}
				}
			}
			if err == nil && bad {
				err = cli.Silent{Code: cli.ExitFailed}
			}
			return err
		},
	}
	cli.StoreFlag(c, &store)
	c.Flags().BoolVar(&serving, "serving", false, "only check whether a ctxfs answers at MOUNTPOINT; the exit code tells")
	c.Flags().BoolVar(&repair, "repair", false, "first remove what dead daemons left at MOUNTPOINT and of the store")
	c.MarkFlagsMutuallyExclusive("serving", "repair")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON list")
	return c
}

// thisProgram is what a check of the machine has to know of this program.
func thisProgram() doctor.Program {
	return doctor.Program{
		Version:     strings.TrimSpace(thisVersion().Version + " " + commit),
		MountHelper: fscli.MountHelperName,
		FstabLine:   fscli.CheckFstab,
	}
}
