package formats_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/ctxabi"
)

func TestGemini(t *testing.T) {
	adaptertest.RunFormat(t, "gemini", "testdata/gemini")
}

func FuzzGemini(f *testing.F) { fuzzFormat(f, "gemini") }

// outline is what the messages of a session say, one a line, without ids that a program made up.
func outline(s *adaptertest.Session) string {
	var b strings.Builder
	for _, r := range s.Records {
		if r.Event {
			continue
		}
		m := ctxabi.DecodeMessage(r.Line)
		fmt.Fprintf(&b, "%s %q", m.Role, m.Text[:min(len(m.Text), 40)])
		for _, c := range m.Calls {
			fmt.Fprintf(&b, " call %s %s", c.Name, c.Arguments)
		}
		for _, res := range m.Results {
			fmt.Fprintf(&b, " result %q %v", res.Text, res.IsError)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// A chat that was taken up twice holds its messages three times in two forms; the session has them once.
func TestGeminiMessagesAreOnce(t *testing.T) {
	var s adaptertest.Session
	name := "session-2026-11-22T22-20-eaf49a22.jsonl"
	s.Import(t, format(t, "gemini"), name, sample(t, "gemini", name))
	const want = `user "<session_context>\nThis is the Gemini CLI"
user "please read a.txt"
assistant "" call read_file {"file_path":"a.txt"}
tool "alpha\nbeta\n"
assistant "It says two lines: alpha and beta."
user "now do two things"
assistant "I look at both." call list_directory {"dir_path":"."} call read_file {"file_path":"a.txt"}
tool "Directory listing for /home/me/app:\na.tx"
tool "alpha\nbeta\n"
assistant "It says two lines: alpha and beta."
user "and fail please"
assistant "" call read_file {"file_path":"nothere.txt"}
user "" result "File not found: /home/me/app/nothere.txt" true
assistant "It says two lines: alpha and beta."
`
	if got := outline(&s); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What a rewind took back and what was compacted away is no message twice, and the summary follows the compaction.
func TestGeminiRewindAndCompaction(t *testing.T) {
	var s adaptertest.Session
	s.Import(t, format(t, "gemini"), "x.jsonl", sample(t, "gemini", "hostile-rewind.jsonl"))
	var kinds []string
	for _, r := range s.Records {
		switch {
		case !r.Event && bytes.Contains(r.Line, []byte("Take this back")):
			t.Error("what was taken back is a message")
		case r.Compacted != nil:
			kinds = append(kinds, "summary")
		case r.EventType() == "compaction":
			kinds = append(kinds, "compaction")
		}
	}
	if got := strings.Join(kinds, " "); got != "compaction summary" {
		t.Errorf("%q", got)
	}
}

// A chat in one document, as earlier versions of Gemini CLI write it anew after each message, brings what is new.
func TestGeminiDocumentGrows(t *testing.T) {
	name := "session-2026-11-22T22-34-ae7789e9.json"
	whole := sample(t, "gemini", name)
	o, err := adapter.ParseObject(whole)
	if err != nil {
		t.Fatal(err)
	}
	messages := o.Array("messages")
	var once, grown adaptertest.Session
	once.Import(t, format(t, "gemini"), name, whole)
	for n := range messages {
		grown.Import(t, format(t, "gemini"), name, adapter.Raw(o.With("messages", messages[:n])))
	}
	if added, _ := grown.Import(t, format(t, "gemini"), name, whole); len(added) == 0 {
		t.Error("the last message is not added")
	}
	if a, b := outline(&once), outline(&grown); a != b || a == "" {
		t.Errorf("at once\n%s\nas it grew\n%s", a, b)
	}
	data, lost := grown.Export(t, format(t, "gemini"))
	if diff := adaptertest.CanonicalEqual(whole, data); diff != "" || len(lost) > 0 {
		t.Errorf("the export is another chat: %s %v", diff, lost)
	}
}
