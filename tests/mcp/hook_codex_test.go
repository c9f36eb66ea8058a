package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// rollout makes the first n lines of a rollout of Codex 0.169 the transcript. What a hook said stands where Codex puts it.
func (h *host) rollout(n int, contexts ...string) {
	h.t.Helper()
	b, err := os.ReadFile("testdata/codex/rollout.jsonl")
	if err != nil {
		h.t.Fatal(err)
	}
	text := strings.Join(strings.SplitAfter(string(b), "\n")[:n], "")
	for _, c := range contexts {
		quoted, err := json.Marshal(c)
		if err != nil {
			h.t.Fatal(err)
		}
		text = strings.Replace(text, `"@CONTEXT@"`, string(quoted), 1)
	}
	text = strings.NewReplacer("@CWD@", h.project, "@SESSION@", codexSession).Replace(text)
	if err := os.WriteFile(h.transcript, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

const codexSession = "01a20292-dd80-7f10-9801-4148bcf5ce19"

// The hooks of Codex have the contract of Claude Code's: two turns, a resume, a compaction, and the next session.
func TestHooksOfCodex(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHostOf(t, m, "codex", "examples/codex/hooks.json")
	h.transcript = filepath.Join(h.project, "rollout-2026-11-22T09-25-09-"+codexSession+".jsonl")
	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(h.dir(codexSession), name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}

	first := h.fire("SessionStart", "codex-session-start-startup") // there is no rollout yet
	wants(t, "the first context", first, "Your memory is files in "+h.dir(codexSession)+":")
	h.rollout(10, first)
	h.fire("Stop", "codex-stop")
	wants(t, "the history", read("messages.jsonl"), "The port is 8443.", "Noted.")
	says(t, "meta.json", read("meta.json"), `{"model":"gpt-5-codex","client":"codex"}`+"\n")
	some := len(harness.Lines(t, read("messages.jsonl")))
	h.fire("SessionEnd", "codex-session-end")
	if again := len(harness.Lines(t, read("messages.jsonl"))); again != some || read("state") != "done\n" {
		t.Errorf("%d messages, %d after the same rollout once more; state %q", some, again, read("state"))
	}
	says(t, "the context of a resume", h.fire("SessionStart", "codex-session-start-resume"), "")
	h.rollout(14, first)
	h.fire("Stop", "codex-stop")
	wants(t, "the history", read("messages.jsonl"), "Never push to main.")

	h.fire("PreCompact", "codex-pre-compact")
	h.rollout(15, first)
	left := []string{"Your memory is files in ", "# What this session keeps", "The port is 8443.", "Never push to main."}
	wants(t, "the context of a resume behind a compaction", h.fire("SessionStart", "codex-session-start-resume"), left...)
	second := h.fire("SessionStart", "codex-session-start-compact")
	wants(t, "the context after a compaction", second, left...)
	h.rollout(19, first, second)
	says(t, "the context of a resume of what was compacted", h.fire("SessionStart", "codex-session-start-resume"), "")
	h.fire("Stop", "codex-stop")
	h.fire("SessionEnd", "codex-session-end")
	wants(t, "the history", read("messages.jsonl"), "Go on.")
	if _, err := os.Stat(strings.Replace(h.dir(""), "/agent/codex/", "/agent/claude-code/", 1)); !os.IsNotExist(err) {
		t.Errorf("the agent claude-code has sessions of Codex: %v", err)
	}

	if rows := read("context/errors.jsonl"); rows != "" {
		t.Errorf("refused: %s", rows)
	}
}
