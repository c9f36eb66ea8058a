package result

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

const path = "context/line/97.txt"

// floor is the limit from which a shortened text always stays within it: the note and a little.
const floor = 40

var update = flag.Bool("update", false, "rewrite the golden files")

// goldens are real-looking results below testdata/results: what called for them and what they are.
var goldens = []struct {
	name  string
	about Hint
	kind  Kind
	limit int
}{
	{"pytest", bash("python -m pytest -v"), KindLog, 400},
	{"pytest_color", bash("cd shop && pytest --color=yes"), KindLog, 250},
	{"gotest", bash("go test -v ./..."), KindLog, 300},
	{"cargo_test", bash("cargo test"), KindLog, 300},
	{"cargo_build", bash("cargo build"), KindLog, 300},
	{"node_test", bash("node --test"), KindLog, 300},
	{"npm", bash("npm install"), KindLog, 200},
	{"gcc", bash("gcc -Wall -c a.c"), KindLog, 300},
	{"progress", bash("docker compose up"), KindLog, 150},
	{"kubectl", bash("kubectl get pods -n prod"), KindLog, 300},
	{"csv", Hint{Tool: "query"}, KindText, 200},
	{"grep", bash("grep -rn refresh ."), KindText, 300},
	{"ls_lR", bash("ls -lR"), KindText, 300},
	{"find", bash("find . -type f"), KindText, 300},
	{"git_diff", bash("git diff main"), KindText, 400},
	{"json_orders", Hint{Tool: "list_orders", Args: `{"limit":60}`}, KindJSON, 500},
	{"json_deep", bash("kubectl get deploy payments -o json"), KindJSON, 250},
	{"json_search", Hint{Tool: "web_search", Args: `{"query":"token refresh"}`}, KindJSON, 500},
	{"html", Hint{Tool: "fetch", Args: `{"url":"https://docs.example.com/retry"}`}, KindHTML, 300},
	{"search", Hint{Tool: "web_search", Args: `{"query":"go context deadline exceeded retry"}`}, KindSearch, 500},
	{"file_go", Hint{Tool: "read_file", Args: `{"path":"ledger.go"}`}, KindFile, 300},
	{"file_md", bash("cat README.md"), KindFile, 250},
	{"base64", Hint{Tool: "screenshot"}, KindText, 100},
}

func bash(command string) Hint {
	return Hint{Tool: "bash", Args: `{"command":` + quote(command) + `}`}
}

func resultOf(t testing.TB, name string) string {
	data, err := os.ReadFile(filepath.Join("testdata", "results", name+".in"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestResultGolden(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			text := resultOf(t, g.name)
			kind := Recognise(text, g.about)
			if kind != g.kind {
				t.Errorf("recognised as %s, not %s", kind, g.kind)
			}
			limit := Limit{Tokens: g.limit}
			short, used, cut := Shorten(text, kind, g.about, limit, path)
			if used != kind || !cut {
				t.Errorf("shortened as %s, cut %v", used, cut)
			}
			if err := wrong(text, short, used, limit); err != "" {
				t.Errorf("%s:\n%s", err, short)
			}
			file := filepath.Join("testdata", "results", g.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(short), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if short != string(want) {
				t.Errorf("%s differs; run with -update if that is meant.\n--- got\n%s\n--- want\n%s", file, short, want)
			}
		})
	}
}

// wrong returns the promise that short breaks; "" for none.
func wrong(text, short string, kind Kind, limit Limit) string {
	switch {
	case limit.Tokens >= floor && ctxabi.Weight(short) > limit.Tokens:
		return "above its limit in tokens"
	case !utf8.ValidString(short):
		return "no UTF-8"
	case !strings.Contains(short, path+"]"):
		return "the path is not named"
	case kind == KindJSON && isJSON(text) && !gjson.Valid(short):
		return "no JSON any more"
	case kind == KindJSON || kind == KindHTML || kind == KindBinary:
		return ""
	}
	clean := Plain(text) + "\n" + Plain(WithoutData(text, path))
	lines := map[string]bool{}
	long := []string{}
	for line := range strings.Lines(clean) {
		line = strings.TrimSuffix(line, "\n")
		lines[line] = true
		if len(line) > longLine {
			long = append(long, line)
		}
	}
	fences := strings.Count(short, "```") - strings.Count(original(short), "```")
	for line := range strings.Lines(original(short)) {
		line = strings.TrimSuffix(line, "\n")
		if lines[line] || compress.FenceMark(line) != "" && fences == 0 {
			continue
		}
		if !slices.ContainsFunc(long, func(l string) bool { return strings.Contains(l, line) }) && !strings.Contains(clean, line) {
			return "a line that is not of the source: " + line
		}
	}
	return ""
}

// manyTexts draws what tools give, joined and broken.
func manyTexts(t testing.TB) *rapid.Generator[string] {
	var whole []string
	for _, g := range goldens {
		whole = append(whole, resultOf(t, g.name))
	}
	return rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.OneOf(
			rapid.StringMatching(`[a-z ]{0,80}`),
			rapid.SampledFrom([]string{"```", "```go", "~~~~", "  ```", "~~~"}),
			rapid.StringOfN(rapid.RuneFrom([]rune("你好😀é`# \t")), 0, 300, -1),
		), 0, 40), func(l []string) string { return strings.Join(l, "\n") }),
		rapid.SampledFrom(whole),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(whole), 1, 3), func(l []string) string { return strings.Join(l, "\n") }),
		rapid.Custom(func(t *rapid.T) string {
			s := rapid.SampledFrom(whole).Draw(t, "whole")
			from := rapid.IntRange(0, len(s)).Draw(t, "from")
			return s[from:rapid.IntRange(from, len(s)).Draw(t, "to")]
		}),
		rapid.Map(rapid.IntRange(1, 3000), func(n int) string { return strings.Repeat("Error: attempt 17 failed\n", n) }),
		rapid.Map(rapid.IntRange(1, 200), func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }),
	)
}

