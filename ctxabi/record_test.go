package ctxabi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCheckMessage(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		line, why string // why: a part of the refusal's reason; "" when accepted
	}{
		{`{"role":"user","content":"hi"}`, ""},
		{`{"role":"developer","content":null}`, ""},
		{`{"role":"system","content":[]}`, ""},
		{`{"role":"assistant","tool_calls":[]}`, ""},
		{`{"role":"assistant","content":null,"tool_calls":null}`, ""},
		{`{"role":"tool","tool_call_id":"x","content":"ok","extra":{"a":[1,2.5e-3,-0]}}`, ""},
		{` 	{ "role" : "user" , "content" : "hi" } 	` + "\r", ""},
		{`{"\u0072ole":"user","c\u006fntent":"hi"}`, ""},
		{`{"role":"u\u0073er","content":"hi"}`, ""},
		{`{"role":"user","content":"\ud800"}`, ""},
		{`{"role":"user","content":"\u0000"}`, ""},
		{`{"role":"user","content":"hi","n":1e999999,"m":123456789012345678901234567890}`, ""},
		{`{"role":5,"role":"user","content":"hi"}`, ""}, // the last one counts
		{`{"role":"user","content":` + deep(MaxDepth-1) + `}`, ""},
		{`{"role":"user","content":"` + strings.Repeat("[", 5*MaxDepth) + `"}`, ""},

		{``, "blank line"},
		{" \t\r", "blank line"},
		{`nope`, `begins with "nope"`},
		{`[1]`, "begins with"},
		{`"role"`, "begins with"},
		{"\ufeff" + `{"role":"user","content":"hi"}`, "begins with"},
		{"\u00a0" + `{"role":"user","content":"hi"}`, "begins with"},
		{`{"role":"user","content":"hi"}` + "\u00a0", "text after its JSON object"},
		{"\v" + `{"role":"user","content":"hi"}`, "begins with"},
		{`{"role":"user","content":"hi"}{}`, "text after its JSON object"},
		{`{"role":"user","content":"hi"} x`, "text after its JSON object"},
		{`{"role":"user",` + "\n" + `"content":"hi"}`, "one line"},
		{`{"role":"user","content":"hi"`, "not valid JSON"},
		{`{"role":"user","content":"hi",}`, "not valid JSON"},
		{`{"role":"user","content":"a` + "\t" + `b"}`, "not valid JSON"},
		{`{"role":"user","content":"\x"}`, "not valid JSON"},
		{`{"role":"user","content":"\u12g4"}`, "not valid JSON"},
		{`{"role":"user","content":[1,]}`, "not valid JSON"},
		{`{"role":"user","content":[],"n":01}`, "not valid JSON"},
		{`{"role":"user","content":[],"n":1.}`, "not valid JSON"},
		{`{"role":"user","content":[],"n":+1}`, "not valid JSON"},
		{`{"role":"user","content":[],"n":NaN}`, "not valid JSON"},
		{`{"role":"user","content":[],"n":tru}`, "not valid JSON"},
		{`{'role':'user'}`, "not valid JSON"},
		{`{"role":"user","content":"` + "\xff" + `"}`, "UTF-8"},
		{`{"role":"user","content":"` + "\x00" + `"}`, "NUL"},
		{`{"role":"user","content":"hi"}` + "\x00", "NUL"},
		{`{"role":"user","content":` + deep(MaxDepth) + `}`, "nested too deep"},
		{strings.Repeat(`{"a":`, 1_000_000), "nested too deep"},
		{`{"content":"hi"}`, `no "role"`},
		{`{"Role":"user","content":"hi"}`, `no "role"`},
		{`{"role":"robot","content":"hi"}`, "must be one of"},
		{`{"role":"event","content":"hi"}`, "must be one of"},
		{`{"role":"unknown","content":"hi"}`, "must be one of"},
		{`{"role":"","content":"hi"}`, "must be one of"},
		{`{"role":null,"content":"hi"}`, "must be one of"},
		{`{"role":"user","role":5,"content":"hi"}`, "must be one of"},
		{`{"role":"user"}`, "neither"},
		{`{"role":"assistant","tool_calls":null}`, "neither"},
		{`{"x":{"role":"user","content":"hi"}}`, `no "role"`},
		{`{"role":"user","content":5}`, "must be a string"},
		{`{"role":"user","content":{"text":"hi"}}`, "must be a string"},
		{`{"role":"user","content":true}`, "must be a string"},
		{`{"role":"user","content":"hi","tool_calls":{}}`, "must be a list"},
	} {
		err := CheckMessage([]byte(c.line))
		switch {
		case c.why == "" && err != nil:
			t.Errorf("%.80q refused: %v", c.line, err)
		case c.why != "" && (!errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.why)):
			t.Errorf("%.80q: %v; want a refusal with %q", c.line, err, c.why)
		}
		if err != nil && !utf8.ValidString(err.Error()) {
			t.Errorf("%.80q: the reason is not UTF-8", c.line)
		}
	}
}

