package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/fs"
	"github.com/ctxfs/ctxfs/session"
)

// Cluster is the part of a mount that shares its sessions with other hosts. It has its own
// flags.
type Cluster interface {
	// AddFlags defines the flags.
	AddFlags(c *cobra.Command)

	// Complete makes paths absolute. It returns an error if the flags contradict each other.
	Complete(c *cobra.Command) error

	// Args returns the flags that make the same mount; none if it shares nothing.
	Args() []string

	// Open connects the store in dir to the cluster and changes the options with which the store is
	// opened. It returns nil if the mount shares nothing.
	Open(ctx context.Context, dir string, o *session.Options) (ClusterHost, error)
}

// ClusterHost is this host in its cluster while the mount exists.
type ClusterHost interface {
	fs.Cluster

	// Attach hands over the store, which was opened with the options of Open.
	Attach(store *session.Store) error

	// Shared returns the part that shares ordinary files.
	Shared() fs.Files

	// Close leaves the cluster.
	Close() error
}

// NewCluster returns the cluster part of one mount. cluster/cli sets it.
var NewCluster = func() Cluster { return noCluster{} }

// noCluster is the cluster part of a mount that shares nothing.
type noCluster struct{}

func (noCluster) AddFlags(*cobra.Command)       {}
func (noCluster) Complete(*cobra.Command) error { return nil }
func (noCluster) Args() []string                { return nil }

func (noCluster) Open(context.Context, string, *session.Options) (ClusterHost, error) {
	return nil, nil
}

// NoticeAfter is the time after which a mount reports that it waits for its cluster.
const NoticeAfter = 5 * time.Second

// leave closes the cluster, if there is one.
func leave(n ClusterHost) error {
	if n == nil {
		return nil
	}
	return n.Close()
}

// sharing returns the part of n that shares ordinary files, or nil without a cluster.
func sharing(n ClusterHost) fs.Files {
	if n == nil {
		return nil
	}
	return n.Shared()
}

// seam returns n as package fs needs it, or nil without a cluster.
func seam(n ClusterHost) fs.Cluster {
	if n == nil {
		return nil
	}
	return n
}
