package mounts

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// Host is a mount of a cluster.
type Host struct {
	*harness.Mount
	Name string // one of servers.Users
}

// New returns a mount that is not started. args are further flags of ctxfs mount.
func New(tb testing.TB, c *servers.Cluster, name string, o harness.Options, args ...string) *Host {
	tb.Helper()
	o.NoStart = true
	o.Args = append(Args(tb, c, name), append(args, o.Args...)...)
	return &Host{harness.Start(tb, o), name}
}

// Args returns the flags of ctxfs mount with which a user mounts a cluster. Its links go through proxies of
// its own.
func Args(tb testing.TB, c *servers.Cluster, user string) []string {
	tb.Helper()
	return []string{
		"--cluster=" + strings.Join(c.Options(tb, user).Servers, ","), "--creds", filepath.Join(c.Dir, user+".seed"),
		"--cluster-ca", filepath.Join(c.Dir, "ca.pem"), "--host", user,
	}
}

// Start returns mounts that run, with the time limit of an append that is the default.
func Start(tb testing.TB, c *servers.Cluster, names ...string) (hosts []*Host) {
	tb.Helper()
	for _, name := range names {
		hosts = append(hosts, New(tb, c, name, harness.Options{}))
	}
	Run(tb, hosts...)
	return hosts
}

// Run starts mounts side by side, each as Again does.
func Run(tb testing.TB, hosts ...*Host) {
	tb.Helper()
	var all sync.WaitGroup
	for _, h := range hosts {
		all.Go(func() { h.Again(tb) })
	}
	all.Wait()
	if tb.Failed() {
		tb.FailNow()
	}
}

// Again starts a mount, however often that takes while the cluster is not whole, or takes its name for one
// that lives. It marks the test as failed if that never succeeds.
func (h *Host) Again(tb testing.TB) {
	tb.Helper()
	for end := time.Now().Add(harness.Patience); ; time.Sleep(200 * time.Millisecond) {
		err := h.TryStart()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			tb.Errorf("the mount of %s does not start: %v", h.Name, err)
			return
		}
	}
}

// Of returns a session of another host as this one shows it.
func (h *Host) Of(s *harness.Session) *harness.Session {
	x := *s
	x.Mount, x.Dir = h.Mount, h.In(s.Dir, s.Mount)
	return &x
}

// In returns a path of another mount as this one has it.
func (h *Host) In(path string, of *harness.Mount) string {
	return h.Dir + strings.TrimPrefix(path, of.Dir)
}

// Await waits until this host shows a session of another one, and returns it.
func (h *Host) Await(tb testing.TB, s *harness.Session) *harness.Session {
	tb.Helper()
	x := h.Of(s)
	harness.Eventually(tb, x.Dir, func() bool {
		_, err := os.Stat(x.Path("messages.jsonl"))
		return err == nil
	})
	return x
}
