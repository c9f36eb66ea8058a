package formats_test

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/adapter/adaptertest"
)

func TestGeminiContents(t *testing.T) {
	adaptertest.RunFormat(t, "gemini-contents", "testdata/gemini-contents")
}

func FuzzGeminiContents(f *testing.F) { fuzzFormat(f, "gemini-contents") }

func TestLangChain(t *testing.T) { adaptertest.RunFormat(t, "langchain", "testdata/langchain") }

func FuzzLangChain(f *testing.F) { fuzzFormat(f, "langchain") }

// Calls and results of LangChain's messages are calls and results of the session, in all their forms.
func TestCallsOfLangChainAreCalls(t *testing.T) {
	const want = `system "You are careful."
user "The staging port is 8443. Look at a.txt."
assistant "I look." call read_file {"path":"a.txt","n":1.5} call ls {}
tool "alpha\nbeta"
tool "" result "no such directory" true
assistant "It says alpha and beta."
user "And this?"
`
	for _, name := range []string{"stored.json", "stored.jsonl", "constructors.json"} {
		var s adaptertest.Session
		if _, lost := s.Import(t, format(t, "langchain"), name, sample(t, "langchain", name)); len(lost) > 0 {
			t.Errorf("%s: losses %v", name, lost)
		}
		got := strings.Replace(outline(&s), `user "" result`, `tool "" result`, 1)
		if got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}
