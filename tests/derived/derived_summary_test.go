package derivedtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// The derived summary has no commands of a chat program and no pasted lines as requests, and covers
// the whole history.
func TestSummaryHasRequestsOnly(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	var log strings.Builder
	log.WriteString(harness.Message("user", "/theme") + harness.Message("assistant", "Which theme?"))
	const gray = "Make the text of user messages gray."
	log.WriteString(harness.Message("user", "```diff\n+ 8 - **User Message Text Color**\n```\n"+gray))
	for i := range 200 {
		log.WriteString(harness.Message("user", fmt.Sprintf("Paint the wall of room %d in the second color.", i)) +
			harness.Message("assistant", fmt.Sprintf("The wall of room %d is painted because the paint was there.", i)))
	}
	s.Append(ctxabi.MessagesFile, log.String())
	got := s.Read(ctxabi.SummaryFile)
	noise := strings.Contains(got, "/theme") || strings.Contains(got, "+ 8 -")
	if noise || !strings.Contains(got, gray+" (messages:3)") {
		t.Errorf("the summary is\n%s", got)
	}
	early := false
	for i := range 100 {
		early = early || strings.Contains(got, fmt.Sprintf("room %d ", i+1))
	}
	if !early || !strings.Contains(got, "room 199 ") {
		t.Errorf("the summary covers a part of the history:\n%s", got)
	}
}

// The summary of a range in swap names a request and an answer, not a command and a call.
func TestSwapSummariesNameRequests(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/budget", "2000\n")
	var log strings.Builder
	log.WriteString(harness.Message("user", "/theme") + harness.Message("user", "Paint the fence."))
	for i := range 120 {
		log.WriteString(harness.Message("assistant", fmt.Sprintf("Plank %d of the fence is painted in green.", i)))
		log.WriteString(harness.Called(fmt.Sprint("c", i), "edit", fmt.Sprintf(`{"path":"f%d"}`, i), "done"))
	}
	s.Append(ctxabi.MessagesFile, log.String())
	s.Read("context/pack.md")
	found := false
	for line := range strings.Lines(s.Read(ctxabi.SwapIndexFile)) {
		var row ctxabi.SwapRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row.Kind == ctxabi.SwapRange {
			found = true
			noise := strings.Contains(row.Summary, "/theme") || strings.Contains(row.Summary, "edit {")
			if noise || !strings.Contains(row.Summary, "Plank") {
				t.Errorf("%s: %s", row.Range, row.Summary)
			}
		}
	}
	if !found {
		t.Error("no range in swap")
	}
}
