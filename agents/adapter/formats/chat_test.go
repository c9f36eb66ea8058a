package formats_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/nativetest"
)

func TestOpenAI(t *testing.T)    { adaptertest.RunFormat(t, "openai", "testdata/openai") }
func TestAnthropic(t *testing.T) { adaptertest.RunFormat(t, "anthropic", "testdata/anthropic") }
func TestResponses(t *testing.T) { adaptertest.RunFormat(t, "responses", "testdata/responses") }
func TestCodex(t *testing.T)     { adaptertest.RunFormat(t, "codex", "testdata/codex") }

func TestChatRecords(t *testing.T) {
	goldenRecords(t, "openai", "preference.jsonl")
	goldenRecords(t, "openai", "messages.json")
	goldenRecords(t, "anthropic", "responses.jsonl")
	goldenRecords(t, "codex", "rollout-2025-11-20T09-00-00-cart.jsonl")
	goldenRecords(t, "codex", "rollout-2025-11-20T11-00-00-events.jsonl")
}

func format(t testing.TB, name string) *adapter.Format {
	t.Helper()
	f, ok := formats.Lookup(name)
	if !ok {
		t.Fatalf("there is no format %q", name)
	}
	return f
}

// eachSample calls do with a session of each sample of all formats.
func eachSample(t *testing.T, do func(t *testing.T, from string, s *adaptertest.Session, hostile bool)) {
	t.Run("of ctxfs itself", func(t *testing.T) { do(t, "", nativeSession(), false) })
	for _, f := range formats.Formats() {
		if f.Verbatim {
			continue // its records are of other formats
		}
		files, err := filepath.Glob(filepath.Join("testdata", f.Name, "*.*"))
		if err != nil || len(files) == 0 {
			t.Fatal(f.Name, files, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(f.Name+"/"+filepath.Base(file), func(t *testing.T) {
				var s adaptertest.Session
				s.Import(t, f, filepath.Base(file), data)
				do(t, f.Name, &s, strings.HasPrefix(filepath.Base(file), "hostile-"))
			})
		}
	}
}

// What is exported of a session from elsewhere is a body that the API takes,
// whatever the session holds.
func TestExportedBodiesAreValid(t *testing.T) {
	eachSample(t, func(t *testing.T, from string, s *adaptertest.Session, _ bool) {
		for _, to := range []string{"openai", "anthropic"} {
			if to == from {
				continue
			}
			data, _ := s.Export(t, format(t, to))
			for _, v := range violations(t, to, data) {
				t.Errorf("%s: %s\n%.3000s", to, v, data)
			}
		}
	})
}

// authorName is the pattern that OpenAI documents for the name of an author.
var authorName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// violations makes a transcript a request: it ends with the user and defines
// the tools that were called.
func violations(t testing.TB, to string, data []byte) (bad []string) {
	t.Helper()
	var body map[string]any
	var messages []any
	if err := json.Unmarshal(data, &messages); err != nil {
		if err := json.Unmarshal(data, &body); err != nil {
			return []string{err.Error()}
		}
		messages, _ = body["messages"].([]any)
	} else {
		body = map[string]any{}
	}
	last := ""
	for _, m := range messages {
		last, _ = m.(map[string]any)["role"].(string)
		if name, ok := m.(map[string]any)["name"].(string); ok && !authorName.MatchString(name) {
			bad = append(bad, "the name "+name)
		}
		delete(m.(map[string]any), "name")
	}
	if last != "user" {
		messages = append(messages, map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "Go on."}}})
	}
	isFile := func(p any) bool { o, _ := p.(map[string]any); return o["type"] == "document" || o["type"] == "file" }
	for _, m := range messages { // the checker knows no files, and wants the longer of two forms
		m := m.(map[string]any)
		if list, ok := m["content"].([]any); ok {
			for _, p := range list {
				p := p.(map[string]any)
				if inner, ok := p["content"].([]any); ok {
					if p["content"] = slices.DeleteFunc(inner, isFile); len(p["content"].([]any)) == 0 {
						p["content"] = "a file"
					}
				}
			}
			if list = slices.DeleteFunc(list, isFile); len(list) == 0 {
				list = []any{map[string]any{"type": "text", "text": "a file"}}
			}
			m["content"] = list
		}
		if text, ok := m["content"].(string); ok && to == "anthropic" {
			m["content"] = []any{map[string]any{"type": "text", "text": text}}
		}
	}
	body["messages"] = messages
	if text, ok := body["system"].(string); ok {
		body["system"] = []any{map[string]any{"type": "text", "text": text}}
	}
	if body["tools"] == nil {
		body["tools"] = map[string]any{
			"anthropic": []any{map[string]any{"name": "any", "input_schema": map[string]any{"type": "object"}}},
			"openai":    []any{map[string]any{"type": "function", "function": map[string]any{"name": "any", "parameters": map[string]any{"type": "object"}}}},
		}[to]
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	_, all := nativetest.Check(to, raw, func(s string) int { return len(s) })
	return slices.DeleteFunc(append(bad, all...), func(v string) bool { // these are forms that ctxfs does not render itself
		return strings.Contains(v, "a part of type file") || strings.Contains(v, "a part of type input_audio") ||
			strings.Contains(v, `a block of type "document" in a message of user`)
	})
}

