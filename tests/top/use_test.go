package top

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

const needsTmux = "it needs a terminal for many screens"

// A list follows what is appended, and leaves the terminal as it was.
func TestAListFollows(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	tells(t, m, harness.Self(), "coder", "first", 3, "I am the first.")
	second := tells(t, m, harness.Self(), "coder", "second", 2, "I am the second.")
	x := open(t, 120, 20)
	x.top(m, `^› second +coder +idle +assistant: I am the second\. +2 +not read .*\n +first +coder +idle +assistant: I am the first\. +3 `)
	second.Append("messages.jsonl", harness.Message("user", "Do go on."))
	x.await(`^› second +coder +idle +user: Do go on\. +3 +not read `)
	second.Read("context/pack.md")
	x.await(`^› second +coder +idle +user: Do go on\. +3 +\d+/32k `)
	tells(t, m, harness.Self(), "writer", "third", 1, "I came later.")
	x.await(`^› third +writer +idle +assistant: I came later\. +1 `)
	x.quit("q")
	x.top(m, `^› third `)
	x.quit("C-c")
}

func TestKeys(t *testing.T) {
	suite.Matrix(t, needsTmux)
	m := harness.Start(t, harness.Options{})
	for i := range 40 {
		tells(t, m, harness.Self(), fmt.Sprintf("agent%d", i%4), fmt.Sprintf("s%02d", i), 1+i%3, fmt.Sprintf("I am number %d.", i))
	}
	s := m.Session(t, harness.Self(), "coder", "example")
	for _, file := range []string{"messages.jsonl", "events.jsonl"} {
		b, err := os.ReadFile(filepath.Join(harness.Root(), "examples/session", file))
		if err != nil {
			t.Fatal(err)
		}
		s.Append(file, string(b))
	}
	s.Write("context/budget", "6000\n")
	s.Bash(`cat context/pack.md >/dev/null; echo '{"role":"user","content":"once more"}' >> messages.jsonl; cat context/pack.md >/dev/null; echo '{"role":"x"}' >> messages.jsonl`)
	x := open(t, 130, 23)
	x.top(m, `^› example +coder `)
	if screen := x.await(`^› example .* \d\.\dk/6k +\d+ % [▁▂▃▄▅▆▇█]{2}`); !strings.Contains(screen, "41 sessions  by last activity") {
		t.Error("the title does not count the sessions")
	}
	x.keys("j")
	x.await(`^› s39 `)
	x.keys("Down")
	x.await(`^› s38 `)
	x.keys("k")
	x.await(`^› s39 `)
	x.keys("PPage")
	x.await(`^› example `)
	x.keys("NPage")
	x.await(`^› s20 +agent0 +idle +assistant: I am number 20`)
	x.keys("G")
	if screen := x.await(`^› s00 +agent0 +idle +assistant: I am number 0\.`); strings.Contains(screen, "example") || !strings.Contains(screen, "s19 ") {
		t.Error("the end of the list is not a screen of it")
	}
	x.keys("Home")
	x.await(`^› example `)
	x.keys("End")
	x.await(`^› s00 `)
	x.keys("g")
	x.await(`^› example `)

	x.keys("/")
	x.types("agent1 s3")
	x.await(`2 of 41 sessions(?s:.*)^› s37 .*\n  s33 .*\n *\n`)
	x.keys("BSpace", "BSpace")
	x.await(`10 of 41 sessions`)
	x.keys("Enter")
	x.await(`^/agent1 +esc clears it`)
	x.types("j")
	x.await(`^› s33 `)
	x.keys("Escape")
	x.await(`  41 sessions`)
	x.keys("/")
	x.types("nobody")
	x.await(`No session has these words`)
	x.keys("Escape")
	x.await(`^enter look`)

	x.await(`^› example `)
	x.keys("s")
	x.await(`by tokens`)
	x.await(`^› example `)
	x.keys("s")
	x.await(`by messages\s*\n.*\n› example .*\n  s\d+ +agent\d +idle +assistant: I am number \d+\. +3 `)
	x.keys("s")
	x.await(`by name\s*\n.*\n› s00 +agent0 .*\n  s04 +agent0 `)
	x.keys("s")
	x.await(`by last activity\s*\n.*\n› example `)

	x.keys("?")
	x.await(`^/ +show only names`)
	x.keys("Escape")
	x.await(`^› example `)
	x.keys("Enter")
	x.await(`^coder / example`)
	screen := x.await(`^Prompt: [45],\d{3} tokens of 6,000, \d+ compactions$`)
	for _, want := range []string{`(?m)^  Instructions +[\d,]+`, `(?m)^  Conversation +\d,\d{3}  █+`, `(?m)^Last 2 prompts that programs read$`,
		`(?m)^  \d+ to do, \d+ done, \d+ decisions?, \d+ facts?, \d+ files?$`, `(?m)^Refused\n  (now|\d+ s ago): append messages\.jsonl.*role`} {
		if !regexp.MustCompile(want).MatchString(screen) {
			t.Errorf("the session's screen has nothing like %s", want)
		}
	}
	x.keys("G")
	x.await(`and \d+ messages before them`)
	x.keys("g")
	x.await(`^Prompt: [45],`)
	s.Append("messages.jsonl", harness.Message("user", "Live and in detail."))
	x.await(`^307 messages(?s:.*)^  307 user +\d+  Live and in detail\.`) // the last line of this page
	x.keys("NPage")
	x.await(`^coder / example.*\n  306 user +\d+  once more`)
	x.keys("Escape")
	x.await(`^› example .* user: Live and in detail`)
	x.quit("q")
}

