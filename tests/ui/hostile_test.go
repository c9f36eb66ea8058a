package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// script tries each way out of a text into a page.
const script = `</title></script></pre></textarea>--><script>window.pwned=1</script><img src=x onerror="window.pwned=2"><svg onload="window.pwned=3"><a href="javascript:window.pwned=4">x</a>{{.}}${window.pwned=5}" onmouseover="window.pwned=6" x='`

// turned has what turns, moves or hides other text: bidi overrides and isolates, terminal sequences, zero bytes of
// every kind, tags.
const turned = "\u202Etxt.exe\u202C \u2066left\u2069 \u061C \uFEFF \x1b[31mred\x1b[0m \x1b]0;title\x07 \b\b\b \u200F \U000E0041"

// A session may say what it likes: nothing of it runs, hides or moves another part of a page.
func TestAHostileSessionIsText(t *testing.T) {
	suite.Matrix(t, needsBrowser)
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "hostile")
	line := func(fields map[string]any) string {
		b, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	evil := script + turned
	call := map[string]any{"id": evil, "type": "function", "function": map[string]any{"name": evil, "arguments": evil}}
	for _, fields := range []map[string]any{
		{"role": "user", "content": evil, "id": evil, "ts": evil, "name": evil},
		{"role": "assistant", "content": evil, "tool_calls": []any{call}},
		{"role": "tool", "tool_call_id": evil, "name": evil, "content": "# Context Block: " + evil + "\n## 1 user\n" + evil},
		{"role": "system", "content": []any{map[string]any{"type": "text", "text": evil}}},
		{"role": "user", "content": "We decided: " + evil + " is the name. TODO: " + evil},
		{"role": "assistant", "content": "I decided to use " + evil + "."},
	} {
		s.Append("messages.jsonl", line(fields))
	}
	s.Append("events.jsonl", line(map[string]any{"type": evil, "name": evil, "text": evil}))
	s.Append("events.jsonl", line(map[string]any{"type": "decision", "decision": evil, "text": evil}))
	huge := strings.Repeat("All work and no play. ", (16<<20-200)/22)
	s.Append("messages.jsonl", line(map[string]any{"content": huge, "role": "user"}))
	s.Append("messages.jsonl", harness.Message("user", "The last words. "+evil))
	s.Write("context/pinned/rules.md", evil+"\n")
	s.Write("context/handoff.md", evil+"\n")
	for file, row := range map[string]map[string]any{
		"context/facts.jsonl":     {"id": evil, "text": evil, "source": evil},
		"context/decisions.jsonl": {"id": evil, "decision": evil, "why": evil, "source": "messages:1"},
		"context/refs.jsonl":      {"id": evil, "path": evil, "kind": "file", "summary": evil, "source": "javascript:alert(1)"},
	} {
		s.Write(file, line(row))
	}
	s.Write("context/todo.md", "- [ ] "+evil+"\n")
	s.Write("meta.json", line(map[string]any{"parent": evil, "forked_from": evil + "@1", "x": evil}))
	s.Bash(`echo "{\"$(printf '\033')</script><script>window.pwned=7</script>\":1}" >> messages.jsonl; mkdir -p 'context/child/c1'; echo '<script>window.pwned=8</script>' > context/child/c1/result.md; true`)

	b := browse(t, serve(t, m))
	b.size(1280, 900)
	look := func(name, path string) {
		t.Helper()
		b.open(path)
		if pwned := eval[string](b, `String(window.pwned)`); pwned != "undefined" {
			t.Errorf("%s: the session ran a script, the %sth", name, pwned)
		}
		if bad := eval[string](b, `[...document.querySelectorAll("main script, main img, main iframe, main [onerror], main [onload], main [onmouseover], a[href^='javascript:' i], main style, main link, main object")].map(x => x.outerHTML.slice(0, 200)).join("\n")`); bad != "" {
			t.Errorf("%s: the session made elements:\n%s", name, bad)
		}
		if hidden := eval[string](b, `(document.body.innerText.match(/[\u0000-\u0008\u000b-\u001f\u007f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g) || []).map(x => x.codePointAt(0).toString(16)).join(" ")`); hidden != "" {
			t.Errorf("%s: letters that turn or hide text are on the page: %s", name, hidden)
		}
		b.fits(name)
		b.quiet()
		b.shot("hostile-" + name)
	}
	look("home", "/")
	look("found", "/?q=window")
	for _, v := range views {
		look(v.name, viewPath(v.name, s))
	}
	for n := 1; n <= 8; n++ {
		look(fmt.Sprint("record-", n), viewPath("session", s)+fmt.Sprintf("?r=messages:%d", n))
	}
	b.accessible("a hostile record")
	look("event", viewPath("session", s)+"?r=events:1")
	for _, format := range []string{"anthropic", "openai", "gemini"} {
		b.open(viewPath("pack", s))
		b.do(clickOn("[data-format-tab=" + format + "]"))
		b.await(`document.querySelector("[data-pack-of]")?.dataset.format === "` + format + `"`)
		if pwned := eval[string](b, `String(window.pwned)`); pwned != "undefined" {
			t.Errorf("%s ran a script", format)
		}
	}
	b.open(viewPath("time", s))
	b.set("#from", "1")
	b.await(`document.querySelector(".lines") && ` + settled)
	if pwned := eval[string](b, `String(window.pwned)`); pwned != "undefined" {
		t.Error("a comparison ran a script")
	}
	b.open(viewPath("session", s) + "?r=messages:7")
	if n := eval[int](b, `document.querySelector("[data-record] pre").textContent.length`); n > 300<<10 || n < 1000 {
		t.Errorf("a record of 16 MiB has %d letters on the page", n)
	}
	if who := eval[string](b, `document.querySelector("[data-record] .who").textContent`); who != "user" {
		t.Errorf("the record of 16 MiB is by %q", who)
	}
	for _, path := range []string{"/session/" + s.Ref() + "/../../../../../../etc/passwd", "/part/record/" + s.Ref() + "?r=" + "..%2F..%2Fstate", "/assets/..%2f..%2fserver.go", "/part/pack/" + s.Ref() + "?budget=1e9"} {
		if got := eval[int](b, fmt.Sprintf(`fetch(%q).then(r => r.status)`, path)); got < 400 {
			t.Errorf("%s is answered with %d", path, got)
		}
	}
}
