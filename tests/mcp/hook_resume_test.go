package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// talk is a transcript as Claude Code 2.1 writes it: each record names the one that it follows.
type talk struct {
	h    *host
	n    int
	last string // uuid
}

func (k *talk) record(kind string, fields map[string]any) {
	k.h.t.Helper()
	k.n++
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", k.n)
	r := map[string]any{"type": kind, "uuid": id, "parentUuid": k.last, "isSidechain": false, "sessionId": sessionID,
		"cwd": k.h.project, "version": "2.1.197", "timestamp": fmt.Sprintf("2026-11-22T09:%02d:%02d.000Z", k.n/60, k.n%60)}
	if k.last == "" {
		r["parentUuid"] = nil
	}
	for key, v := range fields {
		r[key] = v
	}
	line, err := json.Marshal(r)
	if err != nil {
		k.h.t.Fatal(err)
	}
	addTo(k.h.t, k.h.transcript, string(line)+"\n")
	k.last = id
}

func addTo(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// start fires SessionStart, and keeps what the hook says as Claude Code does.
func (k *talk) start(source string) (context string) {
	k.h.t.Helper()
	context = k.h.fire("SessionStart", "session-start-"+source)
	if context != "" {
		k.record("attachment", map[string]any{"attachment": map[string]any{"type": "hook_success", "hookName": "SessionStart:" + source, "hookEvent": "SessionStart", "content": "", "exitCode": 0}})
		k.record("attachment", map[string]any{"attachment": map[string]any{"type": "hook_additional_context", "content": []string{context}, "hookName": "SessionStart", "hookEvent": "SessionStart"}})
	}
	return context
}

// turn is a question and its answer, and what the hooks do behind it.
func (k *talk) turn(asked string) {
	k.h.t.Helper()
	k.ask(asked)
	k.record("assistant", map[string]any{"message": map[string]any{"id": fmt.Sprint("msg_", k.n), "type": "message", "role": "assistant", "model": "claude-opus-4-8",
		"content": []any{map[string]any{"type": "text", "text": "Noted."}}}})
	k.h.fire("Stop", "stop")
	k.h.fire("SessionEnd", "session-end")
}

func (k *talk) ask(asked string) {
	k.h.t.Helper()
	k.record("user", map[string]any{"message": map[string]any{"role": "user", "content": asked}})
}

func (k *talk) compact() {
	k.h.t.Helper()
	k.compactTo("This session is being continued. Noted.")
}

// compactTo records a compaction with the given summary in the transcript and runs its hooks.
func (k *talk) compactTo(summary string) {
	k.h.t.Helper()
	k.h.fire("PreCompact", "pre-compact-auto")
	k.last = ""
	k.record("system", map[string]any{"subtype": "compact_boundary", "content": "Conversation compacted"})
	k.record("user", map[string]any{"isCompactSummary": true,
		"message": map[string]any{"role": "user", "content": summary}})
	k.h.fire("PostCompact", "post-compact")
}

func (h *host) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir(sessionID), name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) add(name, text string) {
	h.t.Helper()
	addTo(h.t, filepath.Join(h.dir(sessionID), name), text)
}

