package ui

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// Everything is reached and seen with a keyboard alone.
func TestAKeyboardAlone(t *testing.T) {
	suite.Matrix(t, needsBrowser)
	m := harness.Start(t, harness.Options{})
	s := example(t, m, "s1")
	b := browse(t, serve(t, m))
	b.size(1280, 900)
	b.open("/")
	b.press("j", kb.Enter)
	b.await(`location.pathname.startsWith("/session/") && ` + settled + ` && document.querySelector("[data-ribbon]").dataset.placed`)
	b.press("j", "k", kb.ArrowLeft, kb.Enter) // from the last one
	b.await(`document.querySelector("[data-record] h2")?.textContent.includes("message 303") && ` + settled)
	b.press("j")
	b.await(`document.querySelector("[data-record] h2")?.textContent.includes("message 304") && ` + settled)
	if got := eval[string](b, `document.querySelector("[data-ribbon]").getAttribute("aria-valuetext")`); got == "" || got[:11] != "message 304" {
		t.Errorf("the ribbon says %q", got)
	}
	for _, want := range []struct{ key, view string }{{"2", "pack"}, {"3", "time"}, {"4", "notes"}, {"5", "tree"}, {"1", "session"}} {
		b.press(want.key)
		b.await(`location.pathname.startsWith("/` + want.view + `/") && ` + settled)
		b.ring(want.view)
	}
	b.press("2")
	b.await(`location.pathname.startsWith("/pack/") && ` + settled)
	b.press("j", "j")
	b.await(`document.activeElement.classList.contains("piece")`)
	b.press("?")
	b.await(`document.querySelector("dialog").open`)
	b.shot("help")
	b.press(kb.Escape)
	b.await(`!document.querySelector("dialog").open`)
	b.press("t")
	b.await(`document.documentElement.dataset.theme === "light"`)
	b.press("t")
	b.await(`document.documentElement.dataset.theme === "dark"`)
	b.open(viewPath("time", s))
	b.await(`document.documentElement.dataset.theme === "dark"`) // it is kept
	b.press("/")
	b.await(`location.pathname === "/" && document.activeElement?.id === "q"`)
	b.press("z", "e", "b", "r", "a", kb.Enter)
	b.await(`location.search === "?q=zebra" && ` + settled)
	b.quiet()
}

// ring goes once around the page with the tabulator, and fails the test if something that can be used cannot be
// reached, or cannot be seen to have the focus.
func (b *tab) ring(name string) {
	b.t.Helper()
	want := eval[int](b, `(() => { document.activeElement.blur(); window.focused = new Set();
		document.addEventListener("focusin", e => { focused.add(e.target);
			const s = getComputedStyle(e.target); if (s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 1) focused.hidden = (focused.hidden || "") + e.target.outerHTML.slice(0, 120) + "\n"; });
		window.usable = [...document.querySelectorAll("a[href], button, input, [tabindex='0']")].filter(x => !x.disabled && x.checkVisibility() && !x.matches("[tabindex='-1']"));
		return usable.length; })()`)
	for range want + 2 {
		b.press(kb.Tab)
	}
	if missed := eval[string](b, `usable.filter(x => x.isConnected && !focused.has(x)).map(x => x.outerHTML.slice(0, 120)).join("\n")`); missed != "" {
		b.t.Errorf("%s: not reached with the keyboard:\n%s", name, missed)
	}
	if hidden := eval[string](b, `focused.hidden || ""`); hidden != "" {
		b.t.Errorf("%s: the focus is not seen:\n%s", name, hidden)
	}
}

