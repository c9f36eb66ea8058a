package formats_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// goldenRecords compares the records of a sample with those in golden/, which
// CTXFS_UPDATE=1 go test ./adapter writes anew.
func goldenRecords(t *testing.T, format, name string) {
	t.Helper()
	f, _ := formats.Lookup(format)
	var s adaptertest.Session
	s.Import(t, f, name, sample(t, format, name))
	var b bytes.Buffer
	for _, r := range s.Records {
		log := "messages"
		if r.Event {
			log = "events"
		}
		if r.Chain != "" {
			log = r.Chain + "/" + log
		}
		fmt.Fprintf(&b, "%s\t%s\n", log, r.Line)
	}
	golden := filepath.Join("testdata", format, "golden", name+".txt")
	if os.Getenv("CTXFS_UPDATE") != "" {
		os.MkdirAll(filepath.Dir(golden), 0o755)
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, b.Bytes()) {
		got, want := bytes.Split(b.Bytes(), []byte("\n")), bytes.Split(want, []byte("\n"))
		for i := range min(len(got), len(want)) {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("line %d of %s; CTXFS_UPDATE=1 go test ./adapter writes it anew\nwant %s\ngot  %s", i+1, golden, want[i], got[i])
			}
		}
		t.Errorf("%d and %d lines of %s; CTXFS_UPDATE=1 go test ./adapter writes it anew", len(want), len(got), golden)
	}
}

// fuzzFormat: an import never fails or panics, each of its records is one that
// a session takes, a second one adds nothing, and without a loss the export is what was imported.
func fuzzFormat(f *testing.F, format string) {
	files, _ := filepath.Glob("testdata/" + format + "/*.*")
	if len(files) < 3 {
		f.Fatal("no samples")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	F, _ := formats.Lookup(format)
	f.Fuzz(func(t *testing.T, data []byte) {
		var s adaptertest.Session
		_, lost := s.Import(t, F, "", data)
		if again, _ := s.Import(t, F, "", data); len(again) > 0 {
			t.Errorf("a second import adds %s", again[0].Line)
		}
		out, then := s.Export(t, F)
		if len(lost)+len(then) == 0 {
			if diff := adaptertest.CanonicalEqual(data, out); diff != "" {
				t.Errorf("the export is another transcript: %s\n%s", diff, out)
			}
		}
	})
}

// What is larger than a record is named, and the rest is there; a long message is.
func TestTrajectoriesOfAnySize(t *testing.T) {
	long, large := strings.Repeat("one two three four ", 571000/4), strings.Repeat("x", ctxabi.MaxRecord)
	for format, document := range map[string]func(texts ...string) any{
		"atif": func(texts ...string) any {
			steps := []any{}
			for i, text := range texts {
				steps = append(steps, map[string]any{"step_id": i + 1, "source": "user", "message": text})
			}
			return map[string]any{"schema_version": "ATIF-v1.4", "session_id": "s", "agent": map[string]any{"name": "a", "version": "1"}, "steps": steps}
		},
		"sweagent": func(texts ...string) any {
			history := []any{}
			for _, text := range texts {
				history = append(history, map[string]any{"role": "user", "content": text})
			}
			return map[string]any{"history": history, "trajectory": []any{}}
		},
		"openhands": func(texts ...string) any {
			events := []any{}
			for i, text := range texts {
				events = append(events, map[string]any{"id": fmt.Sprint("e", i), "kind": "MessageEvent", "source": "user",
					"llm_message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": text}}}})
			}
			return events
		},
	} {
		f, _ := formats.Lookup(format)
		var s adaptertest.Session
		_, lost := s.Import(t, f, "", adapter.Raw(document(long, large, "after")))
		out, then := s.Export(t, f)
		if len(lost) != 1 || len(then) != 1 {
			t.Errorf("%s: losses %v, %v", format, lost, then)
		}
		for text, want := range map[string]bool{long: true, large[:1000]: false, `"after"`: true} {
			if got := bytes.Contains(out, []byte(text)); got != want {
				t.Errorf("%s: %.20q in the export: %v", format, text, got)
			}
		}
	}
}

const (
	onePixel  = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	signature = "EqQBCkgIARABGAIiQLx9wY0pQ2zB7kRrJ3mH5v/8uT1nSgPdKfE=="
)

