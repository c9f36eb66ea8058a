package nodestest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// objects reads a file of rows as a client does that knows the format and not this program.
func objects(t *testing.T, s *harness.Session, file string) (list []map[string]any) {
	t.Helper()
	for line := range strings.Lines(s.Read(file)) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
	return list
}

// A row of the index of repeats lists where its content stands, and how often beside it.
func TestRefsOfARepeatAreAListOfPlaces(t *testing.T) {
	s := harness.Start(t, harness.Options{}).NewSession(t)
	file := source(3, 40)
	for i := range 3 {
		s.Append("messages.jsonl", harness.Record(map[string]any{"role": "user", "content": fmt.Sprint("note ", i)})+
			harness.Record(map[string]any{"role": "tool", "tool_call_id": "c", "content": file}))
	}
	for _, row := range objects(t, s, dedupIndex) {
		if row["hash"] != harness.BlobID(file) {
			continue
		}
		if refs := fmt.Sprint(row["refs"]); refs != "[messages:2 messages:4 messages:6]" || row["refs_count"] != 3.0 || row["source"] != "messages:2" {
			t.Errorf("%v", row)
		}
		return
	}
	t.Error("the content that repeats has no row")
}

// A content that stands in very many records has a row that does not grow with them.
func TestRefsOfARepeatAreBounded(t *testing.T) {
	s := harness.Start(t, harness.Options{}).NewSession(t)
	file := source(5, 40)
	var log strings.Builder
	for range 300 {
		log.WriteString(harness.Record(map[string]any{"role": "tool", "tool_call_id": "c", "content": file}))
	}
	s.Append("messages.jsonl", log.String())
	row := objects(t, s, dedupIndex)[0]
	if refs, _ := row["refs"].([]any); len(refs) != 256 || refs[255] != "messages:256" || row["refs_count"] != 300.0 {
		t.Errorf("%d places of %v", len(refs), row["refs_count"])
	}
}

// A row of what left the prompt names the file it is from and, of events, the event; so does the reference of its bytes.
func TestSwapRowsNameTheirFileAndEvent(t *testing.T) {
	s := harness.Start(t, harness.Options{}).NewSession(t)
	var messages, events strings.Builder
	for i := range 60 {
		messages.WriteString(harness.Record(map[string]any{"id": fmt.Sprintf("msg-%03d", i+1), "role": "user",
			"content": fmt.Sprintf("Step %d: %s", i, source(i, 8))}))
		event := map[string]any{"type": "tool_result", "tool_call_id": fmt.Sprint("c", i), "name": "run_tests", "content": source(100+i, 30)}
		if i%2 == 0 {
			event["id"] = fmt.Sprintf("ev-%d", 900+i)
		}
		events.WriteString(harness.Record(event))
	}
	s.Write("context/budget", "3000\n")
	s.Append("events.jsonl", events.String())
	s.Append("messages.jsonl", messages.String())
	s.Read("context/pack.md")
	seen := map[string]bool{}
	for _, row := range objects(t, s, swapIndex) {
		log, span := row["log"].(string), row["range"].(string)
		if row["source"] != log+".jsonl" {
			t.Errorf("%v", row)
		}
		first, last, several := strings.Cut(span, "-")
		if !several {
			last = first
		}
		var a, b int
		fmt.Sscan(first, &a)
		fmt.Sscan(last, &b)
		name := func(n int) string {
			switch {
			case log == "messages":
				return fmt.Sprintf("msg-%03d", n)
			case n%2 == 1:
				return fmt.Sprintf("ev-%d", 899+n)
			}
			return fmt.Sprint(n)
		}
		value := make([]byte, 1024)
		n, err := unix.Getxattr(s.Path("context/swap/chunk/"+row["id"].(string)), "user.ctx.ref", value)
		if err != nil {
			t.Fatal(err)
		}
		var ref map[string]any
		if err := json.Unmarshal(value[:n], &ref); err != nil {
			t.Fatal(err)
		}
		if ref["source"] != row["source"] || ref["start_event"] != name(a) || ref["end_event"] != name(b) || ref["start"] != float64(a) || ref["end"] != float64(b) {
			t.Errorf("the reference of %v is %v", row, ref)
		}
		kind := fmt.Sprint(log, " ", row["kind"])
		seen[kind] = true
		if want := name(a); kind == "events tool_output" && row["event"] != want || kind != "events tool_output" && row["event"] != nil {
			t.Errorf("%v, want the event %s", row, want)
		}
	}
	if !seen["events tool_output"] || !seen["messages message_range"] {
		t.Errorf("rows of %v", seen)
	}
}
