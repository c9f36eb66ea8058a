package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// copySources returns a copy of the sources without what is built of them.
func copySources(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.Command("bash", "-c", "find . \\( -path ./.git -o -path ./.run -o -path ./bin -o -path ./man \\) -prune -o ! -type d -print0 | xargs -0 cp -a --parents -t "+dir)
	cmd.Dir = harness.Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("copy the sources: %v\n%s", err, out)
	}
	return dir
}

// buildDeb makes the package as make deb does, in a copy of the sources: bin/ and man/ of this directory are others' as well, who
// build, run or look at all files meanwhile.
func buildDeb(t *testing.T) (source, deb string) {
	t.Helper()
	source = copySources(t)
	t.Setenv("SOURCE_DATE_EPOCH", strconv.FormatInt(time.Now().Unix(), 10)) // for want of a commit
	dir := t.TempDir()
	cmd := exec.Command("make", "--no-print-directory", "deb", "DEBDIR="+dir)
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make deb: %v\n%s", err, out)
	}
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(debs) != 1 {
		t.Fatalf("make deb made %q, %v", debs, err)
	}
	return source, debs[0]
}

// The package under a real systemd: nothing is started by the installation, the service comes up before the
// runtime of containers, serves, stops in time although a file is open, repairs what a crash leaves, and goes
// away with the package, the store excepted.
func TestPackageAndUnits(t *testing.T) {
	suite.Matrix(t, "it boots a systemd")
	source, deb := buildDeb(t)
	t.Run("lintian finds no error", func(t *testing.T) { // the check of manual pages renders each: slow
		out, err := exec.Command("lintian", "--fail-on", "error", "--allow-root", "--dont-check-part", "documentation/manual", deb).CombinedOutput()
		if err != nil {
			t.Errorf("lintian: %v\n%s", err, out)
		}
	})
	t.Run("the same source gives the same bytes", func(t *testing.T) {
		first, err := os.ReadFile(deb)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		cmd := exec.Command("dist/deb.sh", dir)
		cmd.Dir = source
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("deb.sh: %v\n%s", err, out)
		}
		second, err := os.ReadFile(filepath.Join(dir, filepath.Base(deb)))
		if err != nil {
			t.Fatal(err)
		}
		if string(first) != string(second) {
			t.Error("two builds of the package differ")
		}
	})
	g := newGuest(t, deb)
	g.run("dpkg -i --force-depends /root/*.deb")
	if out, _ := g.try("systemctl is-active ctxfs || systemctl is-enabled ctxfs ctxfs-volume.socket"); out != "inactive\ndisabled\ndisabled\n" {
		t.Errorf("after the installation the units are\n%s", out)
	}
	g.run(`systemd-analyze verify --man=yes ctxfs.service ctxfs-volume.socket 2>&1 | tee /tmp/verify; ! grep -F ctxfs /tmp/verify
		XDG_RUNTIME_DIR=/run systemd-analyze --user verify /usr/lib/systemd/user/ctxfs.service 2>&1 | tee /tmp/verify; ! grep -F ctxfs.service: /tmp/verify`)

	g.run("echo 'CTXFS_OPTIONS=--budget 5000 --log-level debug' > /etc/default/ctxfs; systemctl enable ctxfs; systemctl start ctxfs docker")
	if out := g.run("systemctl show -P StatusText ctxfs; systemctl show -P ActiveState ctxfs; journalctl --sync; journalctl -o cat -u docker | grep runtime"); out !=
		"serving /ctx from /var/lib/ctxfs\nactive\nruntime sees the mount\n" {
		t.Errorf("the service is\n%s", out)
	}

	// Each record has its priority in the journal, and the time only once.
	out := g.run("journalctl --sync; journalctl -u ctxfs -p info..info -o cat | grep serving; journalctl -u ctxfs -o cat")
	if !strings.HasPrefix(out, "msg=serving mountpoint=/ctx") || strings.Contains(out, "time=") || strings.Contains(out, "<6>") {
		t.Errorf("the journal has\n%s", out)
	}

	// It serves every user, and generators run although the service may do only what it must.
	if out := g.run(`
		as() { setpriv --reuid 1234 --regid 1234 --clear-groups bash -euc "$1"; }
		as 'mkdir -p /ctx/home/1234/agent/a/session/s
			cd /ctx/home/1234/agent/a/session/s
			echo "{\"role\":\"user\",\"content\":\"hi\"}" >> messages.jsonl
			echo /tmp > cwd
			printf "%s\n" "wait_ms: 20000" "sources:" "  - {type: computed_file, id: who, generator: {command: [id, -u]}}" "  - {type: journal, max_iterations: 5, step: 3}" > context/context.yaml
			cat context/pack.md'`); !strings.Contains(out, "Context Block: who\n1234\n") || !strings.Contains(out, "1 user\nhi") {
		t.Errorf("the pack under the service is\n%s", out)
	}

	t.Run("a stop does not wait for who has a file open", func(t *testing.T) { g.stopWhileBusy(t) })
	t.Run("a daemon that was there before stays", func(t *testing.T) { g.leavesOthers(t) })
	t.Run("what a crash leaves is repaired", func(t *testing.T) { g.repairs(t) })
	t.Run("the socket of the volume plugin starts the service", func(t *testing.T) { g.socket(t) })
	t.Run("a line of fstab", func(t *testing.T) { g.fstab(t) })

	g.run("systemctl start ctxfs; dpkg -r ctxfs")
	if out := g.run("! grep /ctx /proc/mounts; ! systemctl is-active ctxfs; ls /var/lib/ctxfs/ctxfs.store /etc/default/ctxfs; ls -R /usr | grep -i ctxfs || true; dpkg -P ctxfs; ls /etc/default/ctxfs 2>&1 || true"); !strings.Contains(out, "/var/lib/ctxfs/ctxfs.store") || !strings.Contains(out, "No such file") {
		t.Errorf("after the removal there is\n%s", out)
	}
}

