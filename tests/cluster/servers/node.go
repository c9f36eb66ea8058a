package servers

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/tests/harness"
)

var build struct {
	once sync.Once
	bin  string
	dir  string
	err  error
}

func init() {
	harness.AtEnd(func() {
		if build.dir != "" {
			os.RemoveAll(build.dir)
		}
	})
}

// Binary returns the path of ctxfs-server: CTXFS_SERVER_BIN, or what is built at the first call.
func Binary(tb testing.TB) string {
	tb.Helper()
	build.once.Do(func() {
		if b := os.Getenv("CTXFS_SERVER_BIN"); b != "" {
			build.bin, build.err = filepath.Abs(b)
			return
		}
		root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
		if err != nil {
			build.err = err
			return
		}
		if build.dir, build.err = os.MkdirTemp("", "ctxfs-server-"); build.err != nil {
			return
		}
		build.bin = filepath.Join(build.dir, "ctxfs-server")
		cmd := exec.Command("go", "build", "-buildvcs=false", "-o", build.bin, "./cmd/ctxfs-server")
		cmd.Dir = filepath.Join(string(bytes.TrimSpace(root)), "cluster", "embed")
		if out, err := cmd.CombinedOutput(); err != nil {
			build.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if build.err != nil {
		tb.Fatalf("ctxfs-server is not built: %v", build.err)
	}
	return build.bin
}

// node is one server.
type node struct {
	name    string
	dir     string
	config  string
	command []string // what runs, if it is not ctxfs-server with config
	listen  string   // where hosts connect, behind their proxies
	routes  string
	clock   *harness.Clock // nil: that of this machine
	disk    *Disk          // on which dir lies, after Powered
	cmd     *exec.Cmd      // nil while it does not run
	ended   chan struct{}
}

// start starts the process.
func (n *node) start(tb testing.TB) {
	tb.Helper()
	log, err := os.OpenFile(n.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	defer log.Close()
	command := n.command
	if command == nil {
		command = []string{Binary(tb), "--config", n.config}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	start := cmd.Start
	if n.clock != nil {
		start = func() error { return n.clock.Start(cmd) }
	}
	if err := start(); err != nil {
		tb.Fatal(err)
	}
	n.cmd, n.ended = cmd, make(chan struct{})
	go func(ended chan struct{}) { cmd.Wait(); close(ended) }(n.ended)
}

// end sends a signal to the process and waits until it has ended.
func (n *node) end(sig syscall.Signal) {
	if n.cmd == nil {
		return
	}
	n.cmd.Process.Signal(sig)
	select {
	case <-n.ended:
	case <-time.After(20 * time.Second): // it does not want to
		n.cmd.Process.Kill()
		<-n.ended
	}
	n.cmd = nil
}

func (n *node) log() string { return filepath.Join(filepath.Dir(n.dir), n.name+".log") }
