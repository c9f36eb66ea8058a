package journal

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/compress/acts"
	"github.com/ctxfs/ctxfs/compress/verdicts"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// actingLog is a log of n records in which an agent closes tickets and runs programs.
func actingLog(n int) *packtest.Log {
	l := packtest.LogOf()
	for i := 1; l.Len() < n; i++ {
		call, arguments, said := "close_ticket", fmt.Sprintf(`{\"ticket_id\":\"t%d\"}`, i%37), "closed"
		if i%3 == 0 {
			call, arguments, said = "bash", fmt.Sprintf(`{\"command\":\"go test ./p%d\"}`, i%11), "ok  \tp\t0.1s"
		}
		l.Append([]byte(fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":"c%d","name":%q,"arguments":"%s"}]}`, i, call, arguments)))
		l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%q}`, i, said)))
	}
	return l
}

// The state of a place is the same from whatever was known before, and going over to the next window reads few records again.
func TestStatesGoOverToTheNextWindow(t *testing.T) {
	const n = 3*stateWindow + 200
	l := actingLog(n)
	var known states
	show := func(s state) []string {
		return append(s.acts.Lines(acts.Options{Chars: 1 << 16}), s.runs.Lines(verdicts.Options{Chars: 1 << 16})...)
	}
	for at, major := 1, 0; at <= n; at += 7 {
		if at%91 == 0 { // a compaction
			major = at
		}
		before := l.Reads
		got, err := known.at(l, stateFrom(major), at)
		if err != nil {
			t.Fatal(err)
		}
		if reads := l.Reads - before; at > 7 && reads > 2*(at-stateFrom(major))/10+128 {
			t.Errorf("at %d, of which the major compaction is %d: %d records were read", at, major, reads)
		}
		if at%49 != 1 {
			continue
		}
		var fresh states
		want, err := fresh.at(l, stateFrom(major), at)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := show(got), show(want); !slices.Equal(a, b) || len(a) == 0 && at > 10 {
			t.Fatalf("at %d of %d: %q, afresh %q", at, major, a, b)
		}
	}
}
