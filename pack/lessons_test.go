package pack

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// attemptLog calls a tool with each argument and gives what it printed.
func attemptLog(pairs ...[2]string) *memLog {
	l := logOf(string(message("user", "Make the tests pass.")))
	for i, p := range pairs {
		l.Append([]byte(fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"c%d","name":"bash","arguments":%q}]}`, i, `{"command":"`+p[0]+`"}`)))
		l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%q}`, i, p[1])))
	}
	for range journal.PlainSight {
		l.Append(message("assistant", "Thinking."))
	}
	return l
}

// lessonsOf returns the failures that the goal lists after a history.
func lessonsOf(t *testing.T, m record.Records) []string {
	t.Helper()
	lines, err := NewMemo().Lessons(m, &journal.Fold{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestFailedAttempts(t *testing.T) {
	fail, pass := "--- FAIL: TestRefreshExpired (0.01s)\nFAIL", "ok  \tx\t0.1s"
	for name, c := range map[string]struct {
		log  *memLog
		want []string
	}{
		"none":        {attemptLog([2]string{"ls", "a.go\nerrors.go"}), nil},
		"one":         {attemptLog([2]string{"go test ./auth", fail}), []string{"bash go test ./auth: --- FAIL: TestRefreshExpired (0.01s) (messages:3)"}},
		"twice":       {attemptLog([2]string{"go test ./auth", fail}, [2]string{"ls", "a"}, [2]string{"go test ./auth", fail}), []string{"bash go test ./auth: --- FAIL: TestRefreshExpired (0.01s) (messages:7, twice)"}},
		"passed then": {attemptLog([2]string{"go test ./auth", fail}, [2]string{"go test ./auth", pass}), nil},
		"newest first": {attemptLog([2]string{"make a", "make: *** [a] Error 2"}, [2]string{"make b", "b.c: no such file\nexit status 1"}),
			[]string{"bash make b: b.c: no such file (messages:5)", "bash make a: make: *** [a] Error 2 (messages:3)"}},
	} {
		got := lessonsOf(t, c.log)
		for i := range c.want {
			c.want[i] = strings.TrimPrefix(c.want[i], "bash ")
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := lessonsOf(t, attemptLog([2]string{"go test", fail}).Prefix(3)); len(got) > 0 {
		t.Errorf("in plain sight: %q", got)
	}
}

// The goal names no failure that something made up for since, none that is an answer, and none of long ago.
func TestAMendedFailureIsNotInTheGoal(t *testing.T) {
	fail, pass := "--- FAIL: TestRefreshExpired (0.01s)\nFAIL", "ok  \tx\t0.1s"
	for name, pairs := range map[string][][2]string{
		"the commit came with what it needed":   {{"git commit -m A", "hook: lint failed\nexit status 1"}, {"git add . && git commit -m A", "[main 45ffe0a] A"}},
		"grep found nothing":                    {{"grep -rn toolText src", "(no output)\n\nCommand exited with code 1"}},
		"a search quotes an error":              {{"grep -rn Error src", "src/a.go:1: x\nsrc/b.go:2: y\nError: \"boom\""}},
		"tried again in other words, and again": {{"cd /w && go test ./x", fail}, {"go test ./x", fail}, {"go test ./x | tail -3", pass}},
	} {
		if got := lessonsOf(t, attemptLog(pairs...)); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
	for name, c := range map[string]struct {
		pairs [][2]string
		want  string
	}{
		"all of it passes":           {[][2]string{{"go test ./x", fail}, {"go test ./...", pass}}, "go test ./x"},
		"a part of it passes":        {[][2]string{{"go test ./...", fail}, {"go test ./x", pass}}, "go test ./..."},
		"it fails in another way":    {[][2]string{{"make check", "lint: x\nexit status 1"}, {"make  check 2>&1", fail}}, "make check 2>&1"},
		"a check by another program": {[][2]string{{"go vet ./...", "x.go:1:1: undefined: y\nexit status 1"}, {"make check", "ok"}}, "go vet ./..."},
		"another of the same tools":  {[][2]string{{"python a.py", "Traceback\nValueError: x"}, {"python b.py", "ok"}}, "python a.py"},
	} {
		if got := lessonsOf(t, attemptLog(c.pairs...)); len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	old := attemptLog([2]string{"make a", "make: *** [a] Error 2"})
	for range journal.LessonTurns {
		if got := lessonsOf(t, old); len(got) != 1 {
			t.Errorf("of the last turns: %q", got)
		}
		old.Append(message("user", "Now something else."))
		for range journal.PlainSight {
			old.Append(message("assistant", "Thinking."))
		}
	}
	if got := lessonsOf(t, old); len(got) > 0 {
		t.Errorf("of a turn long ago: %q", got)
	}
}

// A tool that failed and then did the same for the same is no failure, whatever else was another way.
func TestACallThatWorkedInTheEndIsNotInTheGoal(t *testing.T) {
	l := logOf(string(message("user", "Book it.")))
	call := func(i int, args, said string) {
		l.Append([]byte(fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"c%d","name":"update_reservation_flights","arguments":%q}]}`, i, args)))
		l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%q}`, i, said)))
	}
	call(0, `{"reservation_id":"OBUT9V","payment_id":"gift_card_1"}`, "Error: gift card balance is not enough")
	call(1, `{"reservation_id":"OTHER1","payment_id":"gift_card_1"}`, "Error: gift card balance is not enough")
	call(2, `{"reservation_id":"OBUT9V","payment_id":"credit_card_9"}`, `{"reservation_id":"OBUT9V"}`)
	for range journal.PlainSight {
		l.Append(message("assistant", "Thinking."))
	}
	if got := lessonsOf(t, l); len(got) != 1 || !strings.Contains(got[0], "OTHER1") {
		t.Errorf("%q", got)
	}
}

// The session that ctxfs brings along has four failures, all of them mended.
func TestTheExampleSessionHasNoOpenFailure(t *testing.T) {
	raw, err := os.ReadFile("../examples/session/messages.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	l := logOf(strings.Split(strings.TrimSpace(string(raw)), "\n")...)
	if got := lessonsOf(t, l); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if md := string(mustCompile(t, inputOf(l, 32000)).Markdown); strings.Contains(md, "\nFailed: ") {
		t.Errorf("the goal is %s", md[strings.Index(md, "# Context Block: goal"):])
	}
}

// What is to do stands in the goal where nobody wrote it down but the agent's own tool.
func TestDerivedItemsAreTheProgressOfTheGoal(t *testing.T) {
	l := logOf(string(message("user", "Make the retries kinder.")),
		`{"role":"assistant","tool_calls":[{"id":"a","name":"TodoWrite","arguments":"{\"todos\":[{\"content\":\"Read it\",\"status\":\"completed\"},{\"content\":\"Test it\",\"status\":\"pending\"},{\"content\":\"Add jitter\",\"status\":\"in_progress\"}]}"}]}`,
		`{"role":"tool","tool_call_id":"a","content":"ok"}`)
	in := inputBy(recipeOf(recipe.Source{Type: recipe.TypeJournal}), l, 8000)
	if md := string(mustCompile(t, in).Markdown); !strings.HasSuffix(md, "# Context Block: goal\nProgress 1/3. Next: Add jitter\n"+testMarks.End()) {
		t.Errorf("%s", md)
	}
	in.Files = append(in.Files, blocks.File{At: blocks.OfTodo, ID: "todo", Path: "context/todo.md", Data: []byte("- [x] mine\n- [ ] last\n")})
	if md := string(mustCompile(t, in).Markdown); !strings.HasSuffix(md, "Progress 1/2. Next: last\n"+testMarks.End()) {
		t.Errorf("beside a list of the agent: %s", md)
	}
	l.Append([]byte(`{"role":"assistant","tool_calls":[{"id":"b","name":"TodoWrite","arguments":"{\"todos\":[{\"content\":\"Read it\",\"status\":\"completed\"}]}"}]}`))
	if md := string(mustCompile(t, inputBy(recipeOf(recipe.Source{Type: recipe.TypeJournal}), l, 8000)).Markdown); strings.Contains(md, "Progress") {
		t.Errorf("when all is done: %s", md)
	}
}

// Items of a window that moves are those of the records in it, whatever was looked at before.
func TestDerivedItemsDependOnTheRecordsAlone(t *testing.T) {
	l := logOf()
	for i := range 1500 {
		l.Append(message("assistant", fmt.Sprintf("- [ ] step %d", i/7)))
		if i%3 == 0 {
			l.Append(message("assistant", fmt.Sprintf("- [x] step %d\n- [ ] more", i/9)))
		}
	}
	mm := NewMemo()
	for n := 1; n <= l.Len(); n += 37 {
		if got, want := fmt.Sprint(mm.Notes(l, n).Items()), fmt.Sprint(NewMemo().Notes(l, n).Items()); got != want {
			t.Fatalf("%d records: %s, want %s", n, got, want)
		}
	}
	if got, want := fmt.Sprint(mm.Notes(l, 100).Items()), fmt.Sprint(NewMemo().Notes(l, 100).Items()); got != want {
		t.Fatalf("%s, want %s", got, want)
	}
}

// Results that say so themselves, in Anthropic's form and as tool events.
func TestFailedAttemptsOfEachForm(t *testing.T) {
	h := newHistory()
	h.message([]byte(`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{"path":"a.go"}},{"type":"tool_use","id":"t2","name":"read","input":{"path":"b.go"}}]}`))
	h.message([]byte(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"no such file","is_error":true},{"type":"tool_result","tool_use_id":"t2","content":"package b"}]}`))
	h.event([]byte(`{"type":"tool_call","name":"deploy","id":"e","args":{"to":"prod","dry":true}}`))
	h.event([]byte(`{"type":"tool_result","id":"e","output":"quota used up","exit_code":3}`))
	for range journal.PlainSight {
		h.message(message("assistant", "Thinking."))
	}
	in := h.input(h.len(), 0)
	m := in.History()
	want := []string{`deploy prod: quota used up (events:2)`, `read a.go: no such file (messages:2)`}
	if got := lessonsOf(t, m); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
	if b := mustCompile(t, in); !strings.HasSuffix(string(b.Markdown), "# Context Block: goal\nFailed: "+want[0]+"\nFailed: "+want[1]+"\n"+testMarks.End()) {
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
					if n, _ := fmt.Sscanf(numbers[i:], form, &done, &all); n == 2 && (i == 0 || !record.IsDigit(numbers[i-1])) {
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
		a, b := mustCompile(t, inputBy(plain, l.Prefix(n), 8000)), mustCompile(t, inputBy(varied, l.Prefix(n), 8000))
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
	in.Files = append(in.Files, blocks.File{At: blocks.OfPlan, ID: "plan", Path: "context/plan.json", Data: []byte(samplePlan)})
	if md := string(mustCompile(t, in).Markdown); !strings.HasSuffix(md, "# Context Block: goal\nProgress 1/2. Next: Retry\n"+testMarks.End()) {
		t.Errorf("%s", md)
	}
	with := inputBy(recipeOf(recipe.Source{Type: recipe.TypeJournal}, recipe.Source{Type: recipe.TypePlan}), l, 8000)
	if md := string(mustCompile(t, with).Markdown); strings.Count(md, "Progress 1/2") != 1 {
		t.Errorf("%s", md)
	}
}