func says(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// A headless loop resumes its session for each turn: the request would carry the paragraph once for each.
func TestAResumeSaysNothingThatTheTranscriptHas(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	k := &talk{h: h}
	paragraph := "Your memory is files in " + h.dir(sessionID) + ":"
	wants(t, "the first context", k.start("startup"), paragraph)
	k.turn("The staging port is 8443. Never push to main.")
	for i := range 3 {
		says(t, fmt.Sprintf("resume %d", i), k.start("resume"), "")
		k.turn(fmt.Sprintf("I decide: port 900%d is for service %d.", i, i))
	}
	if facts := h.read("context/facts.jsonl") + h.read("context/decisions.jsonl"); !strings.Contains(facts, "8443") {
		t.Fatalf("no notes were derived, of which a resume could tell: %s", facts)
	}

	// Notes that somebody wrote since then are told once, and again when they changed.
	h.write("context/pinned/rules.md", "Never deploy on Fridays.\n\n## Style\nTabs.\n")
	h.write("context/todo.md", "- [ ] look at the body of 429\n")
	h.add("context/facts.jsonl", `{"id":"m","text":"Staging is down on Mondays."}`+"\n")
	const changed = "\n# Notes of this session that changed\n"
	says(t, "the resume after notes were written", k.start("resume"),
		ctxabi.Told(changed+"\n## Pinned: rules.md\nNever deploy on Fridays.\n\n## Style\nTabs.\n\n## Open\n- [ ] look at the body of 429\n\n## Known\n- Staging is down on Mondays.\n"))
	k.turn("Go on.")
	says(t, "the resume after that", k.start("resume"), "")
	h.write("context/todo.md", "- [x] look at the body of 429\n- [ ] retry\n")
	h.write("context/pinned/rules.md", "Never deploy on Fridays.\n")
	says(t, "the resume after a step and less of a pin", k.start("resume"), ctxabi.Told(changed+"\n## Pinned: rules.md\nNever deploy on Fridays.\n\n## Open\n- [x] look at the body of 429\n- [ ] retry\n"))
	k.turn("Go on.")
	h.write("context/todo.md", "- [x] look at the body of 429\n")
	says(t, "the resume after a step was taken out", k.start("resume"), ctxabi.Told(changed+"\n## Open\n- [x] look at the body of 429\n"))
	h.write("context/todo.md", "- [ ] look at the body of 429\n")
	says(t, "the resume after a step back", k.start("resume"), ctxabi.Told(changed+"\n## Open\n- [ ] look at the body of 429\n"))
	h.write("context/todo.md", "")
	if err := os.Remove(filepath.Join(h.dir(sessionID), "context/pinned/rules.md")); err != nil {
		t.Fatal(err)
	}
	says(t, "the resume after notes were taken away", k.start("resume"), ctxabi.Told(changed+"\n## Pinned: rules.md\nIt is pinned no longer.\n\n## Open\nNothing is open.\n"))
	k.turn("Go on.")
	says(t, "the resume after that", k.start("resume"), "")

	// A compaction takes all of it out of the context.
	k.compact()
	says(t, "the paragraph in a resume behind a compaction that nobody was told of", fmt.Sprint(strings.Contains(h.fire("SessionStart", "session-start-resume"), paragraph)), "true")
	wants(t, "the context after the compaction", k.start("compact"), paragraph, "# What this session keeps", "8443", "Staging is down on Mondays.")
	k.turn("Go on.")
	says(t, "the resume after a compaction", k.start("resume"), "")
	all, err := os.ReadFile(h.transcript)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(all), paragraph); n != 2 {
		t.Errorf("the paragraph stands %d times in a transcript with one compaction, want 2", n)
	}
}

// What was said in front of a rewind, the conversation does not have any more.
func TestAResumeBehindARewindSaysItAgain(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	k := &talk{h: h}
	k.ask("The staging port is 8443.")
	h.fire("Stop", "stop")
	root := k.last
	k.start("resume")
	k.turn("Go on.")
	says(t, "the resume", k.start("resume"), "")
	k.last = root
	k.turn("Or rather another way.")
	wants(t, "the resume behind a rewind", k.start("resume"), "Your memory is files in ", "8443")
}

// claude mcp list fires SessionEnd, and so does a program that was asked nothing.
func TestAHookMakesNoSessionOfWhatHasNoTranscript(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	for event, input := range map[string]string{"SessionEnd": "session-end", "Stop": "stop", "PreCompact": "pre-compact-auto", "PostCompact": "post-compact"} {
		h.fire(event, input)
		if _, err := os.Stat(filepath.Dir(filepath.Dir(h.dir(sessionID)))); !os.IsNotExist(err) {
			t.Fatalf("%s without a transcript made the agent's home: %v", event, err)
		}
	}
	h.fire("SessionStart", "session-start-startup")
	h.fire("SessionEnd", "session-end")
	says(t, "the state of a session in which nothing was said", h.read("state"), "done\n")
}

// A program that was told to keep no transcript leaves no session behind.
func TestAHookOfAnEphemeralConversationDoesNothing(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHostOf(t, m, "codex", "examples/codex/hooks.json")
	for _, event := range []string{"SessionStart", "Stop", "SessionEnd"} {
		in := `{"session_id":"01a20293-50f5-7d71-934f-ab145073af62","transcript_path":null,"cwd":"/","hook_event_name":"` + event + `","source":"startup"}`
		r := m.Run(t, harness.Client{UID: harness.Self(), Dir: h.project, Env: h.env, Argv: []string{harness.Binary(t), "hook"}, Stdin: strings.NewReader(in)})
		if r.Code != 0 || r.Stdout+r.Stderr != "" {
			t.Errorf("%s: status %d, %q %q", event, r.Code, r.Stdout, r.Stderr)
		}
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(h.dir("s")))); !os.IsNotExist(err) {
		t.Errorf("the agent has a home: %v", err)
	}
}

// SessionStart makes the session, and the first import may see no answer yet.
func TestTheModelIsSetByALaterImport(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	k := &talk{h: h}
	k.start("startup")
	k.ask("The staging port is 8443.")
	h.fire("PreCompact", "pre-compact-manual")
	says(t, "meta.json before there was an answer", h.read("meta.json"), `{"client":"claude-code"}`+"\n")
	k.turn("Go on.")
	says(t, "meta.json", h.read("meta.json"), `{"model":"claude-opus-4-8","client":"claude-code"}`+"\n")

	// What somebody wrote there is his.
	h.write("meta.json", `{"client":"claude-code","title":"ports"}`+"\n")
	k.turn("Go on.")
	says(t, "meta.json that was written", h.read("meta.json"), `{"client":"claude-code","title":"ports"}`+"\n")
}
