package blocks

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
)

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
		if got := PlanText(planOf(t, in)); got != want {
			t.Errorf("%s:\n got %q\nwant %q", in, got, want)
		}
	}
	if got := PlanText(nil); got != "" {
		t.Errorf("no plan: %q", got)
	}
}

func TestErrorsText(t *testing.T) {
	events := []ErrorEvent{
		{Line: 4, Text: "connect: timed out after 30s"}, {Line: 7, Text: "go test: exit status 1"}, {Line: 9, Text: "connect: timed out after 31.5s"}, {Line: 10, Text: "2026-03-01T10:00:00Z panic at 0xc000123"},
		{Line: 11, Text: "go test: exit status 2"}, {Line: 12, Text: "connect: timed out after 30s"}, {Line: 13, Text: "2026-03-02T11:00:00Z panic at 0xc000999\n"},
	}
	whole := "events:7: go test: exit status 1\nevents:11: go test: exit status 2\nevents:12: connect: timed out after 30s (3 times since events:4)\n" +
		"events:13: 2026-03-02T11:00:00Z panic at 0xc000999 (2 times since events:10)\n"
	if got := ErrorsText(events, nil); got != whole {
		t.Errorf("got\n%s", got)
	}
	if got := ErrorsText(nil, nil); got != "" {
		t.Errorf("%q", got)
	}
	if got := ErrorsText(nil, func(string) bool { return false }); got != "" {
		t.Errorf("%q", got)
	}
	short := "[2 older ones left out, all of them in events.jsonl]\n" + whole[strings.Index(whole, "events:12"):]
	for most := range len(whole) + 1 {
		got := ErrorsText(events, func(s string) bool { return len(s) <= most })
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
		for line := range strings.Lines(ErrorsText(events, nil)) {
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
