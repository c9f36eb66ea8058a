package clients

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestABudgetAppliesAtTheNextRead(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--budget", "7777"}})
	s := m.NewSession(t)
	for range 40 {
		s.Append("messages.jsonl", harness.Message("user", strings.Repeat("alpha beta gamma delta ", 100)))
	}
	budget := func() (tokens, limit int) {
		t.Helper()
		var p struct {
			Tokens int `json:"tokens"`
			Budget int `json:"budget_tokens"`
		}
		if err := json.Unmarshal([]byte(s.Read("context/pack.json")), &p); err != nil {
			t.Fatal(err)
		}
		return p.Tokens, p.Budget
	}
	for _, c := range []struct {
		write string
		want  int
	}{{"", 7777}, {"4000\n", 4000}, {"2000", 2000}, {"  9000 \n", 9000}, {"", 7777}} {
		s.Write("context/budget", c.write)
		if tokens, limit := budget(); limit != c.want || tokens > c.want || tokens == 0 {
			t.Errorf("budget %q: %d tokens of %d, want at most %d", c.write, tokens, limit, c.want)
		}
	}
	// In a shell: emptied, and the next read knows.
	s.Write("context/budget", "9000")
	s.Bash(": > context/budget; cat context/budget context/pack.json >/dev/null").OK()
	if _, limit := budget(); limit != 7777 {
		t.Errorf("emptied by a shell: limit %d", limit)
	}
	s.Write("context/budget", "0")
	if tokens, limit := budget(); limit != 0 || tokens < 12000 {
		t.Errorf("budget 0: %d tokens of %d", tokens, limit)
	}
	if got := strings.Count(pack(t, s), "alpha beta gamma delta "); got != 4000 {
		t.Errorf("without a limit %d of 4000 phrases are there", got)
	}
}

func TestWhatCannotFitIsRefusedWhenItIsWritten(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	s.Write("context/budget", "4000")
	big := strings.Repeat("a rule that must hold always. ", 1000)
	call, err := replace(s.Path("context/pinned/big.md"), big)
	harness.WantErrno(t, "a pin above the budget: "+call, err, unix.EFBIG)
	wantInPack(t, s, "must hold always", false)
	rows := s.Errors()
	if len(rows) == 0 || rows[len(rows)-1].Errno != "EFBIG" {
		t.Errorf("errors.jsonl: %+v", rows)
	}
	os.Remove(s.Path("context/pinned/big.md"))
	s.Write("context/pinned/small.md", strings.Repeat("a rule that must hold always. ", 200))
	call, err = replace(s.Path("context/budget"), "500")
	harness.WantErrno(t, "a budget below the pins: "+call, err, unix.EFBIG)
	harness.WantFile(t, s, "context/budget", "4000")
	call, err = rename(s.Path("context/budget"), "500")
	harness.WantErrno(t, "a budget below the pins: "+call, err, unix.EFBIG)
	wantInPack(t, s, "must hold always", true)
	if err := os.Remove(s.Path("context/pinned/small.md")); err != nil {
		t.Fatal(err)
	}
	if call, err := replace(s.Path("context/budget"), "500"); err != nil {
		t.Errorf("a budget without pins: %s: %v", call, err)
	}
}

func TestASettingAboveOneMiBIsTooLargeHoweverItComes(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/summary.md", "short")
	for _, way := range []func(string, string) (string, error){replace, rename} {
		call, err := way(s.Path("context/summary.md"), strings.Repeat("x", 1<<20+1))
		harness.WantErrno(t, call, err, unix.EMSGSIZE)
		harness.WantFile(t, s, "context/summary.md", "short")
		if rows := s.Errors(); len(rows) == 0 || rows[len(rows)-1].Errno != "EMSGSIZE" {
			t.Errorf("%s: errors.jsonl: %+v", call, rows)
		}
	}
}

func TestPinsAppearAtTheNextRead(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	s.Write("context/pinned/b.md", "second rule\n")
	s.Write("context/pinned/a.md", "first rule\n")
	p := pack(t, s)
	if i, j := strings.Index(p, "first rule"), strings.Index(p, "second rule"); i < 0 || j < i {
		t.Errorf("pins at %d and %d, want them in name order", i, j)
	}
	s.Append("context/pinned/a.md", "first rule, continued\n")
	wantInPack(t, s, "first rule\nfirst rule, continued\n", true)
	s.Bash("sed -i s/second/2nd/ context/pinned/b.md").OK()
	wantInPack(t, s, "2nd rule", true)
	s.Bash("mv context/pinned/b.md context/pinned/0.md").OK()
	wantInPack(t, s, "2nd rule", true)
	for _, name := range []string{".hidden", "draft~", "4913", "sedAbC123"} {
		s.Write("context/pinned/"+name, "not a pin\n")
	}
	wantInPack(t, s, "not a pin", false)
	// A file with a writer is not pinned until it is closed.
	f, err := os.Create(s.Path("context/pinned/open.md"))
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("half a ru")
	wantInPack(t, s, "half a ru", false)
	f.WriteString("le\n")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	wantInPack(t, s, "half a rule", true)
	s.Bash("rm context/pinned/0.md context/pinned/a.md").OK()
	wantInPack(t, s, "2nd rule", false)
	fence := "before\n```\ncode\n````\nnested\n````\n```\nafter\n"
	s.Write("context/pinned/fence.md", fence)
	wantInPack(t, s, fence, true)
}

// What the agent writes of its notes stands in packs. Until it does, and after rm, they are derived.
func TestWhatTheAgentWritesAboutItsHistory(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1+rec2)
	for name, own := range map[string]string{
		"context/summary.md":      "The agent's own summary.\n",
		"context/todo.md":         "- [ ] the agent's own todo\n",
		"context/facts.jsonl":     `{"id":"f1","text":"the agent's own fact","source":"messages:1"}` + "\n",
		"context/decisions.jsonl": `{"id":"d1","decision":"the agent's own decision","source":"messages:1"}` + "\n",
		"context/refs.jsonl":      `{"id":"r1","path":"own/path.go","kind":"file","summary":"the agent's own ref"}` + "\n",
	} {
		wantOrigin := func(want string) {
			t.Helper()
			b := make([]byte, 64)
			if n, err := unix.Getxattr(s.Path(name), "user.ctx.origin", b); err != nil || string(b[:n]) != want {
				t.Errorf("%s: origin %q, %v", name, b[:max(n, 0)], err)
			}
		}
		wantOrigin("derived")
		s.Write(name, own)
		harness.WantFile(t, s, name, own)
		wantOrigin("agent")
		wantInPack(t, s, "agent's own", name != ctxabi.SummaryFile) // a summary enters at a compaction
		if err := os.Remove(s.Path(name)); err != nil {
			t.Errorf("rm %s: %v", name, err)
		}
		if _, err := os.Stat(s.Path(name)); !os.IsNotExist(err) { // once, for whoever removed it
			t.Errorf("%s after rm: %v, want ENOENT", name, err)
		}
		wantOrigin("derived")
		wantInPack(t, s, "agent's own", false)
	}
	s.Bash("echo '- [ ] first' >> context/todo.md; echo '- [x] second' >> context/todo.md").OK()
	harness.WantFile(t, s, "context/todo.md", "- [ ] first\n- [x] second\n")
	wantInPack(t, s, "- [ ] first\n- [x] second\n", true)
	wantInPack(t, s, "Progress 1/2. Next: first", true)
}
