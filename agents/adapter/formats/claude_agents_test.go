package formats_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// claudeChains returns the chains of records in the order in which they begin, with how many messages each has.
func claudeChains(records []adapter.Record) string {
	var names []string
	n := map[string]int{}
	for _, r := range records {
		if !slices.Contains(names, r.Chain) {
			names = append(names, r.Chain)
		}
		if !r.Event {
			n[r.Chain]++
		}
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s:%d", name, n[name])
	}
	return strings.Join(names, " ")
}

func TestClaudeSideChainsAreChildren(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	data, err := os.ReadFile("testdata/claude-code/sidechains.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var s adaptertest.Session
	records, _ := s.Import(t, f, "", data)
	if got, want := claudeChains(records), ":5 review-the-lexer:4 review-the-parser:2 side:2"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// An agent's own file lands in one child: alone, before the session's file, after it, or in one with it.
func TestClaudeAgentFiles(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	read := func(name string) []byte {
		data, err := os.ReadFile("testdata/claude-code/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	main, agent := read("agent-main.jsonl"), read("agent-a2271d1.jsonl")
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{string(agent)}, "agent-a2271d1:4"},
		{[]string{string(main), string(agent)}, ":4 agent-a2271d1:4"},
		{[]string{string(agent), string(main)}, "agent-a2271d1:4 :4"},
		{[]string{string(main) + string(agent)}, ":4 agent-a2271d1:4"},
		{[]string{string(agent)[:3000], string(main), string(agent), string(main) + string(agent)}, "agent-a2271d1:4 :4"},
	} {
		var s adaptertest.Session
		for _, data := range c.files {
			s.Import(t, f, "", []byte(data))
		}
		if got := claudeChains(s.Records); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		if len(c.files) == 2 {
			out, _ := s.Export(t, f)
			if diff := adaptertest.CanonicalEqual([]byte(c.files[0]+c.files[1]), out); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// Whatever an agent is called, its child has a name, and two agents have two.
func TestClaudeAgentsHaveNames(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	var data strings.Builder
	for i, id := range []string{"a/b", "a b", "../../x", strings.Repeat("y", 150), strings.Repeat("y", 149), "é", "acompact-1"} {
		fmt.Fprintf(&data, `{"uuid":"%d","parentUuid":null,"isSidechain":true,"agentId":%q,"type":"user","message":{"role":"user","content":"x"}}`+"\n", i, id)
	}
	for i, task := range []string{"Look it up!", "Look it up?", "日本", "../..", strings.Repeat("very long ", 30), "Agent x"} {
		fmt.Fprintf(&data, `{"uuid":"t%d","parentUuid":null,"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Task","input":{"description":%q,"prompt":"do %d"}}]}}`+"\n", i, i, task, i)
		fmt.Fprintf(&data, `{"uuid":"s%d","parentUuid":null,"isSidechain":true,"type":"user","message":{"role":"user","content":"do %d"}}`+"\n", i, i)
		fmt.Fprintf(&data, `{"uuid":"w%d","parentUuid":"s%d","isSidechain":true,"type":"user","message":{"role":"user","content":"go on"}}`+"\n", i, i)
	}
	var s adaptertest.Session
	records, _ := s.Import(t, f, "", []byte(data.String()))
	names := map[string]int{}
	for _, r := range records {
		if names[r.Chain]++; r.Chain != "" && ctxabi.ValidName(r.Chain) != nil {
			t.Errorf("%q is no name", r.Chain)
		}
	}
	if len(names) != 1+7+6 || names["look-it-up"] != 2 || names["look-it-up-2"] != 2 || names["side"] != 2 || names["agent-acompact-1"] != 1 {
		t.Errorf("chains: %v", names)
	}
}

// The stream of `claude -p --output-format stream-json` is of the same records, but for the parents.
func TestClaudeStream(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	data := []byte(`{"type":"system","subtype":"init","cwd":"/x","session_id":"s","tools":["Task"],"uuid":"u0"}
{"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","content":[{"type":"text","text":"I ask."}]},"parent_tool_use_id":null,"session_id":"s","uuid":"u1"}
{"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Task","input":{"prompt":"look"}}]},"parent_tool_use_id":null,"session_id":"s","uuid":"u2"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"look"}]},"parent_tool_use_id":"toolu_1","session_id":"s","uuid":"u3"}
{"type":"assistant","message":{"id":"m2","type":"message","role":"assistant","content":[{"type":"text","text":"seen"}]},"parent_tool_use_id":"toolu_1","session_id":"s","uuid":"u4"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"seen"}]},"parent_tool_use_id":null,"session_id":"s","uuid":"u5"}
{"type":"result","subtype":"success","result":"seen","session_id":"s","uuid":"u6"}
`)
	if got, ok := formats.Detect("", data); !ok || got != f {
		t.Error("it is not detected")
	}
	var s adaptertest.Session
	records, losses := s.Import(t, f, "", data)
	if got, want := claudeChains(records), ":2 agent-toolu_1:2"; got != want || len(losses) > 0 {
		t.Errorf("got %s, want %s; %v", got, want, losses)
	}
	out, _ := s.Export(t, f)
	if diff := adaptertest.CanonicalEqual(data, out); diff != "" {
		t.Error(diff)
	}
}

// However many chains, answers and branches there are, they cost no more than their number.
func TestClaudeManyOfEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("120,000 records")
	}
	f, _ := formats.Lookup("claude-code")
	const n = 30_000
	for _, c := range []struct{ name, line string }{
		{"side chains", `{"uuid":"u%[1]d","parentUuid":null,"isSidechain":true,"type":"user","message":{"role":"user","content":"x"}}`},
		{"parts of one answer", `{"uuid":"u%[1]d","parentUuid":"u%[2]d","type":"assistant","message":{"role":"assistant","id":"m","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":1}}}`},
		{"branches", `{"uuid":"u%[1]d","parentUuid":"u0","type":"user","message":{"role":"user","content":"x"}}`},
		{"parents that stand behind", `{"uuid":"u%[1]d","parentUuid":"u%[3]d","type":"user","message":{"role":"user","content":"x"}}`},
	} {
		var data strings.Builder
		for i := range n {
			fmt.Fprintf(&data, c.line+"\n", i, i-1, i+1)
		}
		var out claudeDiscard
		if err := f.Import(&adapter.Input{R: strings.NewReader(data.String()), Seen: func(string, string) bool { return false }}, &out); err != nil || out.records == 0 {
			t.Errorf("%s: %v %+v", c.name, err, out)
		}
	}
}
