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

// A command that prints something else each time runs on one host, and the packs of both have what it
// printed; a parent on one host shows what its child on the other one brought; a blob is there for both.
func TestTwoMountsShowWhatOneOfThemPrinted(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	hosts := mounts.Start(t, c, "a", "b")
	a, b := hosts[0], hosts[1]
	s := a.Session(t, harness.Self(), "coder", "s1")
	there := b.Await(t, s)
	s.Write("context/context.yaml", "sources:\n  - {type: computed_file, id: now, generator: {command: [date, \"+printed %N\"]}}\n  - {type: children}\n  - {type: journal}\n")
	s.Append("messages.jsonl", `{"role":"user","content":"one"}`+"\n")

	equal := func(what string, want ...string) {
		t.Helper()
		var x, y string
		harness.Eventually(t, what, func() bool {
			x, y = s.Read("context/pack.md"), there.Read("context/pack.md")
			if x != y {
				return false
			}
			for _, text := range want {
				if !strings.Contains(x, text) {
					return false
				}
			}
			return s.Read("context/pack.json") == there.Read("context/pack.json")
		})
	}
	equal("the same printed text", "printed ", "one")
	before := s.Read("context/pack.md")
	if again := there.Read("context/pack.md"); again != before {
		t.Errorf("b packs\n%s\nand a\n%s", again, before)
	}
	there.Append("messages.jsonl", `{"role":"assistant","content":"two"}`+"\n")
	equal("the next printed text", "printed ", "two")

	if err := os.Mkdir(s.Path("context/child/w"), 0o755); err != nil {
		t.Fatal(err)
	}
	child := b.Session(t, harness.Self(), "coder", "w1")
	s.Write("context/child/w/agent", "coder\n")
	s.Write("context/child/w/session", "w1\n")
	child.Append("messages.jsonl", `{"role":"assistant","content":"the child found the answer"}`+"\n")
	child.Write("state", "done\n")
	equal("the result of a child that works on b", "the child found the answer")

	if err := os.Remove(there.Path("context/context.yaml")); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the removal of a recipe", func() bool {
		_, err := os.Stat(s.Path("context/context.yaml"))
		return os.IsNotExist(err)
	})
}
