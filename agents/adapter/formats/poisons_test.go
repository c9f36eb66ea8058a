package formats_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/nativetest"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// bodyOf returns an export as the body of a request that ends with the user and defines tools.
func bodyOf(to string, data []byte) (provider string, body map[string]any) {
	body = map[string]any{}
	read := func(list string) (items []any) {
		if json.Unmarshal(data, &items) != nil {
			json.Unmarshal(data, &body)
			items, _ = body[list].([]any)
		}
		return items
	}
	goOn := map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "Go on."}}}
	switch to {
	case adapter.ContentsName:
		items := read("contents")
		if len(items) == 0 || items[len(items)-1].(map[string]any)["role"] != "user" {
			items = append(items, map[string]any{"role": "user", "parts": []any{map[string]any{"text": "Go on."}}})
		}
		for _, m := range items { // the checker knows no files
			m := m.(map[string]any)
			m["parts"] = slices.DeleteFunc(m["parts"].([]any), func(p any) bool {
				data, _ := p.(map[string]any)["inlineData"].(map[string]any)
				return data["mimeType"] == "application/pdf"
			})
		}
		body["contents"] = items
		return "gemini", body
	case "responses", "codex":
		items := read("input")
		if to == "codex" {
			items, body = nil, map[string]any{}
			for line := range strings.Lines(string(data)) {
				var l struct {
					Type    string
					Payload map[string]any
				}
				if json.Unmarshal([]byte(line), &l) == nil && l.Type == "response_item" {
					items = append(items, l.Payload)
				}
			}
		}
		images := []any{map[string]any{"type": "input_text", "text": "Go on."}}
		texts := func(list []any) string { // of parts; their images go to the end
			var all []string
			for _, p := range list {
				p := p.(map[string]any)
				if text, ok := p["text"].(string); ok {
					all = append(all, text)
				} else {
					p["detail"] = "auto"
					images = append(images, p)
				}
			}
			return strings.Join(append(all, "."), "\n")
		}
		for _, item := range items {
			m := item.(map[string]any)
			for key, v := range m {
				if v == nil {
					delete(m, key)
				}
			}
			for _, key := range []string{"content", "output"} {
				if list, is := m[key].([]any); is {
					m[key] = texts(list)
				}
			}
		}
		body["input"] = append(items, map[string]any{"type": "message", "role": "user", "content": images})
		return "responses", body
	case "claude-code": // its data alone
		var parts []any
		var find func(v any)
		find = func(v any) {
			switch v := v.(type) {
			case []any:
				for _, e := range v {
					find(e)
				}
			case map[string]any:
				if v["type"] == "image" {
					parts = append(parts, v)
				}
				find(v["message"])
				find(v["content"])
			}
		}
		for line := range strings.Lines(string(data)) {
			var l map[string]any
			json.Unmarshal([]byte(line), &l)
			find(l)
		}
		goOn["content"] = append(goOn["content"].([]any), parts...)
		return "anthropic", map[string]any{"messages": []any{goOn}}
	}
	return to, nil
}

// refused lists the faults for which a provider rejects an export.
func refused(t testing.TB, to string, data []byte) []string {
	provider, body := bodyOf(to, data)
	if body == nil {
		return violations(t, to, data)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	_, all := nativetest.Check(provider, raw, func(s string) int { return len(s) })
	return all
}

var bodyFormats = []string{"openai", "anthropic", "responses", adapter.ContentsName, "codex", "claude-code"}

// Each poison by itself, and random ones together, in all formats that a provider or a program with one gets.
func TestExportedPoisonsAreAccepted(t *testing.T) {
	check := func(t testing.TB, records []string) {
		var s adaptertest.Session
		for _, r := range records {
			s.Records = append(s.Records, adapter.Record{Line: []byte(r)})
		}
		for _, to := range bodyFormats {
			data, _ := s.Export(t, format(t, to))
			if bad := refused(t, to, data); len(bad) > 0 {
				t.Errorf("%s: %s\n%.3000s", to, strings.Join(bad, "\n"), data)
			}
		}
	}
	begin, end := `{"role":"user","content":"Begin."}`, `{"role":"user","content":"And then?"}`
	poisons := packtest.Poisons()
	for _, p := range poisons {
		t.Run(p.Name, func(t *testing.T) { check(t, append(append([]string{begin}, p.Records(1)...), end)) })
	}
	small := slices.DeleteFunc(poisons, func(p packtest.Poison) bool { return len(fmt.Sprint(p.Records(1))) > 1<<16 })
	suite.Check(t, 40, func(rt *rapid.T) {
		records := []string{begin}
		for i := range rapid.IntRange(1, 8).Draw(rt, "poisons") {
			records = append(records, rapid.SampledFrom(small).Draw(rt, "poison").Records(i)...)
		}
		if check(t, records); t.Failed() {
			rt.Fatalf("%s", strings.Join(records, "\n"))
		}
	})
}
