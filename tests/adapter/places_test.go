package adapter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// keptHome is a home in which Gemini CLI, opencode and pi have kept sessions. programs is a directory with an opencode that exports.
func keptHome(t *testing.T) (home, programs string) {
	t.Helper()
	home, programs = t.TempDir(), t.TempDir()
	put := func(name string, data []byte, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, mode); err != nil {
			t.Fatal(err)
		}
	}
	from := func(name string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(harness.Root(), "agents/adapter/formats/testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	gemini := filepath.Join(home, ".gemini/tmp/app")
	chat := "session-2026-11-22T22-20-eaf49a22.jsonl"
	put(filepath.Join(gemini, "chats", chat), from("gemini/"+chat), 0o666)
	put(filepath.Join(gemini, ".project_root"), []byte("/home/me/app"), 0o666)
	put(filepath.Join(gemini, "chats/session-broken.jsonl"), []byte("nothing of it is JSON\n"), 0o666)
	put(filepath.Join(gemini, "logs.json"), []byte("[]"), 0o666)
	agent := `{"sessionId":"sub1","projectHash":"h","startTime":"2026-11-22T22:20:50.000Z","kind":"subagent"}` + "\n" +
		`{"id":"m1","timestamp":"2026-11-22T22:20:51.000Z","type":"user","content":[{"text":"Review the retry."}]}` + "\n" +
		`{"id":"m2","timestamp":"2026-11-22T22:20:52.000Z","type":"gemini","content":"It has no limit."}` + "\n"
	put(filepath.Join(gemini, "chats/eaf49a22-aebe-4634-aca7-4a43cf19c142/sub1.jsonl"), []byte(agent), 0o666)
	entry := "2026-11-22T22-28-21-698Z_01a2055f-ea41-761d-85d6-0276c68b868a.jsonl"
	put(filepath.Join(home, ".pi/agent/sessions/--home-me-app--", entry), from("pi/"+entry), 0o666)
	put(filepath.Join(home, ".local/share/opencode/opencode.db"), []byte("SQLite format 3\x00"), 0o666)
	put(filepath.Join(programs, "session.json"), from("opencode/ses_dfaa6ee38ffes7O3GaUg2uhwoq.json"), 0o666)
	put(filepath.Join(programs, "bin/opencode"), []byte(`#!/bin/sh
test "$XDG_DATA_HOME" = "`+home+`/.local/share" || exit 3
case $1 in
db) echo '[{"id":"ses_dfaa6ee38ffes7O3GaUg2uhwoq","directory":"/home/me/app","updated":1795386069062}]' ;;
export) cat "`+programs+`/session.json"; echo "Exporting session: $2" >&2 ;;
esac
`), 0o777)
	return home, programs
}

// Every session that the programs have kept becomes one of the program's name and id, with its directory; again nothing is new, what is
// of no known format is named, and without opencode its database is.
func TestAllPlacesOfPrograms(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	home, programs := keptHome(t)
	all := func(path string) harness.Result {
		t.Helper()
		return m.Run(t, harness.Client{UID: harness.Self(), Dir: "/", Argv: []string{harness.Binary(t), "import", "--all"},
			Env: []string{"HOME=" + home, "PATH=" + path, "CTXFS_MOUNT=" + m.Dir}})
	}
	r := all(programs + "/bin:/usr/bin:/bin")
	if r.OK(); !strings.Contains(r.Stderr, "1 file of no known format, not imported: "+home+"/.gemini/tmp/app/chats/session-broken.jsonl") {
		t.Errorf("it says: %s", r.Stderr)
	}
	for agent, session := range map[string]string{"gemini": "eaf49a22-aebe-4634-aca7-4a43cf19c142", "pi": "01a2055f-ea41-761d-85d6-0276c68b868a", "opencode": "ses_dfaa6ee38ffes7O3GaUg2uhwoq"} {
		p := at(m, agent, session)
		if cwd := p.read(t, "cwd"); cwd != "/home/me/app\n" {
			t.Errorf("%s: cwd is %q", agent, cwd)
		}
		if meta := p.read(t, "meta.json"); !strings.Contains(meta, `"client":"`+agent+`"`) || !strings.Contains(meta, `"model":"`) {
			t.Errorf("%s: meta.json is %s", agent, meta)
		}
		if agent != "gemini" { // usable knows children of the agent samples only
			usable(t, p)
		}
	}
	child := at(m, "gemini", "eaf49a22-aebe-4634-aca7-4a43cf19c142")
	if got := child.read(t, "context/child/agent-sub1/result.md"); !strings.Contains(got, "It has no limit.") {
		t.Errorf("the result of the sub-agent is %q", got)
	}
	if r := all(programs + "/bin:/usr/bin:/bin"); strings.Count(r.Stderr, nothingNew) != 3 {
		t.Errorf("again it says: %s", r.Stderr)
	}
	if r := all("/usr/bin:/bin"); !strings.Contains(r.Stderr, "opencode.db holds the sessions of opencode, which exports them itself: the program is not in PATH\n") {
		r.OK()
		t.Errorf("without opencode it says: %s", r.Stderr)
	}
}

// The database of opencode is no transcript; the error says what is.
func TestADatabaseIsNoTranscript(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	home, _ := keptHome(t)
	r := m.CLI(t, "import", filepath.Join(home, ".local/share/opencode/opencode.db"), at(m, "db", "s").path)
	if r.Code != 1 || !strings.Contains(r.Stderr, "opencode export SESSION | ctxfs import - SESSION") {
		t.Errorf("exit %d: %s", r.Code, r.Stderr)
	}
}

// The packs for Gemini can be had as sessions again.
func TestAPackForGeminiIsReadBack(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	from := at(m, "packs", "from")
	m.CLI(t, "import", filepath.Join(harness.Root(), "agents/adapter/formats/testdata/codex/rollout-2025-11-20T09-00-00-cart.jsonl"), from.path).OK()
	for _, name := range []string{"gemini", "genai"} {
		data := from.read(t, "context/pack."+name+".json")
		file := filepath.Join(t.TempDir(), "pack.json")
		if err := os.WriteFile(file, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		to := at(m, "packs", name)
		r := m.CLI(t, "import", file, to.path)
		if r.OK(); strings.Contains(r.Stderr, "loss") || !strings.Contains(r.Stderr, ": gemini-contents (detected") {
			t.Errorf("import says: %s", r.Stderr)
		}
		usable(t, to)
		messages := to.read(t, "messages.jsonl")
		for _, want := range []string{"Why does the cart show 0?", `"name":"apply_patch"`, "The loop added nothing; it does now."} {
			if !strings.Contains(messages, want) {
				t.Errorf("the session does not have %q:\n%s", want, messages)
			}
		}
		out, _ := to.export(t, "gemini-contents")
		if diff := adaptertest.CanonicalEqual([]byte(data), []byte(out)); diff != "" {
			t.Errorf("%s: the export is another body: %s", name, diff)
		}
	}
}

// A transcript of which no line is a message makes no session, whatever its format.
func TestATranscriptWithoutAMessageIsRefused(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	for format, line := range map[string]string{
		"claude-code": `{"type":"summary","summary":"Retry","leafUuid":"u1"}`,
		"codex":       `{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"s","cwd":"/"}}`,
		"gemini":      `{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z","kind":"main"}`,
		"opencode":    `{"info":{"id":"ses_1","slug":"a"},"messages":[]}`,
		"pi":          `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}`,
		"atif":        `{"schema_version":"ATIF-v1.4","session_id":"s","agent":{"name":"a","version":"1"},"steps":[]}`,
		"responses":   `{"model":"gpt-5","input":[{"type":"item_reference","id":"x"}]}`,
		"openhands":   `{"kind":"PauseEvent","id":"e","source":"user"}`,
		"langchain":   `[{"type":"remove","data":{"content":""}},{"type":"human","data":5}]`,
		"aider":       "# aider chat started at 2026-11-22 10:00:00\n\n> Aider v0.86.1  ",
	} {
		for _, args := range [][]string{{"import"}, {"import", "--format", format}} {
			file := filepath.Join(t.TempDir(), "transcript")
			if err := os.WriteFile(file, []byte(line+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			p := at(m, "none", format)
			r := m.CLI(t, append(args, file, p.path)...)
			if _, err := os.Stat(p.path); r.Code != 1 || err == nil {
				t.Errorf("%s: exit %d, %v: %s", format, r.Code, err, r.Stderr)
			}
		}
	}
}

// A file of a program that no format reads makes no session, and the error says what it is.
func TestForeignFilesAreNamed(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	for is, data := range map[string]string{
		"is a data export of ChatGPT; ctxfs cannot read it yet": `[{"title":"Ports","mapping":{"m1":{"message":{"author":{"role":"user"},"content":{"parts":["Which port?"]}}}},"current_node":"m1"}]`,
		"is the stream of Droid; ctxfs cannot read it yet":      `{"type":"message","session_id":"s","role":"user","text":"Which port?"}`,
		"is not known; name it with --format":                   `[{"role":"user","text":"Which port?"},{"role":"assistant","text":"8443."}]`,
	} {
		file := filepath.Join(t.TempDir(), "chat.jsonl")
		if err := os.WriteFile(file, []byte(data+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		p := at(m, "none", "foreign")
		r := m.CLI(t, "import", file, p.path)
		if _, err := os.Stat(p.path); r.Code != 1 || err == nil || !strings.Contains(r.Stderr, is) {
			t.Errorf("exit %d, %v: %s", r.Code, err, r.Stderr)
		}
	}
}

// A transcript that is imported without a session becomes the session that --all makes of it.
func TestImportNamesTheSession(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	home, _ := keptHome(t)
	chat := filepath.Join(home, ".gemini/tmp/app/chats/session-2026-11-22T22-20-eaf49a22.jsonl")
	p := at(m, "gemini", "eaf49a22-aebe-4634-aca7-4a43cf19c142")
	for range 2 { // again nothing is new
		r := m.Run(t, harness.Client{UID: harness.Self(), Dir: "/", Argv: []string{harness.Binary(t), "import", chat}, Env: []string{"HOME=" + home, "CTXFS_MOUNT=" + m.Dir}})
		if dir := strings.TrimSpace(r.OK()); filepath.Base(dir) != "eaf49a22-aebe-4634-aca7-4a43cf19c142" {
			t.Errorf("the directory is %s", dir)
		}
	}
	if cwd := p.read(t, "cwd"); cwd != "/home/me/app\n" {
		t.Errorf("cwd is %q", cwd)
	}
	for file, want := range map[string]string{
		filepath.Join(home, ".gemini/tmp/app/logs.json"): "SESSION is missing: only a transcript of ", filepath.Dir(chat): "ctxfs import --all " + filepath.Dir(chat), "/not/there": "there is no file /not/there",
	} {
		if r := m.CLI(t, "import", file); r.Code != 2 || !strings.Contains(r.Stderr, want) {
			t.Errorf("import %s: exit code %d, %s", file, r.Code, r.Stderr)
		}
	}
}
