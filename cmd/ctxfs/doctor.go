package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

// finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"` // stateOK, stateNote or stateBad
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"` // what to type, exactly
}

const (
	stateOK   = "ok"
	stateNote = "note"    // works, but worth knowing
	stateBad  = "missing" // a mount will fail
)

func doctorCmd() *cobra.Command {
	var store string
	var asJSON, serving, repair bool
	c := &cobra.Command{
		Use:   "doctor [flags] [MOUNTPOINT]",
		Short: "Check that a mount will work, and say what to do where not",
		Long: `Check everything a mount needs of this machine: the kernel, /dev/fuse,
fusermount3, the store with its lock, disk and descriptors, and MOUNTPOINT when
one is given.
Then tell how ctxfs is tied into it: other mounts and dead ones, the units of
systemd, the helper of mount(8), the lines of fstab, the volume plugin's socket,
container runtimes, and whether running containers will see a mount that is made
anew. For each thing that is missing the exact remedy is printed. Nothing is
changed, unless --repair asks for it.

A mount is not touched before its daemon was asked, so that none that hangs
keeps doctor from its work. One that does not answer is named: its daemon is
stopped, slow, gone, or was killed and hangs in the kernel. What the last two
left at MOUNTPOINT, or of the store, is taken away with --repair.

The exit code is 0 when a mount will work, 1 when something is missing. With
--serving it is 0 when a ctxfs answers at MOUNTPOINT now, and nothing else is
looked at: for health checks.`,
		Example: "  ctxfs doctor\n  ctxfs doctor --serving /ctx\n  ctxfs doctor /ctx\n  ctxfs doctor --json | jq -r '.[] | select(.state == \"missing\").remedy'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if serving {
				if len(args) == 0 {
					return usagef("--serving wants a MOUNTPOINT")
				}
				return serves(args[0])
			}
			dir, err := filepath.Abs(storeDir(store))
			if err != nil {
				return err
			}
			if repair {
				if err := clearDeadMounts(c.ErrOrStderr(), dir, args); err != nil {
					return err
				}
			}
			found := append(append(checkSystem(), checkStore(dir)...), checkHandles(dir))
			mountpoint := ""
			if len(args) == 1 {
				if mountpoint, err = cleanMountpoint(args[0]); err != nil {
					return err
				}
				found = append(found, checkMountpoint(mountpoint, dir))
			}
			found = append(found, checkMounts(mountpoint)...)
			found = append(found, checkHost(thisHost(), mountpoint)...)
			bad := false
			for _, f := range found {
				bad = bad || f.State == stateBad
			}
			if asJSON {
				err = printJSON(c.OutOrStdout(), found)
			} else {
				for _, f := range found {
					fmt.Fprintf(c.OutOrStdout(), "%-8s %-12s %s\n", f.State, f.Check, f.Text)
					if f.Remedy != "" {
						fmt.Fprintf(c.OutOrStdout(), "%-8s %-12s → %s\n", "", "", f.Remedy)
					}
				}
			}
			if err == nil && bad {
				err = silent{exitFailed}
			}
			return err
		},
	}
	storeFlag(c, &store)
	c.Flags().BoolVar(&serving, "serving", false, "only say by the exit code whether a ctxfs answers at MOUNTPOINT")
	c.Flags().BoolVar(&repair, "repair", false, "first take away what daemons that died have left at MOUNTPOINT and of the store")
	c.MarkFlagsMutuallyExclusive("serving", "repair")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON list")
	return c
}