// wordsOf is what a session holds, in words: texts, calls and results.
func wordsOf(s *adaptertest.Session) (texts string, calls, results []string) {
	var b strings.Builder
	for _, r := range s.Records {
		if r = r.Refit(); r.Event || r.Chain != "" {
			continue
		}
		m := ctxabi.DecodeMessage(r.Line)
		b.WriteString(m.Text + "\n")
		for _, c := range m.Calls {
			var v any
			if json.Unmarshal([]byte(c.Arguments), &v) != nil {
				v = c.Arguments
			}
			calls = append(calls, fmt.Sprint(c.Name, " ", v))
		}
		for _, g := range m.Results {
			results = append(results, g.Text)
		}
		if m.Role == ctxabi.Tool && len(m.Results) == 0 {
			results = append(results, m.Text)
		}
	}
	return b.String(), calls, results
}

// What was said, called and answered goes from each format through each of
// the four and back.
func TestNothingSaidIsLostBetweenFormats(t *testing.T) {
	eachSample(t, func(t *testing.T, from string, s *adaptertest.Session, hostile bool) {
		if hostile {
			return
		}
		texts, calls, results := wordsOf(s)
		if texts == "" {
			return // all of it is a child's
		}
		for _, to := range []string{"openai", "anthropic", "codex", "responses"} {
			f := format(t, to)
			data, _ := s.Export(t, f)
			var there adaptertest.Session
			if _, lost := there.Import(t, f, "", data); len(lost) > 0 {
				t.Errorf("%s: its own export has losses: %v", to, lost)
			}
			if to == from {
				continue
			}
			thereTexts, thereCalls, thereResults := wordsOf(&there)
			for line := range strings.Lines(texts) {
				if !strings.Contains(thereTexts+strings.Join(thereResults, "\n"), strings.TrimSpace(line)) {
					t.Errorf("%s: nobody says %q", to, line)
				}
			}
			was := calls
			if to == "anthropic" || to == "openai" { // arguments that are no object stand in one
				was, thereCalls = toolNames(was), toolNames(thereCalls)
			}
			if !slices.Equal(inOrder(was), inOrder(thereCalls)) {
				t.Errorf("%s: calls\n%q\nwere\n%q", to, thereCalls, was)
			}
			for _, text := range results {
				text = strings.TrimSpace(text)
				if !slices.ContainsFunc(thereResults, func(r string) bool { return strings.Contains(r, text) }) && !strings.Contains(thereTexts, text) {
					t.Errorf("%s: the result %q is missing among %q", to, text, thereResults)
				}
			}
		}
	})
}

func toolNames(calls []string) (list []string) {
	for _, c := range calls {
		name, _, _ := strings.Cut(c, " ")
		list = append(list, name)
	}
	return list
}

func inOrder(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// An import that somebody goes on with is exported with what they said.
func TestExportOfSessionThatWentOn(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"openai", "request.json", `"content":"And in June?"`},
		{"openai", "messages.jsonl", `{"role":"user","content":"And in June?"}`},
		{"anthropic", "request.json", `{"role":"user","content":[{"type":"text","text":"And in June?"}]}`},
		{"codex", "rollout-2025-11-20T09-00-00-cart.jsonl", `{"type":"input_text","text":"And in June?"}`},
		{"responses", "request.json", `{"type":"input_text","text":"And in June?"}`},
		{"responses", "items.json", `{"type":"input_text","text":"And in June?"}`},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", c.name, c.file))
		if err != nil {
			t.Fatal(err)
		}
		f := format(t, c.name)
		var s adaptertest.Session
		s.Import(t, f, c.file, data)
		before, _ := s.Export(t, f)
		s.Records = append(s.Records, adapter.Record{Line: []byte(`{"role":"user","content":"And in June?","ts":"2026-01-02T03:04:05Z"}`)})
		after, lost := s.Export(t, f)
		if len(lost) > 0 {
			t.Errorf("%s: losses %v", c.file, lost)
		}
		if bytes.Contains(before, []byte("And in June?")) || !bytes.Contains(after, []byte(c.want)) {
			t.Errorf("%s: it does not say %s: %s", c.file, c.want, after)
		}
		var again adaptertest.Session
		if _, lost := again.Import(t, f, c.file, after); len(lost) > 0 {
			t.Errorf("%s: the export has losses: %v", c.file, lost)
		}
	}
}

