package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// tab is a page of a browser.
type tab struct {
	t   testing.TB
	ctx context.Context
	s   *server

	mu   sync.Mutex
	said []string // errors on its console; guarded by mu
}

// browse starts a browser of its own profile and opens a server in it, by the file that it names.
func browse(t testing.TB, s *server) *tab {
	t.Helper()
	harness.Need(t, "chromium")
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("hide-scrollbars", false))
	ctx, end := context.WithTimeout(t.Context(), 4*harness.Patience)
	t.Cleanup(end)
	ctx, endBrowser := chromedp.NewExecAllocator(ctx, flags...)
	b := &tab{t: t, s: s}
	ctx, endTab := chromedp.NewContext(ctx, chromedp.WithListener(b.heard))
	b.ctx = ctx
	t.Cleanup(func() {
		chromedp.Cancel(ctx)
		endTab()
		endBrowser()
	})
	b.do(chromedp.Navigate("file://" + s.Entry))
	b.await(`location.origin === "` + s.Origin + `" && !!document.querySelector("#main")`)
	return b
}

// heard collects what goes wrong on the page.
func (b *tab) heard(ev any) {
	text := ""
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		text = ev.ExceptionDetails.Text
		if ev.ExceptionDetails.Exception != nil {
			text += " " + ev.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		if ev.Entry.Level == "error" || ev.Entry.Source == "security" {
			text = ev.Entry.Text + " " + ev.Entry.URL
		}
	case *page.EventJavascriptDialogOpening:
		text = "a dialog opened: " + ev.Message
	}
	if text != "" {
		b.mu.Lock()
		b.said = append(b.said, text)
		b.mu.Unlock()
	}
}

// another opens another tab of the same browser at a path.
func (b *tab) another(path string) *tab {
	b.t.Helper()
	x := &tab{t: b.t, s: b.s}
	ctx, end := chromedp.NewContext(b.ctx, chromedp.WithListener(x.heard))
	b.t.Cleanup(end)
	x.ctx = ctx
	x.do(chromedp.Navigate(b.s.Origin + path))
	return x
}

// quiet fails the test if anything went wrong on the page.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.said {
		b.t.Errorf("the console says: %s", text)
	}
	b.said = nil
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.shot("failed")
		b.t.Fatal(err)
	}
}

// eval evaluates an expression of JavaScript into a value of type T.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.shot("failed")
		b.t.Fatalf("%v\n%.300s", err, expression)
	}
	return v
}

// await waits until an expression is true, in this page or in the one to which it leads.
func (b *tab) await(condition string) {
	b.t.Helper()
	var last error
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); {
		// A page that is left ends the question, which is asked of the next one then.
		last = chromedp.Do(b.ctx, chromedp.Poll[chromedp.Void]("!!("+condition+")", chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(harness.Patience)))
		if last == nil {
			return
		}
		if b.ctx.Err() != nil {
			break
		}
	}
	b.shot("failed")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.t.Fatalf("%s: %v; the console says %q", condition, last, b.said)
}

// settled is that all parts of the page are there.
const settled = `document.querySelector("#main") && !document.querySelector("[data-part][aria-busy], .loading")`

// open goes to a path and waits for all of the page.
func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.s.Origin + path))
	b.await(settled)
}

// size makes the window so large, in CSS pixels.
func (b *tab) size(width, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height))
}

// theme sets what the system prefers.
func (b *tab) theme(name string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
		return err
	}))
}

// press presses keys, one after the other.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// shot keeps a picture of the window in the directory that CTXFS_SHOTS names, if it names one.
func (b *tab) shot(name string) {
	dir := os.Getenv("CTXFS_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Errorf("the picture %s: %v", name, err)
	}
}

// accessible fails the test if the checker finds a violation.
func (b *tab) accessible(name string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](axe(b.t)))
	found := eval[string](b, `axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.slice(0, 5).map(n => n.target.join(" ") + " " + n.html.slice(0, 200) + " " + n.failureSummary)}))))`)
	var list []struct {
		ID, Help string
		Nodes    []string
	}
	if err := json.Unmarshal([]byte(found), &list); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range list {
		b.t.Errorf("%s: %s: %s\n  %s", name, v.ID, v.Help, strings.Join(v.Nodes, "\n  "))
	}
}

// fits fails the test if the page is wider than the window.
func (b *tab) fits(name string) {
	b.t.Helper()
	wide := eval[string](b, `(() => { const w = document.documentElement.clientWidth;
		if (document.documentElement.scrollWidth <= w) return "";
		return [...document.querySelectorAll("body *")].filter(x => x.getBoundingClientRect().right > w + 1).slice(0, 5).map(x => x.tagName + "." + x.className).join(", ") || "it scrolls"; })()`)
	if wide != "" {
		b.t.Errorf("%s is wider than the window: %s", name, wide)
	}
}

// viewPath is the path of a view of a session.
func viewPath(view string, s *harness.Session) string { return fmt.Sprintf("/%s/%s", view, s.Ref()) }

// focus moves the focus to an element.
func focus(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector(%q).focus()", selector))
}

// clickOn clicks on the first element that a selector finds.
func clickOn(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(selector, chromedp.NodeVisible)
}

// set sets a slider as a hand does that lets it go.
func (b *tab) set(selector, value string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(x => { x.value = %q; x.dispatchEvent(new Event("input", {bubbles: true})); })(document.querySelector(%q))`, value, selector)))
}

// navigate goes to an address.
func navigate(address string) chromedp.Action[chromedp.Void] { return chromedp.Navigate(address) }
