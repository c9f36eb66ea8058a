package crash

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// The daemon is killed within 4 ms of its mount's appearance. A daemon that has a file of its own mount open by then never ends:
// it waits for itself, and the kernel keeps its mount and the lock of its store.
func TestAKillWhileTheDaemonStartsLeavesNoMountThatHangsAndNoStoreThatIsLocked(t *testing.T) {
	rounds := suite.Pick(t, 20, 50)
	if suite.Soak() {
		rounds = 1000
	}
	m := harness.Start(t, harness.Options{NoStart: true})
	rnd := rand.New(rand.NewPCG(uint64(seed(t)), 2))
	answered := 0
	for round := range rounds {
		cmd := exec.Command(harness.Binary(t), "mount", "--store", m.Store, "--foreground", m.Dir)
		cmd.Dir = "/"
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		appeared(t, m, ended, &out)
		time.Sleep(time.Duration(rnd.IntN(4_000)) * time.Microsecond) // the random moment
		unix.Kill(cmd.Process.Pid, unix.SIGKILL)
		select {
		case <-ended:
		case <-time.After(harness.Patience):
			stacks, _ := exec.Command("sh", "-c", "cat /proc/$0/task/*/stack", strconv.Itoa(cmd.Process.Pid)).CombinedOutput()
			harness.AbortConnection(m.Dir)
			t.Fatalf("round %d: the daemon that was killed does not end:\n%s", round, stacks)
		}
		if strings.Contains(out.String(), "serving ") {
			answered++
		}
		if r := m.Run(t, harness.Client{UID: harness.Self(), Dir: "/", Argv: []string{"stat", "-f", m.Dir}}); r.Code == 0 || !strings.Contains(r.Stderr, "not connected") {
			t.Fatalf("round %d: a look at the mount gives %d, %s", round, r.Code, r.Stderr)
		}
		if err := unix.Unmount(m.Dir, unix.MNT_DETACH); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d of them when the daemon had said that it serves", rounds, answered)
	m.Restart()
}

// appeared waits until something is mounted, or fails the test where the daemon ends before.
func appeared(t *testing.T, m *harness.Mount, ended <-chan error, out *bytes.Buffer) {
	t.Helper()
	for late := time.Now().Add(harness.Patience); !harness.Mounted(m.Dir); {
		select {
		case err := <-ended:
			t.Fatalf("the daemon ended by itself: %v\n%s", err, out)
		default:
		}
		if time.Now().After(late) {
			t.Fatal("it never mounts")
		}
	}
}

// The daemon opens no file of its own mount, and needs not to: with one thread to run Go it answers the first poll of others.
func TestTheDaemonNeverOpensItsOwnMountAndAnswersAPoll(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--debug-fuse"}, Env: []string{"GOMAXPROCS=1"}})
	s := m.Session(t, harness.Self(), "coder", "polled")
	s.Append("messages.jsonl", `{"role":"user","content":"hi"}`+"\n")
	if got := s.Python("import os, select\np = select.poll()\np.register(os.open('messages.jsonl', os.O_RDONLY), select.POLLIN)\nprint(len(p.poll()))").OK(); got != "1\n" {
		t.Errorf("a poll gives %q", got)
	}
	log := m.Log.String()
	if !strings.Contains(log, "POLL") {
		t.Errorf("no poll came to the daemon:\n%s", log)
	}
	if strings.Contains(log, "epoll-hack") {
		t.Error("the daemon has opened a file of its own mount")
	}
}
