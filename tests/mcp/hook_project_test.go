package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// memoryOf is where the project of a host is.
func (h *host) projectDir() string {
	h.t.Helper()
	slug, err := ctxabi.ProjectSlug(h.project)
	if err != nil {
		h.t.Fatal(err)
	}
	return filepath.Join(h.m.Dir, "home", fmt.Sprint(harness.Self()), "project", slug)
}

// in makes the host one in the project of another.
func (h *host) in(other *host) *host {
	h.project, h.runtime = other.project, other.runtime
	h.transcript = filepath.Join(h.project, h.agent+"-"+filepath.Base(h.transcript))
	for i, v := range h.env {
		if strings.HasPrefix(v, "XDG_RUNTIME_DIR=") {
			h.env[i] = "XDG_RUNTIME_DIR=" + h.runtime
		}
	}
	return h
}

// What one program was told another one knows, with a session between them that said nothing; what people wrote stands first.
func TestAProjectIsRememberedByAllPrograms(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	k := &talk{h: h}
	k.start("startup")
	k.turn("The staging port is 8443. Never push to main.")

	codex := newHostOf(t, m, "codex", "examples/codex/hooks.json").in(h)
	codex.transcript = filepath.Join(h.project, "rollout-2026-11-22T09-25-09-"+codexSession+".jsonl")
	told := codex.fire("SessionStart", "codex-session-start-startup")
	wants(t, "what Codex is told", told, "# Earlier work in "+h.project, "## Known\n", "The staging port is 8443. (claude-code/"+sessionID+" messages:1)", "Never push to main.")
	codex.rollout(6, told) // nothing was said yet
	codex.fire("Stop", "codex-stop")
	codex.fire("SessionEnd", "codex-session-end")

	if err := os.WriteFile(filepath.Join(h.projectDir(), "notes.md"), []byte("Deploys are on Tuesdays.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gemini := newProgram(t, m, "gemini", "--program gemini").in(h)
	third := gemini.fire("SessionStart", "gemini-session-start-startup")
	wants(t, "what Gemini CLI is told", third, "Deploys are on Tuesdays.", "The staging port is 8443.", "Never push to main.")
	if strings.Index(third, "Tuesdays") > strings.Index(third, "8443") {
		t.Errorf("what people wrote stands behind what was derived:\n%s", third)
	}

	elsewhere := newHost(t, m)
	if got := elsewhere.fire("SessionStart", "session-start-other"); strings.Contains(got, "8443") || strings.Contains(got, "Earlier work") {
		t.Errorf("work in %s is told in %s:\n%s", h.project, elsewhere.project, got)
	}

	// A conversation that goes on is told what it does not have yet, once.
	resumed := k.start("resume")
	wants(t, "the resume", resumed, ctxabi.ToldBegins, "Deploys are on Tuesdays.")
	if strings.Contains(resumed, "8443") || strings.Contains(resumed, "Your memory is files") {
		t.Errorf("it was told again what it said itself:\n%s", resumed)
	}
	k.turn("Go on.")
	says(t, "the next resume", k.start("resume"), "")
}

// What hooks tell is not taken for something that was said, though a program writes it into the user's message: else the memory would feed on itself.
func TestWhatHooksTellIsNoKnowledge(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newProgram(t, m, "gemini", "")
	told := h.fire("SessionStart", "gemini-session-start-startup")
	h.chat(99, told+ctxabi.Told("## Known\n- The admin port is 6666.\n- Never sleep.\n"))
	h.fire("AfterAgent", "gemini-after-agent")
	memory, err := os.ReadFile(filepath.Join(h.projectDir(), "memory.md"))
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "the memory", string(memory), "The staging port is 8443.", "Never push to main.")
	for _, told := range []string{"6666", "sleep", "forgotten", "never be", "files in"} {
		if strings.Contains(string(memory), told) {
			t.Errorf("%q is known, which a hook said:\n%s", told, memory)
		}
	}
}
