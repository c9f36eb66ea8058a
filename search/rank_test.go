package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/redact"
)

// call and answer are a call of a tool and its result.
func call(id, tool, args string) string {
	return line(map[string]any{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": id, "type": "function",
		"function": map[string]any{"name": tool, "arguments": args}}}})
}

func answer(id, text string) string {
	return line(map[string]any{"role": "tool", "tool_call_id": id, "content": text})
}

// file is a long file in which words stand here and there.
func file(words ...string) string {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "func step%c%c() { return other.value(%q) }\n", 'a'+i%26, 'a'+i/26, words[i%len(words)])
	}
	return b.String()
}

// A short record that says it stands in front of a file that has its words here and there, and records that
// answer with the same lines are one hit.
func TestOrder(t *testing.T) {
	short := message("assistant", "The cache key has the tenant in it, because two tenants shared entries.")
	for _, c := range []struct {
		name, records, query string
		want                 []string // in front
		like                 []int    // of the first hit
		also                 []int
	}{
		{"a sentence, then the file", short + call("1", "read", `{"path":"cache.go"}`) + answer("1", file("cache", "tenant", "key", "entries")),
			"tenant cache key entries", []string{"messages:1", "messages:3"}, nil, nil},
		{"a file that was read again", call("1", "read", `{"path":"a.go"}`) + answer("1", file("cache", "zebra")) + call("2", "read", `{"path":"a.go"}`) +
			answer("2", file("cache", "zebra")+"func added() {}\n") + message("user", "zebra"), "zebra", []string{"messages:5", "messages:4"}, nil, nil},
		{"a command that was run again", call("1", "bash", `{"command":"make zebra | tail -5"}`) + answer("1", "1 failed") + call("2", "bash", `{"command":"make zebra | tail -20"}`) +
			answer("2", "2 passed"), "zebra", []string{"messages:3"}, []int{1}, nil},
		{"the same edit, tried three times", call("1", "edit", `{"path":"a.go","old":"x","new":"\tzebra()"}`) + answer("1", "no match") +
			call("2", "edit", `{"path":"a.go","old":"xy","new":"\tzebra()"}`) + answer("2", "no match") +
			call("3", "edit", `{"path":"a.go","old":"xyz","new":"\tzebra()"}`) + answer("3", "replaced"), "zebra", []string{"messages:5"}, []int{1, 3}, nil},
		{"other edits of a file", call("1", "edit", `{"path":"a.go","new":"first zebra"}`) + answer("1", "replaced") + call("2", "edit", `{"path":"a.go","new":"second one: a zebra crossing"}`) +
			answer("2", "replaced"), "zebra", []string{"messages:1", "messages:3"}, nil, nil},
		{"what a user says with other numbers", message("user", "the zebra costs 40") + message("user", "the zebra costs 50"), "zebra", []string{"messages:2", "messages:1"}, nil, nil},
		{"what a user says again", message("user", "the zebra costs 40") + message("user", "the zebra costs 40"), "zebra", []string{"messages:2"}, nil, []int{1}},
		{"a call and its result", call("1", "bash", `{"command":"echo zebra"}`) + answer("1", "zebra"), "zebra", []string{"messages:2", "messages:1"}, nil, nil},
	} {
		w := newWorld(t, Config{Wait: -1})
		x := w.session(s1)
		w.append(x.Messages(), c.records)
		r := w.search(x, c.query)
		if got := sources(r); !slices.Equal(got[:min(len(got), len(c.want))], c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		} else if !slices.Equal(r.Hits[0].Like, c.like) || !slices.Equal(r.Hits[0].Also, c.also) {
			t.Errorf("%s: like %v, also %v", c.name, r.Hits[0].Like, r.Hits[0].Also)
		}
		w.stop()
	}
}

