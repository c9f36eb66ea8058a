package packtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// A message without content is neither the request that is kept for ever nor the last one that the goal repeats; a short reply stands with
// what it answers.
func TestASlashCommandWasKeptForEverAndAnAssentStoodAlone(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	work := func(from, to int) string {
		var log strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&log, `{"role":"assistant","content":"Thought %d: module_%d.py line %d, account %d, rounding of cents"}`+"\n", i, i, i*37, i*13)
		}
		return log.String()
	}
	say := func(role, text string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`+"\n", role, text) }
	s.Append("messages.jsonl", say("user", "/mode")+say("assistant", "Plan mode.")+say("user", "hi")+say("assistant", "Hello.")+
		say("user", "Release version 0.8 of the parser.")+work(0, 300)+
		say("assistant", "The tests pass.\n\nShall I update both READMEs and the changelog, too?")+say("user", "yeah, do it all")+work(300, 500))
	for _, budget := range []string{"3000", "8000"} {
		s.Bash("echo " + budget + " > context/budget").OK()
		b := read(t, s)
		b.account(t, 507)
		if b.Compactions == 0 {
			t.Fatal("no compaction")
		}
		if strings.Contains(b.md, "\n## 1 user") || !strings.Contains(b.md, "\n## 5 user\nRelease version 0.8 of the parser.\n") {
			t.Errorf("at %s the first request that is kept is another one:\n%.3000s", budget, b.md)
		}
		_, goal, _ := strings.Cut(b.md, "# Context Block: goal\n")
		goal, _, _ = strings.Cut(goal, "[ctxfs ")
		if want := "Last request of the user, message 307:\n> yeah, do it all\nThe assistant had asked in message 306:\n> The tests pass.\n> Shall I update both READMEs and the changelog, too?\n"; !strings.HasSuffix(goal, want) {
			t.Errorf("at %s the goal says:\n%s", budget, goal)
		}
	}
	s.Append("messages.jsonl", say("user", "/compact")+say("assistant", "Done."))
	if _, goal, _ := strings.Cut(read(t, s).md, "# Context Block: goal\n"); !strings.Contains(goal, "> yeah, do it all\nThe assistant had asked") || strings.Contains(goal, "/compact") {
		t.Errorf("after a command the goal says:\n%s", goal)
	}
}
