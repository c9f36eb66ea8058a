package fs

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/fs/mountpoint"
)

// A directory that is gone from under a rename once stopped every request: the
// rename waited for renames to end.
func TestRenameInARemovedDirectoryDoesNotHang(t *testing.T) {
	m := mountStore(t)
	got := m.sh(os.Geteuid(), newSessionScript+`cd ../..
mkdir d && cd d && touch a && python3 - <<'PY'
import os, errno
fd = os.open(".", os.O_RDONLY)
os.unlink("a"); os.rmdir("../d")
for f in (lambda: os.rename("a", "b", src_dir_fd=fd, dst_dir_fd=fd), lambda: os.rename("../system.md", "b", src_dir_fd=fd, dst_dir_fd=fd)):
    try: f()
    except OSError as e: print(errno.errorcode[e.errno])
PY
cd ..; mkdir e; (for i in $(seq 300); do mv e f; mv f e; done) & (for i in $(seq 300); do echo x > e/g; rm e/g; done) 2>/dev/null; wait; ls`)
	m.expect(got, "ENOENT\nENOENT\ne\nsession")
}

// Whoever stands in a directory that is removed still sees it, however long ago that was: else he
// could not go to the one above.
func TestARemovedDirectoryIsSeenByWhoStandsInIt(t *testing.T) {
	m := mountStore(t)
	dir := filepath.Join(m.dir, "home", strconv.Itoa(os.Geteuid()), "agent/coder/d/e")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_CLOEXEC, 0) // as a working directory, which is no open file to the daemon
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	var x unix.Statx_t
	err = unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_FORCE_SYNC, unix.STATX_BASIC_STATS, &x)
	if err != nil || x.Mode&^0o077 != unix.S_IFDIR|0o700 || x.Nlink != 0 || x.Uid != uint32(os.Geteuid()) {
		t.Errorf("mode %o, %d links, uid %d, %v", x.Mode, x.Nlink, x.Uid, err)
	}
}

func TestShutdownServesOpenFilesUntilTheyAreClosed(t *testing.T) {
	t.Run("mounted", func(t *testing.T) { shutDownWithAnOpenFile(t, false) })
	t.Run("detached by somebody else", func(t *testing.T) { shutDownWithAnOpenFile(t, true) })
}

func shutDownWithAnOpenFile(t *testing.T, detached bool) {
	m := mountStore(t)
	m.sh(os.Geteuid(), `mkdir -p home/$(id -u)/agent/a/session/s`)
	client := exec.Command("bash", "-c", `cd "$M/home/$(id -u)/agent/a/session/s" && exec 3>>messages.jsonl; cd /; echo open; read go
echo '{"role":"user","content":"late"}' >&3 && echo wrote; read go; exit 0`)
	client.Env = append(os.Environ(), "M="+m.dir)
	in, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	next := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("the client says %q, want %q", lines.Text(), want)
		}
	}
	next("open")
	if detached {
		if err := mountpoint.Detach(m.dir); err != nil {
			t.Fatal(err)
		}
	}
	down := make(chan error, 1)
	go func() { down <- m.srv.Shutdown(5 * time.Minute) }()
	for mounted := true; mounted; _, mounted = mountpoint.MountedAt(m.dir) { // no file of it is touched
	}
	in.Write([]byte("go\n"))
	next("wrote")
	select {
	case err := <-down:
		t.Fatalf("Shutdown returned %v while a file was open", err)
	default:
	}
	in.Close()
	if err := client.Wait(); err != nil {
		t.Error(err)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
	logs, err := filepath.Glob(filepath.Join(m.store.Dir(), "home/*/agent/a/session/s/messages.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	if b, err := os.ReadFile(logs[0]); err != nil || !strings.Contains(string(b), "late") {
		t.Errorf("the log holds %q, %v", b, err)
	}
}
