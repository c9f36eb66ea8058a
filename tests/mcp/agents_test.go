package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// begins returns the command with which an agent program calls SessionStart for a session.
func (h *host) begins(session string) string {
	h.t.Helper()
	input, err := json.Marshal(map[string]string{"session_id": session, "cwd": h.project, "hook_event_name": "SessionStart", "source": "startup"})
	name := filepath.Join(h.project, session+".json")
	if err == nil {
		err = os.WriteFile(name, input, 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return fmt.Sprintf("ctxfs hook --program claude-code <%s >/dev/null\n", name)
}

// gate makes a pipe on which one process waits for another.
func (h *host) gate(name string) (open, wait string) {
	h.t.Helper()
	pipe := filepath.Join(h.project, name)
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		h.t.Fatal(err)
	}
	return "echo >" + pipe + "\n", "read _ <" + pipe + "\n"
}

// agent starts an agent program, a shell that runs script, and connects to the server that it starts.
func (h *host) agentRuns(script string) *server {
	h.t.Helper()
	return h.serveBy("claude-code", "/bin/sh", "-c", script+"\ntrue")
}

// refused calls a tool and returns the text of its error.
func (s *server) refused(tool, args string) string {
	s.t.Helper()
	var r struct {
		IsError bool
		Content []struct{ Text string }
	}
	s.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args), &r)
	if !r.IsError || len(r.Content) == 0 {
		s.t.Errorf("%s %s was not refused: %+v", tool, args, r)
		return ""
	}
	return r.Content[0].Text
}

const says1 = `{"messages":[{"role":"user","content":"%s"}]}`

// Two agents in one directory: each server works in the session of the process that started it, whichever session is newer.
func TestTwoAgentsKeepTheirSessions(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	open, wait := h.gate("begun")
	both := make(chan *server)
	go func() { both <- h.agentRuns(h.begins("aaa") + wait + "ctxfs mcp") }() // behind the session of the other one
	b := h.agentRuns(h.begins("bbb") + open + "ctxfs mcp")
	a := <-both
	if a.instructions != b.instructions {
		t.Errorf("the instructions differ:\n%s\n%s", a.instructions, b.instructions)
	}
	for _, x := range []struct {
		s          *server
		name, text string
		other      string
	}{{a, "aaa", "hello from alpha, port", "beta"}, {b, "bbb", "hello from beta, port", "alpha"}} {
		dir := h.dir(x.name)
		x.s.call("append", fmt.Sprintf(says1, x.text))
		if got := h.readIn(x.name, "messages.jsonl"); !strings.Contains(got, x.text) || strings.Contains(got, x.other) {
			t.Errorf("%s/messages.jsonl:\n%s", dir, got)
		}
		for tool, args := range map[string]string{
			"pack": `{}`, "search": `{"query":"port"}`, "why": `{"what":"messages:1"}`, "read": `{"path":"messages.jsonl"}`,
		} {
			got := x.s.call(tool, args)
			if strings.Contains(got, x.other) || tool != "why" && !strings.Contains(got, x.text) {
				t.Errorf("%s of %s:\n%s", tool, x.name, got)
			}
		}
		var r struct{ Contents []struct{ Text string } }
		x.s.ask("resources/read", `{"uri":"ctxfs:///messages.jsonl"}`, &r)
		if len(r.Contents) != 1 || !strings.Contains(r.Contents[0].Text, x.text) {
			t.Errorf("the resource of %s: %+v", x.name, r)
		}
		var p struct{ Description string }
		x.s.ask("prompts/get", `{"name":"memory"}`, &p)
		wants(t, "the prompt of "+x.name, p.Description, dir)
	}
	// The memory belongs to the agent of both.
	a.call("memory", `{"command":"create","path":"/memories/a.md","file_text":"of both"}`)
	wants(t, "the memory", b.call("memory", `{"command":"view","path":"/memories/a.md"}`), "of both")
}

