package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// The places, in the order of the table's columns.
const (
	native      = "native"
	loopback    = "loopback"
	passthrough = "passthrough"
	ctxfs       = "ctxfs"
)

var places = []string{native, loopback, passthrough, ctxfs}

// site is a place that is ready for work.
type site struct {
	name  string
	dir   string
	mount *harness.Mount // runs the clients; serves dir where the site is ctxfs
}

// log makes an empty log and gives its path; the directory is that of a session where the site is ctxfs.
func (p *site) log(t *testing.T, name string) string {
	t.Helper()
	if p.name == ctxfs {
		return p.mount.Session(t, harness.Self(), "bench", name).Path("messages.jsonl")
	}
	dir := filepath.Join(p.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "messages.jsonl")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// newSites starts the daemons of all places.
func newSites(t *testing.T) []*site {
	t.Helper()
	harness.NeedRoot(t)
	base := t.TempDir()
	m := harness.Start(t, harness.Options{})
	bin := filepath.Join(base, "loopback-example")
	build := exec.Command("go", "build", "-o", bin, "github.com/hanwen/go-fuse/v2/example/loopback")
	build.Dir = harness.Root()
	if b, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the loopback example: %v\n%s", err, b)
	}
	all := []*site{
		{name: native, dir: filepath.Join(base, native), mount: m},
		{name: loopback, dir: filepath.Join(base, loopback), mount: m},
		{name: passthrough, dir: filepath.Join(base, passthrough), mount: m},
		{name: ctxfs, dir: m.Dir, mount: m},
	}
	for _, p := range all[:3] {
		for _, dir := range []string{p.dir, p.dir + ".orig"} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	startLoopback(t, bin, all[1].dir, "setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")
	startLoopback(t, bin, all[2].dir)
	return all
}

// startLoopback mounts dir and lets the loopback example serve it from
// dir.orig. The mount is made here and handed over as a descriptor, so that
// the example may run without the privilege to mount.
func startLoopback(t *testing.T, bin, dir string, wrap ...string) {
	t.Helper()
	dev, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	opts := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions", dev.Fd())
	if err := unix.Mount("loopback", dir, "fuse.loopback", unix.MS_NOSUID|unix.MS_NODEV, opts); err != nil {
		t.Fatalf("mount for the loopback example: %v", err)
	}
	argv := append(wrap, bin, "-q", "/dev/fd/3", dir+".orig")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.ExtraFiles = []*os.File{dev}
	cmd.Stderr = os.Stderr
	err = cmd.Start()
	t.Cleanup(func() {
		err := unix.Unmount(dir, 0)
		for late := time.Now().Add(harness.Patience); err == unix.EBUSY && time.Now().Before(late); err = unix.Unmount(dir, 0) {
			time.Sleep(10 * time.Millisecond) // who lists all mounts is in each for a moment
		}
		if err != nil {
			t.Errorf("unmount %s: %v", dir, err)
			unix.Unmount(dir, unix.MNT_DETACH)
		}
		if cmd.Process != nil {
			cmd.Wait()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil { // waits for the answer
		t.Fatalf("the loopback example does not answer: %v", err)
	}
}

// rss returns a process's resident memory and its peak, in bytes.
func rss(t *testing.T, pid int) (resident, peak float64) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range splitLines(string(b)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			resident = kb * 1024
		}
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kb); n == 1 {
			peak = kb * 1024
		}
	}
	return resident, peak
}

// profile records the daemon with perf until stop is called, when -profile asks for it.
func profile(t *testing.T, pid int, name string) (stop func()) {
	t.Helper()
	if *prof == "" {
		return func() {}
	}
	cmd := exec.Command("perf", "record", "-q", "-g", "-e", "cpu-clock", "-F", "499", "-o", filepath.Join(*prof, name+".perf"), "-p", fmt.Sprint(pid))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		cmd.Process.Signal(unix.SIGINT)
		cmd.Wait()
	}
}

func elapsed(f func()) float64 {
	t := time.Now()
	f()
	return float64(time.Since(t))
}
