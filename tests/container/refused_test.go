package container

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// idmap asks for a copy of the mount at dir with other owners, as a runtime does for an idmapped volume.
func idmap(dir string, userns *os.File) error {
	tree, err := unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	return unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(userns.Fd())})
}

// The kernel refuses an idmapped mount of ctxfs, and the mount goes on: docs/containers.md says why it is not allowed.
// The same call on a tmpfs shows that it is asked for rightly.
func TestIdmappedMountIsRefused(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, 1234, "coder", "s1")
	holder := exec.Command("cat")
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 100000, Size: 65536}}
	holder.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: ids, GidMappings: ids}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer holder.Wait()
	defer in.Close()
	userns, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", holder.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer userns.Close()

	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(dir, 0)
	if err := idmap(dir, userns); errors.Is(err, unix.EINVAL) {
		t.Log("this kernel has no idmapped mounts of tmpfs (Linux 6.3 has), so nothing shows that the call is right")
	} else if err != nil {
		t.Errorf("an idmapped tmpfs: %v", err)
	}
	if err := idmap(m.Dir, userns); !errors.Is(err, unix.EINVAL) {
		t.Errorf("an idmapped mount of ctxfs: %v, want EINVAL; docs/containers.md says that it is refused", err)
	}
	s.Bash(`echo '{"role":"user","content":"it goes on"}' >> messages.jsonl`)
}

// What a container cannot have, and how the daemon ends under one.
func TestLimitsOfTheDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("start_dockerd docker")
	w.must("mkdir /ctx && ctxfs mount --volume-plugin --shutdown-timeout 1s /ctx")
	w.image()
	w.must("mkdir -p /ctx/home/0/agent/coder/session/s1")
	if got := w.run("podman run --rm --network none --user 1234:1234 -v /ctx/home/0/agent/coder/session/s1:/s:U busybox ls /s"); !strings.Contains(got, "operation not permitted") {
		t.Errorf("a volume with :U: %q", got)
	}

	// The mount goes from the host, the container keeps it until it ends.
	w.must("docker run -d --name holder --network none -v /ctx:/ctx busybox sleep 1d")
	if got := w.run("ctxfs umount --timeout 100ms /ctx; echo code $?"); !strings.Contains(got, "still runs") || !strings.Contains(got, "code 3") {
		t.Errorf("umount under a container: %q", got)
	}
	if got := w.run("ls /ctx; docker exec holder ls /ctx/home"); got != "0\n" {
		t.Errorf("what the host and the container have of it: %q", got)
	}
	w.must("docker rm -f holder && while pgrep -x ctxfs; do sleep 0.1; done > /dev/null")

	// --stop does not wait for containers.
	w.must("ctxfs mount --volume-plugin --shutdown-timeout 100ms /ctx")
	w.must("docker run -d --name holder --network none -v /ctx:/ctx busybox sleep 1d")
	w.must("ctxfs umount --stop /ctx")
	if got := w.run("docker exec holder ls /ctx/home"); !strings.Contains(got, "not connected") {
		t.Errorf("in the container after --stop: %q", got)
	}

	// Under a slave of the parent, a daemon can be stopped and started while the container runs.
	w.must("docker rm -f holder && mkdir -p /run/ctxfs/ctx && ctxfs mount /run/ctxfs/ctx")
	w.must("docker run -d --name holder --network none -v /run/ctxfs:/run/ctxfs:rslave busybox sleep 1d")
	if got := w.run("docker exec holder ls /run/ctxfs/ctx/home; ctxfs umount /run/ctxfs/ctx; docker exec holder ls /run/ctxfs/ctx; ctxfs mount /run/ctxfs/ctx; docker exec holder ls /run/ctxfs/ctx/home"); got != "0\n0\n" {
		t.Errorf("a restart under a slave of the parent: %q", got)
	}
	w.must("docker rm -f holder && ctxfs umount /run/ctxfs/ctx")

	// A volume whose session was removed says so, in Docker's answer.
	w.must("ctxfs mount --volume-plugin /ctx && docker volume create -d ctxfs -o session=coder/s2 memory && ctxfs session rm --force /ctx/home/0/agent/coder/session/s2")
	if got := w.run("docker run --rm --network none -v memory:/s busybox true"); !strings.Contains(got, "s2, the directory of the volume memory, was removed or renamed; docker volume rm memory") {
		t.Errorf("a volume without its session: %q", got)
	}
	w.must("docker volume rm memory")
}
