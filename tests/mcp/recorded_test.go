package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// server is ctxfs mcp as a program starts it in its project.
type server struct {
	t            *testing.T
	in           io.WriteCloser
	out          *bufio.Reader
	n            int
	instructions string
}

// serve starts a server for the program that calls itself name.
func (h *host) serve(name string, args ...string) *server {
	h.t.Helper()
	return h.serveBy(name, append([]string{harness.Binary(h.t), "mcp"}, args...)...)
}

// serveBy connects to the server that a command starts on its standard streams.
func (h *host) serveBy(name string, argv ...string) *server {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	cmd := h.m.Command(ctx, harness.Client{UID: harness.Self(), Dir: h.project, Env: h.env, Argv: argv})
	in, err := cmd.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	s := &server{t: h.t, in: in, out: bufio.NewReader(out)}
	h.t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			h.t.Errorf("the server: %v", err)
		}
		cancel()
	})
	var hello struct{ Instructions string }
	s.ask("initialize", fmt.Sprintf(`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}`, name), &hello)
	s.instructions = hello.Instructions
	io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return s
}

func (s *server) ask(method, params string, result any) {
	s.t.Helper()
	s.n++
	fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.n, method, params)
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	var answer struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.Error != nil {
		s.t.Fatalf("%s: %s", method, line)
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		s.t.Fatal(err)
	}
}

// call calls a tool and returns the text of its answer.
func (s *server) call(tool, args string) string {
	s.t.Helper()
	var r struct {
		IsError bool
		Content []struct{ Text string }
	}
	s.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args), &r)
	if r.IsError || len(r.Content) == 0 {
		s.t.Errorf("%s %s: %+v", tool, args, r)
		return ""
	}
	return r.Content[0].Text
}

// sessions are those of an agent.
func (h *host) sessions(agent string) (names []string) {
	h.t.Helper()
	entries, err := os.ReadDir(filepath.Join(h.m.Dir, "home", fmt.Sprint(harness.Self()), "agent", agent, "session"))
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Hooks and server of one program are one memory, whichever begins first.
func TestTheServerWorksInTheSessionThatHooksRecord(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	early := h.serve("claude-code", "--hooks") // before there is a session
	wants(t, "the instructions of a server that begins first", early.instructions, "Hooks record this conversation if")
	k := &talk{h: h}
	k.start("startup")
	k.ask("The staging port is 8443.")
	h.fire("Stop", "stop")
	wants(t, "the pack of a server that began first", early.call("pack", "{}"), "The staging port is 8443.")

	late := h.serve("claude-code", "--agent", "claude-code")
	if late.instructions != early.instructions {
		t.Errorf("the instructions differ between two sessions:\n%s\n%s", early.instructions, late.instructions)
	}
	wants(t, "what it finds", late.call("search", `{"query":"staging"}`), "8443")
	if names := h.sessions("claude-code"); len(names) != 1 {
		t.Errorf("the sessions are %v", names)
	}

	// Elsewhere, of another program, and behind the end of the session it is another one.
	elsewhere := newHost(t, m)
	elsewhere.serve("claude-code").call("append", `{"messages":[{"role":"user","content":"elsewhere"}]}`)
	h.serve("codex-mcp-client").call("append", `{"messages":[{"role":"user","content":"of Codex"}]}`)
	if names := h.sessions("codex"); len(names) != 1 || !strings.HasPrefix(names[0], "mcp-") {
		t.Errorf("the sessions of Codex are %v", names)
	}
	h.fire("SessionEnd", "session-end")
	h.serve("claude-code").call("append", `{"messages":[{"role":"user","content":"later"}]}`)
	if names := h.sessions("claude-code"); len(names) != 3 {
		t.Errorf("the sessions are %v", names)
	}
	if got := h.read("messages.jsonl"); strings.Contains(got, "elsewhere") || strings.Contains(got, "later") {
		t.Errorf("the session has what was said in others:\n%s", got)
	}
}

// Where the settings of a program have hooks, its server leaves it to them to tell of the memory.
func TestAServerBesideHooksSaidTheParagraphAgain(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	h.env = append(h.env, "HOME="+t.TempDir())
	m.Run(t, harness.Client{UID: harness.Self(), Dir: h.project, Env: h.env, Argv: []string{harness.Binary(t), "install", "claude-code", "--mount", m.Dir}}).OK()
	early := h.serve("claude-code")
	wants(t, "the instructions", early.instructions, "Hooks record this conversation")
	if strings.Contains(early.instructions, "messages.jsonl") || strings.Contains(early.instructions, "mcp-") {
		t.Errorf("the server tells of a session of its own:\n%s", early.instructions)
	}
	k := &talk{h: h}
	k.start("startup")
	k.turn("The staging port is 8443.")
	wants(t, "the pack", early.call("pack", "{}"), "The staging port is 8443.")
	m.Run(t, harness.Client{UID: harness.Self(), Dir: h.project, Env: h.env, Argv: []string{harness.Binary(t), "install", "claude-code", "--hooks", "--remove"}}).OK()
	bare := newHost(t, m)
	bare.env = h.env
	wants(t, "the instructions without hooks", bare.serve("claude-code").instructions, "Your memory is files in ")
}

// A program without hooks is told what the project's sessions keep, and what it says there the others know.
func TestAServerWithoutHooksBelongsToTheProject(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	k := &talk{h: h}
	k.start("startup")
	k.turn("The staging port is 8443. Never push to main.")
	desk := h.serve("Some Desk")
	wants(t, "the instructions", desk.instructions, "Your memory is files in ", ": "+ctxabi.QuotedData.String()+"]\n\n# Earlier work in "+h.project, ": end]", "The staging port is 8443.", "Never push to main.")
	if strings.Contains(desk.instructions, "If hooks told you") {
		t.Errorf("a program without hooks is told of them:\n%s", desk.instructions)
	}
	if n := strings.Index(desk.instructions, "# Earlier work"); len([]rune(desk.instructions[n:])) > 2000 {
		t.Errorf("the memory of the project takes %d bytes", len(desk.instructions)-n)
	}
	desk.call("append", `{"messages":[{"role":"user","content":"Deploys are on Tuesdays. Never deploy on Fridays."}]}`)
	codex := newHostOf(t, m, "codex", "examples/codex/hooks.json").in(h)
	codex.transcript = filepath.Join(h.project, "rollout-2026-11-22T09-25-09-"+codexSession+".jsonl")
	wants(t, "what Codex is told", codex.fire("SessionStart", "codex-session-start-startup"), "Never deploy on Fridays. (Some-Desk/mcp-", "8443")
}
