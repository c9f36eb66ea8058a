package pack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/native"
)

// checkKept: what pack.json says is kept of the pack before are bytes of both, and all tokens are counted once.
func checkKept(t failer, encoding string, before, b *Build) {
	t.Helper()
	var p packJSON
	if err := json.Unmarshal(b.JSON(), &p); err != nil {
		t.Fatalf("%v", err)
	}
	kept := b.Markdown[:p.KeptBytes]
	if hexOf(kept) != p.KeptSHA256 || p.KeptBytes > b.Prefix {
		t.Fatalf("kept_sha256 is not of the first %d bytes, or these are more than the prefix of %d", p.KeptBytes, b.Prefix)
	}
	if n := countText(encoding, string(kept)); n != p.KeptTokens {
		t.Fatalf("kept_tokens is %d, counted %d", p.KeptTokens, n)
	}
	if n := countText(encoding, string(b.Markdown[p.KeptBytes:b.Prefix])); n != p.Written {
		t.Fatalf("written_tokens is %d, counted %d", p.Written, n)
	}
	if p.KeptTokens+p.Written+p.Fresh != p.Tokens || p.Tokens != b.Tokens {
		t.Fatalf("%d kept, %d written and %d fresh of %d", p.KeptTokens, p.Written, p.Fresh, p.Tokens)
	}
	if !strings.Contains(string(b.Report), fmt.Sprintf("%d tokens cached, %d written, %d fresh.", p.KeptTokens, p.Written, p.Fresh)) && p.Tokens > 0 && p.KeptBytes > 0 {
		t.Fatalf("the report counts otherwise:\n%s", b.Report)
	}
	if before == nil {
		if p.KeptBytes > 0 {
			t.Fatalf("%d bytes are kept of a pack that was not", p.KeptBytes)
		}
		return
	}
	if !bytes.HasPrefix(before.Markdown[:before.Prefix], kept) {
		t.Fatalf("the first %d bytes do not begin the pack before:\n%s\n---\n%s", p.KeptBytes, before.Markdown, b.Markdown)
	}
	if before.Epoch == b.Epoch && p.KeptBytes != before.Prefix {
		t.Fatalf("%d bytes are kept within an epoch, the prefix was %d", p.KeptBytes, before.Prefix)
	}
}

// What is kept of the pack of one record fewer is what it has in common with it, through compactions, too.
func TestKeptProperties(t *testing.T) {
	pure(t)
	suite.Check(t, 6, func(t *rapid.T) {
		h, fs, limit := wholeHistory(t), files(t), budget().Draw(t, "budget")
		var before *Build
		var one Compiler
		shown := 0
		for n := 0; n <= h.len(); n++ {
			in := h.input(n, limit, fs...)
			if at := in.History().Len(); at == shown && n > 0 {
				continue // an event that no pack shows
			}
			shown = in.History().Len()
			b := mustCompile(t, in)
			if again, err := one.Compile(in); err != nil || !bytes.Equal(again.JSON(), b.JSON()) || !bytes.Equal(again.Report, b.Report) {
				t.Fatalf("made behind the pack before it: %v\n%s\n---\n%s", err, again.JSON(), b.JSON())
			}
			if shown < 2 {
				checkKept(t, "", nil, b)
			} else {
				checkKept(t, "", before, b)
			}
			before = b
		}
	})
}

// A compaction keeps the blocks in front of the conversation, what comes between two keeps all but the new record.
func TestKeptThroughCompactions(t *testing.T) {
	pure(t)
	l := longLog(160)
	var c Compiler
	var before *Build
	compactions, kept := 0, 0
	for n := 1; n <= l.Len(); n++ {
		in := inputOf(l.Prefix(n), 2500, sampleFiles()...)
		b, err := c.Compile(in)
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			checkKept(t, "", nil, b)
		} else {
			checkKept(t, "", before, b)
		}
		p := parseJSON(t, b)
		if p.Compactions > compactions {
			compactions = p.Compactions
			rest := string(b.Markdown[p.KeptBytes:])
			if mark, after, _ := strings.Cut(rest, "\n"); strings.HasPrefix(mark, "[ctxfs ") {
				rest = after
			}
			omitted, _, _ := strings.Cut(rest, ":") // a compaction without blocks begins with omitted records
			if !strings.HasPrefix(rest, "# Context Block: ") && !strings.HasSuffix(omitted, " left out") {
				t.Errorf("record %d: what is kept at a compaction ends at %.60q", n, b.Markdown[p.KeptBytes:])
			}
			kept++
		}
		if head := strings.Index(string(b.Markdown), "# Context Block: pinned/"); n > 1 && p.KeptBytes <= head {
			t.Errorf("record %d: only %d bytes are kept", n, p.KeptBytes)
		}
		before = b
	}
	if kept < 3 {
		t.Errorf("%d compactions", kept)
	}
}

