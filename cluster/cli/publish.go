package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/cluster/carry"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/member"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/session"
)

func sessionPublishCmd() *cobra.Command {
	var store, dir string
	c := &cobra.Command{
		Use:   "publish [flags] SESSION...",
		Short: "Bring sessions of this host into the cluster (experimental)",
		Long: `Bring sessions that this host alone has into the cluster, each under its name. They
stay the same: id, bytes, head and pack. In a mount of a cluster that is a session
which was in the store before, or was withdrawn; it stays where it is, and other
hosts have it, too.

In a store that no mount serves, it is any session: it comes into the cluster that
this machine has joined (--dir), and is removed from the store.

If it is interrupted, run it again. Only the owner of a session may.

` + locate.SessionHelp,
		Example: "  ctxfs session publish coder/s1\n  ctxfs session publish --store ~/.local/share/ctxfs coder/s1 coder/s2",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for _, arg := range args {
				at, err := locate.Session(arg, store)
				if err == nil {
					err = publishSession(c.Context(), arg, at, dir)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	cli.StoreFlag(c, &store)
	clusterDirFlag(c, &dir)
	return c
}

// carryTimeout is how long the cluster may take for one session.
const carryTimeout = 10 * time.Minute

func publishSession(ctx context.Context, arg string, at locate.Place, dir string) (err error) {
	mounted, err := locate.MountedDir(arg, at)
	if err != nil {
		return err
	}
	if mounted != "" {
		if err := unix.Setxattr(mounted, ctxabi.PublishAttr, []byte("1"), 0); err != nil {
			return mounts.Refused(mounted, &os.PathError{Op: "publish", Path: mounted, Err: err})
		}
		return nil
	}
	m, err := member.Read(clusterDir(dir))
	if err != nil {
		return err
	}
	o, err := m.Host()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, carryTimeout)
	defer cancel()
	e, err := nats.Open(ctx, o)
	if err != nil {
		return err
	}
	defer e.Close()
	h := host.New(host.Options{Name: m.Name, Engine: e})
	s, err := cli.OpenStore(at.Store, session.Options{Committer: h})
	if err != nil {
		return err
	}
	h.Attach(s)
	defer func() {
		h.Close()
		err = cmp.Or(err, s.Close())
	}()
	x, err := s.Session(at.Ref)
	if err != nil {
		return err
	}
	return carry.New(carry.Direct(e, m.Name, h)).Move(ctx, s, x)
}

func sessionWithdrawCmd() *cobra.Command {
	var store string
	c := &cobra.Command{
		Use:   "withdraw [flags] SESSION...",
		Short: "Take sessions out of the cluster; this host keeps them (experimental)",
		Long: `Take sessions out of the cluster of a mount. This host has each with all its history
under the same name, and can go on without the cluster; on other hosts it is gone.
What others append at that moment is in it, or was refused. ctxfs session publish
brings it back.

If it is interrupted, run it again on the same host: until then the session can be
read on all hosts, and perhaps not be changed. Only the owner of a session may.

` + locate.SessionHelp,
		Example: "  ctxfs session withdraw coder/s1",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for _, arg := range args {
				at, err := locate.Session(arg, store)
				if err == nil {
					err = withdrawSession(arg, at)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	cli.StoreFlag(c, &store)
	return c
}

func withdrawSession(arg string, at locate.Place) error {
	mounted, err := locate.MountedDir(arg, at)
	if err != nil {
		return err
	}
	if mounted == "" {
		return errors.New("the store is not mounted; mount it with ctxfs mount --cluster first")
	}
	if err := unix.Setxattr(mounted, ctxabi.WithdrawAttr, []byte(at.Ref.Session), 0); err != nil {
		return mounts.Refused(mounted, &os.PathError{Op: "withdraw", Path: mounted, Err: err})
	}
	return nil
}
