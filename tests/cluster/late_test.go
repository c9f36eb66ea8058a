package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// stateOf returns what status has of a host's cluster.
func stateOf(t *testing.T, h *mounts.Host) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(h.Dir, ctxabi.StatusFile))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "\ncluster_state=")
	state, _, _ := strings.Cut(rest, "\n")
	return state
}

// A host that is started while the cluster is down shows what it has, takes nothing, and goes on when the servers
// do. A host without copies is refused.
func TestAHostStartsWhileTheClusterIsDown(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	a := mounts.New(t, c, "a", harness.Options{}, "--cluster-timeout=3s")
	b := mounts.New(t, c, "b", harness.Options{})
	mounts.Run(t, a, b)
	s := a.Session(t, harness.Self(), "coder", "s1")
	if err := appendMessage(s, "one"); err != nil {
		t.Fatal(err)
	}
	s.Write(ctxabi.BudgetFile, "4000\n")
	pack := s.Read(ctxabi.PackFile)
	there := b.Await(t, s)
	sameOnBoth(t, s, there)
	a.Stop()
	c.Kill(0, 1, 2)

	if err := a.TryStart(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(a.Log.String(), "the cluster does not answer yet; the mount begins with what this host has") {
		t.Error("nothing says what the mount waits for")
	}
	if got := s.Read(ctxabi.MessagesFile); got != messageOf("one") {
		t.Errorf("it has %q", got)
	}
	if got := s.Read(ctxabi.PackFile); got != pack {
		t.Errorf("the pack is %q, and was %q", got, pack)
	}
	if list, err := os.ReadDir(filepath.Dir(s.Dir)); err != nil || len(list) != 1 {
		t.Errorf("sessions: %v, %v", list, err)
	}
	if attribute("user.ctx.behind", s.Path(ctxabi.MessagesFile)) == "" {
		t.Error("nothing says that it may be behind")
	}
	if got := stateOf(t, a); !strings.HasPrefix(got, "not reached: ") {
		t.Errorf("its state is %q", got)
	}
	if err := appendMessage(s, "refused"); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("an append: %v", err)
	}
	if err := os.Mkdir(s.Dir+"-2", 0o700); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("mkdir of a session: %v", err)
	}

	c.Restart(t, 0, 1, 2)
	harness.Eventually(t, "an append", func() bool { return appendMessage(s, "afterwards") == nil })
	harness.Eventually(t, "its state", func() bool { return stateOf(t, a) == "ok" })
	sameOnBoth(t, s, there)
	if got := there.Read(ctxabi.MessagesFile); strings.Contains(got, "refused") || !strings.HasPrefix(got, messageOf("one")) {
		t.Errorf("there is %q", got)
	}
}
