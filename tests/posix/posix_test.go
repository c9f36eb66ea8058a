// Package posixtest runs go-fuse's own POSIX suite on an ordinary directory of
// the mount: the agent's home.
package posixtest

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hanwen/go-fuse/v2/posixtest"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// skips are the tests that are known to fail, each with the reason. One that
// passes nevertheless fails TestPosix, so that no skip outlives its reason.
var skips = map[string]string{
	"FcntlFlockLocksFile": "it expects two POSIX locks of one process to conflict, which they do on no filesystem; go-fuse's own run leaves it out too",
}

func TestPosix(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	home := m.Session(t, harness.Self(), "coder", "s1").AgentHome()
	for name := range skips {
		if posixtest.All[name] == nil {
			t.Errorf("the skip table names %s, which is no test", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(posixtest.All)) {
		dir := filepath.Join(home, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			reason, skip := skips[name]
			if !skip {
				posixtest.All[name](t, dir)
				return
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestOne$", "-test.timeout=60s")
			cmd.Env = append(os.Environ(), "CTXFS_POSIX_TEST="+name, "CTXFS_POSIX_DIR="+dir)
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Errorf("%s is in the skip table (%s) but passes:\n%s", name, reason, out)
			}
			t.Skip(reason)
		})
	}
}

// TestOne is one test of the suite in a process of its own, where it may fail.
func TestOne(t *testing.T) {
	name := os.Getenv("CTXFS_POSIX_TEST")
	if name == "" {
		t.Skip("run by TestPosix for each entry of its skip table")
	}
	posixtest.All[name](t, os.Getenv("CTXFS_POSIX_DIR"))
}
