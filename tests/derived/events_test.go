package derivedtest

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// What a harness notes in events as a decision, a fact, a plan or an artifact is a note as it stands.
func TestNotesOfEvents(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	const first = `{"type":"usage","text":"10 tokens"}
{"type":"decision","text":"retry inside auth.Source","by":"kim"}
{"type":"constraint","text":"never retry invalid_grant"}
{"type":"plan","items":[{"text":"measure","done":true},"roll out"]}
{"type":"artifact","path":"out/report.pdf"}
`
	s.Append(ctxabi.EventsFile, first)
	s.Append(ctxabi.MessagesFile, harness.Message("assistant", "- [x] read the log\n- [ ] write the test"))
	want := func(file, text string) {
		t.Helper()
		if got := mustAgree(t, s, file); got != text {
			t.Errorf("%s holds\n%swant\n%s", file, got, text)
		}
	}
	want(ctxabi.DecisionsFile, `{"id":"de2","decision":"retry inside auth.Source","source":"events:2"}`+"\n")
	want(ctxabi.FactsFile, `{"id":"fe3","text":"never retry invalid_grant","source":"events:3"}`+"\n")
	if refs := mustAgree(t, s, ctxabi.RefsFile); !strings.Contains(refs, `"path":"out/report.pdf","kind":"artifact"`) || !strings.Contains(refs, "events:5") {
		t.Errorf("the refs are %s", refs)
	}
	want(ctxabi.TodoFile, "- [ ] roll out (events:4)\n- [ ] write the test (messages:1)\n- [x] measure (events:4)\n- [x] read the log (messages:1)\n")

	// Another list takes the place of the first one, an event alone is news.
	s.Append(ctxabi.EventsFile, `{"type":"plan","items":["roll back"]}`+"\n")
	todo := "- [ ] roll back (events:6)\n- [ ] write the test (messages:1)\n- [x] read the log (messages:1)\n"
	want(ctxabi.TodoFile, todo)
	m.Restart()
	want(ctxabi.TodoFile, todo)
	want(ctxabi.DecisionsFile, `{"id":"de2","decision":"retry inside auth.Source","source":"events:2"}`+"\n")
}
