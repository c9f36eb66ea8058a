// Package ui looks at the pages of ctxfs ui as a person does, in a browser, and knocks at their door as a stranger
// does.
//
// CTXFS_SHOTS names a directory in which pictures of every view are kept.
package ui

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// server is a running ctxfs ui, to which tests speak as clients.
type server struct{ *harness.UI }

// serve starts ctxfs ui on a mount, as its owner, and ends it with the test.
func serve(t testing.TB, m *harness.Mount, args ...string) *server {
	t.Helper()
	return serveAs(t, m, harness.Self(), args...)
}

// serveAs is serve for another user.
func serveAs(t testing.TB, m *harness.Mount, uid uint32, args ...string) *server {
	t.Helper()
	tmp, err := os.MkdirTemp("", "ctxfs-test-ui-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) })
	if err := os.Chmod(tmp, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	cmd := m.Command(t.Context(), harness.Client{UID: uid, Argv: append([]string{harness.Binary(t), "ui", "--no-open", "--mount", m.Dir}, args...), Env: []string{"TMPDIR=" + tmp}})
	return &server{harness.StartUI(t, cmd)}
}

// example is a session with the conversation of examples/session, at a budget at which most of it is compacted.
func example(t testing.TB, m *harness.Mount, name string) *harness.Session {
	t.Helper()
	s := m.Session(t, harness.Self(), "coder", name)
	for _, file := range []string{"messages.jsonl", "events.jsonl"} {
		s.Append(file, bundled(t, file))
	}
	s.Write("context/budget", "6000\n")
	s.Write("context/pinned/rules.md", bundled(t, "pinned/rules.md"))
	return s
}

func bundled(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(harness.Root(), "examples/session", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const manyMessages = 100_000

// big is a session of manyMessages.
func big(t testing.TB, m *harness.Mount) *harness.Session {
	t.Helper()
	s := m.Session(t, harness.Self(), "coder", "big")
	lines := strings.SplitAfter(strings.TrimSuffix(bundled(t, "messages.jsonl"), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	f, err := os.OpenFile(s.Path("messages.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 4<<20)
	for i := range manyMessages {
		if _, err := w.WriteString(lines[i%len(lines)]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return s
}

var checker struct {
	once   sync.Once
	script string
	err    error
}

// axe returns the script of the accessibility checker, installed by its lock file.
func axe(t testing.TB) string {
	t.Helper()
	harness.Need(t, "npm")
	checker.once.Do(func() {
		dir, err := os.MkdirTemp("", "ctxfs-test-npm-")
		if err != nil {
			checker.err = err
			return
		}
		defer os.RemoveAll(dir)
		if checker.err = os.CopyFS(dir, os.DirFS(filepath.Join(harness.Root(), "tests/ui/axe"))); checker.err != nil {
			return
		}
		cmd := exec.Command("npm", "ci", "--prefer-offline", "--loglevel=error")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			checker.err = fmt.Errorf("npm ci: %w\n%s", err, out)
			return
		}
		b, err := os.ReadFile(filepath.Join(dir, "node_modules/axe-core/axe.min.js"))
		checker.script, checker.err = string(b), err
	})
	if checker.err != nil {
		t.Fatal(checker.err)
	}
	return checker.script
}
