package agents

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// What happens in a longer conversation of Claude Code: a provider that is overloaded, a sub-agent, a compaction.
func TestClaudeCodeWithAllItDoes(t *testing.T) {
	w := newWorld(t)
	w.mount()
	w.run("ctxfs", "install", claude.name)
	w.run(claude.first(told + " [[play retry]]")...)
	statuses := []int{}
	for _, r := range w.api.Requests() {
		if r.Script == "retry" {
			statuses = append(statuses, r.Status)
		}
	}
	if !slices.Equal(statuses, []int{529, 503, 200}) {
		t.Errorf("the provider answered %v", statuses)
	}
	session := w.recorded(claude.name, "It worked at last.")

	w.run(claude.again("Ask somebody. [[play agent]]")...)
	w.recorded(claude.name, "The reviewer says that it is well.")
	child := w.point + "/home/" + w.uidText() + "/agent/claude-code/session/" + session + "/context/child/review-the-retry"
	harness.Eventually(t, "the sub-agent's conversation", func() bool {
		return strings.Contains(w.try("cat", child+"/result.md", child+"/messages.jsonl").out, "It is well.")
	})

	w.api.Requests()
	w.run(claude.again("/compact")...)
	w.run(claude.again(question)...)
	said := w.asked(question)
	wants(t, said.Said(), "8443", "Never push to main")
	if n := strings.Count(said.Said(), "Hooks record this conversation there"); n != 1 {
		t.Errorf("the model is told %d times where its memory is:\n%s", n, said.Said())
	}
	lacks(t, said.Said(), "session/mcp-")
	w.recorded(claude.name, question)
	if all := w.sessions(claude.name); len(all[session]) == 0 {
		t.Errorf("sessions: %v", all)
	}
	events := w.bash(`cat "$0"`, w.point+"/home/"+w.uidText()+"/agent/claude-code/session/"+session+"/events.jsonl")
	compactions := 0
	for line := range strings.Lines(events) {
		var e struct{ Type string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == "compaction" {
			compactions++
		}
	}
	if compactions != 1 {
		t.Errorf("%d compactions are recorded", compactions)
	}
}
