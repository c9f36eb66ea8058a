package agents

import (
	"strings"
	"testing"
)

// The model of each host calls the tools of ctxfs: what they answer reaches it, and they work in the session that hooks record.
func TestModelsUseTheToolsOfTheirHosts(t *testing.T) {
	for _, p := range []program{claude, codex, gemini, opencode} {
		t.Run(p.name, func(t *testing.T) {
			w := newWorld(t)
			p.set(w)
			w.mount()
			w.run("ctxfs", "install", p.name)
			w.run(p.first(told)...)
			session := w.recorded(p.name, told)
			w.api.Requests()
			w.run(p.again("Note it. [[play memory]]")...)
			var last string
			for _, r := range w.api.Requests() {
				if r.Script == "memory" && r.Main() {
					last = r.Said()
				}
			}
			// The heading of a pack, and in it what was said before.
			_, pack, found := strings.Cut(last, "# Context Block: conversation")
			if !found {
				t.Fatalf("the model does not see its prompt:\n%s", last)
			}
			wants(t, pack, told)
			if got := w.recorded(p.name, "Note it."); got != session {
				t.Errorf("the second turn stands in %s, the first in %s", got, session)
			}
			events := w.bash(`cat "$0"/events.jsonl`, w.point+"/home/"+w.uidText()+"/agent/"+p.name+"/session/"+session)
			wants(t, events, "Noted by the tool.")
			if all := w.sessions(p.name); len(all) != 1 {
				t.Errorf("the tools made a session of their own: %d sessions", len(all))
			}
		})
	}
}