func hints() *rapid.Generator[Hint] {
	tools := []string{"", "bash", "read_file", "web_search", "grep", "ls", "mcp__fs__list_directory"}
	args := []string{"", `{"command":"cat a.go"}`, `{"command":"ls -lR"}`, `{"command":"go test ./..."}`, `{"path":"a.go","offset":17}`, "open a.go 12"}
	return rapid.Custom(func(t *rapid.T) Hint {
		return Hint{Tool: rapid.SampledFrom(tools).Draw(t, "tool"), Args: rapid.SampledFrom(args).Draw(t, "args")}
	})
}

var kinds = []Kind{KindSearch, KindFile, KindLog, KindJSON, KindHTML, KindBinary, KindText}

// Whatever a text is taken for, what is shown keeps every promise.
func TestResultProperties(t *testing.T) {
	all := manyTexts(t)
	rapid.Check(t, func(t *rapid.T) {
		text, about := all.Draw(t, "text"), hints().Draw(t, "about")
		tokens := rapid.OneOf(rapid.IntRange(0, 120), rapid.IntRange(40, 3000)).Draw(t, "tokens")
		kind := Recognise(text, about)
		if rapid.IntRange(0, 2).Draw(t, "another") == 0 {
			kind = rapid.SampledFrom(kinds).Draw(t, "kind")
		}
		limit := Limit{Tokens: tokens}
		checkResult(t, text, kind, about, limit)
	})
}

func checkResult(t rapid.TB, text string, kind Kind, about Hint, limit Limit) {
	short, used, cut := Shorten(text, kind, about, limit, path)
	again, usedAgain, _ := Shorten(text, kind, about, limit, path)
	switch {
	case short != again || used != usedAgain:
		t.Fatal("another result the second time")
	case !cut && (short != text || !limit.Holds(text)):
		t.Fatal("changed without saying so, or above its limit")
	case cut && limit.Holds(text) && !Repeats(text, kind):
		t.Fatal("cut although it fits")
	case cut:
		if err := wrong(text, short, used, limit); err != "" {
			t.Fatalf("%s (kind %s, used %s, limit %+v):\n%q", err, kind, used, limit, short)
		}
	}
	if kind == KindJSON && isJSON(text) && cut && limit.Tokens >= 200 && used != KindJSON {
		t.Fatalf("JSON became %s", used)
	}
}

func FuzzResult(f *testing.F) {
	for _, g := range goldens {
		f.Add(resultOf(f, g.name), g.about.Tool, g.about.Args, 200)
	}
	f.Fuzz(func(t *testing.T, text, tool, args string, tokens int) {
		if !utf8.ValidString(text) || tokens < 0 || tokens > 5000 {
			return
		}
		about := Hint{Tool: tool, Args: args}
		kind := Recognise(text, about)
		checkResult(t, text, kind, about, Limit{Tokens: tokens})
	})
}