// What belongs to a hit is found, however far it is, and is not shown twice.
func TestWhatBelongsToAHit(t *testing.T) {
	w := newWorld(t, Config{Wait: -1})
	defer w.stop()
	x := w.session(s1)
	long := strings.Repeat("=== RUN another test of the package\n", 300)
	w.append(x.Messages(), message("user", "Why does the quokka fail?")+ // 1
		call("1", "bash", `{"command":"go test ./..."}`)+ // 2
		answer("1", long+"--- FAIL: TestJump (0.01s)\n    jump_test.go:41: got 3, want 4\n"+long)+ // 3
		message("assistant", "It jumps too far: the limit was 4.")+ // 4
		message("user", "continue")+ // 5
		message("assistant", "The limit is 3 now. Shall I commit?")+ // 6
		message("user", "not yet, squash first")+ // 7
		line(map[string]any{"role": "assistant", "content": "Two looks.", "tool_calls": []any{
			map[string]any{"id": "a", "type": "function", "function": map[string]any{"name": "read", "arguments": `{"path":"a.go"}`}},
			map[string]any{"id": "b", "type": "function", "function": map[string]any{"name": "read", "arguments": `{"path":"b.go"}`}},
			map[string]any{"id": "c", "type": "function", "function": map[string]any{"name": "read", "arguments": `{"path":"platypus.go"}`}}}})+ // 8
		answer("a", "package a")+answer("b", "package b")+answer("c", "package c")) // 9 to 11
	for _, c := range []struct {
		query string
		hit   int
		want  []string
	}{
		{"quokka", 1, []string{"4 the answer"}},
		{"jumps", 4, []string{"1 the question"}},
		{"go test", 2, nil}, // its result is a hit
		{`"go test"`, 2, []string{"3 its result"}},
		{`"TestJump"`, 3, []string{"2 its call"}},
		{"commit", 6, []string{"1 the question", "7 the answer"}}, // "continue" asks for nothing
		{"squash", 7, []string{"6 the question"}},
		{"platypus.go", 8, []string{"9 its result", "11 its result"}},
		{`"package b"`, 10, []string{"8 its call"}},
	} {
		r := w.search(x, c.query)
		i := slices.IndexFunc(r.Hits, func(h Hit) bool { return h.Line == c.hit })
		if i < 0 {
			t.Errorf("%s: %q", c.query, sources(r))
			continue
		}
		var got []string
		for _, w := range r.Hits[i].With {
			got = append(got, fmt.Sprint(w.Line, " ", w.What))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
	out := string(w.e.Render(w.search(x, `"go test"`)))
	if !strings.Contains(out, "### messages:3 tool bash, its result · context/line/3.txt\n") || !strings.Contains(out, "\n--- FAIL: TestJump (0.01s)\n") {
		t.Error(out)
	}
	out = string(w.e.Render(w.search(x, `"package b"`)))
	if !strings.Contains(out, "its call · context/line/8.txt\nread {\"path\":\"b.go\"}\n") {
		t.Error(out)
	}
}

// A secret of a record that stands with a hit is not shown.
func TestWhatBelongsToAHitIsRedacted(t *testing.T) {
	redactor, err := redact.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, Config{Wait: -1, Redact: redactor})
	defer w.stop()
	x := w.session(s1)
	const secret = "ghp_1234567890abcdefghijklmnopqrstuvwx12"
	w.append(x.Messages(), message("user", "Which quokka has the key?")+message("assistant", "The one with "+secret+" on it."))
	out := string(w.e.Render(w.search(x, "quokka")))
	if !strings.Contains(out, "the answer") || !strings.Contains(out, "The one with") || strings.Contains(out, secret) {
		t.Error(out)
	}
}

func TestInPhrase(t *testing.T) {
	for name, want := range map[string]bool{
		`"src`: true, `why "src`: true, `"`: true, `"a%2Fb" "c`: true, `"src%2Fmain.go`: true,
		`src`: false, `"src"`: false, `5" disk`: false, `a " b`: false, `"a" b"`: false, `x"src`: false, ``: false,
	} {
		if InPhrase(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
