package ui

import (
	"fmt"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// What is appended is seen in every tab of the browser, which share one stream.
func TestALiveAppend(t *testing.T) {
	suite.Matrix(t, needsBrowser)
	m := harness.Start(t, harness.Options{})
	s := example(t, m, "s1")
	b := browse(t, serve(t, m))
	b.open("/")
	session, pack, notes := b.another(viewPath("session", s)), b.another(viewPath("pack", s)), b.another(viewPath("notes", s))
	tabs := []*tab{b, session, pack, notes}
	for _, x := range tabs {
		x.await(settled + ` && document.querySelector("[data-live]").textContent === "live"`)
	}
	s.Append("messages.jsonl", harness.Message("user", "Which colour has the zebra?"))
	b.await(`document.querySelector(".last").textContent.includes("zebra")`)
	session.await(`document.querySelector("[data-messages]").textContent === "306" && document.querySelector("[data-ribbon]").getAttribute("aria-valuemax") === "306"`)
	session.await(`document.querySelector(".overview").dataset.all === "306"`)
	pack.await(`document.querySelector(".pieces").textContent.includes("zebra")`)
	for range 40 { // faster than prompts are made
		s.Append("messages.jsonl", harness.Message("user", "Go on."))
	}
	session.await(`document.querySelector(".overview").dataset.all === "346" && document.querySelector("[data-messages]").textContent === "346"`)
	pack.await(`[...document.querySelectorAll(".facts")].some(e => e.textContent.includes("346 messages"))`)
	s.Bash(`echo nonsense >> messages.jsonl; true`)
	notes.await(`document.querySelector(".stack").textContent.includes("not valid")`)
	s.Write("state", "active\n")
	b.await(`document.querySelector(".state.active")`)
	other := m.Session(t, harness.Self(), "coder", "s2")
	b.await(fmt.Sprintf(`document.querySelector('[data-session=%q]')`, other.Ref()))
	for _, x := range tabs {
		x.quiet()
	}
}

// A page goes on when the server that it is of has ended, and says so.
func TestAPageWhoseServerHasEnded(t *testing.T) {
	suite.Matrix(t, needsBrowser)
	m := harness.Start(t, harness.Options{})
	s := example(t, m, "s1")
	x := serve(t, m)
	b := browse(t, x)
	b.open(viewPath("pack", s))
	x.End()
	b.await(`document.querySelector("[data-live]").textContent.includes("has ended")`)
	b.do(clickOn("[data-format-tab=openai]"))
	b.await(`document.querySelector(".failed")?.textContent.includes("Start it again")`)
	b.shot("ended")
}
