package formats_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/ctxabi"
)

func TestSWEAgent(t *testing.T) {
	adaptertest.RunFormat(t, "sweagent", "testdata/sweagent")
}

func TestMiniAgent(t *testing.T) {
	adaptertest.RunFormat(t, "mini-swe-agent", "testdata/mini-swe-agent")
}

func TestSWEAgentRecords(t *testing.T) {
	goldenRecords(t, "sweagent", "marshmallow-1867.traj")
	goldenRecords(t, "sweagent", "steps-only.traj")
	goldenRecords(t, "mini-swe-agent", "calc.traj.json")
	goldenRecords(t, "mini-swe-agent", "responses.traj.json")
}

func FuzzImportSWEAgent(f *testing.F)  { fuzzFormat(f, "sweagent") }
func FuzzImportMiniAgent(f *testing.F) { fuzzFormat(f, "mini-swe-agent") }

// A trajectory is written anew after each step.
func TestSWEAgentGrows(t *testing.T) {
	for _, c := range []struct{ format, name, list string }{
		{"sweagent", "marshmallow-1867.traj", "history"},
		{"sweagent", "steps-only.traj", "trajectory"},
		{"mini-swe-agent", "calc.traj.json", "messages"},
		{"mini-swe-agent", "responses.traj.json", "messages"},
	} {
		f, _ := formats.Lookup(c.format)
		data := sample(t, c.format, c.name)
		var doc map[string]json.RawMessage
		var list []json.RawMessage
		json.Unmarshal(data, &doc)
		json.Unmarshal(doc[c.list], &list)
		var once, grown adaptertest.Session
		once.Import(t, f, c.name, data)
		for n := range len(list) + 1 {
			doc[c.list] = adapter.Raw(list[:n])
			part := adapter.Raw(doc)
			grown.Import(t, f, c.name, part)
			out, lost := grown.Export(t, f)
			if diff := adaptertest.CanonicalEqual(part, out); diff != "" || len(lost) > 0 {
				t.Fatalf("%s with %d of %s: %s %v", c.name, n, c.list, diff, lost)
			}
		}
		if c.list == "history" { // without one, the steps were messages for a while
			continue
		}
		if diff := sameMessages(&once, &grown); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// Each step repeats all messages before it; a session keeps them once.
func TestSWEAgentKeepsMessagesOnce(t *testing.T) {
	f, _ := formats.Lookup("sweagent")
	text := strings.Repeat("All work and no play makes Jack a dull boy. ", 20)
	history := []map[string]any{}
	steps := []map[string]any{}
	const n = 60
	for i := range n {
		query := append([]map[string]any{}, history...)
		said, seen := fmt.Sprintf("%d says %s", i, text), fmt.Sprintf("%d sees %s", i, text)
		history = append(history, map[string]any{"role": "assistant", "content": said}, map[string]any{"role": "user", "content": seen})
		steps = append(steps, map[string]any{"response": said, "thought": said, "observation": seen, "query": query})
	}
	data := adapter.Raw(map[string]any{"trajectory": steps, "history": history, "info": nil})
	var s adaptertest.Session
	s.Import(t, f, "long.traj", data)
	size := 0
	for _, r := range s.Records {
		size += len(r.Line)
	}
	if limit := 4 * n * len(text); len(data) < 10*limit || size > limit {
		t.Errorf("a trajectory of %d bytes takes %d in the session, expected at most %d", len(data), size, limit)
	}
	out, lost := s.Export(t, f)
	if diff := adaptertest.CanonicalEqual(data, out); diff != "" || len(lost) > 0 {
		t.Errorf("%s %v", diff, lost)
	}
}

func TestSWEAgentMarksDemonstrations(t *testing.T) {
	f, _ := formats.Lookup("sweagent")
	var s adaptertest.Session
	s.Import(t, f, "marshmallow-1867.traj", sample(t, "sweagent", "marshmallow-1867.traj"))
	var marks []string
	for _, r := range s.Records {
		var m struct {
			Role   string
			IsDemo bool `json:"is_demo"`
		}
		if json.Unmarshal(r.Line, &m); !r.Event {
			marks = append(marks, fmt.Sprint(m.Role, m.IsDemo))
		}
	}
	if got := fmt.Sprint(marks[:3]); got != "[systemfalse usertrue userfalse]" {
		t.Error(got)
	}
}

func TestMiniAgentUsage(t *testing.T) {
	f, _ := formats.Lookup("mini-swe-agent")
	for name, want := range map[string]string{"calc.traj.json": "[0/1200+60 1200/1410+40]", "responses.traj.json": "[25/100+40]"} {
		var s adaptertest.Session
		s.Import(t, f, name, sample(t, "mini-swe-agent", name))
		var got []string
		for _, r := range s.Records {
			if u, ok := ctxabi.DecodeUsage(r.Line); ok && r.Event {
				got = append(got, fmt.Sprintf("%d/%d+%d", u.CacheRead, u.Input, u.Output))
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, expected %s", name, got, want)
		}
	}
}

func TestSWEAgentFromOthers(t *testing.T) {
	for _, name := range []string{"sweagent", "mini-swe-agent"} {
		f, _ := formats.Lookup(name)
		s := nativeSession()
		out, lost := s.Export(t, f)
		if got := fmt.Sprint(lost); !strings.Contains(got, "audio") || !strings.Contains(got, `"note"`) || !strings.Contains(got, "failed") || len(lost) != 3 {
			t.Errorf("%s: losses: %v", name, lost)
		}
		if got, ok := formats.Detect("x", out); !ok || got != f {
			t.Errorf("%s: its own export is not detected", name)
		}
		for i, r := range s.Records { // the failure is lost
			s.Records[i].Line = []byte(strings.Replace(string(r.Line), `,"is_error":true`, "", 1))
		}
		var again adaptertest.Session
		if _, l := again.Import(t, f, "x", out); len(l) > 0 {
			t.Errorf("%s: its own export has losses: %v", name, l)
		}
		compareSaid(t, s, &again)
	}
}

// A session that was imported goes on, and is written with what came after.
func TestSWEAgentGoesOn(t *testing.T) {
	for _, c := range []struct{ format, name, list string }{
		{"sweagent", "marshmallow-1867.traj", "history"},
		{"mini-swe-agent", "calc.traj.json", "messages"},
	} {
		f, _ := formats.Lookup(c.format)
		var s adaptertest.Session
		s.Import(t, f, c.name, sample(t, c.format, c.name))
		before, _ := s.Export(t, f)
		s.Records = append(s.Records, adapter.Record{Line: []byte(`{"role":"user","content":"Thanks."}`)},
			adapter.Record{Line: []byte(`{"role":"assistant","content":"You are welcome."}`)})
		after, _ := s.Export(t, f)
		count := func(doc []byte) int {
			o, _ := adapter.ParseObject(doc)
			return len(o.Array(c.list))
		}
		if count(after) != count(before)+2 {
			t.Errorf("%s: %d and %d", c.name, count(before), count(after))
		}
	}
}
