package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

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
		`{"hook_event_name":"Stop","transcript_path":"/dev/null"}`:    "not a name of a session",
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

func TestTheProgramIsKnownByItsTranscript(t *testing.T) {
	for transcript, want := range map[string]string{"": "claude-code", "/x/5f1c.jsonl": "claude-code", "/x/rollout-2026-05-04.jsonl": "codex"} {
		in, err := readInput(fmt.Appendf(nil, `{"transcript_path":%q}`, transcript))
		if err != nil || in.format.Name != want {
			t.Errorf("%q is of %v, %v; want %s", transcript, in.format, err, want)
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
	got := contextFor(dir, &input{Source: "compact"})
	if n := utf8.RuneCountInString(got); n > maxContext || n < maxContext/2 {
		t.Errorf("the context has %d characters, at most %d are wanted", n, maxContext)
	}
	for _, want := range []string{"# What this session keeps", sectionHead(pinTitle("goal.md")), sectionHead("Open"), "… the rest: " + filepath.Join(dir, ctxabi.TodoFile)} {
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
	if n := utf8.RuneCountInString(got); n > sectionShare || !strings.HasSuffix(got, "- fact 499") || strings.Contains(got, "- fact 1\n") {
		t.Errorf("%d characters: %s", n, got)
	}
}
