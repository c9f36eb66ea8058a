package pack

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/native"
)

func TestToolsText(t *testing.T) {
	for in, want := range map[string]string{
		"":     "",
		" \n":  "",
		"[]":   "[]\n",
		"{}":   "{}\n",
		"null": "null\n",
		"\ufeff[ {\"name\": \"ls\", \"description\": \"<list> & \\u0041\\/\"} ,\n{\"b\":2,\"a\":1} ]": "[\n{\"description\":\"<list> & A/\",\"name\":\"ls\"},\n{\"a\":1,\"b\":2}\n]\n",
		`{"version":1.50,"tools":[{"z":1e5,"a":{"y":[1,2],"x":-0.0}}],"big":123456789012345678901}`:   "{\"big\":123456789012345678901,\"tools\":[\n{\"a\":{\"x\":-0.0,\"y\":[1,2]},\"z\":1e5}\n],\"version\":1.50}\n",
		`["a","b"]`:          "[\"a\",\"b\"]\n",
		"[\"\u2028\"]":       "[\"\\u2028\"]\n",
		`{"a":1,"a":2}`:      "{\"a\":2}\n",
		`["日本\ud83d\ude00"]`: "[\"日本😀\"]\n",
	} {
		if got, err := native.ToolsText([]byte(in)); err != nil || got != want {
			t.Errorf("%q:\n got %q, %v\nwant %q", in, got, err, want)
		}
	}
	for _, in := range []string{"{", "[1,]", "tools", "[] []", "{\"a\":01}", "[1e]"} {
		if got, err := native.ToolsText([]byte(in)); !errors.Is(err, ctxabi.ErrMalformed) || got != "" {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

// genJSON draws a value as JSON text, laid out and its keys ordered by layout: two texts of one value differ in nothing else.
func genJSON(t *rapid.T, depth int) (one, other string) {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		s := rapid.String().Draw(t, "string")
		data, _ := json.Marshal(s)
		return string(data), asciiJSON(data)
	case 1:
		n := rapid.SampledFrom([]string{"0", "-0", "1.50", "1e400", "12345678901234567890", "1E-7"}).Draw(t, "number")
		return n, n
	case 2:
		return "true", "true"
	case 3:
		return "null", " null\n"
	case 4:
		var a, b []string
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			x, y := genJSON(t, depth-1)
			a, b = append(a, x), append(b, y)
		}
		return "[" + strings.Join(a, ",") + "]", "[ " + strings.Join(b, " ,\n\t") + " ]"
	}
	var a, b []string
	for _, key := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c"\\é]{0,3}`), 0, 4, rapid.ID).Draw(t, "keys") {
		k, _ := json.Marshal(key)
		x, y := genJSON(t, depth-1)
		a, b = append(a, string(k)+":"+x), append([]string{asciiJSON(k) + " : " + y}, b...)
	}
	return "{" + strings.Join(a, ",") + "}", "{\n" + strings.Join(b, ",") + "}"
}

// asciiJSON spells the characters of a JSON string with \u where that is possible.
func asciiJSON(data []byte) string {
	var b strings.Builder
	for _, r := range string(data) {
		if r < 0x80 || r > 0xffff {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	return b.String()
}

func TestToolsAreTheSameHoweverTheyAreLaidOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genJSON(t, 3)
		x, err := native.ToolsText([]byte(a))
		if err != nil {
			t.Fatalf("%s: %v", a, err)
		}
		y, err := native.ToolsText([]byte(b))
		if err != nil || x != y {
			t.Fatalf("%q and %q give\n%q\n%q, %v", a, b, x, y, err)
		}
		if again, err := native.ToolsText([]byte(x)); err != nil || again != x {
			t.Fatalf("not the same again: %q, %q, %v", x, again, err)
		}
	})
}

func FuzzToolsText(f *testing.F) {
	f.Add([]byte(`[{"name":"a","parameters":{"b":[1.0,"x"]}}]`))
	f.Add([]byte("\ufeff{\"tools\":[[],{}]} "))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := native.ToolsText(data)
		if err != nil || text == "" {
			return
		}
		if !json.Valid([]byte(text)) || text[len(text)-1] != '\n' {
			t.Fatalf("%q", text)
		}
		if again, err := native.ToolsText([]byte(text)); err != nil || again != text {
			t.Fatalf("%q, then %q, %v", text, again, err)
		}
	})
}

