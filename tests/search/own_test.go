package searchtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// The call that asks for a query, and its answer, are not found by it. Other calls are.
func TestSearchDoesNotFindItself(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append(ctxabi.MessagesFile, harness.Message("user", "The staging port is 8443."))
	const query = "staging port"
	answer := s.Read(ctxabi.SearchDir + "/" + query)
	call := func(id, command, result string) string {
		return fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":%q,"name":"bash","arguments":%q}]}`+"\n"+
			`{"role":"tool","tool_call_id":%q,"content":%q}`+"\n", id, fmt.Sprintf(`{"command":%q}`, command), id, result)
	}
	s.Append(ctxabi.MessagesFile, call("c1", "cat 'context/search/"+query+"'", answer)+call("c2", "grep 'staging port' notes", "staging port 8443 is open"))
	got := s.Read(ctxabi.SearchDir + "/" + query)
	if strings.Contains(got, "context/search/") || !strings.Contains(got, "The staging port is 8443.") || !strings.Contains(got, "is open") {
		t.Errorf("found\n%s", got)
	}
}