// Results of unusual size are shortened as others are.
func TestResultExtremes(t *testing.T) {
	var find, search strings.Builder
	for i := 0; find.Len() < 667_000; i++ {
		find.WriteString("/usr/share/" + []string{"doc", "man", "locale", "icons/hicolor"}[i%4] + "/package-" + strings.Repeat("x", i%7) + "/file_" + string(rune('a'+i%26)) + ".gz\n")
	}
	for i := 0; search.Len() < 50_000; i++ {
		search.WriteString("1. How to refresh a token\n   https://docs.example.com/" + strings.Repeat("a", i%9+1) + "\n   " + strings.Repeat("A refresh token is exchanged for an access token. ", 20) + "\n\n")
	}
	for _, c := range []struct {
		name, text string
		about      Hint
		kind       Kind
		limit      Limit
		want       string
	}{
		{"667 kB of find", find.String(), bash("find /"), KindText, Limit{Tokens: 500}, "/usr/share/"},
		{"1.2 MB of a loop", strings.Repeat("Retrying connection to db-primary:5432 (attempt 3)\n", 24_000), bash("./wait.sh"), KindLog, Limit{Tokens: 500}, "more like it]"},
		{"50 KB of search results", search.String(), Hint{Tool: "web_search", Args: "refresh token"}, KindSearch, Limit{Tokens: 500}, "https://docs.example.com/"},
		{"16 MiB of a log", strings.Repeat("2025-06-03T09:00:00Z INFO handled job in 12 ms without any trouble\n", 250_000) + "panic: out of memory\n", bash("make run"), KindLog, Limit{Tokens: 500}, "panic: out of memory"},
		{"16 MiB on one line", strings.Repeat("lorem ipsum dolor sit amet ", 620_000), Hint{Tool: "fetch"}, KindText, Limit{Tokens: 500}, "lorem"},
		{"16 MiB of JSON", "[" + strings.Repeat(`{"id":"a1","name":"x"},`, 700_000) + `{"id":"last_one","error":"failed"}]`, Hint{}, KindJSON, Limit{Tokens: 500}, "last_one"},
		{"nested too deep", strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20), Hint{}, KindText, Limit{Tokens: 500}, "["},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind := Recognise(c.text, c.about)
			if kind != c.kind {
				t.Errorf("recognised as %s, not %s", kind, c.kind)
			}
			short, used, cut := Shorten(c.text, kind, c.about, c.limit, path)
			if !cut || used != kind {
				t.Errorf("cut %v as %s", cut, used)
			}
			if !c.limit.Holds(short) || !strings.Contains(short, c.want) || !strings.Contains(short, path) {
				t.Errorf("%d characters:\n%s", utf8.RuneCountInString(short), short)
			}
		})
	}
}

func TestPlainText(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31mred\x1b[0m\n":                       "ared\n",
		"10%\r50%\r100%\ndone\r\n":                    "100%\ndone\n",
		"\x1b]0;title\x07shell$ ls\n":                 "shell$ ls\n",
		"\x1b]8;;https://a.b\x1b\\link\x1b]8;;\x1b\\": "link",
		"ab\bc":              "ac",
		"tab\tstays é 你":     "tab\tstays é 你",
		"bad \xff bytes\x00": "bad \uFFFD bytes",
		"\x1b":               "",
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q became %q, not %q", in, got, want)
		}
	}
}

// Responses of searches, and outputs of programs, are known by their shape, whatever the tool is called.
func TestResultsAreKnownByTheirShape(t *testing.T) {
	output := strings.Repeat("step 17: loss 0.31 in epoch 4\n", 40)
	for _, c := range []struct {
		about Hint
		text  string
		want  Kind
	}{
		{Hint{Tool: "list_orders"}, `{"results":[{"id":1,"total":5},{"id":2,"total":7}]}`, KindJSON},
		{Hint{Tool: "execute_code", Args: `{"code":"train()"}`}, output, KindLog},
		{Hint{Tool: "code_interpreter", Args: `{"input":"train()"}`}, output, KindLog},
		{Hint{Tool: "run_python"}, output, KindLog},
		{Hint{Tool: "mcp__lab__sandbox_run", Args: `{"code":"train()"}`}, output, KindLog},
		{Hint{Tool: "workbench", Args: `{"command":"python train.py"}`}, output, KindLog},
		{Hint{Tool: "explain", Args: `{"code":"train()"}`}, output, KindText},
	} {
		if got := Recognise(c.text, c.about); got != c.want {
			t.Errorf("%+v: %s, want %s", c.about, got, c.want)
		}
	}
}

// A search folds to the titles of its first results, not to addresses.
func TestSearchFoldsToTitles(t *testing.T) {
	titles := []string{"Quicksort explained", "Mergesort, a history", "TimSort in CPython", "Heapsort", "Sorting networks", "Radix sort", "Bubble sort", "Bogosort"}
	var text []string
	for i, title := range titles {
		text = append(text, strings.Join([]string{string(rune('1'+i)) + ". " + title, "https://ex19.com/" + string(rune('1'+i)), "All about it."}, "\n"))
	}
	found := "Found 8 results\n" + strings.Join(text, "\n")
	got := Fold(found, Hint{Tool: "web_search"}, len(found), 30)
	if !strings.HasPrefix(got, "Found 8 results: Quicksort explained | Mergesort, a history | TimSort in CPython") || strings.Contains(got, "://") || ctxabi.Weight(got) > 60 {
		t.Errorf("%q", got)
	}
}

// Of a log inside a response its end is shown as well: there stands how it ended.
func TestALogInJSONKeepsItsEnd(t *testing.T) {
	var log strings.Builder
	for i := range 400 {
		fmt.Fprintf(&log, "epoch %d: loss 0.%d, %d samples\n", i, 900-2*i, 64*i)
	}
	log.WriteString("RuntimeError: CUDA out of memory on device_3\n")
	text := `{"status":"failed","stdout":` + quote(log.String()) + `}`
	about := Hint{Tool: "run_python"}
	short, used, _ := Shorten(text, Recognise(text, about), about, Limit{Tokens: 400}, path)
	if used != KindJSON || !gjson.Valid(short) || !strings.Contains(short, "epoch 0:") || !strings.Contains(short, "CUDA out of memory on device_3") {
		t.Errorf("%s: %s", used, short)
	}
}
