package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// oldStore mounts a disk of some bytes at the store of m, which does not run yet, and puts a store of format 2 there.
func oldStore(t *testing.T, m *harness.Mount, size string) {
	t.Helper()
	harness.NeedRoot(t)
	if err := unix.Mount("disk", m.Store, "tmpfs", 0, "mode=700,size="+size); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(m.Store, unix.MNT_DETACH) })
	from := filepath.Join(harness.Root(), "session/testdata/store-v2")
	if out, err := exec.Command("cp", "-r", from+"/.", m.Store).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
}

// readsOld reads a session of the mount of m, and appends, which must fail with one of the errors.
func readsOld(t *testing.T, m *harness.Mount, fails ...string) {
	t.Helper()
	sessions, err := filepath.Glob(filepath.Join(m.Store, "home/*/agent/*/session/*"))
	if err != nil || len(sessions) == 0 {
		t.Fatal(sessions, err)
	}
	rel, _ := filepath.Rel(m.Store, sessions[0])
	dir := filepath.Join(m.Dir, rel)
	m.Run(t, harness.Client{UID: harness.Self(), Dir: dir, Argv: []string{"sh", "-c", "grep -q one messages.jsonl && grep -q one context/pack.md"}}).OK()
	r := m.Run(t, harness.Client{UID: harness.Self(), Dir: dir, Argv: []string{"sh", "-c", `echo '{"role":"user","content":"more"}' >> messages.jsonl`}})
	for _, f := range fails {
		if strings.Contains(r.Stderr, f) && r.Code != 0 {
			return
		}
	}
	t.Errorf("an append ends with %d, %s", r.Code, r.Stderr)
}

func header(t *testing.T, m *harness.Mount) string {
	return read(t, filepath.Join(m.Store, session.StoreFile))
}

// A mount that was meant for a look at a store of an older format raised the format for good, and a store on a file system
// that is mounted read-only could not be mounted at all.
func TestReadOnlyMountKeepsTheFormat(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		m := harness.Start(t, harness.Options{NoStart: true, Args: []string{"--read-only"}})
		oldStore(t, m, "16m")
		before := header(t, m)
		if sealed {
			if err := unix.Mount("", m.Store, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
		}
		m.Restart()
		readsOld(t, m, "Read-only file system")
		if said := m.CLI(t, "doctor", "--store", m.Store).Stdout; !strings.Contains(said, "held by the daemon") && !sealed {
			t.Errorf("the store is not locked:\n%s", said)
		}
		m.Stop()
		if after := header(t, m); after != before {
			t.Errorf("on a disk that is read-only: %t, the header was %s and is %s", sealed, before, after)
		}
	}
}

// A full disk kept an upgraded daemon from starting, and an empty file stayed behind.
func TestFullDiskServesAnOldStore(t *testing.T) {
	m := harness.Start(t, harness.Options{NoStart: true})
	oldStore(t, m, "2m")
	before := header(t, m)
	full := filepath.Join(m.Store, "full.log")
	exec.Command("dd", "if=/dev/zero", "of="+full, "bs=4k").Run() // until the disk is full
	m.Restart()
	readsOld(t, m, "Read-only file system")
	if _, err := os.Lstat(filepath.Join(m.Store, session.StoreFile+".tmp")); err == nil {
		t.Error("a file is left of the header that had no room")
	}
	if after := header(t, m); after != before {
		t.Errorf("the header was %s and is %s", before, after)
	}
	if log := m.Log.String(); !strings.Contains(log, "make room and restart") {
		t.Errorf("the log is\n%s", log)
	}
	m.Stop()
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	m.Restart()
	if after := header(t, m); after == before {
		t.Error("with room the format is not raised")
	}
}