func (g *guest) stopWhileBusy(t *testing.T) {
	out := g.run(`
		exec 7< /ctx/home/1234/agent/a/session/s/messages.jsonl
		systemctl stop ctxfs
		journalctl --sync
		journalctl -u ctxfs -o cat | grep -o 'files are still open\|SIGKILL\|Deactivated.*' | uniq
		grep fuse.ctxfs /proc/mounts || echo no mount
		cat <&7 2>&1 || true
		timeout 120 sh -c 'while ps -eo stat= | grep -q ^D; do sleep 0.1; done' && echo nobody hangs`)
	// The daemon gave up by itself: nobody had to kill it.
	if out != "files are still open\nDeactivated successfully.\nno mount\ncat: -: Transport endpoint is not connected\nnobody hangs\n" {
		t.Errorf("a stop while a file is open:\n%s", out)
	}
}

// A daemon that was there before the service goes on when that fails to start.
func (g *guest) leavesOthers(t *testing.T) {
	out := g.run(`
		ctxfs mount --store /var/lib/ctxfs /ctx
		exec 7< /ctx/home/1234/agent/a/session/s/messages.jsonl
		systemctl start ctxfs 2> /dev/null || echo refused
		systemctl stop ctxfs
		cat <&7
		exec 7<&-
		ctxfs umount /ctx
		systemctl reset-failed ctxfs 2> /dev/null || true`)
	if out != "refused\n{\"role\":\"user\",\"content\":\"hi\"}\n" {
		t.Errorf("beside a daemon that was there:\n%s", out)
	}
}

func (g *guest) repairs(t *testing.T) {
	out := g.run(`
		systemctl start ctxfs
		cd /ctx
		first=$(systemctl show -P MainPID ctxfs)
		kill -KILL $first
		# The process first: active is also what it was before systemd saw the other one end.
		until now=$(systemctl show -P MainPID ctxfs) && [ $now != 0 ] && [ $now != $first ] && [ "$(systemctl show -P ActiveState ctxfs)" = active ]; do sleep 0.1; done
		grep -c ' /ctx fuse.ctxfs' /proc/mounts
		tail -n 1 /ctx/home/1234/agent/a/session/s/messages.jsonl
		cd /
		systemctl stop ctxfs
		grep ctxfs /proc/mounts || echo no mount`)
	if out != "1\n{\"role\":\"user\",\"content\":\"hi\"}\nno mount\n" {
		t.Errorf("after a crash:\n%s", out)
	}
}

func (g *guest) socket(t *testing.T) {
	out := g.run(`
		systemctl start ctxfs-volume.socket
		stat -c %a /run/docker/plugins/ctxfs.sock
		systemctl is-active ctxfs || true
		curl -sf --unix-socket /run/docker/plugins/ctxfs.sock -d '{}' http://x/Plugin.Activate; echo
		systemctl is-active ctxfs
		systemctl stop ctxfs-volume.socket ctxfs
		ls /run/docker/plugins`)
	if !strings.HasPrefix(out, "600\ninactive\n") || !strings.Contains(out, `"VolumeDriver"`) || !strings.HasSuffix(out, "\nactive\n") {
		t.Errorf("the socket of the plugin:\n%s", out)
	}
}

func (g *guest) fstab(t *testing.T) {
	out := g.run(`
		mkdir -p /srv/ctx
		echo "/var/lib/ctxfs-2 /srv/ctx fuse.ctxfs budget=7000,nofail,_netdev,noauto,x-systemd.requires-mounts-for=/var/lib 0 0" > /etc/fstab
		mount /srv/ctx
		findmnt -no SOURCE,FSTYPE /srv/ctx
		mount -t fuse.ctxfs /var/lib/ctxfs-2 /srv/ctx 2>/dev/null || echo code $?
		umount /srv/ctx
		sed -i s/noauto/ro/ /etc/fstab
		mount -a && mount -a
		findmnt -no OPTIONS /srv/ctx | cut -d, -f1
		mount -o remount,rw /srv/ctx 2>/dev/null || echo code $?
		umount /srv/ctx
		mount -t fuse.ctxfs relative /srv/ctx 2>&1 || echo code $?
		mount -t fuse.ctxfs /var/lib/ctxfs-2 /srv/none 2>&1 || echo code $?
		echo "/var/lib/ctxfs-2 /srv/ctx fuse.ctxfs defaults 0 0" > /tmp/fstab
		mount -T /tmp/fstab -a
		umount /srv/ctx
		grep ctxfs /proc/mounts || echo no mount`)
	want := `/var/lib/ctxfs-2 fuse.ctxfs
code 32
ro
code 1
mount.fuse.ctxfs: "relative" is not an absolute path: what is mounted is the directory of a store, such as /var/lib/ctxfs
code 1
ctxfs: the mountpoint /srv/none does not exist: make it with mkdir -p /srv/none
code 32
no mount
`
	if out != want {
		t.Errorf("fstab:\n%s\nwant\n%s", out, want)
	}
}
