package pack

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/pack/recipe"
)

// attemptLog calls a tool with each argument and gives what it printed.
func attemptLog(pairs ...[2]string) *memLog {
	l := logOf(string(message("user", "Make the tests pass.")))
	for i, p := range pairs {
		l.Append([]byte(fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"c%d","name":"bash","arguments":%q}]}`, i, `{"command":"`+p[0]+`"}`)))
		l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%q}`, i, p[1])))
	}
	for range plainSight {
		l.Append(message("assistant", "Thinking."))
	}
	return l
}

func TestFailedAttempts(t *testing.T) {
	fail := "--- FAIL: TestRefreshExpired (0.01s)\nFAIL"
	for name, c := range map[string]struct {
		log  *memLog
		want []string
	}{
		"none":        {attemptLog([2]string{"ls", "a.go\nerrors.go"}), nil},
		"one":         {attemptLog([2]string{"go test ./auth", fail}), []string{"bash go test ./auth: --- FAIL: TestRefreshExpired (0.01s) | FAIL (messages:3)"}},
		"twice":       {attemptLog([2]string{"go test ./auth", fail}, [2]string{"ls", "a"}, [2]string{"go test ./auth", fail}), []string{"bash go test ./auth: --- FAIL: TestRefreshExpired (0.01s) | FAIL (messages:7, twice)"}},
		"passed then": {attemptLog([2]string{"go test ./auth", fail}, [2]string{"go test ./auth", "ok"}), nil},
		"newest first": {attemptLog([2]string{"make a", "make: *** [a] Error 2"}, [2]string{"make b", "b.c: no such file\nexit status 1"}),
			[]string{"bash make b: b.c: no such file | exit status 1 (messages:5)", "bash make a: make: *** [a] Error 2 (messages:3)"}},
	} {
		got := newMemo().attempts(c.log, c.log.Len())
		for i := range c.want {
			c.want[i] = strings.TrimPrefix(c.want[i], "bash ")
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := newMemo().attempts(attemptLog([2]string{"go test", fail}), 3); len(got) > 0 {
		t.Errorf("in plain sight: %q", got)
	}
}

// Results that say so themselves, in Anthropic's form and as tool events.
func TestFailedAttemptsOfEachForm(t *testing.T) {
	h := newHistory()
	h.message([]byte(`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{"path":"a.go"}},{"type":"tool_use","id":"t2","name":"read","input":{"path":"b.go"}}]}`))
	h.message([]byte(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"no such file","is_error":true},{"type":"tool_result","tool_use_id":"t2","content":"package b"}]}`))
	h.event([]byte(`{"type":"tool_call","name":"deploy","id":"e","args":{"to":"prod","dry":true}}`))
	h.event([]byte(`{"type":"tool_result","id":"e","output":"quota used up","exit_code":3}`))
	for range plainSight {
		h.message(message("assistant", "Thinking."))
	}
	in := h.input(h.len(), 0)
	m := in.history()
	want := []string{`deploy {"to":"prod","dry":true}: quota used up (events:2)`, `read a.go: no such file (messages:2)`}
	if got := newMemo().attempts(m, m.Len()); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
	if b := mustCompile(t, in); !strings.HasSuffix(string(b.Markdown), "# Context Block: goal\nFailed: "+want[0]+"\nFailed: "+want[1]+"\n") {
		t.Errorf("%s", b.Markdown)
	}
}

// The goal says the same in all styles, and every style is used.
func TestStylesSayTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{1,12}( [a-z]{1,9}){0,3}`)
		g := goal{all: rapid.IntRange(0, 300).Draw(t, "all")}
		if g.all > 0 {
			g.done = rapid.IntRange(0, g.all).Draw(t, "done")
			if g.done < g.all {
				g.next = word.Draw(t, "next")
			}
		}
		g.failed = rapid.SliceOfN(rapid.Map(word, func(s string) string { return s + " (messages:3)" }), 0, 4).Draw(t, "failed")
		if rapid.Bool().Draw(t, "far") {
			g.request = "Last request of the user, message 1:\n> " + word.Draw(t, "request") + "\n"
		}
		n := rapid.IntRange(0, 1<<30).Draw(t, "records")
		s := styleOf(n)
		if again := styleOf(n); g.text(again) != g.text(s) {
			t.Fatal("the same number of records gives two styles")
		}
		for _, text := range []string{g.text(s), g.text(style{})} {
			if got := readGoal(t, text); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", g) {
				t.Fatalf("%q says %+v, it was made from %+v", text, got, g)
			}
		}
	})
	used := map[string]bool{}
	for n := range 2000 {
		s := styleOf(n)
		used[fmt.Sprint(s.progress, s.label, s.separator, s.mark(4))] = true
	}
	if len(used) < 40 {
		t.Errorf("%d styles in all", len(used))
	}
}