// nativeSession is one that no import made, with all that a session can say.
func nativeSession() *adaptertest.Session {
	var s adaptertest.Session
	add := func(event bool, lines ...string) {
		for _, line := range lines {
			s.Records = append(s.Records, adapter.Record{Event: event, Line: []byte(line)})
		}
	}
	add(false,
		`{"role":"system","content":"You are careful."}`,
		`{"role":"user","content":[{"type":"text","text":"What is in this picture?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+onePixel+`"}},{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}],"ts":"2025-11-03T09:00:00Z"}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"Two tools at once.","signature":"`+signature+`"},{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"zoom","input":{"x": 1.50,"text":"caf\u00e9"}},{"type":"tool_use","id":"c2","name":"ls","input":{}}],"ts":"2025-11-03T09:00:01Z"}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"no such directory","is_error":true},{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"one pixel"},{"type":"image_url","image_url":{"url":"https://example.org/zoomed.png"}}]}]}`,
		`{"role":"assistant","content":"It is one pixel.","tool_calls":[{"function":{"name":"note","arguments":"{\"a\":1}"}}]}`,
		`{"role":"tool","content":"noted"}`,
		`{"role":"assistant","content":"Done.","ts":"2025-11-03T09:00:05.25+01:00"}`,
		`{"role":"user","content":"Thanks 😀\n\tand bye"}`)
	add(true, `{"type":"usage","usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":7}}`, `{"type":"note","text":"not carried"}`)
	return &s
}

// said is what messages say, in one form.
type said struct {
	Role, Text string
	Calls      []ctxabi.Call
	Results    []ctxabi.Result
	Images     int
	Thinking   string
}

func saidOf(s *adaptertest.Session) (all []said) {
	for _, r := range s.Records {
		if r.Event {
			continue
		}
		m, parts := ctxabi.DecodeParts(r.Line)
		var images []int // of each result
		d := said{Role: m.Role.String(), Text: m.Text, Calls: m.Calls, Results: m.Results}
		if m.Role == ctxabi.Tool && len(m.Results) == 0 {
			d.Text, d.Results = "", []ctxabi.Result{{CallID: m.CallID, Text: m.Text}}
		}
		for _, p := range parts {
			switch p.Kind {
			case ctxabi.PartData:
				d.Images += isImage(p.Raw)
			case ctxabi.PartThinking:
				var th struct{ Thinking, Signature string }
				json.Unmarshal(p.Raw, &th)
				d.Thinking += th.Thinking + "|" + th.Signature
			case ctxabi.PartResult:
				n := 0
				for _, inner := range p.Inner {
					n += isImage(inner.Raw)
				}
				images = append(images, n)
			}
		}
		if len(d.Results) > 0 { // whichever role and message carry them
			for i, res := range d.Results {
				result := said{Role: "result", Results: []ctxabi.Result{res}, Images: d.Images}
				if len(images) > 0 {
					result.Images = images[i]
				}
				all = append(all, result)
			}
			d.Results = nil
			if d.Text == "" {
				continue
			}
		}
		all = append(all, d)
	}
	return all
}

func isImage(part []byte) int {
	if bytes.Contains(part, []byte(`"type":"image`)) {
		return 1
	}
	return 0
}

// compareSaid compares what two sessions say: the results of one answer in any order.
func compareSaid(t *testing.T, want, got *adaptertest.Session) {
	t.Helper()
	a, b := normal(saidOf(want)), normal(saidOf(got))
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			t.Errorf("only the second says %+v", b[i])
		case i >= len(b):
			t.Errorf("only the first says %+v", a[i])
		case !reflect.DeepEqual(a[i], b[i]):
			t.Errorf("%d:\nwant %+v\ngot  %+v", i, a[i], b[i])
		}
	}
}

// normal names calls by their order, drops what a format may spell in its own
// way, and sorts the results between two others.
func normal(all []said) []said {
	names := map[string]string{}
	for i := range all {
		d := &all[i]
		for j := range d.Calls {
			c := &d.Calls[j]
			names[c.ID] = fmt.Sprintf("call %d", len(names))
			c.ID = names[c.ID]
			var compact bytes.Buffer
			if json.Compact(&compact, []byte(c.Arguments)) == nil {
				c.Arguments = compact.String()
			}
		}
	}
	open := []string{}
	for i := range all {
		d := &all[i]
		for _, c := range d.Calls {
			open = append(open, c.ID)
		}
		for j := range d.Results {
			r := &d.Results[j]
			if r.CallID == "" && len(open) > 0 {
				r.CallID = open[len(open)-1]
			} else if n, ok := names[r.CallID]; ok {
				r.CallID = n
			}
		}
	}
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].Role == "result" {
			j++
		}
		slices.SortFunc(all[i:j], func(a, b said) int { return strings.Compare(a.Results[0].CallID, b.Results[0].CallID) })
		i = max(j, i+1)
	}
	return all
}
