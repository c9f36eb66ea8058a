package formats_test

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/agents/adapter/formats"
)

// blockStages are the forms that a history had before.
func blockStages(data []byte) (stages [][]byte) {
	end, before := 0, ""
	for line := range strings.Lines(string(data)) {
		asks := strings.HasPrefix(line, "#### ") && !strings.HasPrefix(before, "#### ") // what a user says is written at once
		if strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "# aider") || asks {
			stages = append(stages, data[:end])
		}
		end, before = end+len(line), line
	}
	return stages
}

func TestAider(t *testing.T) { adaptertest.RunFormat(t, "aider", "testdata/aider") }

// A history that Aider appends to brings what is new; an answer that is cut off waits.
func TestAiderHistoryGrows(t *testing.T) {
	for _, name := range []string{"two-chats.md", "question.md"} {
		whole := sample(t, "aider", name)
		var once, grown adaptertest.Session
		once.Import(t, format(t, "aider"), name, whole)
		for _, part := range blockStages(whole) {
			grown.Import(t, format(t, "aider"), name, part)
		}
		grown.Import(t, format(t, "aider"), name, whole)
		if a, b := outline(&once), outline(&grown); a != b || !strings.Contains(a, `assistant "8443."`) && !strings.Contains(a, `assistant "Yes."`) {
			t.Errorf("%s: at once\n%s\nas it grew\n%s", name, a, b)
		}
	}
}

func TestAiderTellsWhoSpeaks(t *testing.T) {
	var s adaptertest.Session
	s.Import(t, format(t, "aider"), "", sample(t, "aider", ".aider.chat.history.md"))
	const want = `user "The staging port is 8443.\nNever push to "
assistant "Understood. The port is 8443, and nothin"
user "Make the retry wait."
assistant "Here is the change:\n\nretry.py\n` + "```python\\n" + `"
`
	if got := outline(&s); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func FuzzAider(f *testing.F) {
	f.Add([]byte("# aider chat started at 2026-11-22 10:00:00\n\n#### x  \n\ny\n\n> z  \n"))
	F, _ := formats.Lookup("aider")
	f.Fuzz(func(t *testing.T, data []byte) {
		var s adaptertest.Session
		s.Import(t, F, "", data)
		if again, _ := s.Import(t, F, "", data); len(again) > 0 {
			t.Errorf("a second import adds %s", again[0].Line)
		}
	})
}

// The second line of a text of Aider has no mark, and belongs to the first.
func TestAiderQuoteContinues(t *testing.T) {
	const history = "\n# aider chat started at 2026-01-05 10:00:00\n\n#### add a reset\n\nDone.\n\n" +
		"> Tokens: 5.0k sent, 629 received.\nCost: $0.02 message, $0.02 session.  \n\n#### next\n\n> Applied edit to a.py  \n#### why\n\n> x\n```\nfenced\n```\n\nBecause.\n\n"
	var s adaptertest.Session
	s.Import(t, format(t, "aider"), "", []byte(history))
	const want = `user "add a reset"
assistant "Done."
user "next"
user "why"
assistant "` + "```\\nfenced\\n```\\n\\nBecause." + `"
`
	if got := outline(&s); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var texts []string
	for _, r := range s.Records {
		if r.Event && r.EventType() == "aider/output" {
			o, _ := adapter.ParseObject(r.Line)
			texts = append(texts, o.Text("text"))
		}
	}
	const outputs = "Tokens: 5.0k sent, 629 received.\nCost: $0.02 message, $0.02 session.|Applied edit to a.py|x"
	if got := strings.Join(texts, "|"); got != outputs {
		t.Errorf("events say %q", got)
	}
}

// An editor's mode line before the first chat hides no history and is no message.
func TestAiderModeLineIsSkipped(t *testing.T) {
	for _, mode := range []string{"-*- mode: fundamental -*-\n>  \n> ^C again to exit  ",
		"<!-- -*- mode: markdown -*- -->", "# -*- eval: (auto-fill-mode -1) -*-", "<!-- vim: set tw=0: -->"} {
		history := []byte(mode + "\n\n# aider chat started at 2026-01-05 10:00:00\n\n#### add a reset\n\nDone.\n\n")
		if f, ok := formats.Detect("history.md", history); !ok || f.Name != "aider" {
			t.Errorf("%s: detected as %v", mode, f)
		}
		var s adaptertest.Session
		if _, lost := s.Import(t, format(t, "aider"), "", history); len(lost) > 0 ||
			outline(&s) != "user \"add a reset\"\nassistant \"Done.\"\n" {
			t.Errorf("%s: %s, losses %v", mode, outline(&s), lost)
		}
	}
}

// A history is Markdown: JSON in it has no keys that could be lost.
func TestAiderHasNoDoubledKeys(t *testing.T) {
	var s adaptertest.Session
	history := []byte("# aider chat started at 2026-01-05 10:00:00\n\n#### which keys\n\n{\"def\": 1, \"def\": 2}\n\n")
	if _, lost := s.Import(t, format(t, "aider"), "", history); len(lost) > 0 {
		t.Errorf("losses %v", lost)
	}
}
