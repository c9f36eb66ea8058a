package container

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// needs are the programs of these tests and the Debian packages that bring them.
var needs = map[string]string{"podman": "podman", "runc": "runc", "conmon": "conmon", "dockerd": "docker.io", "docker": "docker.io",
	"busybox": "busybox-static", "setpriv": "util-linux", "unshare": "util-linux", "jq": "jq"}

// world is a machine of its own as far as files and processes go: mount and pid
// namespaces, and a root file system whose changes are in memory and go with
// it. /ctx, /var/lib/ctxfs, /run/docker and the like are those that the
// document names, and the machine that runs the test has nothing of them. When
// its first process ends, the kernel ends all others.
type world struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// newWorld makes a world, in which ctxfs is the program under test.
func newWorld(t *testing.T) *world {
	t.Helper()
	suite.Matrix(t, "it needs docker and podman")
	harness.NeedRoot(t)
	for program, pkg := range needs {
		if _, err := exec.LookPath(program); err != nil {
			if _, err := os.Stat("/usr/sbin/" + program); err != nil {
				t.Fatalf("%s is not installed: apt-get install %s", program, pkg)
			}
		}
	}
	dir, err := os.MkdirTemp("", "ctxfs-world-")
	if err != nil {
		t.Fatal(err)
	}
	enter, err := filepath.Abs("testdata/enter.sh")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t}
	t.Cleanup(func() { removeGroups(filepath.Base(dir)) })
	w.cmd = exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "bash", "--norc")
	w.cmd.Stderr = os.Stderr
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.out = bufio.NewReader(out)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.end()
		if err := os.Remove(dir); err != nil { // it is empty: nothing was mounted there but in the world
			t.Errorf("clean up: %v", err)
		}
	})
	if got := w.run(fmt.Sprintf(". %s %s %s %s", enter, dir, harness.Binary(t), harness.Root())); got != "" {
		t.Fatalf("a world cannot be made: %s", got)
	}
	return w
}

// run has the world's shell run a script and gives what it prints, errors
// included. Variables, functions and the directory stay for the next one.
func (w *world) run(script string) string {
	w.t.Helper()
	const mark = "-- that was all --"
	if _, err := fmt.Fprintf(w.in, "{ %s\n} 2>&1 < /dev/null; echo '%s'\n", script, mark); err != nil {
		w.t.Fatal(err)
	}
	var got strings.Builder
	for {
		line, err := w.out.ReadString('\n')
		if before, ok := strings.CutSuffix(line, mark+"\n"); ok {
			return got.String() + before
		}
		got.WriteString(line)
		if err != nil {
			w.t.Fatalf("the world's shell ended after %q: %v", got.String(), err)
		}
	}
}

// must is run for what prints nothing of interest: it fails the test when the last command fails.
func (w *world) must(script string) string {
	w.t.Helper()
	out := w.run(script + "\necho status=$?")
	out, status, _ := cutLast(out, "status=")
	if status != "0\n" {
		w.t.Fatalf("%s\nstatus %s%s", script, status, out)
	}
	return out
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// end ends the containers and then the world, with every process in it.
func (w *world) end() {
	io.WriteString(w.in, `podman rm -f -a -t 0 > /dev/null 2>&1
for sock in /run/docker*.sock; do [ -S $sock ] || continue
	docker -H unix://$sock rm -f $(docker -H unix://$sock ps -aq) > /dev/null 2>&1
	pid=$(cat ${sock%.sock}.pid)
	kill $pid && while kill -0 $pid; do sleep 0.05; done
done 2> /dev/null
exit
`)
	w.in.Close()
	gone := make(chan error, 1)
	go func() { gone <- w.cmd.Wait() }()
	select {
	case <-gone:
	case <-time.After(harness.Patience):
		w.t.Error("the world does not end")
		w.cmd.Process.Kill() // and with it, by --kill-child, all others
		<-gone
	}
}

// removeGroups removes the control groups that the dockerds of a world leave empty, below one of the world's name: those of
// others, of another run of the tests for instance, may be about to get a container.
func removeGroups(world string) {
	var groups []string
	filepath.WalkDir("/sys/fs/cgroup", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && (e.Name() == world || strings.Contains(name, "/"+world+"/")) {
			groups = append(groups, name)
		}
		return nil
	})
	slices.Reverse(groups)
	for _, name := range groups {
		unix.Rmdir(name)
	}
}

// image makes the busybox image of the document, for docker and podman.
func (w *world) image() {
	w.t.Helper()
	for _, s := range documentSteps(w.t) {
		if strings.HasPrefix(s.script, "mkdir -p rootfs/") || strings.Contains(s.script, "import - busybox") {
			w.must(s.script)
		}
	}
}
