package cli

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// The helper stands for a daemon: it takes the socket, answers one caller, and
// looks what it would hand on to a process of its own.
func init() {
	harness.Helper("take-socket", func([]string) int {
		other, err := passedSocket("another")
		if other != nil || err != nil {
			fmt.Println("a socket that was not passed:", other, err)
			return 1
		}
		l, err := passedSocket(volumeSocket)
		if l == nil || err != nil {
			fmt.Println("no socket:", err)
			return 1
		}
		if again, err := passedSocket(volumeSocket); again != nil || err != nil {
			fmt.Println("the same socket twice:", again, err)
			return 1
		}
		c, err := l.Accept()
		if err != nil {
			fmt.Println(err)
			return 1
		}
		child, err := exec.Command("sh", "-c", "echo fds=$LISTEN_FDS; [ -e /proc/self/fd/3 ] && echo fd 3 is open; true").CombinedOutput()
		fmt.Fprintf(c, "hello\n%s%v\n", child, err)
		c.Close()
		l.Close()
		return 0
	})
}

func TestSocketOfSystemd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.sock")
	l, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := l.(*net.UnixListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	// exec keeps the pid, as systemd's does.
	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=`+volumeSocket+` exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), "CTXFS_TEST_HELPER=take-socket")
	cmd.ExtraFiles = []*os.File{file}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	file.Close() // now only the helper can answer, and when it is gone nobody
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	got, _ := io.ReadAll(bufio.NewReader(c))
	said, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil || string(got) != "hello\nfds=\n<nil>\n" {
		t.Errorf("the helper answers %q, says %q and ends with %v", got, said, err)
	}
	if _, err := os.Stat(name); err != nil {
		t.Errorf("the socket's name is gone: %v", err)
	}
}

func TestNoSocketOfSystemd(t *testing.T) {
	if l, err := passedSocket(volumeSocket); l != nil || err != nil {
		t.Errorf("passedSocket gives %v, %v outside of systemd", l, err)
	}
}
