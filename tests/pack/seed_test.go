package packtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// seedItem is an item of pack.json with all names that it has.
type seedItem struct {
	Kind    string `json:"kind"`
	KindV1  string `json:"kind_v1"`
	Source  string `json:"source"`
	Log     string `json:"log"`
	Range   string `json:"range"`
	RangeV1 string `json:"range_v1"`
}

// The source of an item is the file that it is from, the newest messages are a tail of it, and a pinned system.md is the system prompt.
// What these were called before stands beside it.
func TestItemsOfPackJSONNameFilesTailsAndTheSystemPrompt(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/pinned/system.md", "You are a careful coding agent.\n")
	s.Write("context/pinned/rules.md", "Never push to main.\n")
	s.Write("context/budget", "3000\n")
	for i := range 300 {
		s.Append("messages.jsonl", fmt.Sprintf(`{"role":"user","content":"Step %d of the migration: table_%d gets column_%d."}`+"\n", i, i*7, i*13))
	}
	s.Append("events.jsonl", `{"type":"tool_call","id":"t1","name":"ls","arguments":"{}"}`+"\n")
	var p struct{ Items, Omitted []seedItem }
	if err := json.Unmarshal([]byte(s.Read("context/pack.json")), &p); err != nil {
		t.Fatal(err)
	}
	seen := map[string]seedItem{}
	for _, it := range append(p.Items, p.Omitted...) {
		seen[it.Source+" "+it.Kind] = it
		if isLog := strings.HasSuffix(it.Source, "s.jsonl") && !strings.Contains(it.Source, "/"); isLog != (it.Log != "") || isLog && it.Log+".jsonl" != it.Source {
			t.Errorf("%+v", it)
		}
	}
	if it := seen["context/pinned/system.md system"]; it.KindV1 != "pinned" {
		t.Errorf("no pinned system.md of kind system: %+v", p.Items)
	}
	if it := seen["context/pinned/rules.md pinned"]; it.Source == "" || it.KindV1 != "" {
		t.Errorf("no other pin of kind pinned: %+v", p.Items)
	}
	var n, from int
	tail := seen["messages.jsonl recent_messages"]
	if _, err := fmt.Sscanf(tail.Range+" "+tail.RangeV1, "tail:%d %d-300", &n, &from); err != nil || n != 301-from {
		t.Errorf("the newest messages are %+v: %v", tail, err)
	}
	if it := seen["events.jsonl recent_events"]; it.Log != "events" {
		t.Errorf("the event is %+v", it)
	}
	if it := seen["messages.jsonl "]; it.Log != "messages" {
		t.Errorf("what is left out is %+v", p.Omitted)
	}
}
