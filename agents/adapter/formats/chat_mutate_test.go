package formats_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
)

// Transcripts with fields that are missing, of another type, doubled or not
// known come back equal, too, and what is exported of them elsewhere is valid.
func TestChatsOfAnotherShape(t *testing.T) {
	for _, name := range []string{"openai", "anthropic", "codex", "responses", "ui-messages", "converse", "langchain",
		"gemini-contents"} {
		f := format(t, name)
		var samples []string
		files, _ := filepath.Glob(filepath.Join("testdata", name, "*.json*"))
		for _, file := range files {
			if !strings.HasPrefix(filepath.Base(file), "hostile-") {
				samples = append(samples, file)
			}
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				data, err := os.ReadFile(rapid.SampledFrom(samples).Draw(r, "sample"))
				if err != nil {
					t.Fatal(err)
				}
				data = mutated(r, data)
				var s adaptertest.Session
				_, lost := s.Import(t, f, "", data)
				if again, _ := s.Import(t, f, "", data); len(again) > 0 {
					r.Fatalf("a second import adds %s", again[0].Line)
				}
				got, lostThen := s.Export(t, f)
				for _, l := range append(lost, lostThen...) {
					if l.What == "is empty" && empty(data) {
						continue // the changes removed every message, and the import reports it
					}
					if !strings.Contains(l.What, "kept in an event") &&
						!strings.Contains(l.What, "kept beside the message") &&
						!strings.Contains(l.What, "appears twice") {
						r.Fatalf("loss: %v\n%s", l, data)
					}
				}
				if diff := adaptertest.CanonicalEqual(data, got); diff != "" {
					r.Fatalf("%s\n%s\n%s", diff, data, got)
				}
				for _, to := range []string{"openai", "anthropic"} {
					if to == name {
						continue
					}
					data, _ := s.Export(t, format(t, to))
					for _, v := range violations(t, to, data) {
						r.Fatalf("%s: %s\n%.3000s", to, v, data)
					}
				}
			})
		})
	}
}

// empty reports whether the transcript has no message left: a JSON array without elements, or no value at all.
func empty(data []byte) bool {
	var messages []json.RawMessage
	return len(bytes.TrimSpace(data)) == 0 || json.Unmarshal(data, &messages) == nil && len(messages) == 0
}

// mutated changes some of the values of a transcript.
func mutated(r *rapid.T, data []byte) []byte {
	var values []json.RawMessage
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		var v json.RawMessage
		if d.Decode(&v) != nil {
			break
		}
		values = append(values, v)
	}
	for range rapid.IntRange(1, 4).Draw(r, "changes") {
		i := rapid.IntRange(0, len(values)-1).Draw(r, "value")
		values[i] = changed(r, values[i], rapid.IntRange(1, 7).Draw(r, "depth"))
	}
	var b bytes.Buffer
	for _, v := range values {
		json.Compact(&b, v)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

var otherValues = []string{`null`, `""`, `"user"`, `"assistant"`, `"tool"`, `"call_1"`, `" \ud800\u0000é"`, `[]`, `{}`, `[null]`, `[{}]`, `["text"]`, `[{"type":"text","text":" "}]`,
	`[{"type":"tool_use","id":"x","name":"y","input":[1]}]`, `{"content":"c"}`, `{"text":"t"}`, `true`, `-1.50e3`, `100000000000000000000000`, `"2025-11-20T09:00:00Z"`,
	`[{"role":"user","content":"hi"}]`, `"message"`, `"function_call"`, `"reasoning"`, `"local_shell_call"`, `"function_call_output"`, `"user_message"`, `"response_item"`, `"session_meta"`, `"compacted"`}

func changed(r *rapid.T, raw json.RawMessage, depth int) json.RawMessage {
	other := func() json.RawMessage { return json.RawMessage(rapid.SampledFrom(otherValues).Draw(r, "other")) }
	var list []json.RawMessage
	o, err := adapter.ParseObject(raw)
	isList := json.Unmarshal(raw, &list) == nil && list != nil
	if depth == 0 || err != nil && !isList || isList && len(list) == 0 || err == nil && len(o) == 0 {
		return other()
	}
	if isList {
		i := rapid.IntRange(0, len(list)-1).Draw(r, "element")
		switch rapid.IntRange(0, 5).Draw(r, "how") {
		case 0:
			list = append(list[:i], list[i+1:]...)
		case 1:
			list = append(list, list[i])
		default:
			list[i] = changed(r, list[i], depth-1)
		}
		return adapter.Raw(list)
	}
	i := rapid.IntRange(0, len(o)-1).Draw(r, "field")
	switch rapid.IntRange(0, 7).Draw(r, "how") {
	case 0:
		o = o.Without(o[i].Key)
	case 1:
		o = append(o, adapter.Field{Key: "unknown", Value: other()})
	case 2:
		o = append(o, adapter.Field{Key: o[i].Key, Value: other()}) // twice
	default:
		o[i].Value = changed(r, o[i].Value, depth-1)
	}
	return adapter.Raw(o)
}
