package crash

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// foreground starts the daemon of m and returns its command when it serves.
func foreground(t *testing.T, m *harness.Mount, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(harness.Binary(t), "mount", "--foreground", "--store", m.Store, m.Dir)
	cmd.Dir, cmd.Env = "/", append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(m.Store+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the daemon says %q, %v:\n%s", line, err, read(t, m.Store+".log"))
	}
	return cmd
}

// abort ends the connection of a mount by the file system of the kernel for that.
func abort(t *testing.T, m *harness.Mount) {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("fusectl", dir, "fusectl", 0, ""); err != nil {
		t.Skipf("no fusectl: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	i, _, ok := mounts.At(m.Dir)
	_, minor, _ := strings.Cut(i.Device, ":")
	if err := os.WriteFile(filepath.Join(dir, minor, "abort"), []byte("1"), 0); !ok || err != nil {
		t.Fatalf("abort %q: %v", i.Device, err)
	}
}

// A daemon whose mount was aborted or detached by force ended with status 0, and systemd did not start it again.
func TestForcedUnmountIsAFailure(t *testing.T) {
	harness.NeedRoot(t)
	for _, c := range []struct {
		name   string
		do     func(t *testing.T, m *harness.Mount)
		status int
		log    string
	}{
		{"abort", abort, 1, "aborted from outside"},
		{"umount -f", func(t *testing.T, m *harness.Mount) {
			if err := unix.Unmount(m.Dir, unix.MNT_FORCE); !errors.Is(err, unix.EBUSY) {
				t.Errorf("umount -f of a mount with an open file: %v", err)
			}
		}, 1, "aborted from outside"},
		{"umount -l", func(t *testing.T, m *harness.Mount) {
			if err := unix.Unmount(m.Dir, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		}, 1, "detached from outside"},
		{"ctxfs umount --force", func(t *testing.T, m *harness.Mount) { m.CLI(t, "umount", "--force", m.Dir).OK() }, 0, ""},
		{"umount of nothing open", nil, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := harness.Start(t, harness.Options{NoStart: true})
			cmd := foreground(t, m)
			holder := m.Command(t.Context(), harness.Client{UID: harness.Self(), Argv: []string{"sh", "-c", "exec 3< README.md; echo open; cd /; read end"}})
			in, err := holder.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := holder.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := holder.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
				t.Fatalf("the holder says %q, %v", line, err)
			}
			if c.do != nil {
				c.do(t, m)
			}
			if c.name == "umount -l" {
				harness.Eventually(t, "the daemon to see it", func() bool { return strings.Contains(read(t, m.Store+".log"), c.log) })
			}
			in.Close()
			holder.Wait()
			if c.do == nil {
				m.Run(t, harness.Client{UID: harness.Self(), Dir: "/", Argv: []string{"umount", m.Dir}}).OK()
			}
			cmd.Wait()
			log := read(t, m.Store+".log")
			if got := cmd.ProcessState.ExitCode(); got != c.status {
				t.Errorf("the daemon ended with status %d, want %d:\n%s", got, c.status, log)
			}
			said := m.CLI(t, "doctor", "--store", m.Store).Stdout
			if !strings.Contains(log, c.log) || strings.Contains(log, "from outside") != (c.status == 1) || strings.Contains(said, "from outside") != (c.status == 1) {
				t.Errorf("its log is\n%s\ndoctor says\n%s", log, said)
			}
			m.Restart() // which repairs it
		})
	}
}

// A daemon that hangs is not noticed by systemd unless it says now and then that its mount answers.
func TestWatchdogIsToldOfAnswers(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{NoStart: true})
	socket := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := foreground(t, m, "NOTIFY_SOCKET="+socket, "WATCHDOG_USEC=400000")
	l.SetReadDeadline(time.Now().Add(harness.Patience))
	buf := make([]byte, 4096)
	for told := 0; told < 3; {
		n, err := l.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if string(buf[:n]) == "WATCHDOG=1" {
			told++
		}
	}
	// Whoever is told to stop by systemd is started again: the mountpoint stays protected until an umount.
	cmd.Process.Signal(unix.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(filepath.Join(m.Dir, "home"), 0o755); err == nil {
		t.Error("the mountpoint of a unit can be written to after a stop")
	}
	m.CLI(t, "umount", "--store", m.Store, m.Dir).OK()
	if err := os.Mkdir(filepath.Join(m.Dir, "home"), 0o755); err != nil {
		t.Errorf("after an umount: %v", err)
	}
}
