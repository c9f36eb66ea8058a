package container

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// runtime is a container runtime with a state of its own.
type runtime struct {
	dir    string // holds the state, and rootfs as docs/containers.md makes it
	podman string // a script that runs podman on that state
}

// newRuntime prepares podman. A machine that cannot run containers fails the
// test and says what is missing.
func newRuntime(t *testing.T) *runtime {
	t.Helper()
	harness.NeedRoot(t)
	for program, pkg := range map[string]string{"podman": "podman", "runc": "runc", "conmon": "conmon",
		"busybox": "busybox-static", "setpriv": "util-linux"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%s is not installed: apt-get install %s", program, pkg)
		}
	}
	runc, _ := exec.LookPath("runc")
	dir, err := os.MkdirTemp("", "ctxfs-pod-") // podman wants a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil { // a container's user must reach its root file system
		t.Fatal(err)
	}
	r := &runtime{dir: dir}
	bin := filepath.Join(r.dir, "bin")
	r.podman = filepath.Join(bin, "podman")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	// The state lives and dies with the test; limits are lowered instead of raised, which needs no privilege.
	script := fmt.Sprintf(`#!/bin/sh
state=%s/state
verb=$1
shift
[ "$verb" = run ] && set -- --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 "$@"
exec /usr/bin/podman --root $state/root --runroot $state/run --tmpdir $state/tmp --storage-driver vfs \
	--cgroup-manager cgroupfs --events-backend file --runtime %s "$verb" "$@"
`, r.dir, runc)
	if err := os.WriteFile(r.podman, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

// bash runs a script of the document in r.dir, with CTX set to the mount.
func (r *runtime) bash(m *harness.Mount, script string) (output string, err error) {
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "CTX="+m.Dir, "LANG=C.UTF-8", "PATH="+filepath.Dir(r.podman)+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}
