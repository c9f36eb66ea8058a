package formats_test

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/internal/adapter/formats"
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
