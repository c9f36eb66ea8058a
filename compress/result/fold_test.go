package result

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// The line of a compacted result says what matters of it, by its kind.
func TestFoldedLineSaysWhatMatters(t *testing.T) {
	flight := func(i int) string {
		return fmt.Sprintf(`{"id":%d,"origin":"BOS","destination":"DEN","flights":[{"n":"HAT%d","price":904,"status":"available"},{"n":"HAX%d","price":700}],"passengers":[{"first_name":"Amelia"}],"status":"cancelled"}`, i, i, i)
	}
	var iterations, list strings.Builder
	for i := range 600 {
		fmt.Fprintf(&iterations, "iter %d: 21.%03d ms ok\n", i, i)
	}
	for i := range 40 {
		fmt.Fprintf(&list, "%s\n", flight(i))
	}
	document := "# The contract\n\nIt lists calls.\n\n## Errors\n\n| field | meaning |\n| `is_error` | `true`: the call failed |\n\n## Examples\n\n212 passed, 1 failed\n" + strings.Repeat("Text about errors that failed.\n", 80)
	for name, c := range map[string]struct {
		text, tool, args string
		failed           bool
		want, never      []string
	}{
		"JSON":          {text: flight(7), tool: "bash", args: `{"command":"get 7"}`, want: []string{"id 7", "status cancelled"}},
		"error in JSON": {text: `{"data":null,"request":"r-17","error":{"code":"E_FULL","message":"no seats left"}}`, tool: "book", want: []string{"error.code E_FULL", "error.message no seats left"}},
		"JSON lines":    {text: list.String(), tool: "bash", want: []string{"id 0", "status cancelled"}},
		"JSON in text":  {text: "HTTP/1.1 201 Created\n\n" + flight(9), tool: "fetch", want: []string{"HTTP/1.1 201 Created", "id 9", "status cancelled"}},
		"long JSON":     {text: `{"total":200,"items":[` + strings.Repeat(flight(1)+",", 400) + flight(2) + `],"status":"ok"}`, tool: "api", want: []string{"status ok", "total 200"}},
		"empty list":    {text: "[]", tool: "api", want: []string{"[]"}},
		"a number":      {text: "42\n", tool: "bash", want: []string{"42"}},
		"one long line": {text: strings.Repeat("the harbor crane lifts containers ", 60), tool: "bash", want: []string{"the harbor crane"}, never: []string{"contai…"}},
		"traceback":     {text: iterations.String() + "Traceback (most recent call last):\n  File \"b.py\", line 12, in <module>\n    main()\nZeroDivisionError: division by zero\n", tool: "bash", want: []string{"ZeroDivisionError: division by zero"}, never: []string{"Traceback"}},
		"test run":      {text: "=== RUN TestA\n    token_test.go:41: got 401, want 200\n--- FAIL: TestA (0.01s)\nFAIL example.org/auth 0.02s\n", tool: "bash", args: `{"command":"go test"}`, want: []string{"token_test.go:41: got 401, want 200"}},
		"a file":        {text: document, tool: "read_file", args: `{"path":"docs/abi.md"}`, want: []string{"docs/abi.md, ", "lines", "# The contract", "## Errors"}, never: []string{"passed", "is_error"}},
		"cat":           {text: document, tool: "bash", args: `{"command":"cat docs/abi.md"}`, want: []string{"docs/abi.md, ", "# The contract"}, never: []string{"passed"}},
		"missing file":  {text: "open docs/none.md: no such file or directory", tool: "read_file", args: `{"path":"docs/none.md"}`, failed: true, want: []string{"no such file"}},
		"base64":        {text: `{"status":"ok","png":"` + encoded(4000) + `"}`, tool: "shot", want: []string{`"status":"ok"`}},
		"only data":     {text: encoded(4000), tool: "shot", want: []string{"base64"}},
		"matches":       {text: "a.go:1: error one\na.go:7: error two\nb.go:9: error three\n" + strings.Repeat("c.go:9: error\n", 9), tool: "grep", args: `{"pattern":"error"}`, want: []string{"12 lines: a.go:1"}},
	} {
		got := Fold(c.text, Hint{Tool: c.tool, Args: c.args, IsError: c.failed}, len(c.text), 30)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q lacks %q", name, got, want)
			}
		}
		for _, never := range c.never {
			if strings.Contains(got, never) {
				t.Errorf("%s: %q has %q", name, got, never)
			}
		}
		if n := ctxabi.Weight(got); n > 70 {
			t.Errorf("%s: %d tokens: %q", name, n, got)
		}
	}
}

// The size of a part of a file looked like the size of the file.
func TestPartOfAFileIsMarked(t *testing.T) {
	text := "# The plan\n\n" + strings.Repeat("One more step of the plan.\n", 40)
	for call, part := range map[string]bool{
		`read_file {"path":"PLAN.md"}`:                                 false,
		`read_file {"path":"PLAN.md","offset":40,"limit":42}`:          true,
		`view {"command":"view","path":"PLAN.md","view_range":[1,42]}`: true,
		`bash {"command":"cat PLAN.md"}`:                               false,
		`bash {"command":"head -42 PLAN.md"}`:                          true,
		`bash {"command":"sed -n 1,42p PLAN.md"}`:                      true,
	} {
		tool, args, _ := strings.Cut(call, " ")
		got := Fold(text, Hint{Tool: tool, Args: args}, len(text), 30)
		want := "PLAN.md, 42 lines, 1,092 bytes: # The plan"
		if part {
			want = "PLAN.md (part), 42 lines, 1,092 bytes: # The plan"
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", call, got)
		}
	}
}

// A line of any text is not empty, one line, and short.
func FuzzFold(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":"c"`, "[", "\n\n x", `{"":"\u00`, "panic: \x00", `[[[[]]]]`, strings.Repeat("a", 900), "Traceback\nE: x\n"} {
		f.Add(text, "read_file", `{"path":"a.go"}`, false)
		f.Add(text, "bash", `{"command":"make"}`, true)
	}
	f.Fuzz(func(t *testing.T, text, tool, args string, failed bool) {
		got := Fold(text, Hint{Tool: tool, Args: args, IsError: failed}, len(text), 30)
		if strings.TrimSpace(Plain(text)) != "" && strings.TrimSpace(got) == "" {
			t.Errorf("%q has an empty line", text)
		}
		if len(got) > 4000 {
			t.Errorf("%d bytes", len(got))
		}
	})
}
