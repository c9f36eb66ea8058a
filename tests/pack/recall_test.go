package packtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// What was said long ago comes back when it is asked for, under its own number, and the pack stays within its budget and its prefix.
func TestRecallThroughTheMount(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/budget", "3000\n")
	secret := "The spare key of the observatory lies below the third beehive."
	var log strings.Builder
	for i := range 200 {
		if i == 30 {
			log.WriteString(harness.Message("user", secret))
		}
		log.WriteString(harness.Message("user", fmt.Sprintf("Order %d: please send %d boxes of pens to the usual address.", i, i*7)))
	}
	s.Append("messages.jsonl", log.String())
	before := read(t, s)
	if strings.Contains(before.md, secret) {
		t.Fatal("the old message is in the pack although nobody asks for it")
	}
	s.Append("messages.jsonl", harness.Message("user", "Where is the spare key of the observatory?"))
	after := read(t, s)
	if !strings.Contains(after.md, "## 31 user (recalled)\n"+secret+"\n") {
		t.Errorf("nothing was recalled:\n%s", after.md)
	}
	after.account(t, 202)
	before.continues(t, after)
	var p struct {
		Tokens int
		Items  []struct {
			Kind, Source, Range, Phase string
			Extra                      bool
		}
	}
	if err := json.Unmarshal([]byte(s.Read("context/pack.json")), &p); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, it := range p.Items {
		found = found || it.Kind == "recall" && it.Source == "messages.jsonl" && it.Range == "31" && it.Extra && it.Phase == "dynamic"
	}
	if !found || p.Tokens > 3000 {
		t.Errorf("%d tokens, items %+v", p.Tokens, p.Items)
	}
	for _, format := range []string{"openai", "anthropic", "responses", "gemini", "genai"} {
		if !strings.Contains(s.Read("context/pack."+format+".json"), "below the third beehive") {
			t.Errorf("not in pack.%s.json", format)
		}
	}
}
