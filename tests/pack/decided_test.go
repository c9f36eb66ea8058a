package packtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// A decision that an event records stands in every pack from then on, whatever the budget, and is told once.
func TestDecisionEventsStoodInNoPackAtAnyBudget(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	const sentence = "Use PostgreSQL 17, never SQLite."
	s.Append("messages.jsonl", `{"role":"user","content":"Start on the ledger."}`+"\n")
	s.Append("events.jsonl", `{"type":"decision","text":"`+sentence+`"}`+"\n")
	var log strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&log, `{"role":"assistant","content":"Thought %d: module_%d.py line %d, account %d, rounding of cents"}`+"\n", i, i, i*37, i*13)
	}
	s.Append("messages.jsonl", log.String())
	for _, budget := range []string{"0", "64000", "32000", "8000", "2000", "1000"} {
		s.Bash("echo " + budget + " > context/budget").OK()
		b := read(t, s)
		b.account(t, 1501)
		if n := strings.Count(b.md, sentence); n != 1 {
			t.Errorf("at %s, after %d compactions: it stands there %d times", budget, b.Compactions, n)
		}
		if at := strings.Index(b.md, sentence); at >= 0 && (at < b.PrefixBytes) != (b.Compactions > 0) {
			t.Errorf("at %s, after %d compactions: it stands at %d, the prefix ends at %d", budget, b.Compactions, at, b.PrefixBytes)
		}
		for _, f := range nativeFormats {
			if n := strings.Count(valid(t, s, f), sentence); n != 1 {
				t.Errorf("%s at %s: it stands there %d times", f, budget, n)
			}
		}
	}
}

// A decision that comes later stands behind the journal at the next read, and breaks no prefix; one of these is kept when the agent
// adds rows of its own, and all of them make way for a file that it takes over.
func TestANewDecisionEventKeepsThePrefix(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Bash("echo 2000 > context/budget").OK()
	s.Append("messages.jsonl", rec1)
	last := read(t, s)
	decisions, compactions := 0, 0
	for i := range 200 {
		if i%20 == 7 {
			decisions++
			s.Append("events.jsonl", fmt.Sprintf(`{"type":"decision.made","data":{"decision":"Rule %d holds for ledger %d."}}`+"\n", i, i*i))
		} else {
			s.Append("messages.jsonl", fmt.Sprintf(`{"role":"assistant","content":"Thought %d: module_%d.py line %d, account %d, rounding of cents"}`+"\n", i, i, i*37, i*13))
		}
		b := read(t, s)
		if string(b.Epoch) == string(last.Epoch) && !strings.HasPrefix(b.md, last.md[:last.PrefixBytes]) {
			t.Fatalf("step %d: the prefix broke", i)
		}
		if b.Compactions > compactions {
			compactions = b.Compactions
		} else if i%20 == 7 && string(b.Epoch) != string(last.Epoch) {
			t.Errorf("step %d: a decision began an epoch: %s", i, b.EpochReason)
		}
		if n := strings.Count(b.md, " holds for ledger "); n != decisions {
			t.Fatalf("step %d: %d of %d decisions stand there\n%s", i, n, decisions, b.md)
		}
		last = b
	}
	if compactions < 2 || decisions != 10 {
		t.Fatalf("%d compactions, %d decisions", compactions, decisions)
	}
	if at := s.Read("context/at/0/pack.md"); strings.Contains(at, "holds for ledger") {
		t.Errorf("the first moment knows of decisions:\n%s", at)
	}
	s.Bash(`echo '{"id":"own","decision":"No more rules."}' > context/decisions.jsonl`).OK()
	if b := read(t, s); strings.Contains(b.md, "holds for ledger") || !strings.Contains(b.md, "No more rules.") {
		t.Errorf("the agent has taken the file over:\n%s", b.md)
	}
}
