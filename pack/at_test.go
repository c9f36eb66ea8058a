package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// What At gives for a moment is what Current gave then, while no file changed.
func TestAPackOfAnEarlierMomentIsTheOneThatWasGivenThen(t *testing.T) {
	d := newDesk(t, Config{Budget: 1500})
	defer d.b.Close()
	var then []*Build
	for i := range 40 {
		d.append(fmt.Appendf(nil, `{"role":"%s","content":"message %d %s"}`, []string{"user", "assistant"}[i%2], i, strings.Repeat(fmt.Sprint("w", i*i, " "), 20)))
		if i%3 == 1 {
			d.event(fmt.Appendf(nil, `{"type":"tool_call","id":"c%d","name":"run","arguments":"ls %d"}`, i, i))
			d.event(fmt.Appendf(nil, `{"type":"tool_result","tool_call_id":"c%d","content":"%s"}`, i, strings.Repeat(fmt.Sprint("file", i, " "), 40)))
		}
		if i%7 == 2 {
			d.event([]byte(`{"type":"error","message":"disk full"}`))
		}
		then = append(then, d.pack())
	}
	if then[39].Epoch[0] == '0' {
		t.Fatal("nothing was compacted")
	}
	ctx := context.Background()
	for _, n := range []int{40, 1, 39, 20, 2, 20, 33, 7, 12} {
		b, err := d.b.At(ctx, d.x, n)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Markdown, then[n-1].Markdown) || b.ID != then[n-1].ID {
			t.Errorf("at %d: not the pack of that moment:\n%s\n-- then:\n%s", n, b.Markdown, then[n-1].Markdown)
		}
	}
	for range 300 {
		n := 1 + rand.IntN(40)
		if b, err := d.b.At(ctx, d.x, n); err != nil || !bytes.Equal(b.Markdown, then[n-1].Markdown) || b.ID != then[n-1].ID ||
			!bytes.Equal(b.JSON, then[n-1].JSON) || !bytes.Equal(b.Report, then[n-1].Report) || b.Messages != n {
			t.Fatalf("at %d, out of order: %v\n%s\n-- then:\n%s", n, err, b.JSON, then[n-1].JSON)
		}
	}
	if _, err := d.b.At(ctx, d.x, 41); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("at 41 of 40: %v", err)
	}
	if b, err := d.b.At(ctx, d.x, 0); err != nil || strings.Contains(string(b.Markdown), "## ") {
		t.Errorf("at 0: %v\n%s", err, b.Markdown)
	}
}