func TestCheckEvent(t *testing.T) {
	for line, ok := range map[string]bool{
		`{"type":"tool_call"}`: true, `{"id":"ev-1","type":"x","data":{}}`: true, `{"typ\u0065":"x"}`: true,
		`{}`: false, `{"type":""}`: false, `{"type":5}`: false, `{"type":null}`: false, `{"type":"x","type":1}`: false, `[]`: false, ``: false,
	} {
		if err := CheckEvent([]byte(line)); (err == nil) != ok || err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestRecordAboveTheLimit(t *testing.T) {
	head, tail := `{"type":"x","role":"user","content":"`, `"}`
	fits := []byte(head + strings.Repeat("a", MaxRecord-len(head)-len(tail)) + tail)
	for _, check := range []func([]byte) error{CheckMessage, CheckEvent} {
		if err := check(fits); err != nil {
			t.Errorf("a record of exactly the limit: %v", err)
		}
		if err := check(append(fits[:len(fits):len(fits)], ' ')); !errors.Is(err, ErrTooLarge) {
			t.Errorf("one byte more: %v", err)
		}
	}
}

// agrees compares the checks with encoding/json, the oracle. Differences on purpose:
// depth, invalid UTF-8, and more than one line.
func agrees(t interface {
	Helper()
	Fatalf(string, ...any)
}, line []byte) {
	t.Helper()
	var m map[string]json.RawMessage
	isObject := json.Unmarshal(line, &m) == nil && m != nil
	err := CheckMessage(line)
	if err == nil && !isObject {
		t.Fatalf("%q accepted, encoding/json does not take it", line)
	}
	if eventErr := CheckEvent(line); eventErr == nil {
		var typ string
		if !isObject || json.Unmarshal(m["type"], &typ) != nil || typ == "" {
			t.Fatalf("%q accepted as an event", line)
		}
	}
	if !isObject || !utf8.Valid(line) || bytes.IndexByte(line, '\n') >= 0 {
		return
	}
	var s *string
	roleOK := m["role"] != nil && json.Unmarshal(m["role"], &s) == nil && s != nil && ParseRole(*s) != RoleUnknown
	starts := func(v json.RawMessage, with string) bool { return v != nil && strings.ContainsRune(with, rune(v[0])) }
	content, calls := m["content"], m["tool_calls"]
	want := roleOK && (content != nil || starts(calls, "[")) &&
		(content == nil || starts(content, `"[n`)) && (calls == nil || starts(calls, "[n"))
	if want != (err == nil) && !strings.Contains(fmt.Sprint(err), "too deep") {
		t.Fatalf("%q: %v; the oracle says %v", line, err, want)
	}
}

// decodes checks what DecodeMessage promises of any line.
func decodes(t interface {
	Helper()
	Fatalf(string, ...any)
}, line []byte) {
	t.Helper()
	m := DecodeMessage(line)
	all := []string{m.ID, m.TS, m.Name, m.Text, m.CallID}
	for _, c := range m.Calls {
		all = append(all, c.ID, c.Name, c.Arguments)
	}
	for _, r := range m.Results {
		all = append(all, r.CallID, r.Text)
	}
	for _, s := range all {
		if !utf8.ValidString(s) {
			t.Fatalf("%q: %q is not UTF-8", line, s)
		}
	}
	if CheckMessage(line) != nil {
		return
	}
	var want struct {
		Role    string
		Content any
	}
	var fields map[string]json.RawMessage // names without folding case
	json.Unmarshal(line, &fields)
	json.Unmarshal(fields["role"], &want.Role)
	json.Unmarshal(fields["content"], &want.Content)
	if m.Role.String() != want.Role {
		t.Fatalf("%q: role %v, want %s", line, m.Role, want.Role)
	}
	if s, ok := want.Content.(string); ok && m.Text != s {
		t.Fatalf("%q: text %q, encoding/json says %q", line, m.Text, s)
	}
}

func FuzzRecord(f *testing.F) {
	for _, s := range []string{
		`{"role":"user","content":"hi"}`, `{"type":"x"}`, `{"\u0072ole":"tool","content":[{"type":"text","text":"\ud83d\ude42\ud800\u0041"}]}`,
		`{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","name":"g","arguments":{"x":1}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image"},{"type":"tool_result"}],"is_error":true}]}`,
		`{"role":"user","content":[1,null,"x",{"type":5,"text":[]}],"tool_calls":[1,null,[]],"function_call":{"name":null}}`,
		"\ufeff{}", "{\"a\":\t1e5 }\r", `{"role":"user","content":5,"content":"\u12"}`, `[[[[`, `{"a":{"a":[{}]}}`, "\xff", "\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		agrees(t, line)
		decodes(t, line)
		readsAlike(t, new(Outliner), line)
	})
}

// Lines made of the tokens that matter, far likelier to be almost right than random bytes.
func TestChecksAgreeWithEncodingJSON(t *testing.T) {
	tokens := []string{`{`, `}`, `[`, `]`, `:`, `,`, ` `, "\t", "\r", `"role"`, `"r\u006fle"`, `"content"`, `"tool_calls"`, `"type"`, `"user"`, `"tool"`, `"x"`, `""`, `null`, `true`,
		`false`, `0`, `-1`, `1.5E+3`, `01`, `-`, `1e`, `"\ud800"`, `"\ud83d\ude42"`, `"\ud800\u0041"`, `"\`, `"` + "\x01" + `"`, "é", "\xff", `"role":"user"`, `,"content":"hi"`, `,"content":[`, `"type":"x"`}
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(tokens), 0, 14).Draw(t, "tokens"), "")
		for _, l := range []string{line, `{"role":"user"` + line, `{"role":"user","content":` + line + `}`, `{` + line + `}`} {
			agrees(t, []byte(l))
			decodes(t, []byte(l))
			readsAlike(t, new(Outliner), []byte(l))
		}
	})
}

func TestDecodeMessage(t *testing.T) {
	calls := []Call{{ID: "c1", Name: "ls", Arguments: `{"dir": "a\n"}`}, {ID: "c2", Name: "pwd", Arguments: `{}`}}
	for name, c := range map[string]struct {
		line string
		want Message
	}{
		"text":          {`{"role":"user","content":"a\nb","id":"m1","ts":1.50,"name":"bob"}`, Message{Role: User, Text: "a\nb", ID: "m1", TS: "1.50", Name: "bob"}},
		"long number":   {`{"role":"user","content":"","id":12345678901234567890123}`, Message{Role: User, ID: "12345678901234567890123"}},
		"null":          {`{"role":"assistant","content":null,"id":null}`, Message{Role: Assistant}},
		"parts":         {`{"role":"user","content":["a",{"type":"text","text":"b"},{"type":"input_text","text":"c"},{"text":"d"}]}`, Message{Role: User, Text: "a\nb\nc\nd"}},
		"images":        {`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:x"}},{"type":"text","text":"b"},{"type":"image"},{"type":"input_audio"}]}`, Message{Role: User, Text: "b", Images: 3}},
		"document":      {`{"role":"user","content":[{"type":"document","source":{"type":"text","data":"hello"}},{"type":"document","source":{"type":"base64","data":"AAAA"}}]}`, Message{Role: User, Text: "hello", Images: 1}},
		"refusal":       {`{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`, Message{Role: Assistant, Text: "no"}},
		"thinking":      {`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"b"}]}`, Message{Role: Assistant, Text: "b"}},
		"unknown part":  {`{"role":"user","content":[{"type":"widget","n":1}]}`, Message{Role: User, Text: `{"type":"widget","n":1}`}},
		"odd parts":     {`{"role":"user","content":[5,null,{"type":"text","text":5}]}`, Message{Role: User, Text: "5\nnull\n" + `{"type":"text","text":5}`}},
		"nested calls":  {`{"role":"assistant","content":"go","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"dir\": \"a\\n\"}"}},{"id":"c2","function":{"name":"pwd","arguments":{}}}]}`, Message{Role: Assistant, Text: "go", Calls: calls}},
		"flat calls":    {`{"role":"assistant","content":"go","tool_calls":[{"id":"c1","name":"ls","arguments":{"dir": "a\n"}},{"id":"c2","name":"pwd","arguments":"{}"}]}`, Message{Role: Assistant, Text: "go", Calls: calls}},
		"anthropic":     {`{"role":"assistant","content":[{"type":"text","text":"go"},{"type":"tool_use","id":"c1","name":"ls","input":{"dir": "a\n"}},{"type":"tool_use","id":"c2","name":"pwd","input":{}}]}`, Message{Role: Assistant, Text: "go", Calls: calls}},
		"both forms":    {`{"role":"assistant","content":[{"type":"text","text":"go"},{"type":"tool_use","id":"c1","name":"ls","input":{"dir": "a\n"}}],"tool_calls":[{"id":"c1","name":"ls","arguments":{"dir":"a\n"}},{"id":"c2","name":"pwd","arguments":"{}"}]}`, Message{Role: Assistant, Text: "go", Calls: calls}},
		"custom call":   {`{"role":"assistant","tool_calls":[{"id":"c1","type":"custom","custom":{"name":"sh","input":"ls"}}]}`, Message{Role: Assistant, Calls: []Call{{ID: "c1", Name: "sh", Arguments: "ls"}}}},
		"function_call": {`{"role":"assistant","content":null,"function_call":{"name":"ls","arguments":"{}"}}`, Message{Role: Assistant, Calls: []Call{{Name: "ls", Arguments: "{}"}}}},
		"odd calls":     {`{"role":"assistant","tool_calls":[5,{}]}`, Message{Role: Assistant, Calls: []Call{{Arguments: "5"}, {}}}},
		"tool":          {`{"role":"tool","tool_call_id":"c1","name":"ls","content":"x"}`, Message{Role: Tool, CallID: "c1", Name: "ls", Text: "x"}},
		"results": {`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"},{"type":"tool_result","tool_use_id":"c2","is_error":true,"content":[{"type":"text","text":"y"},{"type":"image"}]},{"type":"tool_result","tool_use_id":"c3"},{"type":"tool_result","tool_use_id":"c4","content":null}]}`,
			Message{Role: User, Images: 1, Results: []Result{{CallID: "c1", Text: "x"}, {CallID: "c2", Text: "y", IsError: true}, {CallID: "c3"}, {CallID: "c4"}}}},
		"last key":          {`{"role":"system","role":"user","content":"a","content":"b","tool_calls":[{"id":"x"}],"tool_calls":[]}`, Message{Role: User, Text: "b"}},
		"escaped key":       {`{"\u0072ole":"user","c\u006fntent":"b"}`, Message{Role: User, Text: "b"}},
		"surrogates":        {`{"role":"user","content":"\ud83d\ude42 \ud800 \ud800\u0041 \udc00\ud83d"}`, Message{Role: User, Text: "🙂 \ufffd \ufffdA \ufffd\ufffd"}},
		"not JSON":          {"{nope\r\n", Message{Text: "{nope"}},
		"not UTF-8":         {`{"role":"user","content":"` + "\xff" + `"}`, Message{Text: `{"role":"user","content":"` + "\ufffd" + `"}`}},
		"not an object":     {`["a"]`, Message{Text: `["a"]`}},
		"no role":           {`{"content":"a"}`, Message{Text: `{"content":"a"}`}},
		"no content":        {`{"role":"user","x":1}`, Message{Text: `{"role":"user","x":1}`}},
		"content an object": {`{"role":"user","content":{"a":1}}`, Message{Role: User, Text: `{"a":1}`}},
		"empty":             {``, Message{}},
	} {
		if got := DecodeMessage([]byte(c.line)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s\n got %+v\nwant %+v", name, got, c.want)
		}
	}
}

// Results nested in results must cost their size once, not once a level.
func TestDeeplyNestedResultsAreText(t *testing.T) {
	inner := `"` + strings.Repeat("x", 1<<20) + `"`
	for range MaxDepth/2 - 2 {
		inner = `[{"type":"tool_result","content":` + inner + `}]`
	}
	line := []byte(`{"role":"user","content":` + inner + `}`)
	if err := CheckMessage(line); err != nil {
		t.Fatal(err)
	}
	m := DecodeMessage(line)
	if len(m.Results) != 1 || !strings.HasPrefix(m.Results[0].Text, `{"type":"tool_result"`) {
		t.Errorf("%d results", len(m.Results))
	}
}

func TestRoleNames(t *testing.T) {
	for r := System; r <= Tool; r++ {
		if ParseRole(r.String()) != r {
			t.Errorf("%v does not come back", r)
		}
	}
	for _, s := range []string{"", "unknown", "event", "User"} {
		if ParseRole(s) != RoleUnknown {
			t.Errorf("%q is a role", s)
		}
	}
	if s := Role(200).String(); s != "unknown" {
		t.Errorf("a role out of range is %q", s)
	}
}

func benchRecord() []byte {
	b, _ := json.Marshal(map[string]any{"role": "user", "content": strings.Repeat("Fix the \"token\" refresh:\n\tplease do it. ", 25)})
	return b
}

func BenchmarkCheckMessage(b *testing.B) {
	line := benchRecord()
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if CheckMessage(line) != nil {
			b.Fatal("refused")
		}
	}
}

func BenchmarkDecodeMessage(b *testing.B) {
	line := benchRecord()
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		DecodeMessage(line)
	}
}

// A record of 16 MiB with millions of empty parts took half a gigabyte to read.
func TestMillionsOfPartsAreNotMillionsOfThings(t *testing.T) {
	const n = maxParts + 5
	list := func(part string) string { return strings.Repeat(part+", ", n-1) + part }
	rest := func(part string) string { return strings.Repeat(part+", ", n-maxParts-1) + part }
	m := DecodeMessage([]byte(`{"role":"user","content":[` + list(`{}`) + `]}`))
	if want := strings.Repeat("{}\n", maxParts) + rest("{}"); m.Text != want {
		t.Errorf("parts: %d bytes that end in %q, want %d", len(m.Text), m.Text[len(m.Text)-40:], len(want))
	}
	call := `{"name":"f"}`
	m = DecodeMessage([]byte(`{"role":"assistant","tool_calls":[` + list(call) + `]}`))
	if len(m.Calls) != maxParts+1 || m.Calls[0].Name != "f" || m.Calls[maxParts].Arguments != rest(call) {
		t.Errorf("calls: %d, the last %+v", len(m.Calls), m.Calls[len(m.Calls)-1])
	}
	result := `{"type":"tool_result","content":["a"]}`
	m = DecodeMessage([]byte(`{"role":"user","content":[` + list(result) + `]}`))
	if len(m.Results) > maxParts || !strings.HasSuffix(m.Text, rest(result)) {
		t.Errorf("results: %d, then %.80q", len(m.Results), m.Text)
	}
}
