package pack

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/nativetest"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// nativeOf is one native rendering, checked.
type nativeOf struct {
	data   []byte
	units  []nativetest.Unit
	stable native.Stable
	tokens int
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func logsOf(in *Input) native.Logs {
	return func() (record.Records, record.Records, error) { return in.Messages, in.Events, nil }
}

// natives renders b in all formats and holds each to the rules of its provider, to the budget and to the bound that it was folded by.
func natives(t failer, b *Build, logs native.Logs, limit int, encoding string) map[native.Format]nativeOf {
	t.Helper()
	counter, err := counterFor(encoding)
	if err != nil {
		t.Fatalf("%v", err)
	}
	out := map[native.Format]nativeOf{}
	for _, f := range native.Formats {
		data, stable, err := b.native.Render(f, logs)
		if errors.Is(err, ctxabi.ErrOverBudget) && limit > 0 && limit < 1200 && strings.Contains(string(b.Report), "there is so little room that they may not fit") {
			continue // so small a limit has room for pack.md alone, and the report says so
		}
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		body, violations := nativetest.CheckRendering(string(f), data, b.native.Footer.Quoted, counter.CountCached)
		if len(violations) > 0 {
			t.Fatalf("%s: %s\n%s", f, strings.Join(violations, "\n"), clip(string(data)))
		}
		if limit > 0 && body.Tokens > limit {
			t.Fatalf("%s: %d tokens, the limit is %d, the bound was %d", f, body.Tokens, limit, b.native.Bound)
		}
		if body.Tokens > b.native.Bound {
			t.Fatalf("%s: %d tokens, the bound was %d\n%s\n%s", f, body.Tokens, b.native.Bound, clip(string(data)), clip(string(b.Markdown)))
		}
		next := append(slices.Clip(body.Units), nativetest.Unit{})[min(stable.Units, len(body.Units))]
		if stable.Units > len(body.Units) || stable.Text > len(next.Text) {
			t.Fatalf("%s: %+v is to stay, there are %d units", f, stable, len(body.Units))
		}
		out[f] = nativeOf{data, body.Units, stable, body.Tokens}
	}
	return out
}

func clip(s string) string { return s[:min(len(s), 6000)] }

// keepsPrefix fails unless the units of before that were to stay begin those of after.
func keepsPrefix(t failer, before, after map[native.Format]nativeOf) {
	t.Helper()
	for _, f := range native.Formats {
		if i, ok := before[f].begins(after[f].units); !ok {
			was, is := differ(fmt.Sprintf("%+v", before[f].units[i:]), fmt.Sprintf("%+v", after[f].units[i:]))
			t.Fatalf("%s: unit %d of %+v changed within the epoch:\n%s\n---\n%s", f, i, before[f].stable, was, is)
		}
	}
}

// differ returns two texts from a little before where they differ.
func differ(a, b string) (string, string) {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	at = max(0, at-200)
	return clip(a[at:]), clip(b[at:])
}

// begins reports whether other units begin as those of n that were to stay, or the first one that
// differs.
func (n nativeOf) begins(units []nativetest.Unit) (at int, ok bool) {
	for i, u := range n.units[:n.stable.Units] {
		if i >= len(units) || units[i] != u {
			return i, false
		}
	}
	if n.stable.Text == 0 {
		return 0, true
	}
	at = n.stable.Units
	u := n.units[at]
	return at, at < len(units) && units[at].Head == u.Head && strings.HasPrefix(units[at].Text, u.Text[:n.stable.Text])
}

// brokenTurn draws what a valid conversation does not hold.
func brokenTurn() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		type m = map[string]any
		id := func() string {
			return rapid.SampledFrom([]string{"a", "b", "c", "a b", "", "é", strings.Repeat("long", 20)}).Draw(t, "id")
		}
		name := func() string {
			return rapid.SampledFrom([]string{"bash", "", "1 tool", "日本", strings.Repeat("n", 90)}).Draw(t, "name")
		}
		some := func(label string) any {
			return rapid.OneOf(rapid.SampledFrom([]any{"", " \n", nil, "hello", []any{}, []any{"", m{"type": "text", "text": " "}}}),
				rapid.Map(text(), func(s string) any { return s })).Draw(t, label)
		}

		arguments := func() any {
			return rapid.SampledFrom([]any{"", "{", "null", "[1]", `{"a":1.50,"b":"\ud800"}`, m{"z": 1, "a": "<&>"}, "{}{}", nil, strings.Repeat(`"`, 300)}).Draw(t, "arguments")
		}
		picture := func() any {
			return rapid.SampledFrom([]any{
				m{"type": "image", "source": m{"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="}},
				m{"type": "image_url", "image_url": m{"url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="}},
				m{"type": "input_image", "image_url": "https://example.org/a.png"},
				m{"type": "image", "source": m{"data": "AAAA"}}, m{"type": "input_audio", "input_audio": m{"data": "xx"}}, m{"type": "what"},
			}).Draw(t, "image")
		}
		thinking := m{"type": "thinking", "thinking": "I should look.", "signature": rapid.SampledFrom([]string{"c2ln", ""}).Draw(t, "signature")}
		var r m
		switch rapid.IntRange(0, 19).Draw(t, "broken") {
		case 12, 13, 14, 15:
			records := rapid.SampledFrom(poisons()).Draw(t, "poison").Records(rapid.IntRange(0, 2).Draw(t, "n"))
			return []byte(rapid.SampledFrom(records).Draw(t, "record"))
		case 0:
			r = m{"role": "tool", "tool_call_id": id(), "content": some("result")}
		case 1:
			r = m{"role": "assistant", "content": some("said"), "tool_calls": []m{{"id": id(), "name": name(), "arguments": arguments()}, {"id": id(), "function": m{"name": name(), "arguments": arguments()}}}}
		case 2:
			r = m{"role": "assistant", "content": []any{thinking, m{"type": "tool_use", "id": id(), "name": name(), "input": arguments()}, m{"type": "text", "text": "and"}}}
		case 3:
			r = m{"role": "user", "content": []any{m{"type": "text", "text": "first"}, m{"type": "tool_result", "tool_use_id": id(), "content": []any{picture(), some("inner")}, "is_error": true}, picture()}}
		case 4:
			r = m{"role": rapid.SampledFrom([]string{"user", "assistant", "system", "developer"}).Draw(t, "role"), "content": some("content")}
		case 5:
			r = m{"role": "assistant", "content": []any{thinking}}
		case 6:
			r = m{"role": "user", "content": []any{m{"type": "tool_use", "id": id(), "name": name()}}}
		case 7:
			r = m{"role": "assistant", "content": []any{m{"type": "tool_result", "tool_use_id": id(), "content": "x"}, picture()}}
		case 8:
			return []byte("not a record")
		case 9:
			r = m{"role": "tool", "name": name(), "content": []any{picture()}}
		case 10:
			var calls, results []m
			for i := range rapid.IntRange(1, 40).Draw(t, "many") {
				calls = append(calls, m{"id": fmt.Sprint("m", i), "name": "bash", "arguments": "{}"})
				results = append(results, m{"type": "tool_result", "tool_use_id": fmt.Sprint("m", i), "content": strings.Repeat("out ", i*20)})
			}
			r = m{"role": "assistant", "tool_calls": calls}
			if rapid.Bool().Draw(t, "results") {
				r = m{"role": "user", "content": results}
			}
		case 11:
			r = m{"role": "assistant", "content": nil, "tool_calls": []m{{"id": id(), "name": "bash", "arguments": `{"cmd":"ls"}`}}}
		default:
			return []byte(strings.ReplaceAll(rapid.SampledFrom(anyItem).Draw(t, "item"), "ID", rapid.SampledFrom([]string{"c1", "c2", "c3", ""}).Draw(t, "call")))
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
}

func brokenHistory(t *rapid.T, most int) *memHistory {
	h := wholeHistory(t)
	for _, r := range rapid.SliceOfN(brokenTurn(), 0, most).Draw(t, "broken") {
		h.message(r)
	}
	return h
}

// Whatever the history holds, every rendering is one that its provider takes, and fits.
func TestNativeProperties(t *testing.T) {
	pure(t)
	rapid.Check(t, func(t *rapid.T) {
		h, fs, limit := brokenHistory(t, 25), files(t), budget().Draw(t, "budget")
		in := h.input(h.len(), limit, fs...)
		tools := rapid.IntRange(0, 3).Draw(t, "tools") == 0
		if tools {
			in = withTools(in)
		}
		b, err := compile(in)
		if err != nil {
			t.Fatalf("%v", err)
		}
		got := natives(t, b, logsOf(&in), limit, "")
		again := natives(t, mustCompile(t, in), logsOf(&in), limit, "")
		for _, f := range native.Formats {
			if tools && (limit == 0 || limit >= 8000) {
				hasTools(t, f, got[f].data)
			}
			if string(got[f].data) != string(again[f].data) {
				t.Fatalf("%s: two builds of one input differ", f)
			}
		}
	})
}

// Record by record: within an epoch what stands before the tail of a rendering begins the next one.
func TestNativePrefixProperties(t *testing.T) {
	pure(t)
	suite.Check(t, 10, func(t *rapid.T) {
		h, fs, limit := brokenHistory(t, 8), files(t), budget().Draw(t, "budget")
		mm := NewMemo()
		var before map[native.Format]nativeOf
		epoch := ""
		for n := 0; n <= h.len(); n++ {
			in := h.input(n, limit, fs...)
			b, err := CompileWith(&in, mm)
			if err != nil {
				t.Fatal(err)
			}
			now := natives(t, b, logsOf(&in), limit, "")
			if b.Epoch == epoch && len(now) == len(before) {
				keepsPrefix(t, before, now)
			}
			before, epoch = now, b.Epoch
		}
	})
}

// nativeGoldens compares the native renderings of in, with tools.
func nativeGoldens(t *testing.T, dir string, in Input) {
	t.Helper()
	in = withTools(in)
	for f, n := range natives(t, mustCompile(t, in), logsOf(&in), in.Budget, "") {
		golden(t, fmt.Sprintf("%s/pack.%s.json", dir, f), n.data)
	}
}

// withTools is in of an agent that has a tools.json.
func withTools(in Input) Input {
	at := slices.IndexFunc(in.UsedRecipe().Sources, func(s recipe.Source) bool { return s.Type == recipe.TypeTools })
	in.Files = append(slices.Clone(in.Files), blocks.File{At: at, ID: "tools", Path: "tools.json", Data: []byte(toolsJSON)})
	return in
}

// toolsJSON has tools in several forms, and what is none.
const toolsJSON = `[
{"type":"function","function":{"name":"read_file","description":"Read a file.","parameters":{"type":"object","properties":{"path":{"type":"string","maxLength":1e3}},"required":["path"]}}},
{"name":"bash","description":"Run a command.","input_schema":{"type":"object","properties":{"cmd":{"type":"string"}}}},
{"name":"read_file"},{"type":"web_search_20250305","name":"web_search"},{"name":"look up","parameters":{"properties":{}}}]`

// Without a journal the last request stands alone, cut where it must be; messages of the recipe stand in front of it.
func TestNativeWithoutJournal(t *testing.T) {
	r := *recipe.Default()
	r.Sources = slices.DeleteFunc(slices.Clone(r.Sources), func(s recipe.Source) bool { return s.Type == recipe.TypeJournal })
	r.Messages = []recipe.Message{{Role: "developer", Content: "Be brief."}, {Role: "user", Content: "Who are you?"}, {Role: "assistant", Content: "A coder."}}
	l := logOf(`{"role":"user","content":"an older wish"}`, `{"role":"assistant","content":"done"}`)
	l.Append(message("user", strings.Repeat("a line of the last request\n", 400)))
	in := inputOf(l, 1500)
	in.Recipe = &r
	for f, n := range natives(t, mustCompile(t, in), logsOf(&in), in.Budget, "") {
		text := string(n.data)
		if strings.Contains(text, "an older wish") || !strings.Contains(text, "a line of the last request") || !strings.Contains(text, "context/line/3") {
			t.Errorf("%s:\n%s", f, text)
		}
		if !strings.Contains(text, "Be brief.") || !strings.Contains(text, "Who are you?") || !strings.Contains(text, "A coder.") {
			t.Errorf("%s lacks the messages of the recipe:\n%s", f, text)
		}
	}
}

// Images stand in renderings until the first compaction after two turns; thinking goes to its provider with its signature.
func TestNativeImagesAndThinking(t *testing.T) {
	l := newLog()
	for _, r := range thinkingLog(12) {
		l.Append(r)
	}
	in := inputOf(l, 0)
	whole := natives(t, mustCompile(t, in), logsOf(&in), 0, "")
	if n := strings.Count(string(whole[native.Anthropic].data), `"signature":"c2ln`); n != 5 {
		t.Errorf("%d thoughts", n)
	}
	for f, n := range whole {
		if images := strings.Count(string(n.data), "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="); images != 2 {
			t.Errorf("%s: %d images", f, images)
		}
		if f != native.Anthropic && strings.Contains(string(n.data), "I should read") {
			t.Errorf("%s holds another provider's thinking", f)
		}
	}
	for _, r := range thinkingLog(80)[12:] {
		l.Append(r)
	}
	in = inputOf(l, 3000)
	b := mustCompile(t, in)
	for f, n := range natives(t, b, logsOf(&in), in.Budget, "") {
		if text := string(n.data); !strings.Contains(text, " · context/line/1]") || strings.Count(text, "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==") > 4 {
			t.Errorf("%s:\n%s", f, clip(text))
		}
	}
}

// A freeform call, as Codex makes of apply_patch, has arguments that are no JSON: who takes a request parses them.
func TestArgumentsOfAFreeformCallAreAnObject(t *testing.T) {
	const patch = "*** Begin Patch\n*** Add File: a \"b\"\n*** End Patch"
	for arguments, want := range map[string]string{
		patch:            `{"malformed_arguments":"*** Begin Patch\n*** Add File: a \"b\"\n*** End Patch"}`,
		"[1]":            `{"arguments":[1]}`,
		"null":           `{"arguments":null}`,
		"":               `{}`,
		`{"b":1, "a":2}`: `{"b":1, "a":2}`,
	} {
		call, err := json.Marshal(map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "c1", "name": "apply_patch", "arguments": arguments}}})
		if err != nil {
			t.Fatal(err)
		}
		in := inputOf(logOf(`{"role":"user","content":"Add it."}`, string(call), `{"role":"tool","tool_call_id":"c1","content":"Done."}`), 8000)
		got := natives(t, mustCompile(t, in), logsOf(&in), in.Budget, "")
		quoted, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []native.Format{native.OpenAI, native.Responses} {
			if text := string(got[f].data); !strings.Contains(text, `"arguments":`+string(quoted)) {
				t.Errorf("%s of %q:\n%s", f, arguments, text)
			}
		}
	}
}

// Codex keeps "content":null in what it thought, a value that the type of the API does not have.
func TestThinkingOfResponsesHasNoNull(t *testing.T) {
	in := inputOf(logOf(`{"role":"user","content":"Go on."}`,
		`{"role":"assistant","content":[{"type":"reasoning","id":"rs_1","summary":[],"content":null,"encrypted_content":"gAAA"},{"type":"text","text":"Yes."}]}`,
		`{"role":"user","content":"And then?"}`), 8000)
	text := string(natives(t, mustCompile(t, in), logsOf(&in), in.Budget, "")[native.Responses].data)
	if !strings.Contains(text, `{"encrypted_content":"gAAA","id":"rs_1","summary":[],"type":"reasoning"}`) {
		t.Errorf("the item of reasoning:\n%s", text)
	}
}
