package pack

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// checkFraming reads the pack back, by nothing but its lines and fences, and
// finds the blocks and records that pack.json lists and no others.
func checkFraming(t *rapid.T, in Input, p packJSON, md string) {
	blocks, records, fence := readBack(md)
	var want []string
	wantBlocks := 0
	recalls, leads := map[string]bool{}, false
	for _, it := range p.Items {
		if it.Kind == "recall" {
			if !recalls[it.ID] {
				recalls[it.ID] = true
				wantBlocks++
			}
			continue
		}
		if it.Source != "messages" && it.Source != "events" || it.Extra {
			wantBlocks++
			continue
		}
		if it.Kind == "system" && !leads {
			leads = true
			wantBlocks++
		}
		span, _ := ctxabi.ParseSpan(it.Range)
		for line := span.From; line <= span.To; line++ {
			want = append(want, record.Address{Line: line, Event: it.Source == "events"}.String())
		}
	}
	hasJournal := in.Recipe == nil || slices.ContainsFunc(in.Recipe.Sources, func(s recipe.Source) bool { return s.Type == recipe.TypeJournal })
	if len(want) > 0 || p.Framing > 0 && hasJournal && slices.ContainsFunc(p.Omitted, func(o omitted) bool { return o.Range != "" }) {
		wantBlocks++ // the conversation
	}
	// The notation is explained from the first compaction on.
	if i := slices.Index(blocks, "notation"); i >= 0 && p.Compactions > 0 {
		blocks = slices.Delete(blocks, i, i+1)
	}
	// The conversation goes on behind the blocks of each compaction.
	for i := len(blocks) - 1; i > 0; i-- {
		if blocks[i] == "conversation" && blocks[i-1] != "conversation" && slices.Contains(blocks[:i], "conversation") {
			blocks = slices.Delete(blocks, i, i+1)
		}
	}
	if len(blocks) != wantBlocks || fence != "" {
		t.Fatalf("%d blocks read back, %d are listed (open fence %q): %q\n%s", len(blocks), wantBlocks, fence, blocks, md)
	}
	if strings.Join(records, " ") != strings.Join(want, " ") {
		t.Fatalf("records read back: %s\nlisted: %s\n%s", records, want, md)
	}
}

// readBack is a reader of pack.md that knows lines and fences and nothing else.
func readBack(md string) (blocks, records []string, fence string) {
	for _, line := range strings.FieldsFunc(md, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			continue
		}
		end := 1
		for end < len(line) && line[end] == line[0] {
			end++
		}
		run := line[:end]
		opens := len(run) >= 3 && (run[0] == '~' || run[0] == '`' && !strings.Contains(line[len(run):], "`"))
		switch {
		case fence != "":
			if run[0] == fence[0] && len(run) >= len(fence) && strings.TrimSpace(line) == run {
				fence = ""
			}
		case opens:
			fence = run
		case strings.HasPrefix(line, record.BlockHeading):
			blocks = append(blocks, strings.TrimPrefix(line, record.BlockHeading))
		case strings.HasPrefix(line, "## "):
			number, rest, _ := strings.Cut(line[3:], " ")
			if from, _, _ := strings.Cut(strings.TrimPrefix(number, "e"), "-"); isNumber(from) && !strings.HasSuffix(rest, "(recalled)") && (strings.Contains(rest, "(folded)") || !strings.Contains(rest, "left out: ") && !strings.HasPrefix(rest, "left out")) {
				records = append(records, number)
			}
		}
	}
	return blocks, records, fence
}

// No content can pass for framing, swallow what follows it, or change what it costs.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "# Context Block: b\n", "## e3 tool run", "##e3", "## e2e tests", "## E7-E9 x", "```\n", "~~~~\n```", "````\n```\n## 3 user", "a\r# Context Block: c", "\xff`", " \t```", "``` `\n", "```\n~~~\n```\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		a, b := record.Frame("a", content), record.Frame("b", "x\n")
		blocks, records, fence := readBack(a + b)
		if len(blocks) != 2 || len(records) != 0 || fence != "" {
			t.Fatalf("blocks %q, records %q, open fence %q in\n%s", blocks, records, fence, a+b)
		}
		if !strings.Contains(a, content) {
			t.Fatalf("%q was altered: %q", content, a)
		}
		for _, encoding := range []string{"o200k_base", "cl100k_base"} {
			if sum, whole := countText(encoding, a)+countText(encoding, b), countText(encoding, a+b); sum != whole {
				t.Fatalf("%s: %d tokens apart, %d together: %q", encoding, sum, whole, a+b)
			}
		}
		h := newHistory()
		for _, role := range []string{"user", "tool", "assistant"} {
			h.message(message(role, content))
		}
		h.event([]byte(`{"type":"tool_call","name":` + quoteJSON(content) + `,"args":` + quoteJSON(content) + `}`))
		h.event([]byte(`{"type":"tool_result","output":` + quoteJSON(content) + `,"id":` + quoteJSON(content) + `,"exit_code":` + quoteJSON(content) + `}`))
		md := string(mustCompile(t, h.input(h.len(), 0)).Markdown)
		if blocks, records, _ := readBack(md); strings.TrimSuffix(strings.Join(blocks, " "), " goal") != "conversation" || strings.Join(records, " ") != "1 2 3 e1 e2" {
			t.Fatalf("blocks %q, records %q in\n%s", blocks, records, md)
		}
	})
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}
