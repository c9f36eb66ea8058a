package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/cluster/backup"
	"github.com/ctxfs/ctxfs/cluster/keep"
	"github.com/ctxfs/ctxfs/cluster/member"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/internal/cli"
)

// maintenance opens the engine of the maintenance user of the machine in dir. The engine is to be closed. Where
// whatever is set, it opens one of a cluster that is unsafe, too, which it returns ErrUnsafe for else; it returns the
// other errors of [nats.Open] and those of package member.
func maintenance(ctx context.Context, dir string, whatever bool) (*nats.Engine, member.Machine, error) {
	m, err := member.Read(clusterDir(dir))
	if err != nil {
		return nil, m, err
	}
	o, err := m.Maintenance()
	if err != nil {
		return nil, m, err
	}
	o.Unsafe = o.Unsafe || whatever
	e, err := nats.Open(ctx, o)
	return e, m, err
}

func clusterHealCmd() *cobra.Command {
	var dir, replica, from string
	var limit time.Duration
	c := &cobra.Command{
		Use:   "heal [flags]",
		Short: "Make damaged replicas anew, and wait until all are whole",
		Long: `Have ctxfs cluster serve make replicas anew that lack what the two others have,
also those that it gave up after three tries, and wait until there is none. serve
does so by itself: it stops its server, sets aside what that has of the stream, and
starts it, one server at a time, and only when the two others agree.

--replica names one to be made anew although nothing is seen to be wrong with it. A
stream that all have lost never is: ctxfs cluster restore makes it from a backup.
--from puts the objects of the newest backup in DIR into the cluster again before,
so that what all servers have lost of them is there. What they have stays.`,
		Example: "  ctxfs cluster heal\n  ctxfs cluster heal --replica n2/CTXJ_03\n  ctxfs cluster heal --from /srv/backup",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), limit)
			defer cancel()
			e, m, err := maintenance(ctx, dir, true)
			if err != nil {
				return err
			}
			defer e.Close()
			out, said := c.OutOrStdout(), ""
			if from != "" {
				r, err := backup.Mend(ctx, from, 0, e)
				if err := writeBackup(out, "Put the objects again of", r, false, err); err != nil {
					return err
				}
			}
			var asks []keep.Ask
			if replica != "" {
				server, stream, ok := strings.Cut(replica, "/")
				if !ok || !strings.HasPrefix(stream, "CTX") {
					return cli.Usagef("--replica %q: want SERVER/STREAM, as n2/CTXJ_03", replica)
				}
				asks = append(asks, keep.Ask{Server: server, Stream: stream, Why: "an operator asked for it"})
			}
			if err := keep.AskToHeal(ctx, e, asks...); err != nil {
				return err
			}
			for {
				h, _, err := keep.Healings(ctx, e)
				if err != nil {
					return err
				}
				s := keep.Look(ctx, m)
				now := strings.Join(s.Problems, "\n")
				if h.Server != "" {
					now = strings.Join(h.Streams, ", ") + " is made anew on " + h.Server
				}
				if h.Server == "" && len(h.Asked) == 0 && len(s.Problems) == 0 {
					_, err := fmt.Fprintln(out, "All replicas are whole")
					return err
				}
				if now != said {
					said = now
					fmt.Fprintln(out, now)
				}
				select {
				case <-ctx.Done():
					return errors.New("not all replicas are whole; ctxfs cluster status has what is wrong, and the log of ctxfs cluster serve why it is not repaired")
				case <-time.After(2 * time.Second):
				}
			}
		},
	}
	clusterDirFlag(c, &dir)
	c.Flags().StringVar(&from, "from", "", "`DIR` of backups, whose objects are put into the cluster again")
	c.Flags().StringVar(&replica, "replica", "", "`SERVER/STREAM` to make anew")
	c.Flags().DurationVar(&limit, "wait", 10*time.Minute, "`TIME` to wait at most")
	return c
}

func clusterScrubCmd() *cobra.Command {
	var dir string
	var asJSON, noObjects bool
	var share float64
	c := &cobra.Command{
		Use:   "scrub [flags]",
		Short: "Read all that each server has, and hold it against the others",
		Long: `Read each stream from each of the three servers. An entry is bad on a server if it
cannot be read there, is another one than the two others have, or does not continue
its journal. A replica that is bad on one server alone is made anew by ctxfs cluster
serve. An entry that is bad on all servers is named with its journal: hosts with a
copy go on, and ctxfs cluster restore makes it from the last backup.

ctxfs cluster serve scrubs by itself (--scrub-every). The exit code is 1 if
something was found.`,
		Example: "  ctxfs cluster scrub\n  ctxfs cluster scrub --share 0.1 --no-objects",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if share <= 0 || share > 1 {
				return cli.Usagef("--share %v: want more than 0, and 1 at most", share)
			}
			e, m, err := maintenance(c.Context(), dir, true)
			if err != nil {
				return err
			}
			defer e.Close()
			s, err := keep.Scrub(c.Context(), e, m.Name, !noObjects, share, func(stream string) {
				fmt.Fprintln(c.ErrOrStderr(), "reading", stream)
			})
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if asJSON {
				err = cli.PrintJSON(out, s)
			} else {
				for _, f := range s.Findings {
					fmt.Fprintln(out, f)
				}
				_, err = fmt.Fprintf(out, "%d entries and %d MiB were read from the servers: %s\n", s.Entries, s.Bytes>>20, cli.Plural(len(s.Findings), "finding"))
			}
			if err == nil && len(s.Findings) > 0 {
				err = errors.New(cli.Plural(len(s.Findings), "finding"))
			}
			return err
		},
	}
	clusterDirFlag(c, &dir)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().BoolVar(&noObjects, "no-objects", false, "read journals alone")
	c.Flags().Float64Var(&share, "share", 1, "`SHARE` of the time to read in; the rest is waited")
	return c
}