func planOf(t testing.TB, text string) *ctxabi.Plan {
	t.Helper()
	p, err := ctxabi.ParsePlan([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlanText(t *testing.T) {
	for in, want := range map[string]string{
		``:                               "",
		`{"design":"x"}`:                 "",
		`{"goal":"a\nb"}`:                "Goal: a b\n",
		`{"issue":{"title":"it fails"}}`: "Goal: it fails\n",
		`{"goal":"g","tasks":[{"id":"t1","title":"One","status":"done"},{"id":"t2","title":"Two"}]}`: "Goal: g\nProgress 1/2. Next: Two\n",
		`{"tasks":[{"id":"t1","status":"done"}]}`:                                                    "Progress 1/1.\n",
		`{"tasks":[{"id":"t1","status":"cancelled"}]}`:                                               "",
		`{"tasks":[{"id":"t1","status":"skipped"},{"id":"t2","description":"\nDo this\nso"}]}`:       "Progress 0/1. Next: Do this\n",
		`{"tasks":[{"id":"t1"}],"current_task_id":"t1"}`:                                             "Progress 0/1. Current: t1\n",
		`{"tasks":[{"id":"a","title":"A","steps":[{"description":"one","done":true},{"description":"two"},{"description":"three"}]}],"current_task_id":"a"}`: "Progress 0/1. Current: A (step 2/3). Next: two\n",
		`{"tasks":[{"id":"a","title":"A","steps":[{"command":"make"}]}],"current_task_id":"a"}`:                                                              "Progress 0/1. Current: A (step 1/1).\n",
		`{"tasks":[{"id":"a","title":"A","steps":[{"done":true}]},{"id":"b"}],"current_task_id":"a"}`:                                                        "Progress 0/2. Current: A\n",
		`{"tasks":[{"id":"a","title":"A","status":"completed"},{"id":"b","title":"B"},{"id":"c","title":"C"}],"current_task_id":"a"}`:                        "Progress 1/3. Next: B\n",
	} {
		if got := planText(planOf(t, in)); got != want {
			t.Errorf("%s:\n got %q\nwant %q", in, got, want)
		}
	}
	if got := planText(nil); got != "" {
		t.Errorf("no plan: %q", got)
	}
}

func TestErrorsText(t *testing.T) {
	events := []ErrorEvent{
		{4, "connect: timed out after 30s"}, {7, "go test: exit status 1"}, {9, "connect: timed out after 31.5s"}, {10, "2026-03-01T10:00:00Z panic at 0xc000123"},
		{11, "go test: exit status 2"}, {12, "connect: timed out after 30s"}, {13, "2026-03-02T11:00:00Z panic at 0xc000999\n"},
	}
	whole := "events:7: go test: exit status 1\nevents:11: go test: exit status 2\nevents:12: connect: timed out after 30s (3 times since events:4)\n" +
		"events:13: 2026-03-02T11:00:00Z panic at 0xc000999 (2 times since events:10)\n"
	if got := errorsText(events, nil); got != whole {
		t.Errorf("got\n%s", got)
	}
	if got := errorsText(nil, nil); got != "" {
		t.Errorf("%q", got)
	}
	if got := errorsText(nil, func(string) bool { return false }); got != "" {
		t.Errorf("%q", got)
	}
	short := "[2 older ones left out, all of them in events.jsonl]\n" + whole[strings.Index(whole, "events:12"):]
	for most := range len(whole) + 1 {
		got := errorsText(events, func(s string) bool { return len(s) <= most })
		if len(got) > most {
			t.Errorf("%d bytes in %d", len(got), most)
		}
		if most == len(short) && got != short || most == len(whole) && got != whole {
			t.Errorf("in %d:\n%s", most, got)
		}
		if got != "" && !strings.HasSuffix(got, "(2 times since events:10)\n") {
			t.Errorf("in %d the newest is not shown:\n%s", most, got)
		}
	}
}

// However often failures repeat, each stands once, and the counts add up.
func TestErrorsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "c"})).Draw(t, "events")
		var events []ErrorEvent
		for i, k := range kinds {
			events = append(events, ErrorEvent{Line: i + 1, Text: fmt.Sprintf("%s failed after %dms", k, i)})
		}
		seen, last := 0, 0
		for line := range strings.Lines(errorsText(events, nil)) {
			var at, since, times int
			var kind string
			if n, _ := fmt.Sscanf(strings.ReplaceAll(line, ":", " "), "events %d %1s failed after", &at, &kind); n != 2 || at <= last || kinds[at-1] != kind {
				t.Fatalf("%q after %d", line, last)
			}
			last, times = at, 1
			if _, tail, ok := strings.Cut(line, " ("); ok {
				if n, _ := fmt.Sscanf(tail, "%d times since events:%d)", &times, &since); n != 2 || since >= at || kinds[since-1] != kind {
					t.Fatalf("%q", line)
				}
			}
			seen += times
		}
		if seen != len(kinds) {
			t.Fatalf("%d of %d", seen, len(kinds))
		}
	})
}
