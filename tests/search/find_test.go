// Package searchtest looks for records through the mount, as programs do: with cat, ls, grep, Python and ctxfs search.
package searchtest

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// talk appends a short history in which some things are said once.
func talk(s *harness.Session) {
	s.Append(ctxabi.MessagesFile, harness.Message("user", "The token refresh fails at night, see auth/refresh_token.go line 40.")+
		`{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"make test\\ngrep zebra\"}"}}]}`+"\n"+
		`{"role":"tool","tool_call_id":"c1","content":"FAIL TestRefreshExpired\nexit status E4711\n`+strings.Repeat(`a line that nobody asked for, of many words\n`, 400)+`the platypus line"}`+"\n"+
		harness.Message("assistant", "Größe und 日本語: the refresh of tokens is fixed.")+
		harness.Message("user", "ok, thank you very much")+harness.Message("user", "ok, thank you very much"))
	s.Append(ctxabi.EventsFile, `{"type":"tool_call","id":"e1","name":"deploy","arguments":{"to":"staging"}}`+"\n"+
		`{"type":"tool_result","tool_call_id":"e1","content":"deployed to staging"}`+"\n")
}

// find reads the answer to a query.
func find(t *testing.T, s *harness.Session, query string) string {
	t.Helper()
	return s.Read(ctxabi.SearchDir + "/" + query)
}

// hits are the addresses of an answer's headings.
func hits(answer string) (out []string) {
	for line := range strings.Lines(answer) {
		if rest, ok := strings.CutPrefix(line, "## "); ok {
			out = append(out, strings.Fields(rest)[0])
		}
	}
	return out
}