// Other budgets, other formats, earlier moments and what changed between two are shown, and nothing is changed by it.
func TestPreviewsAndTravels(t *testing.T) {
	suite.Matrix(t, needsBrowser)
	m := harness.Start(t, harness.Options{})
	s := example(t, m, "s1")
	b := browse(t, serve(t, m))
	b.size(1280, 900)
	b.open(viewPath("pack", s))
	if said := eval[string](b, `document.querySelector("[data-budget-said]").textContent`); said != "6,000 tokens" {
		t.Errorf("the budget is %q", said)
	}
	b.do(focus("#budget"))
	b.press(kb.End)
	b.await(`document.querySelector("[data-pack-of]").dataset.budget === "200000" && ` + settled)
	if !eval[bool](b, `document.querySelector(".badge").textContent === "preview" && document.querySelectorAll(".piece").length > 200`) {
		t.Error("the preview of 200,000 tokens does not show the whole history")
	}
	b.shot("preview")
	b.press(kb.Home)
	b.await(`document.querySelector("[data-pack-of]").dataset.budget === "2000" && ` + settled)
	b.do(clickOn("[data-budget-own]"))
	b.await(`document.querySelector("[data-pack-of]").dataset.budget === "6000" && ` + settled)
	for format, has := range map[string]string{"anthropic": `"messages"`, "openai": `"tool_call_id"`, "responses": `"input"`, "gemini": `"contents"`, "genai": `"config"`} {
		b.do(clickOn("[data-format-tab=" + format + "]"))
		b.await(`document.querySelector("[data-pack-of]").dataset.format === "` + format + `" && document.querySelector("pre.text").textContent.includes('` + has + `')`)
	}
	b.do(clickOn("[data-format-tab=md]"))
	b.await(`document.querySelector("[data-pack-of]").dataset.format === "md" && ` + settled)
	b.do(clickOn("[data-tile]"))
	b.await(`document.activeElement.id === document.querySelector("[data-tile]").hash.slice(1)`)

	b.open(viewPath("time", s))
	b.set("#to", "120")
	b.set("#from", "120")
	b.await(`document.querySelector("[data-moment]").textContent.includes("at message 120") && ` + settled)
	b.set("#to", "180")
	b.await(`document.querySelectorAll(".lines .come").length > 10 && ` + settled)
	if text := eval[string](b, `document.querySelector("[data-moment]").textContent`); len(text) < 1000 {
		t.Errorf("the comparison says %q", text)
	}
	b.accessible("diff")
	b.shot("diff")
	b.do(clickOn(".mark.compaction"))
	b.await(`document.querySelector("#from").value !== "120" && document.querySelector(".compare")?.textContent.includes("message " + document.querySelector("#to").value) && ` + settled)
	b.shot("compaction")
	b.quiet()
	if got := s.Read("context/budget"); got != "6000\n" {
		t.Errorf("the budget is %q now", got)
	}
}

// The Notes page lists each version of the summary with its changes, and opens the one in use.
func TestVersionsOfTheSummaryAreShown(t *testing.T) {
	suite.Matrix(t, needsBrowser)
	m := harness.Start(t, harness.Options{})
	s := example(t, m, "s1")
	s.Bash(`printf -- '---\nupto: 20\n---\n# Goal\nFind the bug.\n# Facts\nport 8080\n' > context/summary.md`).OK()
	s.Bash(`printf -- '---\nupto: 40\n---\n# Goal\nFind the bug.\n# Facts\nport 9090 <script>alert(1)</script>\n' ` +
		`> context/summary.md`).OK()
	b := browse(t, serve(t, m))
	b.size(1280, 900)
	b.open(viewPath("notes", s))
	b.await(`document.querySelectorAll("details.summary").length === 2 && ` + settled)
	const now = `document.querySelector("details.summary[open]")`
	got := eval[string](b, now+`.querySelector("summary").textContent`)
	if !strings.Contains(got, "Version 2, up to message 40") ||
		!strings.Contains(got, "in use") || !strings.Contains(got, "written to summary.md") {
		t.Errorf("the version in use is called %q", got)
	}
	if got := eval[string](b, now+`.querySelector("pre").textContent`); !strings.Contains(got, "port 9090 <script>") {
		t.Errorf("its text is %q", got)
	}
	b.do(clickOn("details.summary[open] details summary"))
	got = eval[string](b, now+`.querySelector(".lines").textContent`)
	if !strings.Contains(got, "gone: port 8080") || !strings.Contains(got, "new: port 9090") {
		t.Errorf("its changes are %q", got)
	}
	b.accessible("summaries")
	b.shot("summaries")

	s.Bash(`rm context/summary.md`).OK()
	b.open(viewPath("notes", s))
	b.await(`[...document.querySelectorAll("details.summary .badge")]` +
		`.filter(x => x.textContent === "removed").length === 2 && ` + settled)
	b.quiet()
}