// A server that its program starts before SessionStart works in no other agent's session, and in one session for good.
func TestServerBeforeHookTakesNoOther(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	open, wait := h.gate("begun")
	next, begin := h.gate("connected")
	again, second := h.gate("appended")
	third, done := h.gate("second")
	h.agentRuns(h.begins("aaa") + "ctxfs mcp")
	b := h.agentRuns("exec 3<&0\nctxfs mcp --hooks <&3 3<&- &\n" + begin + h.begins("bbb") + open + second + h.begins("ccc") + third + "wait")
	sh := func(script string) {
		t.Helper()
		m.Run(t, harness.Client{UID: harness.Self(), Dir: h.project, Argv: []string{"/bin/sh", "-c", script}}).OK()
	}
	b.call("memory", `{"command":"view","path":"/memories"}`) // uses no session
	sh(next + wait)
	b.call("append", fmt.Sprintf(says1, "from B"))
	sh(again + done)
	b.call("append", fmt.Sprintf(says1, "from B, later"))
	for name, want := range map[string]int{"aaa": 0, "bbb": 2, "ccc": 0} {
		if got := strings.Count(h.readIn(name, "messages.jsonl"), "\n"); got != want {
			t.Errorf("%s has %d messages, want %d", name, got, want)
		}
	}
}

// A program with two sessions at once, as opencode may have: a call that needs one of them is refused, with both names.
func TestUnclearSessionIsRefused(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	s := h.agentRuns(h.begins("aaa") + h.begins("bbb") + "ctxfs mcp")
	for tool, args := range map[string]string{
		"append": fmt.Sprintf(says1, "lost"), "pack": `{}`, "search": `{"query":"port"}`, "why": `{"what":"messages:1"}`, "read": `{"path":"messages.jsonl"}`,
	} {
		wants(t, tool, s.refused(tool, args), "cannot tell which session is yours", "claude-code/aaa", "claude-code/bbb", "ctxfs mcp claude-code/")
	}
	s.call("memory", `{"command":"view","path":"/memories"}`)
	if got := h.readIn("aaa", "messages.jsonl") + h.readIn("bbb", "messages.jsonl"); got != "" {
		t.Errorf("recorded: %s", got)
	}
}

// A session whose agent was killed is not active.
func TestKilledAgentLeavesNoActiveSession(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	m.Run(t, harness.Client{UID: harness.Self(), Dir: h.project, Env: h.env, Argv: []string{"/bin/sh", "-c", h.begins("aaa") + "cat " + h.dir("aaa") + "/state; kill -9 $$"}})
	list := m.Run(t, harness.Client{UID: harness.Self(), Dir: h.project, Env: h.env, Argv: []string{harness.Binary(t), "session", "ls", "--json"}}).OK()
	wants(t, "session ls", list, `"state": "idle"`)
	s := h.agentRuns(h.begins("bbb") + "ctxfs mcp")
	s.call("append", fmt.Sprintf(says1, "from B"))
	if got := h.readIn("aaa", "messages.jsonl"); got != "" {
		t.Errorf("the killed agent's session has: %s", got)
	}
	if a, b := h.readIn("aaa", "state"), h.readIn("bbb", "state"); a != "idle\n" || b != "active\n" {
		t.Errorf("states: %q, %q", a, b)
	}
}

func (h *host) readIn(session, name string) string {
	h.t.Helper()
	b, err := os.ReadFile(filepath.Join(h.dir(session), name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(b)
}

// Where install writes hooks, the server's instructions are the same in every session, so that a provider's cache holds what follows them.
func TestInstructionsAreConstantBesideHooks(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	for program, client := range map[string]string{"claude-code": "claude-code", "codex": "codex-mcp-client", "gemini": "gemini-cli-mcp-client", "opencode": "opencode"} {
		h := newHost(t, m)
		h.env = append(h.env, "HOME="+t.TempDir())
		run := func(argv ...string) string {
			return m.Run(t, harness.Client{UID: harness.Self(), Dir: h.project, Env: h.env, Argv: argv}).OK()
		}
		run(harness.Binary(t), "install", program, "--mount", m.Dir)
		args := []string{"--agent", program}
		if program == "codex" {
			wants(t, "the settings of Codex", run("/bin/sh", "-c", "cat $HOME/.codex/config.toml"), `args = ["mcp", "--hooks", "--agent", "codex"`)
			args = append(args, "--hooks")
		}
		first := h.serve(client, args...).instructions
		h.serve("Some Desk").call("append", fmt.Sprintf(says1, "The staging port is 8443. Never push to main.")) // in the project's memory
		second := h.serve(client, args...).instructions
		if first != second || first == "" || strings.Contains(first, m.Dir) || strings.Count(first, "\n") != 1 {
			t.Errorf("%s: the instructions are\n%s\nand then\n%s", program, first, second)
		}
	}
}
