package pack

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// summaries draws delivered versions for a history of n records.
func summaries(t *rapid.T, n int) (list []journal.Summary) {
	to, after := 0, 0
	for range rapid.IntRange(0, 6).Draw(t, "summaries") {
		to += rapid.IntRange(1, 1+n/3).Draw(t, "to")
		after = max(after, to) + rapid.IntRange(0, 1+n/4).Draw(t, "after")
		line := fmt.Sprintf("- A thing that was said, %s (messages:%d).\n", rapid.StringMatching(`[a-z ]{1,40}`).Draw(t, "line"), to)
		list = append(list, journal.Summary{N: len(list) + 1, Writer: ctxabi.WriterFile, To: to, After: after,
			Text: strings.Repeat(line, rapid.IntRange(1, 40).Draw(t, "lines"))})
	}
	return list
}

// Packs with any sequence of deliveries keep their budget, account for all tokens, and break their
// prefix only with a new epoch.
func TestSummaryProperties(t *testing.T) {
	used := false
	suite.Check(t, 12, func(t *rapid.T) {
		h, fs, limit := newHistory(), files(t), rapid.IntRange(1500, 12000).Draw(t, "budget")
		for _, raw := range codingLog(rapid.IntRange(20, 80).Draw(t, "steps")).Records() {
			h.message(raw)
		}
		for _, raw := range history(t).Records() {
			h.message(raw)
		}
		r := *recipe.Default()
		r.Summarizer = &recipe.Generator{Command: []string{"sum"}}
		made := summaries(t, h.len())
		input := func(n int) Input {
			in := h.input(n, limit, fs...)
			in.Recipe, in.Summaries = &r, made
			return in
		}
		var c Compiler
		var before *Build
		started := 0 // compactions that a delivery started
		first := rapid.IntRange(0, max(0, h.len()-30)).Draw(t, "first")
		for n := first; n <= min(h.len(), first+60); n++ {
			in := input(n)
			b, err := c.Compile(in)
			if err != nil {
				t.Fatal(err)
			}
			p := checkNumbers(t, in, b)
			if before != nil && before.Epoch == b.Epoch && !bytes.HasPrefix(b.Markdown, before.Markdown[:before.Prefix]) {
				t.Fatalf("record %d broke the prefix within epoch %s:\n%s\n---\n%s", n, b.Epoch, before.Markdown, b.Markdown)
			}
			if before != nil && before.Epoch != b.Epoch && strings.HasPrefix(b.EpochReason, "summary when ") {
				started++
			}
			if started > len(made) {
				t.Fatalf("%d versions started %d epochs", len(made), started)
			}
			before = b
			// A delivery with the last record changes no byte before the footer.
			delivered := in
			delivered.Summaries = append(slices.Clone(made),
				journal.Summary{N: len(made) + 1, To: n, After: n, Text: "- Said.\n", Writer: ctxabi.WriterFile})
			if n%8 == 5 {
				if d := mustCompile(t, delivered); !bytes.Equal(d.Markdown[:d.Prefix], b.Markdown[:b.Prefix]) {
					t.Fatalf("a delivery changes the prompt:\n%s\n---\n%s", b.Markdown, d.Markdown)
				}
			}
			// What came after the last compaction is not in it, whether it is there or not.
			known := in
			known.Summaries = slices.DeleteFunc(slices.Clone(made), func(s journal.Summary) bool { return s.After >= n })
			if n%8 == 3 {
				then := mustCompile(t, known)
				then.Report = b.Report // tells of those that wait
				sameBuild(t, b, then)
				checkAccounting(t, in, p)
			}
			used = used || strings.Contains(string(b.Report), "- summary: version ")
		}
	})
	if !used {
		t.Error("no pack had a delivered summary")
	}
}