// The tools of a request go from one API to the other; what else it sets is named.
func TestToolsOfRequests(t *testing.T) {
	for _, c := range []struct{ from, to, want, loss string }{
		{"openai", "anthropic", `"tools": [{"name":"weather","description":"Weather of a city.","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]`,
			"model, parallel_tool_calls, seed, stream_options, temperature, tool_choice"},
		{"anthropic", "openai", `"tools": [{"type":"function","function":{"name":"read","description":"Read a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}]`,
			"a tool that only its own API knows"},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", c.from, "request.json"))
		if err != nil {
			t.Fatal(err)
		}
		var s adaptertest.Session
		s.Import(t, format(t, c.from), "request.json", data)
		got, lost := s.Export(t, format(t, c.to))
		if !bytes.Contains(got, []byte(c.want)) || !strings.Contains(fmt.Sprint(lost), c.loss) {
			t.Errorf("%s\nlosses %v", got, lost)
		}
	}
}

// A conversation that is saved anew after each turn is imported turn by turn.
func TestGrowingBodies(t *testing.T) {
	for _, c := range []struct{ name, file string }{
		{"openai", "messages.json"}, {"openai", "request.json"}, {"anthropic", "messages.json"}, {"anthropic", "request.json"},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", c.name, c.file))
		if err != nil {
			t.Fatal(err)
		}
		f := format(t, c.name)
		var s adaptertest.Session
		var list []json.RawMessage
		object, _ := adapter.ParseObject(data)
		if list = object.Array("messages"); list == nil {
			json.Unmarshal(data, &list)
		}
		for n := 1; n <= len(list); n++ {
			part := adapter.Raw(list[:n])
			if object != nil {
				grown := object.With("messages", part)
				if n < len(list) {
					grown = grown.With("max_tokens", n)
				}
				part = adapter.Raw(grown)
			}
			added, lost := s.Import(t, f, c.file, part)
			messages := slices.DeleteFunc(added, func(r adapter.Record) bool { return r.Event })
			if first := n == 1 && object.Has("system"); len(messages) != 1 && !(first && len(messages) == 2) || len(lost) > 0 {
				t.Fatalf("%s, %d messages: added %d, losses %v", c.file, n, len(messages), lost)
			}
		}
		got, _ := s.Export(t, f)
		if diff := adaptertest.CanonicalEqual(data, got); diff != "" {
			t.Errorf("%s: %s", c.file, diff)
		}
	}
}

// What is larger than people expect: a message of 571,000 tokens comes through
// whole, one that no session takes is named.
func TestLargeMessages(t *testing.T) {
	big := strings.Repeat("lorem ipsum ", 571_000/2)
	huge := strings.Repeat("x", ctxabi.MaxRecord)
	for name, line := range map[string]string{
		"openai":    `{"role":"user","content":"%s"}`,
		"anthropic": `{"role":"user","content":[{"type":"text","text":"%s"}]}`,
		"responses": `{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}]}`,
		"codex":     `{"timestamp":"2025-11-20T09:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}]}}`,
	} {
		f := format(t, name)
		data := []byte(fmt.Sprintf(line, big) + "\n" + fmt.Sprintf(line, "small") + "\n")
		var s adaptertest.Session
		if _, lost := s.Import(t, f, "", data); len(lost) > 0 {
			t.Errorf("%s: losses: %.300v", name, lost)
		}
		if got, _ := s.Export(t, f); !bytes.Contains(got, []byte(big)) || bytes.Count(got, []byte("\n")) != 2 {
			t.Errorf("%s: the big message does not come back", name)
		}
		var h adaptertest.Session
		_, lost := h.Import(t, f, "", []byte(fmt.Sprintf(line, huge)+"\n"+fmt.Sprintf(line, "small")+"\n"))
		if len(lost) != 1 || !strings.Contains(lost[0].What, "SHA-256") {
			t.Errorf("%s: losses of what is too large: %.300v", name, lost)
		}
		if _, lost := h.Export(t, f); len(lost) != 1 {
			t.Errorf("%s: the export does not say what is missing: %v", name, lost)
		}
		if texts, _, _ := wordsOf(&h); texts != "small\n" {
			t.Errorf("%s: what stands behind it is %q", name, texts)
		}
	}
}

// A request may be larger than a record is allowed to be; its messages are not.
func TestLargeBodies(t *testing.T) {
	message := `{"role":"user","content":"` + strings.Repeat("lorem ipsum ", 400_000) + `"}`
	data := []byte(`{"model":"gpt-5","messages":[` + strings.Repeat(message+",", 4) + message + `]}`)
	if len(data) <= ctxabi.MaxRecord {
		t.Fatal("it is small")
	}
	var s adaptertest.Session
	if added, lost := s.Import(t, format(t, "openai"), "", data); len(added) != 6 || len(lost) > 0 {
		t.Errorf("%d records, losses %.300v", len(added), lost)
	}
	if got, _ := s.Export(t, format(t, "openai")); !bytes.Equal(bytes.TrimSpace(got), data) {
		t.Error("the export is another")
	}
}

func FuzzImportOpenAI(f *testing.F)    { fuzzFormat(f, "openai") }
func FuzzImportAnthropic(f *testing.F) { fuzzFormat(f, "anthropic") }
func FuzzImportResponses(f *testing.F) { fuzzFormat(f, "responses") }
func FuzzImportCodex(f *testing.F)     { fuzzFormat(f, "codex") }
