package pack

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/nativetest"
)

// footerOf returns the footer of a build as its renderings show it.
func footerOf(t *testing.T, b *Build) string {
	t.Helper()
	if b.native.Footer.Quoted == "" {
		t.Fatal("the pack has no footer")
	}
	return b.native.Footer.Quoted
}

// bodyOf returns a rendering as a value of JSON.
func bodyOf(t *testing.T, n nativeOf) (body map[string]any) {
	t.Helper()
	if err := json.Unmarshal(n.data, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// at follows keys and indices into a value of JSON; a negative index counts from the end.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			o, _ := v.(map[string]any)
			v = o[step]
		case int:
			list, _ := v.([]any)
			if step < 0 {
				step += len(list)
			}
			if step < 0 || step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// toolLoop is a request and the result of the first call.
var toolLoop = []string{
	`{"role":"user","content":"List the root."}`,
	`{"role":"assistant","content":[{"type":"thinking","thinking":"I look.","signature":"c2ln"},` +
		`{"type":"tool_use","id":"c1","name":"ls","input":{"dir":"/"}}]}`,
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"bin etc"}]}`,
}

// A text of the user after a result ends the turn: Claude loses its thinking, DeepSeek and
// Gemini begin another one.
func TestFooterFollowsLastResult(t *testing.T) {
	for name, records := range map[string][]string{"result": toolLoop, "open call": toolLoop[:2]} {
		in := inputOf(logOf(records...), 8000, sampleFiles()...)
		b := mustCompile(t, in)
		footer, all := footerOf(t, b), natives(t, b, logsOf(&in), in.Budget, "")
		text := map[string]string{"result": "bin etc", "open call": native.NoResult}[name]

		joined := text + "\n" + footer
		for f, path := range map[native.Format][]any{
			native.OpenAI:    {"messages", -1, "content"},
			native.Responses: {"input", -1, "output"},
			native.Gemini:    {"contents", -1, "parts", 0, "functionResponse", "response", "output"},
			native.GenAI:     {"contents", -1, "parts", 0, "functionResponse", "response", "output"},
		} {
			if got := at(bodyOf(t, all[f]), path...); got != joined {
				t.Errorf("%s, %s: the last result is %q", name, f, got)
			}
		}

		body := bodyOf(t, all[native.Anthropic])
		content, _ := at(body, "messages", -1, "content").([]any)
		result, after := at(content, 0, "content", 0, "text"), at(content, 0, "content", 1, "text")
		if len(content) != 1 || at(content, 0, "type") != "tool_result" || result != text || after != footer {
			t.Errorf("%s: the last message of Anthropic's is %v", name, content)
		}
		if !strings.Contains(string(all[native.Anthropic].data), `"signature":"c2ln"`) {
			t.Errorf("%s: the thinking of the turn is gone", name)
		}
	}
}

// Where the user spoke last, the footer is another part of the same message.
func TestFooterJoinsLastUser(t *testing.T) {
	l := logOf(toolLoop...)
	l.Append(message("assistant", "bin and etc."))
	l.Append(message("user", "And /bin?"))
	in := inputOf(l, 8000, sampleFiles()...)
	b := mustCompile(t, in)
	footer, all := footerOf(t, b), natives(t, b, logsOf(&in), in.Budget, "")
	for f, path := range map[native.Format][]any{
		native.OpenAI:    {"messages", -1, "content"},
		native.Responses: {"input", -1, "content"},
	} {
		if got := at(bodyOf(t, all[f]), path...); got != "And /bin?\n"+footer {
			t.Errorf("%s: the last message is %q", f, got)
		}
	}

	for f, path := range map[native.Format][]any{
		native.Anthropic: {"messages", -1, "content"},
		native.Gemini:    {"contents", -1, "parts"},
	} {
		list, _ := at(bodyOf(t, all[f]), path...).([]any)
		if len(list) != 2 || at(list, 0, "text") != "And /bin?" || at(list, 1, "text") != footer {
			t.Errorf("%s: the last message is %v", f, list)
		}
	}
}

// The footer is all by which a body differs from one without a footer, but for the marks.
func TestFooterChangesNothingBeforeIt(t *testing.T) {
	records := longLog(120).Records()
	for n := 1; n <= len(records); n += 3 {
		l := newLog()
		for _, r := range records[:n] {
			l.Append(r)
		}

		in := inputOf(l, 4000, sampleFiles()...)
		b := mustCompile(t, in)
		with := natives(t, b, logsOf(&in), in.Budget, "")
		b.native.Footer = native.Footer{}
		for f, without := range natives(t, b, logsOf(&in), in.Budget, "") {
			if with[f].stable != without.stable {
				t.Errorf("%s, %d records: %+v stays, without a footer %+v", f, n, with[f].stable, without.stable)
			}
			if i, ok := without.begins(with[f].units); !ok {
				t.Errorf("%s, %d records: unit %d differs", f, n, i)
			}
		}
	}
}

// requestBehindHistory matches the end of the history, the line about omitted records, and a request.
var requestBehindHistory = regexp.MustCompile(`\n\[ctxfs \d+: end\]\n(## .* left out: .*\n)?\nRequest `)

// Services that want alternating roles refused two messages of the user.
func TestHistoryAndRequestAreOneMessage(t *testing.T) {
	l := newLog()
	for i := range 60 {
		l.Append(message("user", fmt.Sprintf("Request %d: %s", i, weighing(60))))
		l.Append(message("assistant", fmt.Sprintf("Answer %d: %s", i, weighing(60))))
	}

	before, merged := 0, 0
	for n := 2; n <= l.Len(); n++ {
		in := inputOf(l.Prefix(n), 4000)
		b := mustCompile(t, in)
		if b.Compactions == before {
			continue
		}
		before = b.Compactions
		all := natives(t, b, logsOf(&in), in.Budget, "")                                 // which checks that roles alternate
		first, _ := at(bodyOf(t, all[native.OpenAI]), "messages", 1, "content").(string) // behind the notation
		if strings.HasPrefix(first, "Request 0") && requestBehindHistory.MatchString(first) {
			merged++
		}
	}
	if before < 2 || merged == 0 {
		t.Errorf("%d compactions, %d times one message", before, merged)
	}
}

// Marks follow the system prompt, the compacted history, and the last live record.
func TestMarksFollowHistoryAndLive(t *testing.T) {
	l := longLog(160)
	for n := 100; n <= l.Len(); n += 3 {
		in := inputOf(l.Prefix(n), 4000, sampleFiles()...)
		b := mustCompile(t, in)
		got := natives(t, b, logsOf(&in), in.Budget, "")[native.Anthropic]
		body, _ := nativetest.Check("anthropic", got.data, func(string) int { return 0 })
		if b.Compactions == 0 {
			t.Fatal("no compaction")
		}

		system, history := 0, 0
		for i, u := range body.Units {
			if u.Role == "system" {
				system = i
			} else if u.Role == "assistant" {
				break
			} else if strings.HasPrefix(u.Text, "[ctxfs "+testMarks.Tag()+":") || strings.HasPrefix(u.Text, "## ") {
				history = i
			}
		}

		last := got.stable.Units // the unit that the footer follows, or the one before a result that has it
		if body.Units[last].Result {
			last--
		}
		for _, want := range []int{system, history, last} {
			if !slices.Contains(body.Marks, want) {
				t.Errorf("%d records: no mark on unit %d of %d, they are on %v", n, want, len(body.Units), body.Marks)
			}
		}
	}
}

// The result of a compacted call became a text of the user.
func TestCallOfLiveResultIsRestored(t *testing.T) {
	l := logOf(`{"role":"user","content":"Build it in the background."}`,
		`{"role":"assistant","content":"","reasoning_content":"It takes long.","tool_calls":[{"id":"slow","name":"build",`+
			`"arguments":"{\"log\":\"`+strings.Repeat("step ", 200)+`\",\"target\":\"all\"}"}]}`)
	for i := range 60 {
		l.Append(message("user", fmt.Sprintf("Request %d: %s", i, weighing(60))))
		l.Append(message("assistant", fmt.Sprintf("Answer %d: %s", i, weighing(60))))
	}
	l.Append([]byte(`{"role":"tool","tool_call_id":"slow","content":"built 17 files"}`))

	in := inputOf(l, 4000)
	b := mustCompile(t, in)
	if b.Compactions == 0 {
		t.Fatal("the call was not compacted")
	}
	for f, n := range natives(t, b, logsOf(&in), in.Budget, "") {
		text := string(n.data)
		restored := strings.Contains(text, "built 17 files") && strings.Contains(text, "target")
		if !restored || strings.Contains(text, "for a call that is not shown") {
			t.Errorf("%s: %s", f, clip(text[max(0, len(text)-2000):]))
		}
		if strings.Contains(text, strings.Repeat("step ", 100)) || !strings.Contains(text, "context/line/2.txt") {
			t.Errorf("%s: the arguments are not shortened", f)
		}
		if f == native.OpenAI && !strings.Contains(text, `"reasoning_content":"It takes long."`) {
			t.Errorf("the reasoning of the call is gone")
		}
	}
	if !strings.Contains(string(b.JSON()), "the call of a live result was compacted: it is restored") {
		t.Error("no repair says so")
	}
}

// Thinking of another provider, which is not sent, kept two messages of the assistant apart.
func TestForeignThinkingJoinsMessages(t *testing.T) {
	l := logOf(toolLoop[0])
	l.Append(message("assistant", "So."))
	l.Append([]byte(toolLoop[1]))
	in := inputOf(l, 8000)
	all := natives(t, mustCompile(t, in), logsOf(&in), in.Budget, "")
	messages, _ := at(bodyOf(t, all[native.OpenAI]), "messages").([]any)
	if len(messages) != 3 || at(messages, 1, "content") != "So." || at(messages, 1, "tool_calls", 0, "id") != "c1" {
		t.Errorf("the messages are %v", messages)
	}
}
