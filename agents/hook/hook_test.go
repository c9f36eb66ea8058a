package hook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/agents/brief"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/locate"
)

func TestAnswerWithoutAMountSaysWhy(t *testing.T) {
	t.Setenv(locate.SessionEnv, "")
	none := filepath.Join(t.TempDir(), "none")
	for input, want := range map[string]string{
		`{`: "not that of a hook",
		`{"hook_event_name":"Notification","transcript_path":""}`:                      `the hook "Notification" is not known`,
		`{"hook_event_name":"Stop","transcript_path":""}`:                              "names no transcript",
		`{"hook_event_name":"SessionStart","session_id":"../up","transcript_path":""}`: "not a name of a session",
		`{"hook_event_name":"SessionStart","session_id":"s1","transcript_path":""}`:    "no ctxfs is mounted at " + none,
		`{"session_id":"s1"}`:                                         `the hook "Told" is not known`, // the event of the caller counts
		`{"hook_event_name":"Stop","agent_id":"a1"}`:                  "",                             // a sub-agent has a conversation of its own
		`{"hook_event_name":"Stop","transcript_path":null}`:           "",                             // nothing is recorded by the host
		`{"hook_event_name":"SessionStart","transcript_path":null}`:   "",
		`{"hook_event_name":"Stop","transcript_path":"/dev/null"}`:    "/dev/null is not a regular file",
		`{"hook_event_name":"Stop","transcript_path":"/etc/passwd"}`:  "/etc/passwd is not a transcript",
		`{"hook_event_name":"Stop","transcript_path":"/not/a/thing"}`: "not a name of a session",
	} {
		var out strings.Builder
		err := Answer(strings.NewReader(input), &out, Options{Mount: none, Event: "Told", Import: func(string, string, string) error {
			t.Errorf("%s: a transcript is imported", input)
			return nil
		}})
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", input, err, want)
		}
		if out.Len() > 0 {
			t.Errorf("%s: the host reads %q", input, &out)
		}
	}
}

func TestTheProgramIsKnownByItsInput(t *testing.T) {
	for _, c := range []struct{ input, flag, event, program string }{
		{`{"transcript_path":""}`, "", "Told", claudeCode},
		{`{"transcript_path":"/x/5f1c.jsonl","hook_event_name":"Stop"}`, "", "Stop", claudeCode},
		{`{"transcript_path":"/x/rollout-2026-05-04.jsonl"}`, "", "Told", codex},
		{`{"transcript_path":"/x/session-2026-05-04T10-00-5f1c2d7e.jsonl"}`, "", "Told", gemini},
		{`{"transcript_path":"","timestamp":"2026-05-04T10:00:00Z","hook_event_name":"SessionStart"}`, "", "SessionStart", gemini},
		{`{"hook_event_name":"AfterAgent"}`, "", "Stop", gemini},
		{`{"hook_event_name":"PreCompress"}`, "", "PreCompact", gemini},
		{`{"hook_event_name":"Stop","transcript_path":"/x/ses_1.json"}`, opencode, "Stop", opencode},
		{`{}`, gemini, "Told", gemini},
	} {
		h, err := readInput([]byte(c.input), "Told", c.flag)
		if err != nil || h.program != c.program || h.Event != c.event {
			t.Errorf("%s of %q is %s of %s, %v; want %s of %s", c.input, c.flag, h.Event, h.program, err, c.event, c.program)
		}
	}
	if _, err := readInput([]byte(`{}`), "", "emacs"); err == nil || !strings.Contains(err.Error(), `"emacs" is not a program with hooks; known are claude-code`) {
		t.Errorf("an unknown program: %v", err)
	}
}

// Where a program writes no transcript, nothing is to be recorded: Gemini CLI says so with an empty path, opencode with none.
func TestAConversationWithoutATranscriptIsNoError(t *testing.T) {
	for input, flag := range map[string]string{
		`{"transcript_path":"","hook_event_name":"AfterAgent"}`: "",
		`{"transcript_path":"","hook_event_name":"Stop"}`:       gemini,
		`{"hook_event_name":"Stop"}`:                            opencode,
		`{"transcript_path":null,"hook_event_name":"Stop"}`:     "",
	} {
		h, err := readInput([]byte(input), "", flag)
		if said, e := h.hasTranscript(); err != nil || e != nil || said {
			t.Errorf("%s: %v %v %v", input, said, err, e)
		}
	}
}

// A FIFO that nobody writes keeps no hook waiting until its time is over.
func TestATranscriptThatIsNoFileKeepsNobodyWaiting(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "session.jsonl")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fifo, "/dev/zero", t.TempDir()} {
		h := input{Event: "Stop", Transcript: name, program: claudeCode}
		if said, err := h.hasTranscript(); said || err == nil || !strings.Contains(err.Error(), name+" is not a regular file") {
			t.Errorf("hasTranscript of %s: %v, %v", name, said, err)
		}
		if _, err := contextIn(t.Context(), name, claudeCode); err == nil {
			t.Errorf("contextIn of %s: no error", name)
		}
	}
}

