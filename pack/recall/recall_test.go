package recall

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// The window of recall does not grow, and a boundary that moves reads only what is new.
func TestRecallReadsAWindow(t *testing.T) {
	l := packtest.CodingLog(4000)
	mm := NewMemo(journal.NewMemo())
	first := mm.old(l, 7000)
	if got := first.passages[0].of.at; got < 7000-journal.RecallRecords || l.Reads > 2*journal.RecallRecords {
		t.Errorf("from %d on, %d records read", got, l.Reads)
	}
	before := l.Reads
	second := mm.old(l, 7010)
	if n := l.Reads - before; n > 4*segmentLen {
		t.Errorf("10 records more, %d read", n)
	}
	fresh := NewMemo(journal.NewMemo()).old(l, 7010)
	text := func(o *oldRecords) (out []string) {
		for i := range o.passages {
			out = append(out, fmt.Sprint(o.passages[i].of.at, o.passages[i].text()))
		}
		return out
	}
	if !slices.Equal(text(second), text(fresh)) || !slices.Equal(second.corpus.Rank("refresh client"), fresh.corpus.Rank("refresh client")) {
		t.Error("an index that was moved is not the one that is made at once")
	}
	if before := l.Reads; mm.old(l, 7010) != second || l.Reads != before {
		t.Error("the same boundary was read again")
	}
}

// What stands in folds and the like is looked up once for all builds that show the same of them. A journal that
// drops what does not fit has none of these, ever: nothing is kept for it.
func TestRecallRemembersLinesNoLongerThanTheTextsTheyStandIn(t *testing.T) {
	mm := NewMemo(journal.NewMemo())
	first := mm.amongst([]string{"## 1 user (folded) run the tests\n", "## 2 tool (folded) 3 failed\n"})
	if !first.line("run the tests") || first.line("4 failed") || len(first.has) != 2 {
		t.Fatalf("remembers %v", first.has)
	}
	if mm.amongst([]string{"## 1 user (folded) run the tests\n", "## 2 tool (folded) 3 failed\n"}) != first {
		t.Error("the same texts are looked through again")
	}
	if next := mm.amongst([]string{"## 2 tool (folded) 4 failed\n"}); next.line("run the tests") || !next.line("4 failed") {
		t.Error("other texts are taken for the last ones")
	}
	none := mm.amongst(nil)
	for _, line := range []string{"run the tests", "4 failed"} {
		if none.line(line) {
			t.Errorf("%q stands in nothing", line)
		}
	}
	if len(none.has) != 0 {
		t.Errorf("remembers %v", none.has)
	}
}
