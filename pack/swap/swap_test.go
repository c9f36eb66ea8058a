package swap

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Each record behind the boundary is in exactly one range, and what a pack shows of the live ones is in none.
func TestRangesOfSwapCoverWhatLeftThePrompt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := packtest.WholeHistory(t)
		in := inputOfHistory(h, rapid.IntRange(400, 6000).Draw(t, "budget"))
		b, err := pack.CompileWith(&in, pack.NewMemo())
		if err != nil {
			t.Fatal(err)
		}
		m := in.History()
		ranged := map[string]int{}
		for _, n := range rangesOf(m, b.Left.Cuts, 0) {
			span, err := ctxabi.ParseSpan(n.Range)
			if err != nil || n.Short {
				t.Fatalf("%+v: %v", n, err)
			}
			for line := span.From; line <= span.To; line++ {
				ranged[fmt.Sprintf("%s:%d", n.Source, line)]++
			}
		}
		boundary := 1
		if n := len(b.Left.Cuts); n > 0 {
			boundary = b.Left.Cuts[n-1]
		}
		for at := 1; at <= m.Len(); at++ {
			want := 0
			if at < boundary {
				want = 1
			}
			if a := record.AddressOf(m, at); ranged[a.Source()] != want {
				t.Fatalf("%s, at place %d of %d with the boundary at %d, is in %d ranges: %+v", a.Source(), at, m.Len(), boundary, ranged[a.Source()], rangesOf(m, b.Left.Cuts, 0))
			}
		}
		// The same as pack.json tells it.
		behind := []string{"kept_messages", "folded"}
		var p struct {
			Items []struct {
				Source, Log, Range, Kind string
				KindV1                   string `json:"kind_v1"`
				RangeV1                  string `json:"range_v1"`
				Extra                    bool
			}
		}
		if err := json.Unmarshal(b.JSON(), &p); err != nil {
			t.Fatal(err)
		}
		for _, it := range p.Items {
			it.Source, it.Range, it.Kind = cmp.Or(it.Log, it.Source), cmp.Or(it.RangeV1, it.Range), cmp.Or(it.KindV1, it.Kind)
			span, err := ctxabi.ParseSpan(it.Range)
			if err != nil || it.Source != "messages" && it.Source != "events" || it.Extra {
				continue
			}
			want, known := 0, it.Kind == "recent_messages"
			if slices.Contains(behind, it.Kind) {
				want, known = 1, true
			}
			if got := ranged[fmt.Sprintf("%s:%d", it.Source, span.From)]; known && got != want {
				t.Fatalf("%s:%s is %s, and in %d ranges", it.Source, it.Range, it.Kind, got)
			}
		}
		// Ranges that were noted before some compactions are those that are noted after them.
		if n := len(b.Left.Cuts); n > 1 {
			done := rapid.IntRange(1, n-1).Draw(t, "done")
			if !slices.Equal(slices.Concat(rangesOf(m, b.Left.Cuts[:done], 0), rangesOf(m, b.Left.Cuts, done)), rangesOf(m, b.Left.Cuts, 0)) {
				t.Fatal("noted bit by bit they are others")
			}
		}
	})
}

// A note that is cut out of its line is the one that was written, whatever stands there.
func TestSwapNotesAreReadAsTheyWereWritten(t *testing.T) {
	for _, n := range []Departure{
		{Source: "messages", Range: "1-118"}, {Source: "messages", Range: "7", Short: true}, {Source: "events", Range: "3-4"},
		{Source: "messages"}, {Source: "messages", Range: `1"},{"Source":"messages`}, {Source: "messages", Range: `\`}, {},
	} {
		line, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := readSwapNote(line); !ok || got != n {
			t.Errorf("%s is read as %+v, %v", line, got, ok)
		}
		if got, ok := readSwapNote(line[:len(line)-1]); ok {
			t.Errorf("%s is read as %+v", line[:len(line)-1], got)
		}
	}
}

// inputOfHistory is the input of a pack of h.
func inputOfHistory(h *packtest.History, budget int) pack.Input {
	messages, events, tools, head := h.Until(h.Len())
	in := pack.Input{Session: "s1", Agent: "coder", Budget: budget, Messages: messages, Head: messages.Head()}
	if len(tools) > 0 {
		in.Tools, in.Events, in.EventsHead = tools, events, head
	}
	return in
}
