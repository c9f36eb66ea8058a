package container

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// A container that sees the mountpoint through a slave of a shared directory
// goes on after the daemon was killed and started anew; one that got the mount
// as a plain volume does not, and says so.
func TestDaemonRestartUnderAContainer(t *testing.T) {
	r := newRuntime(t)
	m := harness.Start(t, harness.Options{NoStart: true})
	shared := filepath.Dir(m.Dir)
	if err := unix.Mount(shared, shared, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if m.PID() != 0 {
			m.Stop()
		}
		if err := unix.Unmount(shared, 0); err != nil {
			t.Errorf("unmount %s: %v", shared, err)
			unix.Unmount(shared, unix.MNT_DETACH)
		}
	})
	if err := unix.Mount("", shared, "", unix.MS_SHARED|unix.MS_REC, ""); err != nil {
		t.Fatal(err)
	}
	m.Restart()
	m.Session(t, 1234, "coder", "s1")
	rootfs(t, r)

	slave := r.shell(t, m, "1234:1234", "-v", shared+":/shared:rslave")
	plain := r.shell(t, m, "1234:1234", "-v", m.Dir+":/shared/mnt")
	const log = "/shared/mnt/home/1234/agent/coder/session/s1/messages.jsonl"
	say := func(who string) string {
		return fmt.Sprintf("echo '{\"role\":\"user\",\"content\":\"%s\"}' >> %s && echo ok", who, log)
	}
	for _, c := range []*shell{slave, plain} {
		if got := c.run(say("before")); got != "ok\n" {
			t.Fatalf("append in a container: %q", got)
		}
	}
	m.Kill()
	if got := slave.run(say("between")); !strings.Contains(got, "not connected") {
		t.Errorf("append without a daemon: %q", got)
	}
	m.Restart()
	if got := slave.run(say("after")); got != "ok\n" {
		t.Errorf("append in the container with rslave after the restart: %q", got)
	}
	if got := slave.run("wc -l < " + log); got != "3\n" {
		t.Errorf("records after the restart: %q, want 3", got)
	}
	if got := slave.run("truncate -s 0 " + log); !strings.Contains(got, "Operation not permitted") {
		t.Errorf("truncate after the restart: %q", got)
	}
	if got := plain.run(say("after")); !strings.Contains(got, "not connected") {
		t.Errorf("a plain volume after the restart: %q; docs/containers.md says it is gone", got)
	}
	slave.end()
	plain.end()
}

// rootfs makes the busybox root of docs/containers.md.
func rootfs(t *testing.T, r *runtime) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(harness.Root(), "docs", "containers.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps(string(b), func(script string) bool { return !strings.HasPrefix(script, "mkdir -p rootfs/bin") }) {
		cmd := exec.Command("bash", "-c", s.script)
		cmd.Dir = r.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// shell is a shell in a running container.
type shell struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// shell starts a container whose shell takes commands until end.
func (r *runtime) shell(t *testing.T, m *harness.Mount, user string, args ...string) *shell {
	t.Helper()
	args = append([]string{"run", "--rm", "-i", "--network", "none", "--user", user}, args...)
	cmd := exec.Command(r.podman, append(args, "--rootfs", filepath.Join(r.dir, "rootfs"), "sh")...)
	cmd.Dir = r.dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &shell{t: t, cmd: cmd, in: in, out: bufio.NewReader(out)}
	t.Cleanup(s.end)
	return s
}

// run runs a command and gives what it prints, errors included.
func (s *shell) run(command string) string {
	s.t.Helper()
	const mark = "-- done --"
	if _, err := fmt.Fprintf(s.in, "{ %s\n} 2>&1; echo '%s'\n", command, mark); err != nil {
		s.t.Fatal(err)
	}
	var got strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if line == mark+"\n" {
			return got.String()
		}
		got.WriteString(line)
		if err != nil {
			s.t.Fatalf("the container's shell ended after %q: %v", got.String(), err)
		}
	}
}

// end lets the shell end and waits for its container to go.
func (s *shell) end() {
	if s.in == nil {
		return
	}
	s.in.Close()
	s.in = nil
	if err := s.cmd.Wait(); err != nil {
		s.t.Logf("the container ended with %v", err)
	}
}
