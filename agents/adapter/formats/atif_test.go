package formats_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/ctxabi"
)

func TestATIF(t *testing.T) {
	adaptertest.RunFormat(t, "atif", "testdata/atif")
}

func TestATIFRecords(t *testing.T) {
	goldenRecords(t, "atif", "prices.json")
	goldenRecords(t, "atif", "agents.json")
}

func FuzzImportATIF(f *testing.F) { fuzzFormat(f, "atif") }

// A trajectory is written anew after each step: a step comes, and then its results and what it took.
func TestATIFGrows(t *testing.T) {
	f, _ := formats.Lookup("atif")
	for _, name := range []string{"prices.json", "terminal.json", "agents.json"} {
		data := sample(t, "atif", name)
		var doc map[string]json.RawMessage
		var steps []map[string]json.RawMessage
		json.Unmarshal(data, &doc)
		json.Unmarshal(doc["steps"], &steps)
		var once, grown adaptertest.Session
		once.Import(t, f, name, data)
		stage := func(steps []map[string]json.RawMessage) {
			doc["steps"] = adapter.Raw(steps)
			part := adapter.Raw(doc)
			grown.Import(t, f, name, part)
			out, lost := grown.Export(t, f)
			if diff := adaptertest.CanonicalEqual(part, out); diff != "" || len(lost) > 0 {
				t.Fatalf("%s with %d steps: %s %v", name, len(steps), diff, lost)
			}
		}
		for i, whole := range steps {
			bare := map[string]json.RawMessage{}
			for k, v := range whole {
				if k != "observation" && k != "metrics" {
					bare[k] = v
				}
			}
			stage(append(steps[:i:i], bare))
			stage(steps[:i+1])
		}
		if diff := sameMessages(&once, &grown); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// sameMessages returns what is different between the messages of two sessions, but for their documents.
func sameMessages(a, b *adaptertest.Session) string {
	lines := func(s *adaptertest.Session) map[string]int {
		n := map[string]int{}
		for _, r := range s.Records {
			if !bytes.Contains(r.Line, []byte(`/document"`)) {
				o, _ := adapter.ParseObject(r.Line)
				line, _ := o.Without("import").MarshalJSON()
				n[r.Chain+" "+string(line)]++
			}
		}
		return n
	}
	x, y := lines(a), lines(b)
	for line, n := range x {
		if y[line] != n {
			return fmt.Sprintf("%d and %d times: %s", n, y[line], line)
		}
	}
	if len(x) != len(y) {
		return fmt.Sprintf("%d and %d records", len(x), len(y))
	}
	return ""
}

func TestATIFUsage(t *testing.T) {
	f, _ := formats.Lookup("atif")
	var s adaptertest.Session
	s.Import(t, f, "prices.json", sample(t, "atif", "prices.json"))
	var got []string
	for _, r := range s.Records {
		if u, ok := ctxabi.DecodeUsage(r.Line); ok && r.Event {
			got = append(got, fmt.Sprintf("%d/%d+%d", u.CacheRead, u.Input, u.Output))
		}
	}
	if fmt.Sprint(got) != "[200/520+80 520/600+44]" {
		t.Errorf("usage: %v", got)
	}
}

// What a session says can be written as a trajectory, and read from there.
func TestATIFFromOthers(t *testing.T) {
	f, _ := formats.Lookup("atif")
	s := nativeSession()
	out, lost := s.Export(t, f)
	validateATIF(t, "native", out)
	if got := fmt.Sprint(lost); !strings.Contains(got, "audio") || !strings.Contains(got, `"note"`) || len(lost) != 2 {
		t.Errorf("losses: %v", lost)
	}
	var again adaptertest.Session
	again.Import(t, f, "x.json", out)
	compareSaid(t, s, &again)
	if back, lost := again.Export(t, f); len(lost) > 0 || adaptertest.CanonicalEqual(out, back) != "" {
		t.Errorf("it is not written again as it is: %v %s", lost, adaptertest.CanonicalEqual(out, back))
	}
}

// A session goes on after its import, and its child too.
func TestATIFGoesOn(t *testing.T) {
	f, _ := formats.Lookup("atif")
	var s adaptertest.Session
	s.Import(t, f, "agents.json", sample(t, "atif", "agents.json"))
	s.Records = append(s.Records, []adapter.Record{
		{Line: []byte(`{"role":"user","content":"And which one is better?"}`)},
		{Line: []byte(`{"role":"assistant","content":"","tool_calls":[{"id":"t9","name":"think","arguments":"{}"}]}`)},
		{Line: []byte(`{"role":"tool","tool_call_id":"t9","content":"B"}`)},
		{Chain: "b", Line: []byte(`{"role":"user","content":"Say more."}`)},
		{Chain: "new", Line: []byte(`{"role":"user","content":"Somebody else."}`)},
	}...)
	out, lost := s.Export(t, f)
	if len(lost) > 0 {
		t.Error(lost)
	}
	validateATIF(t, "grown", out)
	var doc struct {
		Steps  []json.RawMessage
		Agents []struct {
			ID    string `json:"trajectory_id"`
			Steps []json.RawMessage
		} `json:"subagent_trajectories"`
	}
	json.Unmarshal(out, &doc)
	got := fmt.Sprint(len(doc.Steps))
	for _, a := range doc.Agents {
		got += fmt.Sprintf(" %s:%d", a.ID, len(a.Steps))
	}
	if got != "5 agent A/1:2 b:3 new:1" {
		t.Errorf("%s\n%s", got, out)
	}
}

// Whatever was imported from somewhere is a valid trajectory.
func TestATIFOfEveryFormat(t *testing.T) {
	to, _ := formats.Lookup("atif")
	n := 0
	for _, f := range formats.Formats() {
		files, _ := filepath.Glob("testdata/" + f.Name + "/*.*")
		for _, file := range files {
			data, err := os.ReadFile(file)
			if f == to || err != nil {
				continue
			}
			var s adaptertest.Session
			f.Import(&adapter.Input{R: bytes.NewReader(data), Name: filepath.Base(file), Seen: func(string, string) bool { return false }}, collect{&s})
			messages := false
			for _, r := range s.Records {
				messages = messages || !r.Event
			}
			if !messages {
				continue
			}
			out, _ := s.Export(t, to)
			validateATIF(t, file, out)
			n++
		}
	}
	if n < 3 {
		t.Errorf("only %d samples", n)
	}
}

type collect struct{ s *adaptertest.Session }

func (c collect) Loss(adapter.Loss) {}
func (c collect) Record(r adapter.Record) error {
	r, _ = r.Fit()
	c.s.Records = append(c.s.Records, r)
	return nil
}

type atifDoc struct {
	Version string `json:"schema_version"`
	Session string `json:"session_id"`
	ID      string `json:"trajectory_id"`
	Agent   struct{ Name, Version string }
	Steps   []atifStep
	Final   json.RawMessage   `json:"final_metrics"`
	Agents  []json.RawMessage `json:"subagent_trajectories"`
}

type atifStep struct {
	ID        int `json:"step_id"`
	Timestamp *string
	Source    string
	Message   json.RawMessage
	Reasoning *string         `json:"reasoning_content"`
	Model     *string         `json:"model_name"`
	Metrics   json.RawMessage `json:"metrics"`
	Extra     json.RawMessage
	Calls     []struct {
		ID        string                     `json:"tool_call_id"`
		Name      *string                    `json:"function_name"`
		Arguments map[string]json.RawMessage `json:"arguments"`
	} `json:"tool_calls"`
	Observation *struct {
		Results []struct {
			Call    *string `json:"source_call_id"`
			Content json.RawMessage
		}
	}
}

// validateATIF checks the published rules of the format, and that there are no other keys than it has.
func validateATIF(t *testing.T, name string, out []byte) {
	t.Helper()
	bad := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %s\n%.2000s", name, fmt.Sprintf(format, args...), out)
	}
	var d atifDoc
	if err := json.Unmarshal(out, &d); err != nil {
		bad("%v", err)
		return
	}
	onlyKeys(t, name, out, "schema_version session_id trajectory_id agent steps notes final_metrics continued_trajectory_ref subagent_trajectories extra")
	var version int
	if n, _ := fmt.Sscanf(d.Version, "ATIF-v1.%d", &version); n != 1 || version > 7 {
		bad("version %q", d.Version)
	}
	if d.Session == "" || d.Agent.Name == "" || d.Agent.Version == "" || len(d.Steps) == 0 {
		bad("session, agent or steps are missing")
	}
	if len(d.Agents) > 0 && version < 7 {
		bad("agents in version %d", version)
	}
	for i, s := range d.Steps {
		if s.ID != i+1 {
			bad("step %d has the id %d", i+1, s.ID)
		}
		s.validate(bad, version)
	}
	seen := map[string]bool{}
	for _, a := range d.Agents {
		var inner atifDoc
		json.Unmarshal(a, &inner)
		if inner.ID == "" || seen[inner.ID] {
			bad("a trajectory of an agent with the id %q", inner.ID)
		}
		seen[inner.ID] = true
		validateATIF(t, name+"/"+inner.ID, a)
	}
}

// validate checks the rules for one step of a document of version 1.version.
func (s *atifStep) validate(bad func(string, ...any), version int) {
	if s.Timestamp != nil {
		if _, err := time.Parse("2006-01-02T15:04:05", strings.SplitN(*s.Timestamp, ".", 2)[0]); err != nil {
			if _, err := time.Parse(time.RFC3339, *s.Timestamp); err != nil {
				bad("step %d: %v", s.ID, err)
			}
		}
	}
	agent := s.Source == "agent"
	if !agent && s.Source != "system" && s.Source != "user" {
		bad("step %d: source %q", s.ID, s.Source)
	}
	if !agent && (s.Calls != nil || s.Metrics != nil || s.Reasoning != nil || s.Model != nil) {
		bad("step %d of the %s has what only one of the agent may have", s.ID, s.Source)
	}
	if s.Source == "user" && s.Observation != nil {
		bad("step %d of the user has an observation", s.ID)
	}
	validateContent(bad, version, s.Message, false)
	ids := map[string]bool{}
	for _, c := range s.Calls {
		if c.ID == "" || ids[c.ID] || c.Name == nil || c.Arguments == nil {
			bad("step %d: call %+v", s.ID, c)
		}
		ids[c.ID] = true
	}
	if s.Observation != nil {
		for _, r := range s.Observation.Results {
			if r.Call != nil && !ids[*r.Call] {
				bad("step %d: a result of %q, which is none of its calls", s.ID, *r.Call)
			}
			validateContent(bad, version, r.Content, true)
		}
	}
}

func onlyKeys(t *testing.T, name string, object []byte, keys string) {
	t.Helper()
	o, err := adapter.ParseObject(object)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, f := range o {
		if !strings.Contains(" "+keys+" ", " "+f.Key+" ") {
			t.Errorf("%s: the format has no key %q", name, f.Key)
		}
	}
}

func validateContent(bad func(string, ...any), version int, raw json.RawMessage, optional bool) {
	var text string
	if len(raw) == 0 && optional || json.Unmarshal(raw, &text) == nil && (optional || string(raw) != "null") {
		return
	}
	var parts []struct {
		Type   string
		Text   *string
		Source *struct {
			Media string `json:"media_type"`
			Path  string
		}
	}
	if err := json.Unmarshal(raw, &parts); err != nil || version < 6 {
		bad("content %.80s in version %d: %v", raw, version, err)
	}
	for _, p := range parts {
		isText := p.Type == "text" && p.Text != nil && p.Source == nil
		isImage := p.Type == "image" && p.Text == nil && p.Source != nil && p.Source.Path != "" &&
			strings.Contains("image/jpeg image/png image/gif image/webp", p.Source.Media)
		if !isText && !isImage {
			bad("part %+v", p)
		}
	}
}
