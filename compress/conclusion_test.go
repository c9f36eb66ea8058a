package compress

import (
	"os"
	"path/filepath"
	"strings"
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

func TestLongConclusionBeginsWithAWord(t *testing.T) {
	lines := ConclusionLines(strings.Repeat("internal/transport/client ", 60)+"holds the lock", 12)
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "… internal/") || !strings.HasSuffix(lines[0], "holds the lock") {
		t.Errorf("%q", lines)
	}
}

func TestLongTextIsCutBetweenWords(t *testing.T) {
	path := "/srv/data/internal/transport/client.go"
	text := strings.TrimSpace(strings.Repeat(path+" ", 40))
	short, _ := ClipTokens(text, 60)
	head, _ := Head(text, 60, "context/line/1.txt")
	head, _, _ = strings.Cut(head, "\n")
	for _, s := range []string{short, head} {
		if !strings.Contains(s, "…") {
			t.Errorf("not marked: %q", s)
		}
		for word := range strings.FieldsSeq(s) {
			if word != path && word != "…" {
				t.Errorf("%q in %q", word, s)
			}
		}
	}
}
