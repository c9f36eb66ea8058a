package child

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestALinkFollowsItsSession(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, child := family(t, m)
	child.Append("messages.jsonl", harness.Message("assistant", "the answer"))
	s.Bash("cd ../../..; mv rev/session/" + child.Name + " rev/session/other").OK()
	harness.WantFile(t, s, "context/child/rev-1/agent", "rev\n")
	harness.WantFile(t, s, "context/child/rev-1/session", "other\n")
	harness.WantFile(t, s, "context/child/rev-1/result.md", "the answer\n")
	s.Bash("cd ../../..; mkdir -p reviewer; mv rev/session/other reviewer/session/other").OK()
	harness.WantFile(t, s, "context/child/rev-1/agent", "reviewer\n")
	harness.WantFile(t, s, "context/child/rev-1/session", "other\n")
	harness.WantFile(t, s, "context/child/rev-1/result.md", "the answer\n")
	m.Restart()
	harness.WantFile(t, s, "context/child/rev-1/result.md", "the answer\n")
}

func TestARemovedSessionLeavesItsResult(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, child := family(t, m)
	s.Append("messages.jsonl", harness.Message("user", "go"))
	child.Append("messages.jsonl", harness.Message("assistant", "the last word"))
	harness.WantFile(t, s, "context/child/rev-1/status", "active\n")
	m.CLI(t, "session", "rm", "--force", child.Dir).OK()
	if _, err := os.Stat(child.Dir); !os.IsNotExist(err) {
		t.Fatalf("the session is there: %v", err)
	}
	harness.WantFile(t, s, "context/child/rev-1/result.md", "the last word\n")
	harness.WantFile(t, s, "context/child/rev-1/status", "error\n")
	if harness.Origin(t, s, "context/child/rev-1/result.md") != "agent" {
		t.Error("nothing was written")
	}
	if pack := s.Read("context/pack.md"); !strings.Contains(pack, "- rev-1: error, rev/"+child.Name+", context/child/rev-1/result.md\n> the last word\n") {
		t.Errorf("%s", pack)
	}
}

func TestAForkTakesTheChildrenAlong(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, child := family(t, m)
	s.Append("messages.jsonl", harness.Message("user", "go"))
	child.Append("messages.jsonl", harness.Message("assistant", "the answer"))
	child.Write("state", "done\n")
	s.Bash("mkdir context/child/b; echo hand > context/child/b/result.md; mkdir context/child/b/artifact/d; head -c 100000 /dev/urandom > context/child/b/artifact/d/x; chmod 640 context/child/b/artifact/d/x").OK()
	if err := unix.Setxattr(s.Dir, "user.ctx.fork", []byte("branch"), 0); err != nil {
		t.Fatal(err)
	}
	branch := m.Session(t, harness.Self(), "coder", "branch")
	got, want := harness.Untagged(branch.Read("context/pack.md")), harness.Untagged(s.Read("context/pack.md"))
	if got != want {
		t.Errorf("the fork's pack:\n%s\nwant\n%s", got, want)
	}
	branch.Bash("diff -r context/child " + s.Path("context/child") + "; stat -c '%a %U' context/child/b/artifact/d/x").OK()
	branch.Bash("rm -r context/child/b").OK()
	harness.WantFile(t, s, "context/child/b/result.md", "hand\n")
}

func TestSessionShowTellsOfChildren(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, child := family(t, m)
	child.Append("messages.jsonl", harness.Message("assistant", "x"))
	type info struct {
		Children []struct{ Name, Status, Session, Result string }
		ChildOf  []struct{ Session, Name string } `json:"child_of"`
	}
	show := func(x *harness.Session) (i info) {
		t.Helper()
		if err := json.Unmarshal([]byte(m.CLI(t, "session", "show", "--json", x.Dir).OK()), &i); err != nil {
			t.Fatal(err)
		}
		return i
	}
	if i := show(s); len(i.Children) != 1 || i.Children[0].Name != "rev-1" || i.Children[0].Status != "active" || i.Children[0].Session != child.Ref() || i.Children[0].Result != "derived" {
		t.Errorf("%+v", i)
	}
	if i := show(child); len(i.ChildOf) != 1 || i.ChildOf[0].Session != s.Ref() || i.ChildOf[0].Name != "rev-1" {
		t.Errorf("%+v", i)
	}
	if got := m.CLI(t, "session", "show", s.Dir).OK(); !strings.Contains(got, "rev-1: active, "+filepath.ToSlash(child.Ref())) {
		t.Errorf("%s", got)
	}
}
