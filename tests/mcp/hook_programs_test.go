package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

const geminiSession = "0dfd7f3a-6343-4231-841f-d374dd95b1d4"

// newProgram is a program whose settings have every hook as ctxfs hook with args.
func newProgram(t *testing.T, m *harness.Mount, agent, args string) *host {
	t.Helper()
	h := &host{t: t, m: m, agent: agent, project: t.TempDir(), runtime: t.TempDir(), commands: map[string][]string{}}
	h.transcript = filepath.Join(h.project, "transcript.jsonl")
	h.env = []string{"CTXFS_MOUNT=" + m.Dir, "HOME=" + h.project, "PATH=" + harness.UserPath(t), "XDG_RUNTIME_DIR=" + h.runtime}
	for _, event := range []string{"SessionStart", "BeforeAgent", "PreCompress", "AfterAgent", "Stop", "SessionEnd"} {
		h.commands[event] = []string{"ctxfs hook " + args + " || true"}
	}
	return h
}

// chat makes the first n lines of a chat of Gemini CLI 0.61 the transcript. What a hook said stands where the program puts it, as it writes it.
func (h *host) chat(n int, context string) {
	h.t.Helper()
	b, err := os.ReadFile("testdata/gemini/talk.jsonl")
	if err != nil {
		h.t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	text := strings.Join(lines[:min(n, len(lines))], "")
	quoted, err := json.Marshal("<hook_context>" + strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(context) + "</hook_context>")
	if err != nil {
		h.t.Fatal(err)
	}
	text = strings.NewReplacer(`"<hook_context>@CONTEXT@</hook_context>"`, string(quoted), "@CWD@", h.project).Replace(text)
	if err := os.WriteFile(h.transcript, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// Gemini CLI asks in front of each turn: it is told of its memory once, behind the user's words, and again when a compression took that away.
func TestHooksOfGemini(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newProgram(t, m, "gemini", "")
	h.transcript = filepath.Join(h.project, "session-2026-11-22T22-26-0dfd7f3a.jsonl")
	dir := h.dir(geminiSession)
	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	settings := filepath.Join(h.project, ".gemini/settings.json")
	if err := os.Mkdir(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(`{"hooks":{"BeforeAgent":[{"hooks":[{"type":"command","command":"ctxfs hook"}]}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}

	h.chat(2, "")
	says(t, "what is said at the start, which would stand in front of the user's words", h.fire("SessionStart", "gemini-session-start-startup"), "")
	says(t, "state and cwd", read("state")+read("cwd"), "active\n"+h.project+"\n")
	told := h.fire("BeforeAgent", "gemini-before-agent")
	wants(t, "the first context", told, ctxabi.ToldBegins, "Your memory is files in "+dir+":", "&lt; and &gt; stand for")
	h.chat(5, told)
	h.fire("PreCompress", "gemini-pre-compress")
	h.chat(99, told)
	h.fire("AfterAgent", "gemini-after-agent")
	wants(t, "the history", read("messages.jsonl"), "The staging port is 8443.", "I look.", "the command failed with 3.")
	some := len(harness.Lines(t, read("messages.jsonl")))
	h.fire("SessionEnd", "gemini-session-end")
	if again := len(harness.Lines(t, read("messages.jsonl"))); again != some || read("state") != "done\n" {
		t.Errorf("%d messages, %d after the same chat once more; state %q", some, again, read("state"))
	}

	says(t, "what is said at a resume", h.fire("SessionStart", "gemini-session-start-resume")+h.fire("BeforeAgent", "gemini-before-agent"), "")
	if err := os.WriteFile(filepath.Join(dir, "context/pinned/rules.md"), []byte("Never deploy on Fridays.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, "a note that is new", h.fire("BeforeAgent", "gemini-before-agent"), ctxabi.Told("\n# Notes of this session that changed\n\n## Pinned: rules.md\nNever deploy on Fridays.\n"))
	addTo(t, h.transcript, `{"$set":{"messages":[{"id":"s","type":"user","content":[{"text":"<state_snapshot>The port is known.</state_snapshot>"}]}]}}`+"\n")
	wants(t, "the context behind a compression", h.fire("BeforeAgent", "gemini-before-agent"), "Your memory is files in ", "# What this session keeps", "Never deploy on Fridays.")

	if err := os.Remove(settings); err != nil {
		t.Fatal(err)
	}
	wants(t, "what is said at a start where nobody asks later", h.fire("SessionStart", "gemini-session-start-resume"), "Your memory is files in ", "Never deploy on Fridays.")
	if rows := read("context/errors.jsonl"); rows != "" {
		t.Errorf("refused: %s", rows)
	}
}

// The plugin for opencode writes the whole conversation, and asks at the start of a session and behind a compaction.
func TestHooksOfOpencode(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newProgram(t, m, "opencode", "--program opencode")
	const id = "ses_dfa985862ffehNpQeptjbPWnTr"
	h.transcript = filepath.Join(h.project, id+".json")
	event := func(name, rest string) (said string) {
		t.Helper()
		in := strings.NewReplacer("NAME", name, "DIR", h.project).Replace(`{"hook_event_name":"NAME","session_id":"` + id + `","cwd":"DIR"` + rest + "}")
		r := m.Run(t, harness.Client{UID: harness.Self(), Dir: h.project, Env: h.env, Argv: []string{"sh", "-c", h.commands[name][0]}, Stdin: strings.NewReader(in)})
		if r.Code != 0 || r.Stderr != "" {
			t.Errorf("%s: status %d: %s", in, r.Code, r.Stderr)
		}
		h.settled()
		return r.Stdout
	}
	wants(t, "the start", event("SessionStart", `,"source":"startup"`), "Your memory is files in "+h.dir(id)+":")
	event("Stop", "")
	exported, err := os.ReadFile(filepath.Join(harness.Root(), "agents/adapter/formats/testdata/opencode", id+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.transcript, exported, 0o600); err != nil {
		t.Fatal(err)
	}
	event("Stop", `,"transcript_path":"`+h.transcript+`"`)
	all, err := os.ReadFile(filepath.Join(h.dir(id), "messages.jsonl"))
	if err != nil || len(all) == 0 {
		t.Fatalf("nothing was recorded: %v", err)
	}
	event("Stop", `,"transcript_path":"`+h.transcript+`"`)
	if again, err := os.ReadFile(filepath.Join(h.dir(id), "messages.jsonl")); err != nil || string(again) != string(all) {
		t.Errorf("the same conversation once more added %d bytes, %v", len(again)-len(all), err)
	}
	wants(t, "the context behind a compaction", event("SessionStart", `,"source":"compact","transcript_path":"`+h.transcript+`"`), "Your memory is files in ", "# What this session keeps")
}
