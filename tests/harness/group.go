package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/memory"
)

// LimitMemory returns o with a control group of so many bytes around the daemon. Where the tester cannot make one, the daemon is
// told by GOMEMLIMIT what it would have found, and killed is false: nobody kills what exceeds it.
func LimitMemory(tb testing.TB, o Options, bytes int64) (_ Options, killed bool) {
	tb.Helper()
	dir, err := memoryGroup(bytes)
	if err != nil {
		tb.Logf("no control group: %v", err)
		o.Env = append(o.Env, fmt.Sprintf("GOMEMLIMIT=%d", memory.OfGroup(bytes)))
		return o, false
	}
	tb.Cleanup(func() { // after the daemon has ended
		Eventually(tb, "the control group to be empty", func() bool { return unix.Rmdir(dir) == nil })
	})
	o.Wrap = append([]string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(dir, "cgroup.procs")}, o.Wrap...)
	return o, true
}

// memoryGroup makes a control group with a limit of memory, below the root of its hierarchy.
func memoryGroup(bytes int64) (dir string, err error) {
	root, limit := "/sys/fs/cgroup/memory", "memory.limit_in_bytes" // version 1
	if _, err := os.Stat(filepath.Join(root, limit)); err != nil {
		root, limit = "/sys/fs/cgroup", "memory.max"
		controllers, err := os.ReadFile(filepath.Join(root, "cgroup.subtree_control"))
		if err == nil && !strings.Contains(string(controllers), "memory") {
			err = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+memory"), 0)
		}
		if err != nil {
			return "", err
		}
	}
	if dir, err = os.MkdirTemp(root, "ctxfs-test-"); err != nil {
		return "", err
	}
	if err = os.WriteFile(filepath.Join(dir, limit), []byte(strconv.FormatInt(bytes, 10)), 0); err != nil {
		unix.Rmdir(dir)
		return "", err
	}
	return dir, nil
}
