package ui

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

const needsBrowser = "it needs chromium and npm"

// views are the pages of a session, each with what has to stand on it.
var views = []struct{ name, shows string }{
	{"session", `document.querySelectorAll("[data-overview] g").length > 20 && document.querySelectorAll("[data-ribbon] rect").length > 20 && document.querySelector("[data-ribbon]").dataset.placed`},
	{"pack", `document.querySelectorAll("[data-tile]").length > 4 && document.querySelectorAll(".piece").length > 10`},
	{"time", `document.querySelectorAll(".plot path.written").length === 1 && document.querySelectorAll(".mark").length > 2 && document.querySelectorAll(".piece").length > 10`},
	{"notes", `document.querySelectorAll(".notes li").length > 5`},
	{"tree", `document.querySelector(".tree .here") && document.querySelectorAll("[data-part*=plan] tbody tr").length > 2`},
}

// Every view stands in both themes, in a narrow and in a very wide window, and a checker of accessibility has nothing
// to say.
func TestEveryViewOfTheExample(t *testing.T) {
	suite.Matrix(t, needsBrowser)
	m := harness.Start(t, harness.Options{})
	s := example(t, m, "s1")
	s.Bash(`echo '{"content":"who?"}' >> messages.jsonl; rm messages.jsonl; true`)
	for range 3 {
		s.Read("context/pack.md")
		s.Append("messages.jsonl", harness.Message("user", "Go on, please."))
	}
	m.Session(t, harness.Self(), "reviewer", "empty")
	child := m.Session(t, harness.Self(), "reviewer", "r1")
	child.Append("messages.jsonl", harness.Message("assistant", "One bug: the retry has no limit."))
	s.Bash(`mkdir context/child/rev-1 && cd context/child/rev-1 && echo reviewer > agent && echo r1 > session`).OK()
	s.Run(harness.Binary(t), "session", "fork", ".@200", "coder/s2").OK()
	b := browse(t, serve(t, m))
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		for _, window := range []struct {
			name string
			w, h int64
		}{{"wide", 1280, 900}, {"narrow", 360, 740}, {"huge", 3840, 2160}} {
			b.size(window.w, window.h)
			look := func(view, path, shows string) {
				t.Helper()
				name := fmt.Sprintf("%s-%s-%s", view, theme, window.name)
				b.open(path)
				b.await(shows)
				b.await(settled)
				b.fits(name)
				if window.name != "huge" {
					b.accessible(name)
				}
				b.shot(name)
				b.quiet()
			}
			look("home", "/", `document.querySelectorAll("[data-row]").length === 4`)
			look("found", "/?q=invalid_grant", `document.querySelectorAll(".hits li").length > 2`)
			for _, v := range views {
				look(v.name, viewPath(v.name, s), v.shows)
				if v.name == "tree" && eval[int](b, `document.querySelectorAll(".kin").length`) != 3 {
					t.Error("the tree does not have the session, its child and its fork")
				}
			}
			look("record", viewPath("session", s)+"?r=messages:20", `document.querySelector("[data-record] .life li")`)
			b.open("/session/" + s.Ref() + "-not-there")
			b.fits("not found")
			b.accessible("not found")
			b.mu.Lock()
			b.said = nil // it answers 404, which the console notes
			b.mu.Unlock()
		}
	}
	b.size(1280, 900)
	for _, view := range views {
		b.open("/" + view.name + "/home/" + fmt.Sprint(harness.Self()) + "/agent/reviewer/session/empty")
		b.accessible("empty " + view.name)
		b.shot("empty-" + view.name)
		b.quiet()
	}
}

// A long history is shown as a short one is: of its ribbon only what is to be seen is drawn.
func TestEveryViewOfALongSession(t *testing.T) {
	suite.Matrix(t, needsBrowser)
	m := harness.Start(t, harness.Options{})
	s := big(t, m)
	b := browse(t, serve(t, m, s.Dir))
	b.size(1280, 900)
	for _, v := range views {
		b.open(viewPath(v.name, s))
		b.await(v.shows)
		b.shot("long-" + v.name)
		b.quiet()
		if v.name != "session" {
			continue
		}
		if n := eval[int](b, `document.querySelectorAll("[data-ribbon] rect").length`); n > 1000 {
			t.Errorf("the ribbon has %d bars in the page", n)
		}
		if n := eval[int](b, `+document.querySelector("[data-ribbon]").getAttribute("aria-valuemax")`); n != manyMessages {
			t.Errorf("the ribbon ends at %d", n)
		}
		b.do(focus("[data-ribbon]"))
		b.press(kb.Home, kb.Enter)
		b.await(`document.querySelector("[data-record] h2")?.textContent.includes("message 1") && ` + settled)
		b.quiet()
	}
}
