package derivedtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

const journalled = `{"role":"system","content":"You are careful."}
{"role":"user","content":"Fix the retry."}
{"role":"assistant","content":[{"type":"thinking","thinking":"where is it","signature":"c2ln"},{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"ls","input":{"dir":"src"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"retry.go\nmain.go"}]}]}
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"sh","arguments":"{\"cmd\": \"go test\"}"}},{"id":"c2","type":"function","function":{"name":"cat","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"ok"}
{"role":"tool","tool_call_id":"c2","content":"package main"}
{"role":"assistant","content":"Three attempts are enough, für alle 😀."}
`

const journalWant = `{"type":"USER_MESSAGE","payload":{"content":"Fix the retry."}}
{"type":"THOUGHT","payload":{"content":"I look.","tool_calls":[{"id":"t1","type":"function","function":{"name":"ls","arguments":"{\"dir\":\"src\"}"}}]}}
{"type":"ACTION_REQUEST","payload":{"action_id":"t1","tool_name":"ls"}}
{"type":"ACTION_RESULT","payload":{"action_id":"t1","observation_content":"retry.go\nmain.go"}}
{"type":"THOUGHT","payload":{"content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"sh","arguments":"{\"cmd\": \"go test\"}"}},{"id":"c2","type":"function","function":{"name":"cat","arguments":"{}"}}]}}
{"type":"ACTION_REQUEST","payload":{"action_id":"c1","tool_name":"sh"}}
{"type":"ACTION_REQUEST","payload":{"action_id":"c2","tool_name":"cat"}}
{"type":"ACTION_RESULT","payload":{"action_id":"c1","observation_content":"ok"}}
{"type":"ACTION_RESULT","payload":{"action_id":"c2","observation_content":"package main"}}
{"type":"THOUGHT","payload":{"content":"Three attempts are enough, für alle 😀."}}
`

