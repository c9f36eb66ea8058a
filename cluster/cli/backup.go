package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/cluster/backup"
	"github.com/ctxfs/ctxfs/internal/cli"
)

func clusterBackupCmd() *cobra.Command {
	var dir, to string
	var verify, asJSON bool
	var number int
	var every time.Duration
	var keep backup.Keep
	c := &cobra.Command{
		Use:   "backup [flags] --to DIR",
		Short: "Copy all that the cluster has to a directory of plain files",
		Long: `Copy the journals and objects of all users to DIR, while hosts go on. The
backup has all that was acknowledged before it began. Run it again with the
same DIR, and it copies what is new: files never change, and backups have the
numbers 1, 2, 3, and so on. DIR can be copied elsewhere by any program while
no backup runs. It needs a machine with the keys of the maintenance user: a
server, or where the cluster was made.

Keys, tokens and users of the cluster are not in it: keep the directory of the
machine where the cluster was made (ca.key) apart. What was appended after the
last backup began is lost with the cluster; --every makes one again and again,
until SIGTERM or SIGINT.

--keep and --keep-for have older backups removed from DIR once the new one is
made, and the files that none of the others needs. A backup stays if one of both
wants it. None goes while the new one has problems, or while one that is to stay
is damaged.

--verify reads a backup of DIR whole instead, the newest or --number, and
holds each file and each entry against its hash. It needs no cluster. The exit
code is 1 when there are problems. Entries are not encrypted in DIR, which is
for its owner alone (0700).`,
		Example: "  ctxfs cluster backup --to /srv/backup\n  ctxfs cluster backup --to /srv/backup --every 5m --keep 12 --keep-for 720h\n  ctxfs cluster backup --to /srv/backup --verify",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			out := c.OutOrStdout()
			if number != 0 && !verify {
				return cli.Usagef("--number is for --verify")
			}
			if keep.Last < 0 || keep.For < 0 || c.Flags().Changed("keep") && keep.Last == 0 {
				return cli.Usagef("--keep and --keep-for: a number of backups, and a duration like 720h")
			}
			if verify {
				r, err := backup.Verify(ctx, to, number)
				return writeBackup(out, "Looked at", r, asJSON, err)
			}
			for {
				err := clusterBackup(ctx, out, dir, to, keep, asJSON)
				if every <= 0 {
					return err
				}
				if ctx.Err() != nil {
					return nil
				}
				if err != nil {
					fmt.Fprintln(c.ErrOrStderr(), "ctxfs:", err)
				}
				select {
				case <-time.After(every):
				case <-ctx.Done():
					return nil
				}
			}
		},
	}
	fl := c.Flags()
	clusterDirFlag(c, &dir)
	fl.StringVar(&to, "to", "", "`DIR` of the backups; it is made if it is not there")
	fl.BoolVar(&verify, "verify", false, "look at a backup instead of making one")
	fl.IntVar(&number, "number", 0, "`NUMBER` of the backup to look at (default: the newest)")
	fl.DurationVar(&every, "every", 0, "make a backup, wait for so `LONG`, and make the next")
	fl.IntVar(&keep.Last, "keep", 0, "remove backups but for the newest `NUMBER` (default: none goes)")
	fl.DurationVar(&keep.For, "keep-for", 0, "remove backups but for those of the last so `LONG`, and the newest")
	fl.BoolVar(&asJSON, "json", false, "print one JSON object a backup")
	c.MarkFlagRequired("to")
	for _, making := range []string{"every", "keep", "keep-for"} {
		c.MarkFlagsMutuallyExclusive("verify", making)
	}
	return c
}

// clusterBackup makes a backup, removes what is not to be kept, and prints both.
func clusterBackup(ctx context.Context, out io.Writer, dir, to string, keep backup.Keep, asJSON bool) error {
	e, _, err := maintenance(ctx, dir, false)
	if err != nil {
		return err
	}
	defer e.Close()
	s, err := e.Statement(ctx)
	if err != nil {
		return err
	}
	r, err := backup.Take(ctx, to, e, s.Store)
	if err == nil && keep != (backup.Keep{}) && len(r.Problems) == 0 {
		if r.Pruned, err = backup.Prune(ctx, to, keep, time.Now()); err != nil {
			r.Problems = append(r.Problems, fmt.Sprintf("old backups stay: %v", err))
		}
		err = nil // the backup itself is made
	}
	return writeBackup(out, "Copied", r, asJSON, err)
}

// writeBackup prints what was done, unless it failed with err.
func writeBackup(out io.Writer, did string, r *backup.Report, asJSON bool, err error) error {
	if err != nil {
		return err
	}
	if asJSON {
		err = cli.PrintJSON(out, r)
	} else {
		_, err = fmt.Fprintf(out, "%s backup %d: what was acknowledged before %s, of %s with %s\n%s and %s, %d bytes, in %v\n", did, r.Number,
			r.Acknowledged.UTC().Format(time.RFC3339Nano), cli.Plural(r.Owners, "owner"), cli.Plural(r.Sessions, "session"),
			cli.Thousands(r.Entries)+" entries", cli.Plural(r.Objects, "object"), r.Bytes, r.Took.Round(time.Millisecond))
		if p := r.Pruned; p != nil && (len(p.Numbers) > 0 || p.Files > 0) {
			fmt.Fprintf(out, "Removed %s, and %s that no other one needs, %d bytes\n", cli.Plural(len(p.Numbers), "older backup"), cli.Plural(p.Files, "file"), p.Bytes)
		}
		for _, p := range r.Problems {
			fmt.Fprintln(out, p)
		}
	}
	if err == nil && len(r.Problems) > 0 {
		err = errors.New(cli.Plural(len(r.Problems), "problem"))
	}
	return err
}

func clusterRestoreCmd() *cobra.Command {
	var dir, from string
	var number int
	var asJSON bool
	c := &cobra.Command{
		Use:   "restore [flags] --from DIR",
		Short: "Put a backup into a new cluster",
		Long: `Put a backup that ctxfs cluster backup has made into a new cluster: one that
ctxfs cluster init has made and ctxfs cluster serve runs, and that no host has
mounted yet. It gets the same sessions: the same ids, bytes, heads and packs.
If it is interrupted, run it again. A cluster that has anything else is
refused.

Hosts join the new cluster with new tokens and mount it with new stores: a
store of the old cluster is refused, because it may have what the backup does
not.`,
		Example: "  ctxfs cluster restore --from /srv/backup\n  ctxfs cluster restore --from /srv/backup --number 12",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			e, _, err := maintenance(ctx, dir, false)
			if err != nil {
				return err
			}
			defer e.Close()
			r, err := backup.Restore(ctx, from, number, e)
			return writeBackup(c.OutOrStdout(), "Restored", r, asJSON, err)
		},
	}
	clusterDirFlag(c, &dir)
	c.Flags().StringVar(&from, "from", "", "`DIR` of the backups")
	c.Flags().IntVar(&number, "number", 0, "`NUMBER` of the backup (default: the newest)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.MarkFlagRequired("from")
	return c
}
