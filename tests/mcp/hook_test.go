package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// host plays a program with hooks, Claude Code or Codex: it has a project with the hooks of the example, and a transcript.
type host struct {
	t          *testing.T
	m          *harness.Mount
	agent      string // that its sessions are of
	project    string
	transcript string
	env        []string
	commands   map[string][]string // of settings.json, by event
	runtime    string
	held       bool // imports are held up, and fire does not wait for them
}

const sessionID = "7d1f0c52-6b0e-4c57-9a34-2f5b8f6f1c11"

// newHost is Claude Code.
func newHost(t *testing.T, m *harness.Mount) *host {
	t.Helper()
	h := newHostOf(t, m, "claude-code", "examples/claude-code/settings.json")
	script, err := os.ReadFile(filepath.Join(harness.Root(), "examples/claude-code/hook.sh"))
	if err != nil {
		t.Fatal(err)
	}
	hooks := filepath.Join(h.project, ".claude/hooks")
	if err := os.MkdirAll(hooks, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(hooks, "ctxfs-hook.sh"), script, 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

// newHostOf is a program with the hooks of a file of settings.
func newHostOf(t *testing.T, m *harness.Mount, agent, file string) *host {
	t.Helper()
	h := &host{t: t, m: m, agent: agent, project: t.TempDir(), commands: map[string][]string{}}
	h.transcript = filepath.Join(h.project, "transcript.jsonl")
	h.runtime = t.TempDir()
	h.env = []string{"CTXFS_MOUNT=" + m.Dir, "CLAUDE_PROJECT_DIR=" + h.project, "PATH=" + harness.UserPath(t), "XDG_RUNTIME_DIR=" + h.runtime}
	settings, err := os.ReadFile(filepath.Join(harness.Root(), file))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Hooks map[string][]struct {
			Hooks []struct{ Type, Command string }
		}
	}
	if err := json.Unmarshal(settings, &s); err != nil {
		t.Fatal(err)
	}
	for event, groups := range s.Hooks {
		for _, g := range groups {
			for _, c := range g.Hooks {
				h.commands[event] = append(h.commands[event], c.Command)
			}
		}
	}
	return h
}

// settled waits until what hooks asked for is imported: on a busy machine it takes longer than they wait.
func (h *host) settled() {
	h.t.Helper()
	harness.Eventually(h.t, "the imports to be done", func() bool { return len(h.jobs()) == 0 })
}

// jobs are the files of imports that are not done, or failed.
func (h *host) jobs() (names []string) {
	h.t.Helper()
	names, err := filepath.Glob(filepath.Join(h.runtime, "ctxfs/hooks/*.json"))
	if err != nil {
		h.t.Fatal(err)
	}
	return names
}

// dir is the session that the hooks keep.
func (h *host) dir(session string) string {
	return filepath.Join(h.m.Dir, "home", fmt.Sprint(harness.Self()), "agent", h.agent, "session", session)
}

// fire plays an event with a recorded input, as the settings say, and gives what the hook put into the context; "" for nothing.
func (h *host) fire(event, input string, env ...string) (context string) {
	h.t.Helper()
	recorded, err := os.ReadFile(filepath.Join("testdata/hooks", input+".json"))
	if err != nil {
		h.t.Fatal(err)
	}
	in := strings.NewReplacer("@TRANSCRIPT@", h.transcript, "@CWD@", h.project).Replace(string(recorded))
	if len(h.commands[event]) != 1 {
		h.t.Fatalf("settings.json has %q for %s", h.commands[event], event)
	}
	r := h.m.Run(h.t, harness.Client{UID: harness.Self(), Dir: h.project, Env: append(slices.Clone(h.env), env...),
		Argv: []string{"sh", "-c", h.commands[event][0]}, Stdin: strings.NewReader(in)})
	if r.Code != 0 || r.Stderr != "" {
		h.t.Errorf("%s: status %d: %s", input, r.Code, r.Stderr)
	}
	if event != "SessionStart" && event != "BeforeAgent" {
		if r.Stdout != "" {
			h.t.Errorf("%s prints %q, which Claude Code could take for a decision", input, r.Stdout)
		}
		if !h.held {
			h.settled()
		}
		return ""
	}
	if r.Stdout == "" {
		return ""
	}
	var out struct {
		HookSpecificOutput struct{ HookEventName, AdditionalContext string }
	}
	if err := json.Unmarshal([]byte(r.Stdout), &out); err != nil || out.HookSpecificOutput.HookEventName != event {
		h.t.Fatalf("%s prints %q: %v", input, r.Stdout, err)
	}
	context = out.HookSpecificOutput.AdditionalContext
	if n := utf8.RuneCountInString(context); n > 10_000 {
		h.t.Errorf("%s: %d characters, of which Claude Code shows a preview", input, n)
	}
	return context
}

// say makes the first n lines of the example the transcript.
func (h *host) say(n int) {
	h.t.Helper()
	b, err := os.ReadFile(filepath.Join(harness.Root(), "examples/transcripts/claude-code.jsonl"))
	if err != nil {
		h.t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	if err := os.WriteFile(h.transcript, []byte(strings.Join(lines[:min(n, len(lines))], "")), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) read(name string) string {
	h.t.Helper()
	b, err := os.ReadFile(filepath.Join(h.dir(sessionID), name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(b)
}

func wants(t *testing.T, what, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s has no %q:\n%s", what, w, text)
		}
	}
}

// A day of Claude Code: it begins, says something, is compacted, ends, and begins again in the same directory.
func TestHooksOfADay(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	envFile := filepath.Join(h.project, "env")

	first := h.fire("SessionStart", "session-start-startup", "CLAUDE_ENV_FILE="+envFile)
	wants(t, "the first context", first, "Your memory is files in "+h.dir(sessionID)+":")
	if strings.Contains(first, "# ") {
		t.Errorf("there is earlier work at the first start:\n%s", first)
	}
	if env, err := os.ReadFile(envFile); err != nil || string(env) != "export CTXFS_SESSION='"+h.dir(sessionID)+"'\n" {
		t.Errorf("the environment of its commands: %q %v", env, err)
	}
	if got := h.read("state") + h.read("cwd"); got != "active\n"+h.project+"\n" {
		t.Errorf("state and cwd are %q", got)
	}
	h.fire("Stop", "stop") // there is no transcript yet

	// Each turn brings what is new, and nothing twice.
	h.say(8)
	h.fire("Stop", "stop")
	some := len(harness.Lines(t, h.read("messages.jsonl")))
	if some == 0 {
		t.Fatal("nothing was kept")
	}
	h.fire("Stop", "stop-active")
	if again := len(harness.Lines(t, h.read("messages.jsonl"))); again != some {
		t.Errorf("%d messages, %d after the same transcript once more", some, again)
	}
	h.say(99)
	h.fire("PreCompact", "pre-compact-auto")
	all := h.read("messages.jsonl")
	if n := len(harness.Lines(t, all)); n != 12 {
		t.Errorf("%d messages of 12", n)
	}
	wants(t, "the history", all, "invalid_grant is final", "toolu_01Read")

	// What the compaction takes out of the context comes back.
	if err := os.WriteFile(filepath.Join(h.dir(sessionID), "context/pinned/rules.md"), []byte("Never push to main.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir(sessionID), "context/todo.md"), []byte("- [ ] look at the body of 429\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A yes to "Shall I retry three times?" is no decision, but for an agent that writes it down.
	if found := h.read("context/decisions.jsonl"); found != "" {
		t.Errorf("a consent is a decision: %s", found)
	}
	if err := os.WriteFile(filepath.Join(h.dir(sessionID), "context/decisions.jsonl"),
		[]byte(`{"id":"d1","decision":"Retry with exponential backoff"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.fire("PostCompact", "post-compact")
	left := []string{"Never push to main.", "- [ ] look at the body of 429", "auth.refresh_retry_max, default 3. (messages:6)",
		"## Decided\n- Retry with exponential backoff"}
	wants(t, "the context after the compaction", h.fire("SessionStart", "session-start-compact"), append(left, "# What this session keeps")...)
	wants(t, "the context after a resume", h.fire("SessionStart", "session-start-resume"), left...)
	h.fire("PreCompact", "pre-compact-manual")
	h.fire("SessionEnd", "session-end")
	if h.read("messages.jsonl") != all || h.read("state") != "done\n" {
		t.Errorf("at the end state is %q, and there are %d messages", h.read("state"), len(harness.Lines(t, h.read("messages.jsonl"))))
	}

	// Another session in the same directory learns of it; one elsewhere does not.
	from := "(claude-code/" + sessionID + " messages:6)"
	wants(t, "the context of the next session", h.fire("SessionStart", "session-start-clear"), "# Earlier work in "+h.project,
		"Never push to main.", "look at the body of 429", "auth.refresh_retry_max, default 3. "+from, "## Decided\n- Retry with exponential backoff", "/agent/AGENT/session/SESSION/messages.jsonl")
	elsewhere := newHost(t, m)
	elsewhere.transcript = h.transcript
	if got := elsewhere.fire("SessionStart", "session-start-other"); strings.Contains(got, "Never push") {
		t.Errorf("work in %s is told in %s:\n%s", h.project, elsewhere.project, got)
	}
	if rows := h.read("context/errors.jsonl"); rows != "" {
		t.Errorf("refused: %s", rows)
	}
}

// However much there is to tell, Claude Code shows all of it, and where the rest is.
func TestTheContextOfAHookIsBounded(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	h.say(99)
	h.fire("Stop", "stop")
	long := strings.Repeat("- [ ] a step, ünd another one\n", 2000)
	for _, name := range []string{"context/pinned/a.md", "context/pinned/b.md", "context/pinned/c.md", "context/todo.md", "context/summary.md"} {
		if err := os.WriteFile(filepath.Join(h.dir(sessionID), "context/budget"), []byte("0"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(h.dir(sessionID), name), []byte(name+"\n"+long), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := h.fire("SessionStart", "session-start-compact")
	wants(t, "the context", got, "## Pinned: a.md\n", "… the rest: "+h.dir(sessionID)+"/context/pinned/a.md")
}

// Hooks that run at once, as Claude Code lets them, keep each record once.
func TestHooksAtOnceKeepEachRecordOnce(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	h.say(99)
	var wg sync.WaitGroup
	for _, e := range [][2]string{{"Stop", "stop"}, {"PreCompact", "pre-compact-auto"}, {"PreCompact", "pre-compact-manual"}, {"SessionEnd", "session-end"}} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			h.fire(e[0], e[1])
		}()
	}
	wg.Wait()
	if n := len(harness.Lines(t, h.read("messages.jsonl"))); n != 12 {
		t.Errorf("%d messages of 12", n)
	}
}

// A session was taken for none while no pack could be made of it, and its conversation was not recorded.
func TestAHookRecordsThoughThereIsNoPack(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	home := filepath.Join(m.Dir, "home", fmt.Sprint(harness.Self()), "agent", h.agent)
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	recipe := "sources:\n  - {type: computed_file, id: bad, generator: {command: [sh, -c, 'exit 3']}}\n  - {type: journal}\n"
	if err := os.WriteFile(filepath.Join(home, "context.yaml"), []byte(recipe), 0o600); err != nil {
		t.Fatal(err)
	}
	h.say(99)
	h.fire("Stop", "stop")
	if n := len(harness.Lines(t, h.read("messages.jsonl"))); n != 12 {
		t.Errorf("%d messages of 12", n)
	}
	if _, err := os.ReadFile(filepath.Join(h.dir(sessionID), "context/pack.md")); err == nil {
		t.Error("there is a pack without its required source")
	}
	said := m.CLI(t, "snippet", "--mount", m.Dir, h.agent+"/"+sessionID)
	if wants(t, "the snippet", said.OK(), h.dir(sessionID)); said.Code != 0 {
		t.Error(said.Stderr)
	}
}

// Nothing that goes wrong holds Claude Code up: the exit code is 0, and nothing is on standard output.
func TestHooksNeverBreakTheirHost(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	const input = `{"session_id":"s1","transcript_path":"/none","cwd":"/","hook_event_name":"Stop"}`
	for name, c := range map[string]struct {
		args  []string
		input string
		env   string
		says  string // on standard error; "": nothing
		open  bool   // its input does not end
	}{
		"no mount":           {input: strings.ReplaceAll(input, "Stop", "SessionStart"), env: "CTXFS_MOUNT=" + t.TempDir()},
		"no input":           {says: "the input is not that of a hook of Claude Code, Codex, Gemini CLI or opencode"},
		"no JSON":            {input: "nope", says: "the input is not that of a hook of Claude Code, Codex, Gemini CLI or opencode"},
		"unknown event":      {input: `{"hook_event_name":"Later"}`, says: `"Later"`},
		"no session":         {input: `{"hook_event_name":"Stop","session_id":"../../x","transcript_path":"/none"}`, says: "is not a name of a session"},
		"no transcript":      {input: strings.ReplaceAll(input, "/none", ""), says: "names no transcript"},
		"transcript is none": {input: strings.ReplaceAll(input, "/none", "/etc/passwd"), says: "/etc/passwd is not a transcript of Claude Code, Codex, Gemini CLI or opencode"},
		"wrong flag":         {args: []string{"--bogus", "--timeout", "soon"}, input: input, says: "invalid argument"},
		"unknown flag":       {args: []string{"--bogus"}, input: input},
		"too many words":     {args: []string{"Stop", "and", "go"}, input: input},
		"wrong session":      {input: input, env: "CTXFS_SESSION=/etc", says: "is not a session"},
		"no time":            {args: []string{"--timeout", "1ns", "--mount-timeout", "1ns"}, input: input, says: "not finished after 2ns", open: true}, // with an end it could be done by the time that it is looked at
	} {
		t.Run(name, func(t *testing.T) {
			env := append(slices.Clone(h.env), c.env)
			var in io.Reader = strings.NewReader(c.input)
			if c.open {
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				defer w.Close()
				in = r
			}
			r := m.Run(t, harness.Client{UID: harness.Self(), Dir: h.project, Env: env, Argv: append([]string{harness.Binary(t), "hook"}, c.args...), Stdin: in})
			if r.Code != 0 || r.Stdout != "" {
				t.Errorf("status %d, %q", r.Code, r.Stdout)
			}
			if !strings.Contains(r.Stderr, c.says) || c.says == "" && r.Stderr != "" || strings.Count(r.Stderr, "\n") > 1 {
				t.Errorf("on standard error: %q, want %q", r.Stderr, c.says)
			}
		})
	}
	// Where the program is not installed the script is content.
	r := m.Run(t, harness.Client{UID: harness.Self(), Dir: h.project, Argv: []string{"sh", filepath.Join(harness.Root(), "examples/claude-code/hook.sh")}, Stdin: strings.NewReader(input)})
	if r.Code != 0 || r.Stdout+r.Stderr != "" {
		t.Errorf("without ctxfs: status %d, %q %q", r.Code, r.Stdout, r.Stderr)
	}
}
