package recall

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/journal"
)

// A line that was searched for before the journal grew, or before a compaction, was not searched for again.
func TestAKeptJournalFindsWhatANewOneFinds(t *testing.T) {
	lines := []string{"the first line", "the second line", "the third line", "the goal of it", "no such line"}
	kept := NewMemo(journal.NewMemo())
	for _, texts := range []string{"", "0", "01", "012", "0120120", "2", "21", ""} {
		q := Query{Shown: []string{lines[3] + "\n"}}
		for _, k := range texts {
			q.Parts = append(q.Parts, journal.Part{Text: lines[k-'0'] + "\n"})
		}
		q.Memo = kept
		text := strings.Join(q.Shown, "")
		for _, p := range q.Parts {
			text += p.Text
		}

		v := &view{}
		v.journal, v.others = q.haystacks()
		for range 2 {
			for _, line := range lines {
				if got, want := v.has(line), strings.Contains(text, line); got != want {
					t.Errorf("journal %q: has(%q) is %v", texts, line, got)
				}
			}
		}
	}
}
