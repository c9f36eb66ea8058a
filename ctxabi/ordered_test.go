package ctxabi

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestDecodeParts(t *testing.T) {
	line := []byte(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"a"},` +
		`{"type":"tool_use","id":"c1","name":"ls","input":{"n":1.50}},{"type":"text","text":"b"},{"type":"image","source":{}},` +
		`{"type":"tool_result","tool_use_id":"c0","content":["x",{"type":"image_url"},"y"],"is_error":true}],` +
		`"tool_calls":[{"id":"c1","name":"ls"},{"id":"c2","name":"cat","arguments":"{}"}]}`)
	m, parts := DecodeParts(line)
	if want := DecodeMessage(line); !reflect.DeepEqual(m, want) {
		t.Errorf("the message is %+v, want %+v", m, want)
	}
	want := []Part{
		{Kind: PartThinking, Raw: []byte(`{"type":"thinking","thinking":"hm","signature":"c2ln"}`)},
		{Kind: PartText, Text: "a", Raw: []byte(`{"type":"text","text":"a"}`)},
		{Kind: PartCall, Call: Call{"c1", "ls", `{"n":1.50}`}, Raw: []byte(`{"type":"tool_use","id":"c1","name":"ls","input":{"n":1.50}}`)},
		{Kind: PartText, Text: "b", Raw: []byte(`{"type":"text","text":"b"}`)},
		{Kind: PartData, Raw: []byte(`{"type":"image","source":{}}`)},
		{Kind: PartResult, Result: Result{"c0", "x\ny", true}, Inner: []Part{
			{Kind: PartText, Text: "x", Raw: []byte(`"x"`)}, {Kind: PartData, Raw: []byte(`{"type":"image_url"}`)}, {Kind: PartText, Text: "y", Raw: []byte(`"y"`)}}},
		{Kind: PartCall, Call: Call{"c2", "cat", "{}"}, Raw: []byte(`{"id":"c2","name":"cat","arguments":"{}"}`)},
	}
	if !reflect.DeepEqual(parts, want) {
		t.Errorf("the parts are\n%+v, want\n%+v", parts, want)
	}
}

func TestContinuationOf(t *testing.T) {
	for part, want := range map[string]Continuation{
		`{"type":"text","text":"a","thoughtSignature":"c2ln"}`:                                         {Signature: "c2ln"},
		`{"id":"c","thought_signature":"c2-n_w=="}`:                                                    {Signature: "c2-n_w=="},
		`{"id":"c","extra_content":{"google":{"thought_signature":"c2ln"}}}`:                           {json.RawMessage(`{"google":{"thought_signature":"c2ln"}}`), "c2ln"},
		`{"id":"c","extra_content":{"google":7}}`:                                                      {Extra: json.RawMessage(`{"google":7}`)},
		`{"id":"c","extra_content":"x","thoughtSignature":"` + NoSignature + `"}`:                      {},
		`{"type":"text","text":"thoughtSignature"}`:                                                    {},
		`{"type":"text","thoughtSignature":"not base64 *"}`:                                            {},
		`{"type":"tool_use","thoughtSignature":7,"extra_content":{"google":{"thought_signature":""}}}`: {},
	} {
		got, ok := ContinuationOf([]byte(part))
		if !reflect.DeepEqual(got, want) || ok != (want.Extra != nil || want.Signature != "") {
			t.Errorf("%s: %+v, %t", part, got, ok)
		}
	}
}

func TestWithoutHalves(t *testing.T) {
	for text, want := range map[string]string{`{"a":"\ud83d"}`: `{"a":"\ufffd"}`, `{"a":"\ud83d\ude00"}`: `{"a":"\ud83d\ude00"}`, `{"a":"\\ud83d"}`: `{"a":"\\ud83d"}`,
		`{"a":"\n\u0041"}`: `{"a":"\n\u0041"}`, `{"a":"\\\ude00x"}`: `{"a":"\\\ufffdx"}`, `\ud83d\n`: `\ufffd\n`, `\`: `\`, `\u12`: `\u12`, "": "", `\ud83d\ud83d\ude00`: `\ufffd\ud83d\ude00`} {
		if got := WithoutHalves(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Whatever the line, the parts say what the message says.
func FuzzDecodeParts(f *testing.F) {
	f.Add([]byte(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image"},"x"]},"text"]}`))
	f.Add([]byte(`{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}`))
	f.Add([]byte(`{"role":"tool","content":[1,{"type":"what"}]}`))
	f.Add([]byte("no record"))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, parts := DecodeParts(line)
		if want := DecodeMessage(line); !reflect.DeepEqual(m, want) {
			t.Fatalf("%+v, want %+v", m, want)
		}
		if m.Role == RoleUnknown {
			if len(parts) > 0 {
				t.Fatalf("parts of what is not a message: %+v", parts)
			}
			return
		}
		var texts []string
		var calls []Call
		var results []Result
		data := 0
		for _, p := range parts {
			switch p.Kind {
			case PartText:
				texts = append(texts, p.Text)
			case PartCall:
				calls = append(calls, p.Call)
			case PartResult:
				results = append(results, p.Result)
				for _, inner := range p.Inner {
					if inner.Kind == PartData {
						data++
					}
				}
			case PartData:
				data++
			}
		}
		if strings.Join(texts, "\n") != m.Text || !reflect.DeepEqual(calls, m.Calls) || !reflect.DeepEqual(results, m.Results) || data != m.Images {
			t.Fatalf("%+v does not say what %+v says", parts, m)
		}
	})
}