// The marks of Anthropic's rendering stand where pack.json has its breakpoints, few enough and close enough. The last one may
// stand before a call that has no result yet, and where there are marks left one stands in between.
func TestBreakpointsAreWhereMarksStand(t *testing.T) {
	pure(t)
	l := longLog(260)
	between := 0
	for n := 2; n <= l.Len(); n += suite.Pick(t, 9, 3) { // the first record stands in the head, alone
		for _, budget := range []int{2500, 16000} {
			in := inputOf(l.Prefix(n), budget, sampleFiles()...)
			b := mustCompile(t, in)
			points := parseJSON(t, b).Breakpoints
			ends, marks, system := markedBlocks(t, string(b.Markdown), natives(t, b, logsOf(&in), budget, "")[native.Anthropic].data)
			if len(marks) > native.MaxMarks || len(points) > native.MaxMarks || !slices.IsSorted(points) {
				t.Fatalf("%d records at %d: marks %v, breakpoints %v", n, budget, marks, points)
			}
			// upTo is the last block that stands in front of a place in pack.md.
			upTo := func(at int) int {
				return sort.Search(len(ends), func(i int) bool { return ends[i] > at }) - 1
			}
			for i, at := range points {
				want := upTo(at)
				if want >= 0 && want < system-1 {
					want = system - 1
				}
				if i < len(points)-1 && !slices.Contains(marks, want) {
					t.Errorf("%d records at %d: the breakpoint %d has no mark on block %d, they are on %v", n, budget, at, want, marks)
				}
			}
			last := marks[len(marks)-1]
			if want := upTo(points[len(points)-1]); last > want || want-last > 3 {
				t.Errorf("%d records at %d: the last mark is on block %d, the last breakpoint behind %d", n, budget, last, want)
			}
			for i := 1; i < len(marks); i++ {
				if marks[i]-marks[i-1] > native.MarkReach && len(marks) < native.MaxMarks {
					t.Errorf("%d records at %d: %d blocks between marks %v", n, budget, marks[i]-marks[i-1], marks)
				}
			}
			between += max(0, len(marks)-len(points))
		}
	}
	if between == 0 {
		t.Error("no mark stood in between")
	}
}

// markedBlocks returns where in md each block of a body ends, the indices of those that bear a mark, and how many are system texts.
func markedBlocks(t *testing.T, md string, data []byte) (ends, marks []int, system int) {
	t.Helper()
	type block struct {
		Type, Text string
		Content    any
		Mark       any `json:"cache_control"`
	}
	var body struct {
		System   []block
		Messages []struct{ Content []block }
	}
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatal(err)
	}
	blocks := body.System
	for _, m := range body.Messages {
		blocks = append(blocks, m.Content...)
	}
	at := 0
	for i, b := range blocks {
		text := b.Text
		if s, ok := b.Content.(string); ok {
			text = s
		}
		if b.Type == "tool_use" {
			text = "[call "
		}
		if !strings.Contains(md[at:], strings.TrimSpace(text)) { // pack.md has headings in between
			for line := range strings.Lines(text) {
				if k := strings.Index(md[at:], line); k >= 0 && k < 500 {
					at += k + len(line)
				}
			}
		} else {
			at += strings.Index(md[at:], strings.TrimSpace(text)) + len(strings.TrimSpace(text))
		}
		ends = append(ends, at)
		if b.Mark != nil {
			marks = append(marks, i)
		}
	}
	return ends, marks, len(body.System)
}
