package agents

import (
	"strings"
	"testing"
)

const (
	told     = "The staging port is 8443. Never push to main."
	question = "Which port?"
)

// ways are how a program is connected, each with what its model gets in the third conversation of a project.
var ways = []struct {
	program
	way string
}{
	{claude, "hooks"},
	{codex, "hooks"},
	{gemini, "hooks"},
	{opencode, "plugin"},
}

// On an empty machine two commands connect a program. What its user then says in one conversation, its model knows in the next but one:
// the one between says nothing of worth.
func TestWhatWasToldIsKnownTwoConversationsLater(t *testing.T) {
	for _, p := range ways {
		t.Run(p.name+" by "+p.way, func(t *testing.T) {
			w := newWorld(t)
			p.set(w)
			w.mount()
			w.run("ctxfs", "install", p.name)

			w.run(p.first(told)...)
			session := w.recorded(p.name, "8443")
			w.run(p.first("Say ok.")...)
			if between := w.recorded(p.name, "Say ok."); between == session {
				t.Errorf("two conversations are one session, %s", session)
			}
			w.api.Requests()
			w.run(p.first(question)...)
			wants(t, w.asked(question).Said(), "8443", "Never push to main")
			w.recorded(p.name, question)
		})
	}
}

// wants fails the test unless a text has all of some words.
func wants(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("no %q in\n%s", word, text)
		}
	}
}

// lacks fails the test if a text has any of some words.
func lacks(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if strings.Contains(text, word) {
			t.Errorf("%q stands in\n%s", word, text)
		}
	}
}
