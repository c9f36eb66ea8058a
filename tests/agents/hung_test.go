package agents

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// stop stops a daemon until the test ends.
func stop(t *testing.T, m *harness.Mount) {
	t.Helper()
	pid := m.PID()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Kill(pid, unix.SIGCONT) })
}

// Somebody else's mount hangs: a turn is recorded and remembered as ever.
func TestAForeignMountThatHangsHoldsUpNoTurn(t *testing.T) {
	w := newWorld(t)
	w.mount()
	w.run("ctxfs", "install", claude.name)
	stop(t, harness.Start(t, harness.Options{}))
	w.run(claude.first(told)...)
	w.recorded(claude.name, "8443")
	w.run(claude.first(question)...)
	wants(t, w.asked(question).Said(), "8443", "Never push to main")
}

// The mount of the program itself hangs: the turn goes on without a memory, the hook names the mount, and what was said is recorded
// when the daemon works again.
func TestAMountThatHangsHoldsUpNoTurn(t *testing.T) {
	w := newWorld(t)
	m := harness.Start(t, harness.Options{UID: w.uid, GID: w.uid})
	w.point = m.Dir
	w.run("ctxfs", "install", "--hooks", "--mount", m.Dir, claude.name)
	w.run(claude.first("The staging port is 8443.")...)
	w.recorded(claude.name, "8443")
	w.api.Requests()

	pid := m.PID()
	stop(t, m)
	w.run(claude.again("Never push to main.")...)
	lacks(t, w.asked("Never push to main.").Said(), "does not answer")
	input := filepath.Join(w.home, "input.json")
	w.write(input, `{"hook_event_name":"SessionStart","session_id":"s1","cwd":"/","source":"startup"}`)
	if r := w.try("sh", "-c", `ctxfs hook --mount "$0" < "$1"`, m.Dir, input); r.code != 0 || r.out != "" || !strings.Contains(r.err, m.Dir) {
		t.Errorf("the hook: %+v", r)
	}
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.run(claude.again(question)...)
	w.recorded(claude.name, "Never push to main.")
}
