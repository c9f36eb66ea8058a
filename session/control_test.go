package session_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func TestControlFilesAreChecked(t *testing.T) {
	for _, c := range []struct{ name, data, refused string }{
		{"state", "done", ""},
		{"state", "done\n", ""},
		{"state", "busy\n", "not a state"},
		{"state", "", "not a state"},
		{"cwd", "/work/a b\n", ""},
		{"cwd", "", ""},
		{"cwd", "work", "not an absolute path"},
		{"cwd", "/a\n/b\n", "not an absolute path"},
		{"meta.json", `{"model":"m","other":[1]}`, ""},
		{"meta.json", `[]`, "one JSON object"},
		{"meta.json", `null`, "one JSON object"},
		{"meta.json", ``, "one JSON object"},
		{"context/budget", " 32000\n", ""},
		{"context/budget", "", ""},
		{"context/budget", "many", "not a number of tokens"},
		{"context/gc.policy", "pack_ttl=2d # two\n", ""},
		{"context/gc.policy", "x=1", "unknown key"},
		{"context/env", "# c\nA=1\n\nB=\n", ""},
		{"context/env", "A\n", "line 1"},
		{"context/plan.json", `{"goal":"x"}`, ""},
		{"context/plan.json", `"x"`, "one JSON object"},
		{"context/plan.json", ``, ""},
		{"context/plan.json", `{"tasks":[{"id":"a","files":[{"path":"x"}]}]}`, "tasks[0].files[0].operation: it is missing"},
		{"context/plan.json", `{"goal":"` + "\xff" + `"}`, "not UTF-8"},
		{"context/review.diff", "", ""},
		{"context/review.diff", "diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n", ""},
		{"context/review.diff", "looks good to me\n", "not a unified diff"},
		{"context/review.diff", "diff --git a/x b/x\n+\x00\n", "byte 20 is NUL"},
		{"context/facts.jsonl", `{"id":"f1","text":"x","source":"messages:12-18"}` + "\n", ""},
		{"context/facts.jsonl", `{"id":"f1","text":"x"}` + "\n\n" + `{"id":"f2","text":"y"}`, ""},
		{"context/facts.jsonl", `{"id":"f1","text":"x"}` + "\n" + `{"text":1}`, "line 2"},
		{"context/facts.jsonl", `{"id":"f1","text":"x","source":"messages:x"}`, "messages:x"},
		{"context/facts.jsonl", "nope", "line 1"},
		{"context/decisions.jsonl", `{"id":"d2","decision":"x","source":"user:latest"}`, ""},
		{"context/decisions.jsonl", `{"id":"d2","text":"x"}`, "decision"},
		{"context/refs.jsonl", `{"id":"r1","path":"/work/D.md","kind":"file","summary":"s"}`, ""},
		{"context/refs.jsonl", `{"id":"r1","path":"/work/D.md","kind":"magic"}`, "kind"},
		{"context/summary.md", "anything", ""},
		{"context/summary.md", "anything\x00", "byte 8 is NUL"},
		{"context/todo.md", "- [ ] \xff", "byte 6 is not UTF-8"},
		{"context/facts.jsonl", `{"id":"f1","text":"` + "\xff" + `"}`, "not UTF-8"},
		{"context/pinned/rules.md", "r\x00u\x00l\x00e\x00", "byte 1 is NUL"},
		{"context/pinned/rules.md", "Größe ✓ \uFFFD", ""},
		{"cwd", "/work/\xff", ""},
		{"context/pinned/rules.md", "anything", ""},
		{"context/pinned/big", strings.Repeat("x", ctxabi.MaxControl+1), "the limit"},
	} {
		err := session.CheckControl(c.name, []byte(c.data))
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s %.40q: %v, want %q", c.name, c.data, err, c.refused)
		}
		if err != nil && ctxabi.ErrnoName(err) != "EINVAL" && ctxabi.ErrnoName(err) != "EMSGSIZE" {
			t.Errorf("%s: %s", c.name, ctxabi.ErrnoName(err))
		}
	}
}

