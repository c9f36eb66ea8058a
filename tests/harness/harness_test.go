package harness

import (
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

// A daemon that serves nothing: the harness must work without FUSE's help.
func fake(t *testing.T, script string) *Mount {
	t.Helper()
	t.Cleanup(func() { build.bin = "" })
	build.once.Do(func() {})
	build.bin = t.TempDir() + "/ctxfs"
	if err := os.WriteFile(build.bin, []byte("#!/bin/bash\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return Start(t, Options{NoStart: true})
}

func TestStartWaitsUntilTheDaemonServes(t *testing.T) {
	// It waits in a builtin: a substitution in the loop would be parsed at each turn, and bash fails a trap that comes while it parses one.
	m := fake(t, `trap 'exit 0' TERM; exec 3<> <(:); echo hello; echo "serving $@"; while :; do read -t 0.05 -u 3; done`)
	m.Restart()
	m.Stop()
	if got := m.Log.String(); !strings.HasPrefix(got, "hello\nserving mount --store "+m.Store+" --foreground") {
		t.Errorf("log: %q", got)
	}
	m.Restart()
	m.Kill()
	if m.PID() != 0 || strings.Count(m.Log.String(), "serving") != 2 {
		t.Errorf("pid %d, log: %q", m.PID(), m.Log)
	}
}

func TestStartReportsADaemonThatEnds(t *testing.T) {
	m := fake(t, `echo 'no such store' >&2; exit 3`)
	err := m.TryStart()
	if err == nil || !strings.Contains(err.Error(), "no such store") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v", err)
	}
}

func TestRunGivesOutputAndStatus(t *testing.T) {
	m := fake(t, "")
	r := m.Run(t, Client{UID: Self(), Argv: []string{"bash", "-c", "pwd; echo no >&2; exit 7"}})
	if r.Stdout != m.Dir+"\n" || r.Stderr != "no\n" || r.Code != 7 {
		t.Errorf("got %+v", r)
	}
	if os.Getuid() == 0 {
		if got := m.Run(t, Client{UID: 1234, GIDs: []uint32{5, 6}, Argv: []string{"bash", "-c", "id -u; id -G"}}).OK(); got != "1234\n5 6\n" {
			t.Errorf("got %q", got)
		}
	}
}

func init() {
	Helper("echo", func(args []string) int { os.Stdout.WriteString(strings.Join(args, " ")); return 4 })
}

func TestHelperRunsInAProcessOfItsOwn(t *testing.T) {
	m := fake(t, "")
	uid := Self()
	if uid == 0 {
		uid = 1234
	}
	cmd := m.HelperCommand(t, t.Context(), "echo", Client{UID: uid, Argv: []string{"a", "b"}})
	out, _ := cmd.Output()
	if string(out) != "a b" || cmd.ProcessState.ExitCode() != 4 {
		t.Errorf("got %q, %v", out, cmd.ProcessState)
	}
}
