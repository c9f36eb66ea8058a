package journal

import (
	"fmt"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// datedTurns are short turns on many days. In each the agent writes a file, which is shortened once
// the turn is over.
func datedTurns(n int) *packtest.Log {
	l := packtest.LogOf()
	for i := range n {
		ts := fmt.Sprintf(`"ts":"2026-03-%02dT10:00:00Z"`, 1+i/4%28)
		text := ""
		for k := range 40 + i%5*30 {
			text += fmt.Sprintf("The value of setting %d in part %d is %d. ", k, i, i*k)
		}
		l.Append(fmt.Appendf(nil, `{"role":"user","content":"Please write part %d of the manual.",%s}`, i, ts))
		l.Append(fmt.Appendf(nil, `{"role":"assistant","content":"I write part %d because it is next.",%s,"tool_calls":[{"id":"c%d",`+
			`"type":"function","function":{"name":"write","arguments":"{\"path\":\"part%d.md\",\"content\":\"%s\"}"}}]}`, i, ts, i, i, text))
		l.Append(fmt.Appendf(nil, `{"role":"tool","tool_call_id":"c%d","content":"Wrote %d bytes to part%d.md",%s}`, i, len(text), i, ts))
	}
	return l
}

// Marks, days, and the legend are part of what a compaction brings the journal to, and so the journal
// never takes more than the fold knows.
func TestJournalTakesNoMoreThanCounted(t *testing.T) {
	c, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]*packtest.Log{"coding": packtest.CodingLog(300), "dated": datedTurns(60)} {
		mm := NewMemo()
		mm.Counter, mm.Marks = c, ctxabi.MarksOf("coder", "s1")
		compactions := 0
		for n := 1; n <= l.Len(); n++ {
			m := l.Prefix(n)
			f := mm.Fold(m, testRules(4000, 0))
			_, total, err := mm.RenderJournal(m, f, c)
			if err != nil {
				t.Fatal(err)
			}
			const headings = 40 // beside the room; see Policy.Rules
			if f.Boundary() > 1 && int64(total) > f.weight()+headings {
				t.Errorf("%s, %d records: the journal takes %d tokens, and the fold counts %d", name, n, total, f.weight())
			}
			compactions = f.Compactions
		}
		if compactions < 3 {
			t.Errorf("%s: %d compactions", name, compactions)
		}
	}
}

func TestLegendIsShort(t *testing.T) {
	c, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	mm := NewMemo()
	mm.Marks = ctxabi.MarksOf("coder", "s1")
	if p := mm.legend(c); p.Tokens > 60 {
		t.Errorf("the legend takes %d tokens:\n%s", p.Tokens, p.Text)
	}
}