// What a session has may be of any length: a context stays below what a host shows whole, and names the rest.
func TestAContextIsNeverTooLong(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("ä line of mäny words\n", 2000)
	for _, rel := range []string{ctxabi.MessagesFile, ctxabi.TodoFile, ctxabi.SummaryFile, ctxabi.LatestFile, filepath.Join(ctxabi.PinnedDir, "goal.md"), filepath.Join(ctxabi.PinnedDir, "rules.md")} {
		name := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(long), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := contextFor(t.Context(), dir, &input{Source: "compact"}, nil)
	if n := utf8.RuneCountInString(got); n > maxContext || n < maxContext/2 {
		t.Errorf("the context has %d characters, at most %d are wanted", n, maxContext)
	}
	for _, want := range []string{"# What this session keeps", brief.Head(pinTitle("goal.md")), brief.Head("Open"), "… the rest: " + filepath.Join(dir, ctxabi.TodoFile)} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
}

func TestRowsAreTheNewestThatFit(t *testing.T) {
	if got := rows("{\"text\":\"a\",\"source\":\"messages:3\"}\nnone\n{\"text\":\"b\"}\n{\"other\":1}", "text"); got != "- a (messages:3)\n- b" {
		t.Errorf("the rows are %q", got)
	}
	var all strings.Builder
	for i := range 500 {
		fmt.Fprintf(&all, "{\"text\":\"fact %d\"}\n", i)
	}
	got := rows(all.String(), "text")
	if n := utf8.RuneCountInString(got); n > brief.Share || !strings.HasSuffix(got, "- fact 499") || strings.Contains(got, "- fact 1\n") {
		t.Errorf("%d characters: %s", n, got)
	}
}

// front fails where the beginning of a transcript is read.
type front struct {
	*strings.Reader
	from int64
}

func (f front) ReadAt(p []byte, off int64) (int, error) {
	if off > 2 && off < f.from { // the first bytes tell its encoding
		return 0, fmt.Errorf("byte %d of %d is read, the last compaction is at %d", off, f.Len(), f.from)
	}
	return f.Reader.ReadAt(p, off)
}

// A resume reads a transcript from its end to the last compaction, however long it is before that.
func TestResumeReadsBackToTheCompaction(t *testing.T) {
	filler := strings.Repeat("x", 1<<20)
	for program, c := range map[string]struct{ old, compaction, message string }{
		claudeCode: {`{"uuid":"a%d","parentUuid":"a0","type":"user","message":{"role":"user","content":"%s"}}`,
			`{"uuid":"c","parentUuid":null,"type":"system","message":{"content":"compacted"}}`, `{"uuid":"d","parentUuid":"c","type":"user","message":{"role":"user","content":"hello"}}`},
		codex: {`{"type":"response_item","payload":{"n":%d,"role":"user","content":"%s"}}`,
			`{"type":"compacted","payload":{"replacement_history":["compacted"]}}`, `{"type":"response_item","payload":{"role":"user","content":"hello"}}`},
		gemini: {`{"type":"user","n":%d,"content":"%s"}`, `{"$set":{"messages":[{"type":"user","content":"compacted"}]}}`, `{"type":"user","content":"hello"}`},
	} {
		var text strings.Builder
		for n := range 8 {
			fmt.Fprintf(&text, c.old+"\n", n, filler)
		}
		from := int64(text.Len()) - 1<<20
		text.WriteString(c.compaction + "\n" + c.message + "\n")
		told, err := contextOf(front{strings.NewReader(text.String()), from}, program)
		if err != nil || len(told) != 2 || told[0].Text != "compacted" || told[1].Text != "hello" {
			t.Errorf("%s: %d texts, %v", program, len(told), err)
		}
	}
}

// A resume that runs out of time while it reads the transcript prints the text of a startup.
func TestLateResumeSaysTheWhole(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "t.jsonl")
	if err := os.WriteFile(name, []byte(`{"uuid":"a","type":"user","message":{"role":"user","content":"hello"}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	startup := contextFor(over, dir, &input{Event: "SessionStart", Source: "startup", program: claudeCode}, nil)
	resume := contextFor(over, dir, &input{Event: "SessionStart", Source: "resume", Transcript: name, program: claudeCode}, nil)
	if resume != startup || !strings.Contains(resume, "Your memory is files in "+dir) {
		t.Errorf("the resume says\n%s\nthe startup says\n%s", resume, startup)
	}
	if before := contextFor(over, dir, &input{Event: beforeAgent, Transcript: name, program: gemini}, nil); strings.Contains(before, "Your memory is") {
		t.Errorf("it is said in front of each turn:\n%s", before)
	}
}
