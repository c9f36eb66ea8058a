package searchtest

import (
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
	s.Append(ctxabi.MessagesFile, harness.Called("c1", "bash", `{"command":"cat 'context/search/`+query+`'"}`, answer)+
		harness.Called("c2", "bash", `{"command":"grep 'staging port' notes"}`, "staging port 8443 is open"))
	got := s.Read(ctxabi.SearchDir + "/" + query)
	kept := strings.Contains(got, "The staging port is 8443.") && strings.Contains(got, "is open")
	if !kept || strings.Contains(got, "context/search/") {
		t.Errorf("found\n%s", got)
	}
}