// readGoal takes a goal apart again, whatever its style.
func readGoal(t *rapid.T, text string) (g goal) {
	g.failed = []string{}
	for line := range strings.Lines(text) {
		plain := strings.TrimSpace(line)
		head, rest, _ := strings.Cut(plain, "Failed: ")
		switch {
		case g.request != "" || strings.HasPrefix(plain, "Last request"):
			g.request += line
		case rest != "" && (strings.Trim(head, "-* .0123456789") == ""):
			g.failed = append(g.failed, rest)
		case strings.Trim(plain, "-=*") == "":
		default:
			numbers, next, _ := strings.Cut(plain, ". Next: ")
			g.next = next
			var label string
			for _, form := range []string{"%d/%d", "%d of %d"} {
				for i := range numbers {
					var done, all int
					if n, _ := fmt.Sscanf(numbers[i:], form, &done, &all); n == 2 && (i == 0 || !isDigit(numbers[i-1])) {
						g.done, g.all, label = done, all, numbers[:i]
					}
				}
			}
			if label == "" {
				t.Fatalf("%q tells nothing", line)
			}
		}
	}
	return g
}

// Variation changes nothing before the footer, and only with the number of records.
func TestVariationStaysInTheFooter(t *testing.T) {
	pure(t)
	l := codingLog(40)
	plain, varied := recipeOf(recipe.Source{Type: recipe.TypeJournal}, recipe.Source{Type: recipe.TypeTodo}), recipeOf(recipe.Source{Type: recipe.TypeJournal}, recipe.Source{Type: recipe.TypeTodo})
	varied.Variation = true
	rehash(varied)
	texts := map[string]bool{}
	for n := 20; n < l.Len(); n++ {
		a, b := mustCompile(t, inputBy(plain, l.prefix(n), 8000)), mustCompile(t, inputBy(varied, l.prefix(n), 8000))
		if string(a.Markdown[:a.Prefix]) != string(b.Markdown[:b.Prefix]) {
			t.Fatalf("%d records: the prefix is another one", n)
		}
		_, goal, _ := strings.Cut(string(b.Markdown), "# Context Block: goal\n")
		first, _, _ := strings.Cut(goal, "\n")
		texts[first] = true
		if !strings.Contains(goal, "Next: add RetryMax") {
			t.Fatalf("%s", goal)
		}
	}
	if len(texts) < 8 {
		t.Errorf("%d ways to say it", len(texts))
	}
}

func TestPlanProgressWhereThereIsNoTodo(t *testing.T) {
	l := sampleLog()
	in := inputBy(recipeOf(recipe.Source{Type: recipe.TypeJournal}), l, 8000)
	in.Files = append(in.Files, File{At: ofPlan, ID: "plan", Path: "context/plan.json", Data: []byte(samplePlan)})
	if md := string(mustCompile(t, in).Markdown); !strings.HasSuffix(md, "# Context Block: goal\nProgress 1/2. Next: Retry\n") {
		t.Errorf("%s", md)
	}
	with := inputBy(recipeOf(recipe.Source{Type: recipe.TypeJournal}, recipe.Source{Type: recipe.TypePlan}), l, 8000)
	if md := string(mustCompile(t, with).Markdown); strings.Count(md, "Progress 1/2") != 1 {
		t.Errorf("%s", md)
	}
}
