package soak

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// hostNames are the mounts.
var hostNames = []string{"a", "b", "c"}

// timeout is how long a mount waits for the cluster before it refuses an append.
const timeout = 10 * time.Second

// machine is one mount of the cluster.
type machine struct {
	*mounts.Host
	acked atomic.Int64 // writes to logs that were acknowledged there
}

// fleet is three servers and the mounts of what is in them.
type fleet struct {
	c     *servers.Cluster
	hosts []*machine
}

// newFleet starts servers and mounts.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{c: servers.Start(t)}
	var list []*mounts.Host
	for _, name := range hostNames {
		h := mounts.New(t, f.c, name, harness.Options{}, "--cluster-timeout", timeout.String())
		list, f.hosts = append(list, h), append(f.hosts, &machine{Host: h})
	}
	mounts.Run(t, list...)
	return f
}

// dir returns the directory of a session on a host.
func (h *machine) dir(session string) string {
	return filepath.Join(h.Dir, "home", "0", "agent", "coder", "session", session)
}

// pause waits for d, or until ctx ends. It reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
