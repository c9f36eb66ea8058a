package compress

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// A report folds to its last paragraph, or to as many of its last sentences as fit.
func TestConclusion(t *testing.T) {
	report, err := os.ReadFile(filepath.Join("testdata", "agent_report.in"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "agent_report.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, limit := range []int{20, 40, 200} {
		line := Conclusion(string(report), limit)
		if n := ctxabi.Weight(line); n > limit {
			t.Errorf("%d tokens of %d", n, limit)
		}
		got += line + "\n"
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Conclusion(" \n", 9); got != "" {
		t.Errorf("%q of nothing", got)
	}
}
