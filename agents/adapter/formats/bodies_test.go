package formats_test

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
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

func TestUIMessages(t *testing.T) { adaptertest.RunFormat(t, "ui-messages", "testdata/ui-messages") }

func FuzzUIMessages(f *testing.F) { fuzzFormat(f, "ui-messages") }

func TestConverse(t *testing.T) { adaptertest.RunFormat(t, "converse", "testdata/converse") }

func FuzzConverse(f *testing.F) { fuzzFormat(f, "converse") }

// Parts of UIMessages are texts, thinking, calls and results of the session: each step of an answer is a message.
func TestUIMessagesAreRead(t *testing.T) {
	const want = `user "Which port does staging run on? The scre"
assistant "I look it up." call readFile {"path":"deploy/staging.yaml","lines":1.50} call mcp_ping {"host":"staging.example.com"}
tool "port: 8443\nhost: staging.example.com"
user "" result "the host does not answer" true
assistant "" call deploy {"env":"staging"} call status {}
user "" result "The call was denied: Not on a Friday." true
tool "{\"up\":true,\"replicas\":3}"
assistant "Staging runs on port 8443.\n{\"type\":\"sour"
user "Never push to main."
assistant "I ask before I push." call push {"branch":"topic"}
`
	var s adaptertest.Session
	_, lost := s.Import(t, format(t, "ui-messages"), "chat.json", sample(t, "ui-messages", "chat.json"))
	if len(lost) > 0 {
		t.Errorf("losses %v", lost)
	}
	if got := outline(&s); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Blocks of Bedrock's Converse are texts, thinking, calls and results of the session.
func TestConverseIsRead(t *testing.T) {
	const want = `system "You are terse."
user "Which port does staging run on?\nStaging "
assistant "I look it up." call read_file {"path":"deploy/staging.yaml","lines":1.50} call ping {}
user "" result "port: 8443\n{\"host\":\"staging.example.com\"}" false result "the host does not answer" true
assistant "Staging runs on port 8443."
user "Never push to main."
`
	var s adaptertest.Session
	_, lost := s.Import(t, format(t, "converse"), "request.json", sample(t, "converse", "request.json"))
	if len(lost) > 0 {
		t.Errorf("losses %v", lost)
	}
	if got := outline(&s); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
