package cluster

import (
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// An agent works on one host and goes on with another one, also when the first one dies.
func TestAnAgentMovesBetweenHosts(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	hosts := mounts.Start(t, c, "a", "b")
	a, b := hosts[0], hosts[1]
	s := a.Session(t, harness.Self(), "coder", "s1")
	s.Append("messages.jsonl", `{"role":"user","content":"one"}`+"\n")
	s.Write("context/budget", "8000\n")
	there := b.Await(t, s)
	if got := there.Read("messages.jsonl"); !strings.Contains(got, `"one"`) {
		t.Errorf("b has %q", got)
	}
	if got := there.Read("context/budget"); got != "8000\n" {
		t.Errorf("b has the budget %q", got)
	}
	there.Append("messages.jsonl", `{"role":"assistant","content":"two"}`+"\n")
	if got := s.Read("messages.jsonl"); !strings.Contains(got, `"two"`) {
		t.Errorf("a has %q", got)
	}
	if x, y := s.Read("context/pack.md"), there.Read("context/pack.md"); x != y || !strings.Contains(x, "two") {
		t.Errorf("a packs\n%s\nb packs\n%s", x, y)
	}
	status, _ := os.ReadFile(b.Dir + "/status")
	t.Logf("%s", status)
}
