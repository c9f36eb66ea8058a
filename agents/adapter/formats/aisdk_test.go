package formats_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Messages of the AI SDK are recognised, and their calls and results are calls and results of the session.
func TestCallsOfTheAISDKAreCalls(t *testing.T) {
	data, err := os.ReadFile("testdata/openai/ai-sdk.json")
	if err != nil {
		t.Fatal(err)
	}
	var s adaptertest.Session
	if _, lost := s.Import(t, format(t, "openai"), "ai-sdk.json", data); len(lost) > 0 {
		t.Errorf("losses: %v", lost)
	}
	var got []string
	for _, r := range s.Records {
		if r.Event {
			continue
		}
		m := ctxabi.DecodeMessage(r.Line)
		for _, c := range m.Calls {
			got = append(got, fmt.Sprintf("call %s %s %s", c.ID, c.Name, c.Arguments))
		}
		for _, res := range m.Results {
			got = append(got, fmt.Sprintf("result %s %q %v", res.CallID, res.Text, res.IsError))
		}
		if strings.Contains(m.Text, "toolCallId") {
			t.Errorf("a call stands in the text: %s", m.Text)
		}
	}
	want := `call call_1 ls {"dir":"/","n":1.50}
call call_2 clock {}
result call_1 "etc\nhome" false
result call_2 "no clock" true
call call_3 stat {"path":"/etc"}
result call_3 "{\"mode\":493}" false`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
