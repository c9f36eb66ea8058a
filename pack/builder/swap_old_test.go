package builder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/swap"
)

// Rows that an earlier version kept, with the name of a log as their source, are read as those of today; fsck finds nothing wrong with them.
func TestRowsOfAnOlderStoreAreRead(t *testing.T) {
	d := newDesk(t, Config{})
	messages := [][]byte{packtest.Message("user", "Where is the retry?")}
	for i := range 4 {
		messages = append(messages, packtest.Message("assistant", fmt.Sprintf("It stands in file %d.", i)))
	}
	events := []byte(`{"type":"tool_result","id":"ev-991","tool_call_id":"c1","name":"run_tests","content":"` + strings.Repeat("212 passed. ", 200) + `"}`)
	d.append(messages...)
	d.event(events)

	fixture, err := os.ReadFile("testdata/old/swap_rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]byte
	for line := range bytes.Lines(fixture) {
		line = bytes.TrimSpace(line)
		if err := checkSwapRow(nil, line); err != nil {
			t.Errorf("fsck: %v: %s", err, line)
		}
		lines = append(lines, line)
	}
	if err := d.x.AppendDerived(swap.RowsName, lines...); err != nil {
		t.Fatal(err)
	}
	if found, err := CheckChunks(t.Context(), d.x); err != nil || len(found) > 0 {
		t.Fatalf("the fixture is not of this history: %v, %v", found, err)
	}
	nodes, err := d.b.Swap(t.Context(), d.x, "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range bytes.Lines(nodes.Index) {
		var row ctxabi.SwapRow
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintln(row.Kind, row.Source, row.Log, row.Range, row.Event, row.Summary))
	}
	want := "message_range messages.jsonl messages 1-3  Where is the retry?\n" + "tool_output events.jsonl events 1 ev-991 run_tests: 212 passed.\n"
	if strings.Join(got, "") != want {
		t.Errorf("rows\n%swant\n%s", strings.Join(got, ""), want)
	}
}
