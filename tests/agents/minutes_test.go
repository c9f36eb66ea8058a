package agents

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// minute is a command of the first ten minutes, and its output in docs/tour.md.
type minute struct{ command, prints string }

// minutes reads the commands of the first ten minutes.
func minutes(t *testing.T) (all []minute) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(harness.Root(), "docs/tour.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "\n## The first ten minutes\n")
	text, _, _ = strings.Cut(text, "\n## From a transcript to a container\n")
	for _, block := range regexp.MustCompile("(?ms)^```\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[1]) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				command, _, _ = strings.Cut(command, "  #")
				all = append(all, minute{command: strings.TrimSpace(command)})
			} else {
				all[len(all)-1].prints += line
			}
		}
	}
	return all
}

// anyTime are the parts of what the commands print that are others at each run.
var anyTime = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "5f1c2d7e-abe7-4e50-bded-61eb13b2377e"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:8765"},
	{regexp.MustCompile(`\S*/ctxfs-ui-\d+\.html`), "/tmp/ctxfs-ui-1503268441.html"},
	{regexp.MustCompile(`\S*/bin/xdg-open`), "/usr/bin/xdg-open"},
}

// The first ten minutes of docs/tour.md, from the mount on, with Claude Code as it comes from npm: each command prints
// its output of the page. The part before the mount, make run and make install, has tests of its own.
func TestTheFirstTenMinutes(t *testing.T) {
	w := newWorld(t)
	bin := filepath.Join(w.home, "bin")
	w.write(filepath.Join(bin, "xdg-open"), "#!/bin/sh\ncp \"$1\" ~/opened.html\n")
	if err := os.Chmod(filepath.Join(bin, "xdg-open"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.path = bin + ":" + w.path
	w.point = filepath.Join(w.home, "ctx")
	t.Cleanup(func() { w.try("ctxfs", "umount", "--force", w.point) })
	printed := func(text string) string {
		text = strings.ReplaceAll(strings.ReplaceAll(text, w.home, "/home/me"), "home/"+w.uidText()+"/", "home/1000/")
		for _, x := range anyTime {
			text = x.what.ReplaceAllString(text, x.as)
		}
		return text
	}
	ran := map[string]bool{}
	for _, m := range minutes(t) {
		verb, _, _ := strings.Cut(m.command, " ")
		if verb == "git" || verb == "make" {
			continue
		}
		ran[verb] = true
		switch {
		case verb == "claude": // whose answers are the model's
			w.api.Requests()
			w.bash("cd ~/app; " + m.command)
			words := strings.Trim(strings.TrimPrefix(m.command, "claude -p "), "'")
			if asked := w.asked(words).Said(); words == question && !strings.Contains(asked, "8443") {
				t.Errorf("the model does not know what was told: %s", asked)
			}
			w.recorded(claude.name, words) // hooks bring it behind the program's back
		case m.command == "ctxfs ui":
			m.compare(t, printed(w.looksAt("8443")))
		default:
			m.compare(t, printed(w.bash("cd ~/app; "+m.command+" 2>&1")))
		}
	}
	for _, verb := range []string{"mkdir", "ctxfs", "claude", "cat"} { // so that a page that is read wrongly does not pass
		if !ran[verb] {
			t.Errorf("the first ten minutes run no %s", verb)
		}
	}
}

// compare fails the test unless a command printed its output of the page.
func (m minute) compare(t *testing.T, printed string) {
	t.Helper()
	if printed != m.prints {
		t.Errorf("$ %s\nprints\n%s\nand docs/tour.md says\n%s", m.command, printed, m.prints)
	}
}

// looksAt starts ctxfs ui as a user with a desktop does, enters with the file that the browser got, and fails the test
// unless the newest prompt on the page has some words. It returns what ctxfs ui printed.
func (w *world) looksAt(words string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	cmd := w.command(ctx, "ctxfs", "ui")
	cmd.Env = append(cmd.Env, "DISPLAY=:0")
	out := w.file()
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	opened := filepath.Join(w.home, "opened.html")
	form := regexp.MustCompile(`action="(http://[^"/]+)[^"]*"(?s:.*)name="secret" value="([^"]+)"`)
	var found []string
	harness.Eventually(w.t, "the browser to get a file", func() bool {
		b, err := os.ReadFile(opened)
		found = form.FindStringSubmatch(string(b))
		return err == nil && found != nil
	})
	session := w.holding(claude.name, words)[0]
	page := w.bash(`key=$(curl -s -D - -o /dev/null -d "secret=$1" "$0/enter" | sed -n 's/^Set-Cookie: \([^;]*\).*/\1/p')
curl -s -b "$key" -H 'Sec-Fetch-Site: same-origin' "$0/part/pack/$2"`, found[1], found[2],
		fmt.Sprintf("home/%s/agent/claude-code/session/%s", w.uidText(), session))
	wants(w.t, page, words, "tokens")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		w.t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		w.t.Errorf("ctxfs ui ended with %v", err)
	}
	return w.read(out.Name())
}
