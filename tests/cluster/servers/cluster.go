package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// Users may connect: hosts of all owners, a laptop that serves u1000 alone, and those that
// maintain the cluster.
var Users = []string{"a", "b", "c", "z", "h0", "h1", "h2", "h3", "laptop", "maintenance", "system"}

// LaptopOwner is whom the user "laptop" serves.
const LaptopOwner = "u1000"

const size = 3

// Cluster is three servers.
type Cluster struct {
	Dir string

	nodes  [size]*node
	routes [size][size]*Proxy // from the first server to the second
	public map[string]string  // keys of users

	mu    sync.Mutex        // guards all below
	hosts map[string]*Proxy // by host and server
}

// Start runs a cluster with streams in it until the test ends. It stays in a directory of the test, whose
// logs are shown if the test fails. The first servers have the given clocks, the rest that of this machine.
func Start(tb testing.TB, clocks ...*harness.Clock) *Cluster {
	tb.Helper()
	c := &Cluster{Dir: tb.TempDir(), public: map[string]string{}, hosts: map[string]*Proxy{}}
	tb.Cleanup(func() { c.stop(tb) })
	for _, u := range Users {
		out, err := exec.Command(Binary(tb), "--new-key", c.seed(u)).Output()
		if err != nil {
			tb.Fatal(err)
		}
		c.public[u] = strings.TrimSpace(string(out))
	}
	c.configure(tb)
	for i, clock := range clocks {
		c.nodes[i].clock = clock
	}
	for _, n := range c.nodes {
		n.start(tb)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), 2*time.Minute)
	defer cancel()
	o := c.Options(tb, "maintenance")
	o.Timeout = time.Minute
	if _, err := nats.Create(ctx, o, nats.Share{}); err != nil {
		tb.Fatalf("the streams are not made: %v", err)
	}
	return c
}

// configure makes certificates, links and the settings of all servers.
func (c *Cluster) configure(tb testing.TB) {
	tb.Helper()
	var names []string
	ports := freePorts(tb, 2*size)
	for i := range size {
		n := &node{name: fmt.Sprint("n", i+1), listen: ports[2*i], routes: ports[2*i+1]}
		n.dir = filepath.Join(c.Dir, n.name)
		n.config = filepath.Join(c.Dir, n.name+".json")
		c.nodes[i], names = n, append(names, n.name)
		if err := os.Mkdir(n.dir, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	certificates(tb, c.Dir, names)
	var users []map[string]any
	for _, u := range Users {
		user := map[string]any{"name": u, "key": c.public[u], "role": "host"}
		switch u {
		case "maintenance", "system":
			user["role"] = u
		case "laptop":
			user["owners"] = []string{LaptopOwner}
		}
		users = append(users, user)
	}
	for i, n := range c.nodes {
		var peers []string
		for j, to := range c.nodes {
			if i == j {
				continue
			}
			p, err := newProxy(to.routes)
			if err != nil {
				tb.Fatal(err)
			}
			c.routes[i][j] = p
			peers = append(peers, p.Addr())
		}
		data, err := json.MarshalIndent(map[string]any{
			"cluster": "test", "name": n.name, "listen": n.listen, "routes": n.routes, "peers": peers,
			"store": n.dir, "disk": 1 << 30, "key_file": n.name + ".disk", "users": users,
			"tls": map[string]string{"ca": "ca.pem", "cert": n.name + ".pem", "key": n.name + ".key"},
		}, "", "  ")
		if err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(n.config, data, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

// freePorts returns addresses of this machine on which nobody listens. They are not among the ports that
// the kernel chooses for others, which would take one before the server does.
func freePorts(tb testing.TB, n int) (list []string) {
	tb.Helper()
	for len(list) < n {
		address := fmt.Sprint("127.0.0.1:", 12000+rand.IntN(18000))
		l, err := net.Listen("tcp", address)
		if err != nil || slices.Contains(list, address) {
			continue
		}
		l.Close()
		list = append(list, address)
	}
	return list
}

func (c *Cluster) seed(user string) string { return filepath.Join(c.Dir, user+".seed") }

// stop ends all, and shows the ends of the logs if the test has failed.
func (c *Cluster) stop(tb testing.TB) {
	for _, n := range c.nodes {
		if n != nil {
			n.end(syscall.SIGKILL)
		}
	}
	for i := range c.routes {
		for _, p := range c.routes[i] {
			if p != nil {
				p.close()
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.hosts {
		p.close()
	}
	if !tb.Failed() {
		return
	}
	for _, n := range c.nodes {
		if data, err := os.ReadFile(n.log()); err == nil {
			tb.Logf("%s:\n%s", n.name, data[max(0, len(data)-1500):])
		}
	}
}

// Auth returns the credentials of a user.
func (c *Cluster) Auth(tb testing.TB, user string) []client.Option {
	tb.Helper()
	key, err := client.NkeyOptionFromSeed(c.seed(user))
	if err != nil {
		tb.Fatal(err)
	}
	return []client.Option{key, client.RootCAs(filepath.Join(c.Dir, "ca.pem"))}
}

// Options returns what the engine of a user needs. Its links go through proxies of its own.
func (c *Cluster) Options(tb testing.TB, user string, owners ...string) nats.Options {
	tb.Helper()
	o := nats.Options{Host: user, Auth: c.Auth(tb, user), Owners: owners}
	for i := range size {
		o.Servers = append(o.Servers, "tls://"+c.link(tb, user, i).Addr())
	}
	if user == "maintenance" {
		o.System = append(c.Auth(tb, "system"), client.CustomInboxPrefix(nats.Inbox("system")))
	}
	return o
}

// link returns the link of a user to a server.
func (c *Cluster) link(tb testing.TB, user string, i int) *Proxy {
	tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	name := fmt.Sprint(user, " ", i)
	if c.hosts[name] == nil {
		p, err := newProxy(c.nodes[i].listen)
		if err != nil {
			tb.Fatal(err)
		}
		c.hosts[name] = p
	}
	return c.hosts[name]
}

// Open returns the engine of a user until the test ends.
func (c *Cluster) Open(tb testing.TB, user string, owners ...string) *nats.Engine {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	e, err := nats.Open(ctx, c.Options(tb, user, owners...))
	if err != nil {
		tb.Fatalf("%s: %v", user, err)
	}
	tb.Cleanup(func() { e.Close() })
	return e
}

// Rig returns what the conformance suite needs.
func (c *Cluster) Rig() enginetest.Rig {
	return enginetest.Rig{
		Host:        func(tb testing.TB, name string, owners ...string) engine.Engine { return c.Open(tb, name, owners...) },
		Maintenance: func(tb testing.TB) engine.Engine { return c.Open(tb, "maintenance") },
	}
}

// Leader returns which server leads a shard, 0 to 2. It waits until one does.
func (c *Cluster) Leader(tb testing.TB, shard int) int {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	m := c.Open(tb, "maintenance")
	defer m.Close()
	for {
		a, err := m.Attest(ctx, shard)
		if i := slices.IndexFunc(c.nodes[:], func(n *node) bool { return n.name == a.Leader }); err == nil && i >= 0 {
			return i
		}
		if ctx.Err() != nil {
			tb.Fatalf("shard %d has no leader: %+v, %v", shard, a, err)
		}
	}
}
