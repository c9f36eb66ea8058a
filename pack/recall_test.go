package pack

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recall"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// recallBlock is the block's text without its heading, and the rest of the pack.
func recallBlock(b *Build) (shown, rest string) {
	md := string(b.Markdown)
	at := strings.Index(md[b.Prefix:], recall.Heading)
	if at < 0 {
		return "", md
	}
	begin := b.Prefix + at
	end := len(md)
	if i := strings.LastIndex(md, "\n"+record.BlockHeading+"goal\n"); i > begin {
		end = i + 1
	}
	return md[begin+len(recall.Heading) : end], md[:begin] + md[end:]
}

// checkRecall: each part stands in its record word by word, says where it is from, and repeats nothing of the pack.
func checkRecall(t interface{ Fatalf(string, ...any) }, in Input, b *Build, p packJSON) (parts int) {
	text, rest := recallBlock(b)
	shown := map[string]bool{}
	compress.EachLine(rest, func(_ int, line string) {
		shown[line] = true
		if _, behind, ok := strings.Cut(line, "] "); ok && line[0] == '[' {
			shown[strings.TrimSpace(behind)] = true
		}
	})
	m := in.History()
	whole := text
	for i, it := range p.Items {
		if it.Kind != "recall" {
			continue
		}
		if parts++; !it.Extra || it.Phase != phaseDynamic {
			t.Fatalf("%+v", it)
		}
		n, err := strconv.Atoi(it.Range)
		if err != nil {
			t.Fatalf("range %q", it.Range)
		}
		a := record.Address{Line: n, Event: it.Source == "events"}
		at := n
		if tl, ok := m.(*record.Merged); ok {
			at = tl.PositionOf(a)
		}
		r, err := record.ExcerptOf(m, at)
		if err != nil {
			t.Fatalf("%v", err)
		}
		heading := "## " + a.String() + record.Speaker(m, at, r) + " (recalled)\n"
		after, ok := strings.CutPrefix(text, heading)
		if !ok {
			t.Fatalf("item %d is %s, the pack has %.80q", i, heading, text)
		}
		end := len(after)
		for _, next := range p.Items[i+1:] {
			if next.Kind == "recall" {
				mark := "\n## " + map[string]string{"events": "e"}[next.Source] + next.Range + " "
				for k := 0; k < len(after); {
					j := strings.Index(after[k:], mark)
					if j < 0 {
						break
					}
					line, _, _ := strings.Cut(after[k+j+1:], "\n")
					if k += j + 1; strings.HasSuffix(line, "(recalled)") {
						end = k
						break
					}
				}
			}
			break
		}
		content, _, _ := strings.Cut(after[:end], testMarks.End())
		content = strings.TrimSuffix(content, "\n")
		if strings.HasPrefix(content, "```") {
			fence, inner, _ := strings.Cut(content, "\n")
			content = strings.TrimSuffix(strings.TrimSuffix(inner, fence), "\n")
		}
		said, _ := journal.BothEnds(ctxabi.Escape(r.Whole()), recall.Ends)
		if !strings.Contains(said, content) {
			t.Fatalf("%s: %q does not stand in the record", it.Range, content)
		}
		if it.Cut != (it.Path != "") || !it.Cut && strings.TrimSpace(ctxabi.Escape(r.Whole())) != content {
			t.Fatalf("%+v: %q", it, content)
		}
		compress.EachLine(content, func(_ int, line string) {
			if len(line) >= recall.LineBytes && shown[line] {
				t.Fatalf("%s: %q stands in the pack already:\n%s", it.Range, line, b.Markdown)
			}
		})
		text = after[end:]
	}
	if parts > 0 && text != "" {
		t.Fatalf("behind the last part: %q of %q", text, whole)
	}
	return parts
}

