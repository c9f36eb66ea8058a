package pack

import (
	"testing"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/record"
)

func sampleFiles() []blocks.File {
	return []blocks.File{
		fileOf("system_prompt.md", "You are a careful coding agent.\n"),
		fileOf("context/pinned/rules.md", "Never delete the ledger."),
		fileOf("/work/AGENTS.md", "# Commands\n\n```sh\nmake test\n```\n"),
		fileOf("context/summary.md", "We repair the token refresh.\n"),
		fileOf("context/facts.jsonl", `{"id":"f1","text":"CI runs Go 1.26","source":"messages:3"}`+"\n"),
		fileOf("context/todo.md", "- [x] reproduce\n- [x] find the cause\n- [ ] add RetryMax to config.go\n- [ ] test\n"),
	}
}

// Each form in which calls and results are written comes out alike.
func TestForms(t *testing.T) {
	l := logOf(
		`{"role":"system","content":"Answer briefly."}`,
		`{"role":"user","content":"Make the token refresh retry."}`,
		`{"role":"assistant","content":"Looking.","tool_calls":[{"id":"call_a","type":"function","function":{"name":"read_file","arguments":"{\"path\": \"a.go\"}"}},{"id":"call_b","name":"bash","arguments":{"cmd":"ls"}}]}`,
		`{"role":"tool","tool_call_id":"call_a","content":"package a\n"}`,
		`{"role":"tool","tool_call_id":"call_b","name":"bash","content":"a.go\nb.go"}`,
		`{"role":"assistant","content":[{"type":"text","text":"Writing."},{"type":"tool_use","id":"toolu_1","name":"write_file","input":{"path":"a.go","text":"x"}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"denied","is_error":true}]}`,
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c9","name":"edit","arguments":"first line\nsecond `+"```"+` line"}]}`,
		`{"role":"tool","tool_call_id":"nobody","content":"a late answer"}`,
		`{"role":"user","name":"alice","content":[{"type":"text","text":"See this:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`,
		`{"role":"assistant","content":"## 99 user\nI only quote a heading.\n"}`,
		`{"role":"user","content":"an open fence:\n`+"```"+`go\nfunc main()"}`,
		`{"role":"assistant","content":""}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_a","content":"one"},{"type":"tool_result","tool_use_id":"call_b","content":[{"type":"text","text":"[call 1.1] fake"}]},{"type":"text","text":"and a word"}]}`,
		`not a record at all`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"# A heading is fine\n\n`+"```"+`\ncode\n`+"```"+`"}]}`,
	)
	in := inputOf(l, 0, sampleFiles()...)
	b := mustCompile(t, in)
	golden(t, "forms/pack.md", b.Markdown)
	golden(t, "forms/pack.json", b.JSON())
	golden(t, "forms/pack.report.md", b.Report)
	nativeGoldens(t, "forms", in)
}

// A long session at a small budget: kept records, notes of what is left out, shortened records.
func TestCompacted(t *testing.T) {
	l := longLog(120)
	in := inputOf(l, 3000, sampleFiles()...)
	b := mustCompile(t, in)
	golden(t, "compacted/pack.md", b.Markdown)
	golden(t, "compacted/pack.json", b.JSON())
	golden(t, "compacted/pack.report.md", b.Report)
	nativeGoldens(t, "compacted", in)
}

func TestFences(t *testing.T) {
	for _, c := range []struct {
		content string
		want    bool
	}{
		{"plain", false},
		{"# Title\n## Section\n", false},
		{"# Context Block: pinned/rules.md\n", true},
		{"  ## 12 user\n", true},
		{"a\r## 12 user", true},
		{"##12 user", true},
		{"[call 3.1] bash", true},
		{"[1] a footnote", false},
		{"```\ncode\n```\n", false},
		{"```\ncode\n", true},
		{"````\n```\n````\n", false},
		{"````\n```\n", true},
		{"~~~\n```\n~~~", false},
		{"inline ``` ticks", false},
		{"``` a ` b\n", false},
	} {
		if got := record.NeedsFence(c.content); got != c.want {
			t.Errorf("needsFence(%q) = %v", c.content, got)
		}
	}
}

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		todo, next string
		done, all  int
	}{
		{"", "", 0, 0},
		{"no boxes", "", 0, 0},
		{"- [x] a\n- [ ] b\n  - [X] c\n* [ ] d\n- [-] dropped\n", "b", 2, 4},
		{"- [x] a", "", 1, 1},
	} {
		done, all, next := progress(c.todo)
		if done != c.done || all != c.all || next != c.next {
			t.Errorf("%q: %d/%d %q", c.todo, done, all, next)
		}
	}
}

func TestUnknownEncoding(t *testing.T) {
	in := inputOf(logOf(), 100)
	in.Encoding = "no-such-model"
	if _, err := compile(in); err == nil {
		t.Error("compiled")
	}
}

func count(t testing.TB, encoding string, b []byte) int {
	t.Helper()
	c, err := tokens.For(encoding)
	if err != nil {
		t.Fatal(err)
	}
	return c.Count(string(b))
}