// wantJournal fails the test unless the journal of s is want and has the size that it is said to have.
func wantJournal(t *testing.T, s *harness.Session, want string) {
	t.Helper()
	fi, err := os.Stat(s.Path(ctxabi.JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Read(ctxabi.JournalFile); got != want || fi.Size() != int64(len(want)) {
		t.Errorf("the journal of %d bytes is\n%s\nwant %d bytes\n%s", fi.Size(), got, len(want), want)
	}
}

func TestTheJournalOfASession(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.NewSession(t)
	wantJournal(t, s, "")
	s.Append(ctxabi.MessagesFile, journalled)
	wantJournal(t, s, journalWant)
	wantOrigin(t, s, ctxabi.JournalFile, "derived")
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Go on."))
	want := journalWant + `{"type":"USER_MESSAGE","payload":{"content":"Go on."}}` + "\n"
	wantJournal(t, s, want)

	for script, want := range map[string]string{
		"tail -n 1 context/journal.jsonl":       want[len(journalWant):],
		"tail -c 8 context/journal.jsonl":       want[len(want)-8:],
		"wc -c < context/journal.jsonl":         fmt.Sprintln(len(want)),
		"head -n 1 context/journal.jsonl":       want[:strings.Index(want, "\n")+1],
		"grep -c THOUGHT context/journal.jsonl": "3\n",
		`jq -r 'select(.type == "ACTION_RESULT") | .payload.action_id' context/journal.jsonl`: "t1\nc1\nc2\n",
		"cp context/journal.jsonl /dev/stdout":                                                want,
		"dd if=context/journal.jsonl bs=7 skip=3 count=1 2> /dev/null":                        want[21:28],
	} {
		if got := s.Bash(script).OK(); got != want {
			t.Errorf("%s printed %q, want %q", script, got, want)
		}
	}
	got := s.Python(`
import json
facts = []
with open('context/journal.jsonl', 'r') as f:
    for line in f:
        event = json.loads(line)
        if event['type'] == 'THOUGHT':
            facts.append(event['payload']['content'][:200])
print(facts)
`).OK()
	if want := "['I look.', '', 'Three attempts are enough, für alle 😀.']\n"; got != want {
		t.Errorf("a program of Delta's reads %q, want %q", got, want)
	}

	// Nobody writes it.
	for _, script := range []string{"echo '{}' >> context/journal.jsonl", "echo > context/journal.jsonl", "rm context/journal.jsonl", "mv context/journal.jsonl x",
		"touch x && mv x context/journal.jsonl", "ln context/journal.jsonl context/y", "truncate -s 0 context/journal.jsonl", "chmod 600 context/journal.jsonl", "mkdir context/journal.jsonl"} {
		if r := s.Bash(script); r.Code == 0 {
			t.Errorf("%s was done", script)
		}
	}
	wantJournal(t, s, want)

	m.Restart()
	wantJournal(t, s, want)
	m.Stop()
	if _, err := os.Lstat(s.InStore() + "/" + ctxabi.JournalFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the store has the journal: %v", err)
	}
	m.CLI(t, "verify", "--store", m.Store).OK()
	m.CLI(t, "fsck", "--store", m.Store).OK()
}

// What is derived is no history: nothing that looks at the history finds it twice.
func TestTheJournalIsNoHistory(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append(ctxabi.MessagesFile, journalled)
	pack, found := s.Read(ctxabi.PackFile), s.Read(ctxabi.SearchDir+"/enough")
	head := s.Bash("sha256sum messages.jsonl events.jsonl").OK()
	s.Read(ctxabi.JournalFile)
	if again := s.Read(ctxabi.PackFile); again != pack {
		t.Errorf("the pack became\n%s", again)
	}
	again := s.Read(ctxabi.SearchDir + "/enough")
	if again != found || strings.Count(found, "attempts are enough") != 1 {
		t.Errorf("a search found\n%s, and then\n%s", found, again)
	}
	if got := s.Bash("sha256sum messages.jsonl events.jsonl").OK(); got != head {
		t.Errorf("the logs are %q, they were %q", got, head)
	}
}

// A program that has the journal open sees what is appended, line for line.
func TestTailFollowsTheJournal(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append(ctxabi.MessagesFile, harness.Message("user", "message 0"))
	next := s.Follow(ctxabi.JournalFile)
	for i := range 5 {
		if i > 0 {
			s.Append(ctxabi.MessagesFile, harness.Message("user", fmt.Sprintf("message %d", i)))
		}
		line := next()
		if want := fmt.Sprintf(`{"type":"USER_MESSAGE","payload":{"content":"message %d"}}`+"\n", i); line != want {
			t.Fatalf("tail printed %q, want %q", line, want)
		}
	}
}

// A long journal, with messages that are long themselves, is the same from any place on, and a daemon with little memory serves it.
func TestALongJournalNeedsLittleMemory(t *testing.T) {
	o, _ := harness.LimitMemory(t, harness.Options{}, 160<<20)
	m := harness.Start(t, o)
	s := m.NewSession(t)
	var want bytes.Buffer
	for i := range 60 {
		var batch strings.Builder
		for k := range 500 {
			text := fmt.Sprintf("message %d of %d %s", k, i, strings.Repeat("word ", k%80))
			batch.WriteString(harness.Message("user", text))
			fmt.Fprintf(&want, `{"type":"USER_MESSAGE","payload":{"content":"%s"}}`+"\n", text)
		}
		if i%20 == 7 {
			text := strings.Repeat("long ", 1<<20)
			fmt.Fprintf(&batch, `{"role":"tool","tool_call_id":"c%d","content":"%s"}`+"\n", i, text)
			fmt.Fprintf(&want, `{"type":"ACTION_RESULT","payload":{"action_id":"c%d","observation_content":"%s"}}`+"\n", i, text)
		}
		s.Append(ctxabi.MessagesFile, batch.String())
	}
	wantWhole := want.Bytes()
	f, err := os.Open(s.Path(ctxabi.JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || fi.Size() != int64(len(wantWhole)) {
		t.Fatalf("%d bytes, %v, want %d", fi.Size(), err, len(wantWhole))
	}
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, wantWhole) {
		t.Fatalf("it is another journal, of %d bytes, %v", len(got), err)
	}
	for _, off := range []int{len(wantWhole) - 1000, 1, len(wantWhole) / 2, 5 << 20, len(wantWhole) - 1, 0} {
		p := make([]byte, 4096)
		n, err := f.ReadAt(p, int64(off))
		if rest := wantWhole[off:min(off+len(p), len(wantWhole))]; !bytes.Equal(p[:n], rest) || err != nil && err != io.EOF {
			t.Errorf("at %d: %d bytes, %v", off, n, err)
		}
	}
}

// What the journal shows is what other derived files show: no secrets where the mount redacts.
func TestAJournalIsRedacted(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--redact"}})
	s := m.NewSession(t)
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Hello.")+harness.Message("tool", "GITHUB_TOKEN=ghp_b7Qw9ZkT3mXr5LvYp2NcJd8HsGfA1eUoRi4V")+harness.Message("assistant", "Done."))
	wantJournal(t, s, `{"type":"USER_MESSAGE","payload":{"content":"Hello."}}
{"type":"ACTION_RESULT","payload":{"action_id":"","observation_content":"GITHUB_TOKEN=[redacted:github-pat]"}}
{"type":"THOUGHT","payload":{"content":"Done."}}
`)
}

func TestAJournalThatIsOpenedToBeWrittenIsRefused(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	for _, flags := range []int{unix.O_WRONLY, unix.O_RDWR, unix.O_RDONLY | unix.O_TRUNC, unix.O_WRONLY | unix.O_APPEND} {
		if fd, err := unix.Open(s.Path(ctxabi.JournalFile), flags, 0); err != unix.EACCES {
			unix.Close(fd)
			t.Errorf("flags %#x: %v", flags, err)
		}
	}
}
