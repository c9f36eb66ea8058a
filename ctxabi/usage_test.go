package ctxabi

import "testing"

func TestDecodeUsage(t *testing.T) {
	for _, c := range []struct {
		line string
		want Usage
	}{
		// Anthropic: what the cache had to do with is not in input_tokens.
		{`{"type":"usage","input_tokens":10,"cache_read_input_tokens":900,"cache_creation_input_tokens":90,"output_tokens":5}`, Usage{1000, 900, 90, 5, true}},
		{`{"type":"usage","usage":{"input_tokens":10,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":5}}`, Usage{10, 0, 0, 5, true}},
		{`{"type":"usage","input_tokens":10,"cache_creation_input_tokens":90,"cache_creation":{"ephemeral_5m_input_tokens":90},"output_tokens":5}`, Usage{100, 0, 90, 5, true}},
		{`{"type":"usage","input_tokens":10,"cache_read_input_tokens":null,"output_tokens":5}`, Usage{10, 0, 0, 5, false}},
		// OpenAI: Chat Completions, Responses.
		{`{"type":"usage","usage":{"prompt_tokens":1000,"completion_tokens":7,"total_tokens":1007,"prompt_tokens_details":{"cached_tokens":896,"audio_tokens":0}}}`, Usage{1000, 896, 0, 7, true}},
		{`{"type":"usage","input_tokens":1000,"input_tokens_details":{"cached_tokens":0},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3}}`, Usage{1000, 0, 0, 7, true}},
		{`{"type":"usage","prompt_tokens":1000,"completion_tokens":7}`, Usage{1000, 0, 0, 7, false}},
		{`{"type":"usage","input_tokens":971,"cached_tokens":873,"output_tokens":54,"ts":"2026-03-10T09:03:41Z"}`, Usage{971, 873, 0, 54, true}},
		// Gemini.
		{`{"type":"usage","usageMetadata":{"promptTokenCount":1000,"cachedContentTokenCount":800,"candidatesTokenCount":7,"thoughtsTokenCount":3}}`, Usage{1000, 800, 0, 10, true}},
		{`{"type":"usage","promptTokenCount":1000,"candidatesTokenCount":7}`, Usage{1000, 0, 0, 7, false}},
		// What is no count is not read; of two the last; an object that says nothing hides nothing.
		{`{"type":"usage","input_tokens":-1,"prompt_tokens":12,"output_tokens":"7"}`, Usage{Input: 12}},
		{`{"type":"usage","input_tokens":3,"input_tokens":4}`, Usage{Input: 4}},
		{`{"type":"usage","usage":{"total":3},"input_tokens":4}`, Usage{Input: 4}},
		{`{"type":"usage","usage":7,"input\u005ftokens":4}`, Usage{Input: 4}},
		// A cache gives no more than was asked.
		{`{"type":"usage","prompt_tokens":10,"cached_tokens":20}`, Usage{10, 10, 0, 0, true}},
	} {
		got, ok := DecodeUsage([]byte(c.line))
		if !ok || got != c.want {
			t.Errorf("%s\n got %+v, %v\nwant %+v", c.line, got, ok, c.want)
		}
	}
	for _, line := range []string{"", "{}", "[]", `{"type":"usage"}`, `{"type":"usage","output_tokens":3}`, `{"type":"usage","input_tokens":1.5}`, `{"type":"usage","input_tokens":1e999}`,
		`{"type":"error","input_tokens":4}`, `{"type":"usage","input_tokens":4`, "{\"type\":\"usage\",\"input_tokens\":4,\"x\":\"\xff\"}", `{"type":7,"input_tokens":4}`} {
		if u, ok := DecodeUsage([]byte(line)); ok {
			t.Errorf("%q: %+v", line, u)
		}
	}
}

// What is read is an event that may be written, and its numbers fit together.
func FuzzDecodeUsage(f *testing.F) {
	for _, seed := range []string{`{"type":"usage","input_tokens":1,"cache_read_input_tokens":2}`, `{"type":"usage","usage":{"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}`,
		`{"type":"usage","usageMetadata":{"promptTokenCount":5}}`, `{"type":"usage","usage":[]}`, "x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		u, ok := DecodeUsage(line)
		if !ok {
			if u != (Usage{}) {
				t.Fatalf("%q is not read, but gives %+v", line, u)
			}
			return
		}
		if CheckEvent(line) != nil {
			t.Fatalf("%q is read as %+v and refused", line, u)
		}
		if u.Input < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Output < 0 || u.CacheRead > u.Input || u.CacheRead > 0 && !u.Caches {
			t.Fatalf("%q: %+v", line, u)
		}
	})
}
