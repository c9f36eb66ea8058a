package packtest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/nativetest"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// listing is what `find /` prints on a machine: at least size bytes of paths, no two alike.
func listing(size int) string {
	var b strings.Builder
	dirs := strings.Fields("usr/share/doc usr/lib/x86_64-linux-gnu etc var/lib/dpkg/info usr/share/man/man3 home/dev/src opt/tools/lib")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "/%s/package-%d/file_%d.%s\n", dirs[i%len(dirs)], i/40, i, []string{"gz", "so", "conf", "md5sums", "3.gz", "go", "py"}[i%7])
	}
	return b.String()
}

// hits is an answer of a web search: at least size bytes of numbered titles, addresses and snippets.
func hits(size int) string {
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%d. Result %d about the refresh of tokens\nhttps://example.org/articles/%d\n%s\n\n", i, i, i*37,
			strings.Repeat(fmt.Sprintf("A refresh that failed with %d is tried again after a pause. ", 400+i), 8))
	}
	return b.String()
}

// words weighs n tokens, exactly.
func words(t *testing.T, n int) string {
	t.Helper()
	c, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	text := "a" + strings.Repeat(" word", n-1)
	if got := c.Count(text); got != n {
		t.Fatalf("%d tokens, want %d", got, n)
	}
	return text
}

// record makes a record of a tool's result, or of another role, of all these bytes.
func record(role, name, content string) string {
	m := object{"role": role, "content": content}
	if role == "tool" {
		m["tool_call_id"], m["name"] = "call_1", name
	}
	return string(mustJSON(m)) + "\n"
}

// What is far larger than a pack, appended by a program as such come: it is taken, each pack keeps its budget by exact count, and shows of it a
// part with the path that gives all of it back.
func TestExtremesThroughTheMount(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	counter, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	const before = `{"role":"user","content":"Find out what fills the disk."}` + "\n" +
		`{"role":"assistant","content":"Looking.","tool_calls":[{"id":"call_1","name":"%s","arguments":"{}"}]}` + "\n"
	whole := func(role, name string) string { // a record of exactly the largest size
		frame := len(record(role, name, ""))
		return strings.Repeat("0123456789abcdef ", 1+ctxabi.MaxRecord/17)[:ctxabi.MaxRecord+1-frame]
	}
	for _, c := range []struct {
		name, role, tool, content string
		most                      int // tokens that are shown of it at 8,000; 0: any number
	}{
		{"find", "tool", "shell", listing(667_000), 0},
		{"loop", "tool", "shell", strings.Repeat("still waiting for the lock\n", 1_200_000/27+1), 0},
		{"571,000 tokens of the user", "user", "shell", words(t, 571_000), 0},
		{"571,000 tokens of a tool", "tool", "shell", words(t, 571_000), 0},
		{"search", "tool", "web_search", hits(50_000), 2100},
		{"16 MiB of a tool", "tool", "shell", whole("tool", "shell"), 0},
		{"16 MiB of the user", "user", "shell", whole("user", ""), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := m.NewSession(t)
			s.Append("messages.jsonl", fmt.Sprintf(before, c.tool))
			raw := record(c.role, c.tool, c.content)
			input := filepath.Join(t.TempDir(), "record")
			if err := os.WriteFile(input, []byte(raw), 0o600); err != nil {
				t.Fatal(err)
			}
			// As a program appends it, in the pieces in which it copies.
			cmd := exec.Command("bash", "-c", `cat "$1" >> messages.jsonl`, "bash", input)
			cmd.Dir = s.Dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			s.Append("messages.jsonl", harness.Message("assistant", "That was a lot."))
			for _, budget := range []int{4000, 8000, 32000} {
				s.Write("context/budget", fmt.Sprint(budget))
				b := read(t, s)
				b.account(t, 4)
				if n := counter.Count(b.md); n != b.Tokens || n > budget {
					t.Errorf("%d tokens by exact count, %d by pack.json, budget %d", n, b.Tokens, budget)
				}
				for i, f := range nativeFormats {
					if budget != 8000 && i != budget%3 { // one of them, for the rest of their kind
						continue
					}
					body, violations := nativetest.Check(f, []byte(s.Read("context/pack."+f+".json")), counter.CountCached)
					if len(violations) > 0 || body.Tokens > budget {
						t.Errorf("%s at %d: %d tokens, %q", f, budget, body.Tokens, violations)
					}
				}
				_, shown, found := strings.Cut(b.md, "\n## 3 "+c.role)
				shown, _, _ = strings.Cut(shown, "\n## 4 assistant\n")
				if !found || !b.cut(3) || !strings.Contains(shown, "context/line/3.txt") || !strings.Contains(b.md, "That was a lot.") {
					t.Errorf("at %d tokens, cut %v, shown as\n%.1000s", budget, b.cut(3), shown)
				}
				if n := counter.CountCached(shown); c.most > 0 && budget == 8000 && n > c.most {
					t.Errorf("%d tokens are shown of it at 8,000:\n%s", n, shown)
				}
			}
			if s.Read("context/line/3") != raw {
				t.Error("context/line/3 gives other bytes")
			}
			if s.Read("context/line/3.txt") != strings.TrimSuffix(c.content, "\n")+"\n" {
				t.Error("context/line/3.txt gives another text")
			}
			var p struct {
				Items []struct {
					Source, Range, Path string
					Lines               string `json:"range_v1"`
				}
			}
			if err := json.Unmarshal([]byte(s.Read("context/pack.json")), &p); err != nil {
				t.Fatal(err)
			}
			for _, it := range p.Items {
				if (it.Range == "3" || it.Lines == "3") && it.Source == "messages.jsonl" && it.Path != "context/line/3.txt" {
					t.Errorf("its item has the path %q", it.Path)
				}
			}
		})
	}
}
