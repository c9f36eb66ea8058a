package child

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// childItem is what pack.json says of a child.
type childItem struct {
	ID, Kind, Source, SHA256, Phase string
	Tokens                          int
}

func childItems(t *testing.T, s *harness.Session) (items []childItem) {
	t.Helper()
	var p struct{ Items []childItem }
	if err := json.Unmarshal([]byte(s.Read("context/pack.json")), &p); err != nil {
		t.Fatal(err)
	}
	for _, it := range p.Items {
		if it.Kind == "child_result" {
			items = append(items, it)
		}
	}
	return items
}

func TestAParentsPackTellsOfItsChildren(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, child := family(t, m)
	who := "rev/" + child.Name
	s.Append("messages.jsonl", harness.Message("user", "have it reviewed"))
	shows := func(what, want string) {
		t.Helper()
		_, footer, _ := strings.Cut(harness.Unmarked(s.Read("context/pack.md")), "# Context Block: children\n")
		if footer != want {
			t.Errorf("%s: the pack says %q, want %q", what, footer, want)
		}
	}
	head := func() string {
		h, _, _ := strings.Cut(harness.Unmarked(s.Read("context/pack.md")), "# Context Block: children\n")
		return h
	}
	before := head()
	shows("a new child", "- rev-1: pending, "+who+"\n")
	child.Append("messages.jsonl", harness.Message("user", "the secret of the child")+harness.Message("assistant", "Let me look."))
	shows("one that works", "- rev-1: active, "+who+"\n")
	child.Append("messages.jsonl", harness.Message("assistant", "Two bugs:\n1. no limit\n2. no jitter"))
	child.Write("state", "done\n")
	shows("one that is done", "- rev-1: done, "+who+", context/child/rev-1/result.md\n> Two bugs:\n> 1. no limit\n> 2. no jitter\n")
	items := childItems(t, s)
	if len(items) != 1 || items[0].Source != "context/child/rev-1/result.md" || len(items[0].SHA256) != 64 || items[0].Phase != "dynamic" || items[0].Tokens < 10 {
		t.Errorf("%+v", items)
	}
	row := `{"id":"child-rev-1","path":"context/child/rev-1/result.md","kind":"child_result",` +
		`"summary":"done, ` + who + `"}` + "\n"
	harness.WantFile(t, s, "context/refs.jsonl", row)
	for _, name := range []string{"pack.md", "pack.json", "pack.openai.json", "pack.anthropic.json"} {
		if strings.Contains(s.Read("context/"+name), "secret of the child") {
			t.Errorf("%s has the child's messages", name)
		}
	}
	if !strings.Contains(s.Read("context/pack.openai.json"), "Two bugs") {
		t.Error("the native rendering has no result")
	}
	child.Write("state", "error\n")
	shows("one that failed", "- rev-1: error, "+who+", context/child/rev-1/result.md\n> Two bugs:\n> 1. no limit\n> 2. no jitter\n")
	s.Bash("cd context/child; echo 'By hand.' > rev-1/result.md; echo cancelled > rev-1/status; mkdir later; echo pending > later/status").OK()
	shows("what was written", "- rev-1: cancelled, "+who+", context/child/rev-1/result.md\n> By hand.\n- later: pending\n")
	s.Bash("rm context/child/rev-1/status context/child/rev-1/result.md; mv context/child/later context/child/sooner").OK()
	shows("what was taken back", "- rev-1: error, "+who+", context/child/rev-1/result.md\n> Two bugs:\n> 1. no limit\n> 2. no jitter\n- sooner: pending\n")
	s.Bash("rm -r context/child/sooner; mv ../../../rev/session/" + child.Name + " ../../../rev/session/" + child.Name + "-moved").OK()
	shows("one that was moved", "- rev-1: error, "+who+"-moved, context/child/rev-1/result.md\n> Two bugs:\n> 1. no limit\n> 2. no jitter\n")
	s.Bash("rm -r context/child/rev-1").OK()
	if pack := s.Read("context/pack.md"); pack != before {
		t.Errorf("without children: %q, want %q", pack, before)
	}
}

// What a child wrote into its refs.jsonl and artifact/ reached neither the parent's pack nor its refs.
func TestTheFilesThatAChildBringsReachItsParent(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, _ := family(t, m)
	s.Append("messages.jsonl", harness.Message("user", "have it reviewed"))
	s.Read("context/pack.md")
	s.Bash(`cd context/child/rev-1; echo '{"id":"r1","path":"auth/refresh.go","kind":"file","summary":"the retry"}' > refs.jsonl; echo trace > artifact/trace.log; echo hidden > artifact/.tmp`).OK()
	brought := "brought: auth/refresh.go (file): the retry; context/child/rev-1/artifact/trace.log\n"
	if md := s.Read("context/pack.md"); !strings.Contains(md, brought) {
		t.Errorf("the pack has no %q:\n%s", brought, md)
	}
	for _, row := range []string{`{"id":"child-rev-1-r1","path":"auth/refresh.go","kind":"file","summary":"the retry","source":"context/child/rev-1/refs.jsonl"}`,
		`{"id":"child-rev-1-trace.log","path":"context/child/rev-1/artifact/trace.log","kind":"artifact","source":"context/child/rev-1"}`} {
		if refs := s.Read("context/refs.jsonl"); !strings.Contains(refs, row+"\n") {
			t.Errorf("refs.jsonl has no row %s:\n%s", row, refs)
		}
	}
	s.Bash("cd context/child/rev-1; rm refs.jsonl artifact/trace.log; echo done > status; echo Fine. > result.md; echo more > artifact/more.txt").OK()
	if md := s.Read("context/pack.md"); !strings.Contains(md, "result.md\nbrought: context/child/rev-1/artifact/more.txt\n> Fine.\n") {
		t.Errorf("after a change:\n%s", md)
	}
}

