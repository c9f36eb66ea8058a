package ui

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
	"github.com/ctxfs/ctxfs/views/overview"
)

// An empty store, a session that is not there and a mount whose daemon is dead each have a page that says what to do.
// When the mount is back, so are the sessions.
func TestNothingToShow(t *testing.T) {
	suite.Matrix(t, needsBrowser)
	m := harness.Start(t, harness.Options{})
	b := browse(t, serve(t, m))
	look := func(name, path, says string) {
		t.Helper()
		b.do(navigate(b.s.Origin + path))
		b.await(settled + ` && document.querySelector("#main").innerText.includes("` + says + `")`)
		b.shot("nothing-" + name)
		b.fits(name)
		b.accessible(name)
	}
	for _, theme := range []string{"light", "dark"} {
		for _, window := range []struct {
			name string
			w, h int64
		}{{"wide", 1280, 900}, {"narrow", 360, 740}} {
			b.theme(theme)
			b.size(window.w, window.h)
			name := "-" + theme + "-" + window.name
			look("store"+name, "/", "No session yet")
			look("found"+name, "/?q=zebra", "Nothing was found")
			for _, v := range views {
				look(v.name+name, "/"+v.name+"/home/0/agent/coder/session/gone", "Not found")
			}
		}
	}
	s := example(t, m, "s1")
	for _, v := range views {
		b.open(viewPath(v.name, s)) // it is there
	}
	m.Kill()
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		look("mount-home-"+theme, "/", "The mount is gone")
		for _, v := range views {
			look("mount-"+v.name+"-"+theme, viewPath(v.name, s), "The mount is gone")
		}
	}
	m.Restart()
	look("back", "/", "s1")
	look("pack back", viewPath("pack", s), "tokens")
	m.Stop()
	look("mount-ended", "/", "The mount is gone")
}

// A page said that there was no session yet when the daemon had died: the kernel answers a stat of what it knows for a
// second longer than the daemon lives.
func TestADeadMountStillAnsweredAStat(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	home := filepath.Join(m.Dir, ctxabi.HomeDir)
	if err := overview.Answers(home); err != nil {
		t.Errorf("the daemon lives: %v", err)
	}
	for _, dir := range []string{m.Dir, home} { // known anew, for a second from now
		if _, err := os.Stat(dir); err != nil {
			t.Fatal(err)
		}
	}
	m.Kill()
	if _, err := os.Stat(home); err != nil {
		t.Logf("the kernel has forgotten %s already: %v", home, err)
	}
	if err := overview.Answers(home); err == nil {
		t.Error("the daemon is dead and answers")
	}
}
