package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// The places, in the order of the table's columns.
const (
	native      = "native"
	loopback    = "loopback"
	passthrough = "passthrough"
	mattn       = "SQLite, mattn"
	modernc     = "SQLite, modernc"
	before      = "before"
	ctxfs       = "ctxfs"
)

var places = []string{native, loopback, passthrough, mattn, modernc, before, ctxfs}

// site is a place that is ready for work.
type site struct {
	name  string
	dir   string
	mount *harness.Mount // runs the clients; serves dir where ours reports true
	pid   int            // of the loopback example, or of the daemon at the start; 0: none
	peer  []string       // the command of a program that does the client's work in its own way
}

// ours reports whether ctxfs serves the place, this commit's or the one before.
func (p *site) ours() bool { return p.name == ctxfs || p.name == before }

// daemon returns the process that serves the place now, 0 where there is none.
func (p *site) daemon() int {
	if p.ours() {
		return p.mount.PID()
	}
	return p.pid
}

// log makes an empty log and returns its path: that of a session where ctxfs serves, that of a database to come where a
// peer works.
func (p *site) log(t *testing.T, name string) string {
	t.Helper()
	if p.ours() {
		return p.mount.Session(t, harness.Self(), "bench", name).Path(ctxabi.MessagesFile)
	}
	dir := filepath.Join(p.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if p.peer != nil {
		return filepath.Join(dir, "messages.db")
	}
	file := filepath.Join(dir, ctxabi.MessagesFile)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// daemons starts a daemon of this commit, and beside it one of the commit before where -against names it. They come in the
// order of the columns.
func daemons(t *testing.T, o harness.Options) (all []*site) {
	t.Helper()
	if bin := binaryBefore(t); bin != "" {
		was := o
		was.Wrap = []string{"sh", "-c", `shift; exec "$0" "$@"`, bin} // in the place of the binary under test
		m := harness.Start(t, was)
		all = append(all, &site{name: before, dir: m.Dir, mount: m, pid: m.PID()})
	}
	m := harness.Start(t, o)
	return append(all, &site{name: ctxfs, dir: m.Dir, mount: m, pid: m.PID()})
}

// stop ends the daemons that run, so that those of the next group have the machine alone.
func stop(sites []*site) {
	for _, p := range sites {
		if p.ours() && p.mount.PID() != 0 {
			p.mount.Stop()
		}
	}
}

// old is the program of the commit that -against names, built once.
var old struct {
	once sync.Once
	dir  string
	err  error
}

func init() { harness.AtEnd(func() { os.RemoveAll(old.dir) }) }

// binaryBefore returns the program of the commit that -against names, "" where it names none.
func binaryBefore(t *testing.T) string {
	t.Helper()
	if *against == "" {
		return ""
	}
	old.once.Do(func() {
		if old.dir, old.err = os.MkdirTemp("", "ctxfs-bench-before-"); old.err != nil {
			return
		}
		script := `set -eo pipefail; git archive "$1" | tar -x -C "$2"; cd "$2"; go build -buildvcs=false -o ctxfs ./cmd/ctxfs`
		cmd := exec.Command("bash", "-c", script, "bash", *against, old.dir)
		cmd.Dir = harness.Root()
		if out, err := cmd.CombinedOutput(); err != nil {
			old.err = fmt.Errorf("build commit %s: %w\n%s", *against, err, out)
		}
	})
	if old.err != nil {
		t.Fatal(old.err)
	}
	return filepath.Join(old.dir, "ctxfs")
}

// newSites starts the daemons of all places but those of peers.
func newSites(t *testing.T) []*site {
	t.Helper()
	harness.NeedRoot(t)
	base := t.TempDir()
	serving := daemons(t, harness.Options{})
	m := serving[len(serving)-1].mount
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
	}
	for _, p := range all {
		for _, dir := range []string{p.dir, p.dir + ".orig"} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	all[1].pid = startLoopback(t, bin, all[1].dir, "setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")
	all[2].pid = startLoopback(t, bin, all[2].dir)
	return append(all, serving...)
}

// of returns the site of a name, which must be there.
func of(sites []*site, name string) *site {
	return sites[slices.IndexFunc(sites, func(p *site) bool { return p.name == name })]
}

// without returns the sites but those of some names.
func without(sites []*site, names ...string) (rest []*site) {
	for _, p := range sites {
		if !slices.Contains(names, p.name) {
			rest = append(rest, p)
		}
	}
	return rest
}

// startLoopback mounts dir and lets the loopback example serve it from
// dir.orig. The mount is made here and handed over as a descriptor, so that
// the example may run without the privilege to mount. It returns the example's process.
func startLoopback(t *testing.T, bin, dir string, wrap ...string) int {
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
	return cmd.Process.Pid
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