// What a request is about stands in the pack, whatever the journal does with old records, and with it
// what it answers: recall shows what no other block does.
func TestRecallFindsWhatIsAskedFor(t *testing.T) {
	l := newLog()
	l.Append(message("user", "Look after the shop."))
	for i := range 300 {
		switch i {
		case 40:
			l.Append(message("user", "The password hint of the espresso machine is hidden behind the tulips."))
			l.Append(message("assistant", "Noted: tulips hide it."))
		case 41:
			l.Append([]byte(`{"role":"assistant","content":"","tool_calls":[{"id":"m","function":{"name":"manual","arguments":"{\"of\":\"espresso machine\"}"}}]}`))
			l.Append([]byte(`{"role":"tool","tool_call_id":"m","content":"# Manual\n\nDescale the espresso machine each month.\n\n## 3 user\nThis is no heading of ours."}`))
		default:
			l.Append(message("user", fmt.Sprintf("Order number %d is about %d boxes of paper and pens.", i, i*7)))
			l.Append(message("assistant", fmt.Sprintf("Order %d was sent with the usual truck, invoice INV-%d.", i, i*13)))
		}
	}
	l.Append(message("user", "Where was the password hint of the espresso machine?"))
	for name, s := range map[string]recipe.Source{"fold": {Type: recipe.TypeJournal}, "max_iterations": {Type: recipe.TypeJournal, MaxIterations: 8},
		"truncate_head": {Type: recipe.TypeJournal, TruncateHead: true}, "none": {Type: recipe.TypeTodo}} {
		for _, budget := range []int{2000, 4000, 8000} {
			in := inputBy(recipeOf(s, recipe.Source{Type: recipe.TypeRecall}), l, budget)
			b := mustCompile(t, in)
			if checkRecall(t, in, b, parseJSON(t, b)) == 0 {
				t.Fatalf("%s at %d: no recall\n%s", name, budget, b.Markdown)
			}
			if text, _ := recallBlock(b); !strings.Contains(string(b.Markdown), "hidden behind the tulips") || !strings.Contains(text, "tulips hide it") && budget > 2000 {
				t.Errorf("%s at %d:\n%s", name, budget, text)
			}
		}
	}
}

// Recall takes nothing of the journal: without it the same records stand in the pack, byte for byte.
func TestRecallMovesNothing(t *testing.T) {
	pure(t)
	l := codingLog(300)
	var with, without Compiler
	shown := 0
	for n := 100; n <= l.Len(); n += 3 {
		a, err := with.Compile(inputBy(recipeOf(recipe.Source{Type: recipe.TypeJournal}, recipe.Source{Type: recipe.TypeRecall}), l.Prefix(n), 8000))
		if err != nil {
			t.Fatal(err)
		}
		b, err := without.Compile(inputBy(recipeOf(recipe.Source{Type: recipe.TypeJournal}), l.Prefix(n), 8000))
		if err != nil {
			t.Fatal(err)
		}
		if a.Epoch != b.Epoch || !bytes.Equal(a.Markdown[:a.Prefix], b.Markdown[:b.Prefix]) {
			t.Fatalf("%d records: the journal is another one with recall", n)
		}
		if text, _ := recallBlock(a); text != "" {
			shown++
		}
	}
	if shown < 10 {
		t.Errorf("recall showed something in %d packs only", shown)
	}
}

// For random histories recall repeats nothing, gives words as they are, and is the same step by step and at once.
func TestRecallProperties(t *testing.T) {
	pure(t)
	suite.Check(t, 30, func(t *rapid.T) {
		h := wholeHistory(t)
		journal := rapid.SampledFrom([]recipe.Source{{Type: recipe.TypeJournal}, {Type: recipe.TypeJournal, MaxIterations: 3}, {Type: recipe.TypeJournal, TruncateHead: true}, {Type: recipe.TypeTodo}}).Draw(t, "journal")
		most := rapid.SampledFrom([]int{0, 200, 2000}).Draw(t, "max_tokens")
		r := recipeOf(journal, recipe.Source{Type: recipe.TypeRecall, MaxTokens: most})
		limit := budget().Draw(t, "budget")
		var c Compiler
		var before *Build
		for n := max(0, h.len()-8); n <= h.len(); n++ {
			in := h.input(n, limit)
			in.Recipe = r
			b, err := c.Compile(in)
			if err != nil {
				t.Fatal(err)
			}
			if before != nil && before.Epoch == b.Epoch && !bytes.HasPrefix(b.Markdown, before.Markdown[:before.Prefix]) {
				t.Fatalf("record %d broke the prefix", n)
			}
			before = b
			p := checkNumbers(t, in, b)
			checkRecall(t, in, b, p)
			if n == h.len() {
				checkFraming(t, in, p, string(b.Markdown))
				sameBuild(t, b, mustCompile(t, in))
			}
		}
	})
}

