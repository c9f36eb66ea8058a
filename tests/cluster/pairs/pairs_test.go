// Package pairs runs tests that were written for one mount with two mounts of a cluster, the clients of each
// test spread over both: see harness.PairEnv.
package pairs

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// chosen are the tests that run so in the matrix, by package. PAIRS="./tests/append ./tests/perm" runs all of
// these packages instead, as far as leftOut does not name them.
var chosen = map[string][]string{
	"./tests/append": {"TestProgramsAppend", "TestFlushAfterEachHalf"},
}

// leftOut are tests that cannot run so, and why.
var leftOut = map[string]string{}

// TestSuitesOverTwoMounts runs them.
func TestSuitesOverTwoMounts(t *testing.T) {
	suite.Matrix(t, "three servers, and tests of other packages")
	c := servers.Start(t)
	socket := filepath.Join(t.TempDir(), "pairs")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	empty := emptier(t, c)
	args := [2][]string{}
	for i, user := range []string{"a", "b"} {
		args[i] = append(mounts.Args(t, c, user), "--freshness", "0")
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if err := empty(); err != nil {
				t.Error(err)
			} else {
				json.NewEncoder(conn).Encode(args)
			}
			conn.Close()
		}
	}()
	run := func(pkg string, more ...string) {
		t.Run(pkg, func(t *testing.T) {
			cmd := exec.Command("go", append([]string{"test", "-count=1", "-timeout", "20m", pkg}, more...)...)
			cmd.Dir = harness.Root()
			cmd.Env = append(os.Environ(), harness.PairEnv+"="+socket, "CTXFS_BIN="+harness.Binary(t), "CTXFS_MATRIX=")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
	var skip []string
	for name := range leftOut {
		skip = append(skip, "^"+name+"$")
	}
	slices.Sort(skip)
	if all := os.Getenv("PAIRS"); all != "" {
		for _, pkg := range strings.Fields(all) {
			run(pkg, "-v", "-skip", strings.Join(append(skip, "^$"), "|"))
		}
		return
	}
	for pkg, names := range chosen {
		run(pkg, "-run", "^("+strings.Join(names, "|")+")$")
	}
}

// emptier returns a function that removes all entries of a cluster that no host uses.
func emptier(t *testing.T, c *servers.Cluster) func() error {
	t.Helper()
	o := c.Options(t, "maintenance")
	k, err := client.Connect(o.Servers[0], append(o.Auth, client.CustomInboxPrefix(nats.Inbox("maintenance")))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return func() error {
		streams := []string{"CTXT"}
		for shard := range engine.Shards {
			streams = append(streams, fmt.Sprintf("CTXJ_%02x", shard))
		}
		for _, name := range streams {
			m, err := k.Request("$JS.API.STREAM.PURGE."+name, nil, time.Minute)
			if err != nil || strings.Contains(string(m.Data), `"error"`) {
				return fmt.Errorf("%s is not emptied: %v %s", name, err, m.Data)
			}
		}
		return nil
	}
}