// Whatever the size of the window, each line of the list ends with it, and what does not fit is left out.
func TestResize(t *testing.T) {
	suite.Matrix(t, needsTmux)
	m := harness.Start(t, harness.Options{})
	for i := range 12 {
		tells(t, m, harness.Self(), "coder", fmt.Sprintf("session-%02d", i), 1, strings.Repeat("many words ", 30))
	}
	x := open(t, 100, 20)
	x.top(m, `^› session-11 `)
	for _, c := range []struct {
		width, height int
		has, hasNot   string
	}{
		{200, 50, `^  SESSION +AGENT +STATE +LAST WORDS +MSGS +TOKENS +CACHE +LAST PROMPTS +CHANGED$`, "too small"},
		{80, 24, `^  SESSION +AGENT +STATE +LAST WORDS +MSGS +TOKENS +CHANGED$`, "too small"},
		{40, 10, `^  SESSION +MSGS +TOKENS +CHANGED$`, "session-04"},
		{39, 10, `^The window is too small: ctxfs top`, "session-11"},
		{120, 9, `^The window is too small: ctxfs top`, "session-11"},
		{8, 4, `^The`, "session"},
		{60, 12, `^  SESSION +AGENT +MSGS +TOKENS +CHANGED$`, "too small"},
	} {
		x.do("resize-window", "-t", "top", "-x", fmt.Sprint(c.width), "-y", fmt.Sprint(c.height))
		screen := x.await(c.has)
		if strings.Contains(screen, c.hasNot) {
			t.Errorf("%dx%d shows %q:\n%s", c.width, c.height, c.hasNot, screen)
		}
		if c.width < 40 || c.height < 10 {
			continue
		}
		harness.Eventually(t, fmt.Sprintf("rows of %d columns", c.width), func() bool {
			rows := regexp.MustCompile(`(?m)^[› ] session-.*$`).FindAllString(x.screen(), -1)
			return len(rows) == min(12, c.height-3) && !slices.ContainsFunc(rows, func(row string) bool { return len([]rune(row)) != c.width })
		})
	}
	x.quit("q")
}

// While it is paused, a screen stands still; another one shows that there was something to show.
func TestPause(t *testing.T) {
	suite.Matrix(t, needsTmux)
	m := harness.Start(t, harness.Options{})
	s := tells(t, m, harness.Self(), "coder", "s1", 1, "before")
	tells(t, m, harness.Self(), "coder", "s2", 1, "beside")
	x, y := open(t, 120, 12), open(t, 120, 12)
	x.top(m, `assistant: before`)
	y.top(m, `assistant: before`)
	x.keys("p")
	x.await(`PAUSED`)
	s.Append("messages.jsonl", harness.Message("user", "meanwhile"))
	y.await(`user: meanwhile`)
	x.keys("j")
	if screen := x.await(`^› s1 .*PAUSED|^› s1 `); !strings.Contains(screen, "assistant: before") || strings.Contains(screen, "meanwhile") {
		t.Errorf("a paused screen moves:\n%s", screen)
	}
	x.keys("p")
	x.await(`user: meanwhile`)
	for _, x := range []*terminal{x, y} {
		x.quit("q")
	}
}

func TestNoColour(t *testing.T) {
	suite.Matrix(t, needsTmux)
	m := harness.Start(t, harness.Options{})
	s := tells(t, m, harness.Self(), "coder", "s1", 3, "hello")
	s.Write("state", "active\n")
	sgr := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	for _, c := range []struct {
		env, flag string
		colours   bool
	}{{"X=1", "", true}, {"NO_COLOR=1", "", false}, {"X=1", "--no-color", false}} {
		x := open(t, 120, 12, c.env)
		x.top(m, `^› s1 .*active.* assistant: hello`, c.flag)
		for _, key := range []string{"", "?", "?", "/", "Escape", "Enter"} {
			if key != "" {
				x.keys(key)
			}
			switch key {
			case "Enter":
				x.await(`^Prompt: \d+ tokens`)
			case "?":
				x.await(`^/ +show only|^› s1 `)
			case "/":
				x.await(`^/_`)
			case "Escape":
				x.await(`^enter look`)
			}
			if found := sgr.FindString(x.drawn()); !c.colours && found != "" {
				t.Errorf("%s %s: after %q the screen has %q", c.env, c.flag, key, found)
			}
		}
		if !c.colours {
			x.quit("q")
			continue
		}
		if !sgr.MatchString(x.drawn()) {
			t.Error("there are no colours at all")
		}
		x.quit("C-c")
	}
}

// A terminal that can only print gets a table.
func TestADumbTerminal(t *testing.T) {
	suite.Matrix(t, needsTmux)
	m := harness.Start(t, harness.Options{})
	tells(t, m, harness.Self(), "coder", "s1", 3, "hello")
	x := open(t, 100, 12)
	x.shell("clear; TERM=dumb " + harness.Binary(t) + " top --mount " + m.Dir + "; echo END $?")
	x.await(`^s1 +coder +idle +assistant: hello +3 +not read`)
	x.ended(0)
}
