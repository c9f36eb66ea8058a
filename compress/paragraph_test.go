package compress

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// show writes paragraphs down: lines, headings above, text.
func show(ps []Paragraph) string {
	var b strings.Builder
	for _, p := range ps {
		fmt.Fprintf(&b, "%d-%d %q %q\n", p.From, p.To, p.Under, p.Text)
	}
	return b.String()
}

func TestParagraphs(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"blank", "\n \n\t\n", ""},
		{"one line", "a", `1-1 [] "a"`},
		{"blank lines part", "a\nb\n\n\nc\n", "1-2 [] \"a\\nb\"\n5-5 [] \"c\""},
		{"carriage returns", "a\r\n\r\nb\r\n", "1-1 [] \"a\"\n3-3 [] \"b\""},
		{"a heading stays with what follows", "# T\n\nx\n\ny\n", "1-3 [] \"# T\\n\\nx\"\n5-5 [\"T\"] \"y\""},
		{"headings without text between", "# T\n## U ##\nx\n\ny\n# V\nz", "1-3 [] \"# T\\n## U ##\\nx\"\n5-5 [\"T\" \"U\"] \"y\"\n6-7 [] \"# V\\nz\""},
		{"an empty section", "## A\n\n## B\n\nx", "1-1 [] \"## A\"\n3-5 [] \"## B\\n\\nx\""},
		{"headings end those below", "# A\nx\n### B\ny\n## C\nz\n\nw", "1-2 [] \"# A\\nx\"\n3-4 [\"A\"] \"### B\\ny\"\n5-6 [\"A\"] \"## C\\nz\"\n8-8 [\"A\" \"C\"] \"w\""},
		{"a heading at the end", "x\n\n# T", "1-1 [] \"x\"\n3-3 [] \"# T\""},
		{"a rule is no heading", "a\nb\n---\nc", `1-4 [] "a\nb\n---\nc"`},
		{"no headings", "#x\n\n####### y\n\n    # z", "1-1 [] \"#x\"\n3-3 [] \"####### y\"\n5-5 [] \"    # z\""},
		{"a fence is whole", "a\n```go\nx\n\n# y\n```\n\nb", "1-6 [] \"a\\n```go\\nx\\n\\n# y\\n```\"\n8-8 [] \"b\""},
		{"a longer fence", "````\n```\n\n```\n````\n\nb", "1-5 [] \"````\\n```\\n\\n```\\n````\"\n7-7 [] \"b\""},
		{"a fence of tildes", "~~~\n```\n\n~~~\n\nb", "1-4 [] \"~~~\\n```\\n\\n~~~\"\n6-6 [] \"b\""},
		{"an open fence", "```\nx\n\ny", `1-4 [] "` + "```" + `\nx\n\ny"`},
		{"no fence", "```a```\n\nb", "1-1 [] \"```a```\"\n3-3 [] \"b\""},
		{"a rule below a fence", "```\nx\n```\n---\ny\n\nz", "1-5 [] \"```\\nx\\n```\\n---\\ny\"\n7-7 [] \"z\""},
		{"a colon leads in", "Run this:\n\n```\nmake\n```\n\nThen rest.", "1-5 [] \"Run this:\\n\\n```\\nmake\\n```\"\n7-7 [] \"Then rest.\""},
		{"but not to a heading", "As follows:\n\n# T\nx", "1-1 [] \"As follows:\"\n3-4 [] \"# T\\nx\""},
		{"an item goes on", "- a\n\n  more\n\n- b\n\n1. c\n\n   ```\n   d\n   ```\n\ne", "1-3 [] \"- a\\n\\n  more\"\n5-5 [] \"- b\"\n7-11 [] \"1. c\\n\\n   ```\\n   d\\n   ```\"\n13-13 [] \"e\""},
	} {
		if got := strings.TrimSpace(show(Paragraphs(c.text))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestItems(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"bullets", "# M\n\n- a\n  b\n- c\n\n- d", "1-4 [] \"# M\\n\\n- a\\n  b\"\n5-5 [\"M\"] \"- c\"\n7-7 [\"M\"] \"- d\""},
		{"inner ones stay", "- a\n  - b\n  - c\n- d", "1-3 [] \"- a\\n  - b\\n  - c\"\n4-4 [] \"- d\""},
		{"steps stay", "To deploy:\n\n1. build\n2. push", `1-4 [] "To deploy:\n\n1. build\n2. push"`},
		{"a lead-in goes with the first", "Likes:\n- a\n- b", "1-2 [] \"Likes:\\n- a\"\n3-3 [] \"- b\""},
		{"code has no items", "```\n- a\n- b\n```", "1-4 [] \"```\\n- a\\n- b\\n```\""},
		{"emphasis is no item", "*a*\n*b*\n-\n-x", `1-4 [] "*a*\n*b*\n-\n-x"`},
	} {
		if got := strings.TrimSpace(show(Items(c.text))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestLongParagraphsAreSplitBetweenLines(t *testing.T) {
	prose := strings.Repeat(strings.Repeat("word ", 12)+"\n", 100) // 61 bytes a line
	for _, p := range Paragraphs("# T\n" + prose) {
		if len(p.Text) > longParagraph || p.To < 101 && len(p.Text) < longParagraph/2 {
			t.Errorf("lines %d-%d have %d bytes", p.From, p.To, len(p.Text))
		}
		if p.From > 1 && fmt.Sprint(p.Under) != "[T]" {
			t.Errorf("line %d is under %q", p.From, p.Under)
		}
	}
	fence := "```\n" + strings.Repeat("code()\n\n", 300) + "```\n"
	if ps := Paragraphs("Intro.\n\n" + fence + "\nEnd."); len(ps) != 3 || ps[1].Text+"\n" != fence {
		t.Errorf("a fence of %d bytes gives %d paragraphs", len(fence), len(ps))
	}
	table := strings.Repeat("| a | b |\n", 300)
	if ps := Paragraphs("Intro\n" + table); len(ps) != 2 || ps[1].Text+"\n" != table {
		t.Errorf("a table of %d bytes gives %d paragraphs", len(table), len(ps))
	}
	for _, p := range Paragraphs(strings.Repeat(fence[:len(fence)-4], 5)) {
		if len(p.Text) > longWhole {
			t.Errorf("an endless fence gives a paragraph of %d bytes", len(p.Text))
		}
	}
	if ps := Paragraphs(strings.Repeat("x", 10*longWhole) + "\n\ny"); len(ps) != 2 {
		t.Errorf("a line is split: %d paragraphs", len(ps))
	}
}

// checkParagraphs returns an error if ps breaks the promise: lines in order, each that is not blank
// in one paragraph, unaltered.
func checkParagraphs(text string, ps []Paragraph) error {
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, l)
	}
	at := 0
	for _, p := range ps {
		if p.From <= at || p.To < p.From || p.To > len(lines) {
			return fmt.Errorf("lines %d-%d after line %d of %d", p.From, p.To, at, len(lines))
		}
		if between := strings.Join(lines[at:p.From-1], ""); strings.TrimSpace(between) != "" {
			return fmt.Errorf("%q is lost before line %d", between, p.From)
		}
		whole := strings.Join(lines[p.From-1:p.To], "")
		if rest, ok := strings.CutPrefix(whole, p.Text); !ok || strings.Trim(rest, "\r\n") != "" || len(rest) > 2 {
			return fmt.Errorf("lines %d-%d are %q, not %q", p.From, p.To, whole, p.Text)
		}
		if strings.TrimSpace(lines[p.From-1]) == "" && strings.TrimSpace(p.Text) == "" {
			return fmt.Errorf("lines %d-%d are blank", p.From, p.To)
		}
		at = p.To
	}
	if rest := strings.Join(lines[at:], ""); strings.TrimSpace(rest) != "" {
		return fmt.Errorf("%q is lost at the end", rest)
	}
	return nil
}

var markdownLines = []string{"", " ", "text", "Text that leads in:", "# A", "## B", "### C ##", "- item", "  - inner", "  more", "1. one", "```", "```go", "~~~", "````",
	"| a | b |", "---", "===", "\tcode", "日本語の文。", "> quote", "* x", strings.Repeat("long ", 60), strings.Repeat("x", 1300)}

func TestParagraphsLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom(markdownLines), 0, 60).Draw(t, "lines")
		text := strings.Join(lines, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end"))
		for _, ps := range [][]Paragraph{Paragraphs(text), Items(text)} {
			if err := checkParagraphs(text, ps); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
		}
	})
}

func FuzzParagraphs(f *testing.F) {
	for _, s := range markdownLines {
		f.Add(s + "\n\n" + s)
	}
	if data, err := os.ReadFile("../docs/abi.md"); err == nil {
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := checkParagraphs(text, Paragraphs(text)); err != nil {
			t.Error(err)
		}
		if err := checkParagraphs(text, Items(text)); err != nil {
			t.Error("items:", err)
		}
	})
}
