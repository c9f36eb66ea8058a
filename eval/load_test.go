package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write makes files below a new directory, by their path.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const hello = `{"role":"user","content":"hi"}` + "\n"

func TestLoad(t *testing.T) {
	dir := write(t, map[string]string{
		"b/two.jsonl":           hello + hello,
		"b/two.questions.jsonl": `{"question":"What?","evidence":[1,2],"answer":"hi"}` + "\n",
		"b/one.jsonl":           hello,
		"b/notes.txt":           "no session",
		"b/rows.jsonl":          `{"type":"usage"}` + "\n",
		"b/empty.jsonl":         "",
		".hidden/x.jsonl":       hello,
		"store/agent/coder/session/s1/messages.jsonl":       hello,
		"store/agent/coder/session/s1/events.jsonl":         `{"type":"usage"}` + "\n",
		"store/agent/coder/session/s1/context/at/1/x.jsonl": hello,
	})
	var left []string
	sessions, err := Load([]string{dir, filepath.Join(dir, "b/one.jsonl")}, "", func(why string) { left = append(left, why) })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range sessions {
		got = append(got, s.Set+"/"+s.Name)
	}
	if want := "b/one b/two coder/s1 b/one"; strings.Join(got, " ") != want {
		t.Errorf("loaded %v, want %s", got, want)
	}
	if len(left) != 2 || !strings.Contains(strings.Join(left, "\n"), "rows.jsonl is left out: line 1 is no message") || !strings.Contains(strings.Join(left, "\n"), "empty.jsonl") {
		t.Errorf("left out: %q", left)
	}
	if q := sessions[1].Questions; len(q) != 1 || q[0].Answers[0] != "hi" || len(q[0].Evidence) != 2 {
		t.Errorf("%+v", q)
	}
	if _, err := Load([]string{filepath.Join(dir, ".hidden")}, "", nil); err != nil {
		t.Errorf("a hidden directory that was named: %v", err)
	}
}

func TestLoadFails(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no sessions": {"a.txt": "x"},
		"question 1":  {"a.jsonl": hello, "a.questions.jsonl": `{"question":"?","evidence":[2]}`},
		"question 2":  {"a.jsonl": hello, "a.questions.jsonl": `{"question":"?","answer":"x"}{"ask":1}`},
	} {
		if _, err := Load([]string{write(t, files)}, "", func(string) {}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := filepath.Join(write(t, map[string]string{"set.json": `{"history":[]}`}), "set.json")
	if _, err := Load([]string{file}, "", nil); err == nil || !strings.Contains(err.Error(), "set.json: history 1 (set): ") {
		t.Errorf("a history without messages: %v", err)
	}
	if _, err := Load([]string{"does/not/exist"}, "", nil); err == nil {
		t.Error("no error for a path that is not there")
	}
}