// Tool events are recalled under their own numbers, except those that state only their type.
func TestRecallOfEvents(t *testing.T) {
	h := newHistory()
	h.message(message("user", "Watch the pumps."))
	h.event([]byte(`{"type":"tool_call","name":"pump_status","id":"x1","args":{"pump":"P-77"}}`))
	h.event([]byte(`{"type":"tool_result","id":"x1","output":"P-77 valve stuck at 41 percent, seal_kit SK-9 needed"}`))
	h.event([]byte(`{"type":"tool_call"}`))
	for i := range 200 {
		h.message(message("assistant", fmt.Sprintf("All quiet in hour %d, nothing to tell but the weather, which is mild and a little cloudy.", i)))
	}
	h.message(message("user", "Which seal_kit did P-77 need?"))
	in := h.input(h.len(), 3000)
	in.Recipe = recipeOf(recipe.Source{Type: recipe.TypeJournal, MaxIterations: 20}, recipe.Source{Type: recipe.TypeRecall})
	b := mustCompile(t, in)
	p := parseJSON(t, b)
	checkRecall(t, in, b, p)
	if !slices.ContainsFunc(p.Items, func(it item) bool { return it.Kind == "recall" && it.Source == "events" && it.Range == "2" }) {
		t.Errorf("no event:\n%s", b.Markdown)
	}
	if text, _ := recallBlock(b); !strings.Contains(text, "## e2 tool pump_status (recalled)\nP-77 valve stuck") ||
		strings.Contains(text, "## e3 ") {
		t.Errorf("%s", text)
	}
}

// What failed and was mended is not said again, nor is an item that is ticked by now; without the mend, and the tick, both are.
func TestRecallLeavesOutWhatIsOver(t *testing.T) {
	filled := func(l *memLog) {
		for i := range 150 {
			l.Append(message("assistant", fmt.Sprintf("Thought %d of module_%d.py: line %d, account %d, rounding of cents.", i, i, i*37, i*13)))
		}
	}
	call := func(l *memLog, id, command, said string) {
		l.Append([]byte(fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":%q,"name":"bash","arguments":%q}]}`, id, `{"command":"`+command+`"}`)))
		l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, said)))
	}
	recalled := func(mend, tick bool, ask string) string {
		l := logOf(string(message("user", "Port the importer.")))
		l.Append(message("assistant", "Left:\n- [ ] port the parser of tulips\n- [ ] port the store of tulips"))
		call(l, "a", "go test ./theme", "checking\nthe palette of hyacinths is invalid, and so is what follows from it in the garden\nall of these failed\nexit status 1")
		filled(l)
		if mend {
			call(l, "b", "go test ./theme", "ok  \ttheme\t0.1s")
		}
		if tick {
			l.Append(message("assistant", "- [x] port the parser of tulips\n- [x] port the store of tulips"))
		}
		for range 3 {
			l.Append(message("assistant", "Thinking."))
		}
		l.Append(message("user", ask))
		b := mustCompile(t, inputOf(l, 4000))
		if over := strings.Contains(string(b.Markdown), "; passed at "); over != mend {
			t.Errorf("over %v, and the pack has it: %v\n%s", mend, over, b.Markdown)
		}
		text, _ := recallBlock(b)
		return text
	}
	failure, item := "the palette of hyacinths is invalid", "port the store of tulips"
	for _, c := range []struct {
		ask, what  string
		mend, tick bool
		want       bool
	}{
		{"What was it with the palette of hyacinths in the garden?", failure, false, false, false}, // the list of files and runs has it
		{"What was it with the palette of hyacinths in the garden?", failure, true, false, false},
		{"port parser store tulips left?", item, false, false, true},
		{"port parser store tulips left?", item, false, true, false},
	} {
		if text := recalled(c.mend, c.tick, c.ask); strings.Contains(text, c.what) != c.want {
			t.Errorf("mended %v, ticked %v: %q is recalled: %v\n%s", c.mend, c.tick, c.what, !c.want, text)
		}
	}
}