func TestAPackThatNothingChangedIsTheSame(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, child := family(t, m)
	s.Append("messages.jsonl", harness.Message("user", "go"))
	child.Append("messages.jsonl", harness.Message("assistant", "one"))
	s.Read("context/pack.md")
	compiled := func() string {
		return m.Run(t, harness.Client{UID: harness.Self(), Argv: []string{"grep", "packs_compiled", m.Dir + "/status"}}).OK()
	}
	before := compiled()
	for i := range 5 {
		child.Append("messages.jsonl", harness.Message("assistant", fmt.Sprint("word ", i)))
		s.Read("context/pack.md")
	}
	if after := compiled(); after != before {
		t.Errorf("what a child says on its way makes new packs: %s, then %s", before, after)
	}
}

func TestChildrenThatAreLinkedInACircle(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, child := family(t, m)
	child.Bash("mkdir context/child/back context/child/me; cd context/child; echo coder > back/agent; echo " + s.Name + " > back/session; echo rev > me/agent; echo " + child.Name + " > me/session").OK()
	s.Append("messages.jsonl", harness.Message("assistant", "from the parent"))
	child.Append("messages.jsonl", harness.Message("assistant", "from the child"))
	s.Bash("echo done > state; echo done > " + child.Path("state")).OK()
	for range 3 {
		if got := s.Bash("cat context/child/rev-1/result.md & cat " + child.Path("context/pack.md") + " context/pack.md > /dev/null; wait").OK(); got != "from the child\n" {
			t.Fatalf("%q", got)
		}
	}
	pack := child.Read("context/pack.md")
	if !strings.Contains(pack, "- back: done, coder/"+s.Name+", context/child/back/result.md\n> from the parent\n") || !strings.Contains(pack, "- me: done") {
		t.Errorf("the child's pack:\n%s", pack)
	}
}

func TestPastPacksHaveTheChildrenOfToday(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, child := family(t, m)
	for i := range 4 {
		s.Append("messages.jsonl", harness.Message([]string{"user", "assistant"}[i%2], fmt.Sprint("turn ", i)))
	}
	child.Append("messages.jsonl", harness.Message("assistant", "an answer"))
	child.Write("state", "done\n")
	if got := s.Read("context/at/2/pack.md"); !strings.Contains(got, "> an answer\n") || strings.Contains(got, "turn 2") {
		t.Errorf("%s", got)
	}
}

func TestAChildReadsWhatItsParentHandsOver(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, child := family(t, m)
	child.Append("messages.jsonl", harness.Message("user", "begin"))
	block := func() string {
		_, rest, _ := strings.Cut(harness.Unmarked(child.Read("context/pack.md")), "# Context Block: handoff\n")
		text, _, _ := strings.Cut(rest, "# Context Block: ")
		return text
	}
	s.Write("context/child/rev-1/handoff.md", "Check the retry.\n")
	for _, c := range []struct{ parent, want string }{
		{"", ""},
		{s.Ref() + "/context/child/rev-1", "Check the retry.\n"},
		{"/" + s.Ref() + "/context/child/rev-1/", "Check the retry.\n"},
		{s.Ref() + "/context/child/other", ""},
		{s.Ref() + "/context/child/rev-1/../rev-1", ""},
		{strings.Replace(s.Ref(), "home/", "home/7", 1) + "/context/child/rev-1", ""},
		{"home/../" + s.Ref() + "/context/child/rev-1", ""},
		{s.Ref() + "/context/child/rev-1", "Check the retry.\n"},
	} {
		meta, _ := json.Marshal(map[string]string{"parent": c.parent})
		child.Write("meta.json", string(meta))
		if got := block(); got != c.want {
			t.Errorf("parent %q: %q", c.parent, got)
		}
	}
	s.Write("context/child/rev-1/handoff.md", "Check both.\n")
	if got := block(); got != "Check both.\n" {
		t.Errorf("after a change: %q", got)
	}
	if !strings.Contains(child.Read("context/pack.json"), `"../../../coder/session/`+s.Name+`/context/child/rev-1/handoff.md"`) {
		t.Error("pack.json does not say where it is from")
	}
	if got := child.Bash("cat ../../../coder/session/" + s.Name + "/context/child/rev-1/handoff.md").OK(); got != "Check both.\n" {
		t.Errorf("its path leads to %q", got)
	}
	child.Write("context/handoff.md", "My own.\n")
	if got := block(); got != "My own.\n" {
		t.Errorf("its own: %q", got)
	}
	child.Bash("rm context/handoff.md").OK()
	s.Bash("rm context/child/rev-1/handoff.md").OK()
	if got := block(); got != "" {
		t.Errorf("removed: %q", got)
	}
}
