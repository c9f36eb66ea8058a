package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ctxfs/ctxfs/internal/suite"

	"github.com/ctxfs/ctxfs/pack/source"
)

// The test binary is the runner, too, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "runner" {
		if err := Main(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "daemon" {
		daemon(os.Args[2])
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "deadly" {
		uid, _ := strconv.Atoi(os.Args[5])
		deadly(os.Args[2] == "true", os.Args[3], os.Args[4], uint32(uid))
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "generate" {
		generate(os.Args[2] == "true")
		return
	}
	goleak.VerifyTestMain(suite.Wrap(m))
}

const (
	long  = 3 * time.Minute       // longer than anything takes
	short = 50 * time.Millisecond // for what does not come anyway
	limit = 1 << 20
)

func start(t *testing.T) *Client {
	t.Helper()
	c, err := Start(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// broker returns the pid of the broker that runs, or of the last one that did.
func (c *Client) broker() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proc.Process.Pid
}

func readAs(t *testing.T, c *Client, uid int, wait time.Duration, paths ...string) []source.WorkspaceFile {
	t.Helper()
	files, err := c.ReadFiles(context.Background(), uint32(uid), uint32(uid), paths, limit, wait)
	if err != nil || len(files) != len(paths) {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for i, f := range files {
		if f.Path != paths[i] {
			t.Fatalf("answer %d is for %s, want %s", i, f.Path, paths[i])
		}
	}
	return files
}

func read(t *testing.T, c *Client, wait time.Duration, path string) source.WorkspaceFile {
	t.Helper()
	return readAs(t, c, os.Getuid(), wait, path)[0]
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// children returns the pids of a process's children, without those that have ended and that it has not reaped yet. The
// kernel's own list, /proc/<pid>/task/*/children, leaves some out while others end.
func children(pid int) (pids []int) {
	for _, p := range processes() {
		if f := statFields(p); len(f) > 1 && string(f[1]) == strconv.Itoa(pid) && string(f[0]) != "Z" && string(f[0]) != "X" {
			pids = append(pids, p)
		}
	}
	return pids
}

func onlyReader(t *testing.T, c *Client) int {
	t.Helper()
	pids := children(c.broker())
	if len(pids) != 1 {
		t.Fatalf("readers: %v, want one", pids)
	}
	return pids[0]
}

// ended waits until a process is gone, or a zombie that nobody reaps.
func ended(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(long); time.Now().Before(deadline); {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(b, []byte(") Z ")) {
			return
		}
	}
	t.Errorf("process %d still runs", pid)
}

// stop stops a process and returns when all its threads stand still.
func stop(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(long); time.Now().Before(deadline); {
		stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		stopped := 0
		for _, s := range stats {
			if b, _ := os.ReadFile(s); bytes.Contains(b, []byte(") T ")) {
				stopped++
			}
		}
		if len(stats) > 0 && stopped == len(stats) {
			return
		}
	}
	t.Fatalf("process %d does not stop", pid)
}