func TestARefusedControlFileKeepsItsContent(t *testing.T) {
	s := openStore(t, t.TempDir(), session.Options{})
	x := create(t, s, refA)
	if err := x.SetControl("state", []byte("active\n")); err != nil {
		t.Fatal(err)
	}
	if x.State() != "active" || !x.Updated().After(x.Created()) {
		t.Error("the change is not seen")
	}
	if err := x.SetControl("state", []byte("x")); !errors.Is(err, ctxabi.ErrMalformed) || x.State() != "active" {
		t.Errorf("%v, state %q", err, x.State())
	}
	for _, name := range []string{"messages.jsonl", ".ctxfs/id", ".ctxfs", "../x", "/etc/passwd", ".", "", "a/../state"} {
		if err := x.SetControl(name, []byte("{}")); err == nil {
			t.Errorf("%q was taken", name)
		}
		if _, err := x.Control(name); err == nil {
			t.Errorf("%q was read", name)
		}
	}
	if _, err := x.Control("context/todo.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := x.SetControl("context/pinned/rules.md", []byte("never")); err != nil {
		t.Error(err)
	}
}

func TestAControlFileBrokenByHandIsReportedAndIgnored(t *testing.T) {
	s := openStore(t, t.TempDir(), session.Options{})
	x := create(t, s, refA)
	for name, data := range map[string]string{"state": "xx", "context/budget": "many", "context/gc.policy": "a"} {
		if err := os.WriteFile(filepath.Join(x.Dir(), name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := x.Budget(); ok || x.State() != "idle" || x.Policy() != ctxabi.DefaultPolicy() {
		t.Error("a broken control file is believed")
	}
	if n := strings.Count(string(x.Errors()), "\n"); n != 3 {
		t.Errorf("%d rows: %s", n, x.Errors())
	}
	os.WriteFile(filepath.Join(x.Dir(), "context/budget"), []byte("77"), 0o600)
	if n, ok := x.Budget(); n != 77 || !ok {
		t.Error("an edit by hand is not seen")
	}
}

// One failed read made the default of it, which lets go at once what the file says to keep for a month.
func TestNothingIsOldEnoughWhileThePolicyCannotBeRead(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x := create(t, s, refA)
	if err := x.SetControl(ctxabi.PolicyFile, []byte("pack_ttl=30d\narchive_after=1d\n")); err != nil {
		t.Fatal(err)
	}
	want := x.Policy()
	d.Fail(sessiontest.Fault{Every: 1})
	got := x.Policy()
	d.Heal()
	if got.PackTTL < want.PackTTL || got.SwapTTL < want.SwapTTL || got.ArchiveAfter != 0 || got.DeleteAfter != 0 || !got.KeepMessages || !got.KeepEvents {
		t.Errorf("what is not known lets go: %+v", got)
	}
	if got := x.Policy(); got != want || want.PackTTL != 30*24*time.Hour {
		t.Errorf("afterwards: %+v, before: %+v", got, want)
	}
	if !strings.Contains(string(x.Errors()), ctxabi.PolicyFile) {
		t.Errorf("nobody is told: %s", x.Errors())
	}
}

// A session's owner plants symbolic links: a root daemon must not follow them.
func TestSymbolicLinksAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, session.Options{})
	x := create(t, s, refA)
	secret := filepath.Join(t.TempDir(), "secret")
	os.WriteFile(secret, []byte("5"), 0o600)
	budget := filepath.Join(x.Dir(), "context/budget")
	os.Remove(budget)
	os.Symlink(secret, budget)
	if b, err := x.Control("context/budget"); err == nil {
		t.Errorf("read %q through a link", b)
	}
	os.Symlink("coder", filepath.Join(dir, "home/1000/agent/other"))
	if _, err := s.Session(ctxabi.Ref{UID: 1000, Agent: "other", Session: "s1"}); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("a session through a link: %v", err)
	}
}
