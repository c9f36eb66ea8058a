package host

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// guest is a systemd with its own processes, mounts and control groups.
type guest struct {
	t   *testing.T
	pid int // of its process 1, as the host numbers it
}

// makeGuest prepares the guest's root and becomes its process 1. Its $1 is a directory of the host, its $2 the name of a
// control group. Of the units of the machine only the journal's are kept; nothing of it is written to.
const makeGuest = `
set -eu
dir=$1 group=$2
# Of other tests: their daemons would wait for the guest to end. What one of them ends meanwhile, mountpoint and all, is gone here as well.
umount -l -a -t fuse.ctxfs 2> /dev/null || :
for mounted in $(cut -d ' ' -f 2 /proc/mounts); do # and so would the disks that their disks are on
	case $mounted in "${TMPDIR:-/tmp}"/*) umount -q -l "$mounted" || : ;; esac
done
mkdir -p $dir/root $dir/upper $dir/cgroup
mount -t cgroup2 cgroup2 $dir/cgroup
mkdir $dir/cgroup/$group
echo $$ > $dir/cgroup/$group/cgroup.procs
exec unshare --cgroup --pid --fork --kill-child=KILL --uts --ipc --mount --propagation private bash -euc '
dir=$1
umount $dir/cgroup
mount -t tmpfs tmpfs $dir/upper
mkdir $dir/upper/upper $dir/upper/work
mount -t overlay overlay -o lowerdir=/,upperdir=$dir/upper/upper,workdir=$dir/upper/work $dir/root
root=$dir/root
mount -t proc proc $root/proc
mount --rbind /dev $root/dev
mount --bind /sys $root/sys
mount -t cgroup2 cgroup2 $root/sys/fs/cgroup
for d in run tmp var/log usr/lib/systemd/system etc/systemd/system usr/local/lib/systemd; do
	mkdir -p $root/$d
	mount -t tmpfs tmpfs $root/$d
done
chmod 1777 $root/tmp
touch $dir/console
mount --bind $dir/console $root/dev/console
cd /usr/lib/systemd/system
cp systemd-journald.service systemd-journald.socket systemd-journald-dev-log.socket $root/usr/lib/systemd/system/
cd $root/usr/lib/systemd/system
for t in sysinit local-fs shutdown multi-user basic sockets umount; do printf "[Unit]\nDefaultDependencies=no\n" > $t.target; done
printf "[Unit]\nDefaultDependencies=no\nAllowIsolate=yes\nWants=systemd-journald.service systemd-journald.socket systemd-journald-dev-log.socket\n" > guest.target
# Stands for the service of a container runtime: it says whether the mount was there when it started.
printf "[Service]\nType=oneshot\nExecStart=/bin/sh -c \"grep -q /ctx /proc/mounts && echo runtime sees the mount\"\n" > docker.service
cp $dir/*.deb $root/root/
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=ctxfs-test chroot $root /lib/systemd/systemd --system --unit=guest.target --show-status=0
' guest $dir
`

// newGuest starts one and waits until it runs. It and all it started end with the test.
func newGuest(t *testing.T, files ...string) *guest {
	t.Helper()
	harness.NeedRoot(t)
	for _, p := range []string{"unshare", "nsenter", "systemctl", "/lib/systemd/systemd"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Fatalf("%v: apt-get install util-linux systemd", err)
		}
	}
	dir := harness.TempDir(t)
	for _, f := range files {
		if err := os.Link(f, filepath.Join(dir, filepath.Base(f))); err != nil {
			t.Fatal(err)
		}
	}
	group := fmt.Sprintf("ctxfs-test-%d", os.Getpid())
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "bash", "-c", makeGuest, "guest", dir, group)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill() // and with it, as its parent dies, process 1 and all below
		<-ended
		out, err := exec.Command("unshare", "--mount", "--propagation", "private", "bash", "-c",
			`umount -l -a -t fuse.ctxfs; mount -t cgroup2 cgroup2 $1/cgroup && cd $1/cgroup && while [ -e $2 ] && ! find $2 -depth -type d -exec rmdir {} + ; do :; done 2>/dev/null`,
			"clean", dir, group).CombinedOutput()
		if err != nil {
			t.Errorf("control groups of the guest: %v\n%s", err, out)
		}
		if t.Failed() {
			console, _ := os.ReadFile(filepath.Join(dir, "console"))
			t.Logf("the guest said\n%s%s", said.String(), console)
		}
	})
	g := &guest{t: t}
	harness.Eventually(t, "systemd in the guest is process 1", func() bool {
		select {
		case <-ended:
			t.Fatalf("the guest ended: %s", said.String())
		default:
		}
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
		pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil {
			return false
		}
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		g.pid = pid
		return strings.HasSuffix(exe, "/systemd")
	})
	harness.Eventually(t, "systemd in the guest runs", func() bool {
		out, _ := g.try("systemctl is-system-running")
		return out == "running\n" || out == "degraded\n"
	})
	return g
}

// try runs a script in the guest.
func (g *guest) try(script string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nsenter", "--target", strconv.Itoa(g.pid), "--mount", "--uts", "--ipc", "--pid", "--cgroup",
		"--root", "--wd", "bash", "-euc", script)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", "SYSTEMD_PAGER="}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// run runs a script in the guest that must succeed, and gives what it prints.
func (g *guest) run(script string) string {
	g.t.Helper()
	out, err := g.try(script)
	if err != nil {
		log, _ := g.try("systemctl --no-pager status ctxfs; journalctl --no-pager -n 50")
		g.t.Fatalf("%s: %v\n%s\n%s", script, err, out, log)
	}
	return out
}
