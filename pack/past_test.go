package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Past gives what At gives, in whatever order it is asked, and knows nothing of what came after it was begun.
func TestPastGivesThePacksOfAllMoments(t *testing.T) {
	d := newDesk(t, Config{Budget: 1500})
	defer d.b.Close()
	d.write("context/pinned/rules.md", "Never push to main.\n")
	for i := range 30 {
		d.append(fmt.Appendf(nil, `{"role":"%s","content":"message %d %s"}`, []string{"user", "assistant"}[i%2], i, strings.Repeat(fmt.Sprint("w", i*i, " "), 20)))
		if i%3 == 1 {
			d.event(fmt.Appendf(nil, `{"type":"tool_call","id":"c%d","name":"run","arguments":"ls %d"}`, i, i))
			d.event(fmt.Appendf(nil, `{"type":"tool_result","tool_call_id":"c%d","content":"%s"}`, i, strings.Repeat(fmt.Sprint("file", i, " "), 40)))
		}
	}
	ctx := context.Background()
	now := d.pack()
	p, err := d.b.Past(ctx, d.x)
	if err != nil {
		t.Fatal(err)
	}
	var then []*Build
	for n := range 31 {
		b, err := d.b.At(ctx, d.x, n)
		if err != nil {
			t.Fatal(err)
		}
		then = append(then, b)
	}
	d.append([]byte(`{"role":"user","content":"later"}`))
	for _, n := range []int{0, 1, 2, 3, 10, 29, 30, 12, 11, 30, 5, 28} {
		b, err := p.At(ctx, n)
		if err != nil {
			t.Fatal(err)
		}
		if b.ID != then[n].ID || !bytes.Equal(b.Markdown, then[n].Markdown) || !bytes.Equal(b.JSON, then[n].JSON) {
			t.Errorf("at %d: not what At gives:\n%s\n-- but:\n%s", n, b.Markdown, then[n].Markdown)
		}
	}
	if b, _ := p.At(ctx, 30); b != now {
		t.Error("with all messages it is not the current build")
	}
	for _, n := range []int{-1, 31} {
		if _, err := p.At(ctx, n); !errors.Is(err, ctxabi.ErrNotFound) {
			t.Errorf("at %d: %v", n, err)
		}
	}
}
