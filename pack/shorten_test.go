package pack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Large results are shortened by what they are and by the call that they answer; pack.json and the report say how.
func TestResultsAreShortenedByKind(t *testing.T) {
	type m = map[string]any
	encode := func(v any) []byte {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var log, orders strings.Builder
	for i := range 300 {
		fmt.Fprintf(&log, "tests/test_a.py::test_%d PASSED\n", i)
		fmt.Fprintf(&orders, `,{"id":"ord_%d","status":"paid"}`, i)
	}
	log.WriteString("FAILED tests/test_a.py::test_refund - AssertionError: refund R-51 was rejected\n1 failed, 300 passed in 0.8s\n")
	l := newLog()
	l.Append(encode(m{"role": "user", "content": "run the tests"}))
	l.Append(encode(m{"role": "assistant", "content": nil, "tool_calls": []m{{"id": "c1", "function": m{"name": "bash", "arguments": `{"command":"pytest -v"}`}}}}))
	l.Append(encode(m{"role": "tool", "tool_call_id": "c1", "content": log.String()}))
	l.Append(encode(m{"role": "assistant", "content": []m{
		{"type": "tool_use", "id": "c2", "name": "list_orders", "input": m{}}, {"type": "tool_use", "id": "c3", "name": "note", "input": m{}}}}))
	l.Append(encode(m{"role": "user", "content": []m{
		{"type": "tool_result", "tool_use_id": "c2", "content": "[" + orders.String()[1:] + "]"}, {"type": "tool_result", "tool_use_id": "c3", "content": "a small one stays whole"}}}))
	b := mustCompile(t, inputOf(l, 8000))
	md := string(b.Markdown)
	for _, want := range []string{
		"FAILED tests/test_a.py::test_refund - AssertionError: refund R-51 was rejected\n", "1 failed, 300 passed", "more like it]\n", "all of it in context/line/3.txt]\n",
		`"ord_0"`, "all of it in context/line/5.txt]", "a small one stays whole\n",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("the pack does not hold %q:\n%s", want, md)
		}
	}
	got := map[string]string{}
	for _, it := range parseJSON(t, b).Items {
		if it.Cut {
			got[it.Range] = it.Shortened
		}
	}
	if got["3"] != "log" || got["5"] != "json" || len(got) != 2 {
		t.Errorf("pack.json says %v", got)
	}
	if report := string(b.Report); !strings.Contains(report, "| 3 | shortened as log |") || !strings.Contains(report, "| 5 | shortened as json |") {
		t.Errorf("the report does not say how:\n%s", report)
	}
}
