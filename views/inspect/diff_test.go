package inspect

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/blob"
)

// The moves lead from every place of the first pack to that of the second.
func TestMovesLeadFromOnePackToTheOther(t *testing.T) {
	d := newDesk(t)
	d.fill(120)
	h := d.look(3000)
	for _, c := range [][2]int{{0, 1}, {10, 11}, {40, 90}, {90, 40}, {3, h.Len()}, {60, 60}} {
		a, b := d.at(h, c[0]), d.at(h, c[1])
		x := Compare(a, b, "a", "b", true)
		if x.Same != (c[0] == c[1]) || x.Same && len(x.Blocks)+len(x.Records) > 0 {
			t.Errorf("%v: same %v, %+v, %+v", c, x.Same, x.Blocks, x.Records)
		}
		moved := map[string]Place{}
		for _, m := range x.Records {
			span, err := ctxabi.ParseSpan(m.Range)
			if err != nil || span.Len() != m.Count || m.From == m.To {
				t.Fatalf("%v: %+v, %v", c, m, err)
			}
			for n := span.From; n <= span.To; n++ {
				addr := Address{m.Source == "events", n}
				if a.PlaceOf(addr) != m.From {
					t.Errorf("%v: %s was %q, not %q", c, addr, a.PlaceOf(addr), m.From)
				}
				moved[addr.String()] = m.To
			}
		}
		for _, event := range []bool{false, true} {
			for n := 1; n <= h.Len(); n++ {
				addr := Address{event, n}
				to, ok := moved[addr.String()]
				if !ok {
					to = a.PlaceOf(addr)
				}
				if to != b.PlaceOf(addr) {
					t.Errorf("%v: %s is %q, not %q", c, addr, b.PlaceOf(addr), to)
				}
			}
		}
		if !strings.HasPrefix(b.Markdown, a.Markdown[:x.Kept.Bytes]) || a.Epoch == b.Epoch && c[0] < c[1] && x.Kept.Bytes < a.PrefixBytes {
			t.Errorf("%v: %d bytes are kept, the prefix has %d", c, x.Kept.Bytes, a.PrefixBytes)
		}
		if text := Text(a, b, "a", "b"); (len(text) == 0) != x.Same || !x.Same && !bytes.Contains(text, []byte("\n@@ ")) {
			t.Errorf("%v: the text is\n%s", c, text)
		}
	}
}

func TestBlocksThatChange(t *testing.T) {
	make := func(md string) *Pack {
		p, err := NewPack(1, []byte(md), nil, "")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a := make("# Context Block: system_prompt\nBe good.\n# Context Block: old\nx\n# Context Block: summary (messages:1-9)\n- a\n# Context Block: conversation\n## 1 user\nhi\n# Context Block: same\ny\n")
	b := make("# Context Block: system_prompt\nBe very good.\n# Context Block: new\nx\n# Context Block: summary (messages:1-12)\n- b\n# Context Block: conversation\n## 1 user\nhi\n# Context Block: same\ny\n")
	x := Compare(a, b, "a", "b", true)
	var got []string
	for _, c := range x.Blocks {
		got = append(got, c.What+" "+c.ID)
		if (c.Before == 0) != (c.What == "added") || (c.After == 0) != (c.What == "removed") {
			t.Errorf("%+v", c)
		}
	}
	want := "changed system_prompt, added new, removed summary (messages:1-9), added summary (messages:1-12), removed old"
	if s := strings.Join(got, ", "); s != want {
		t.Error(s)
	}
	if x.Kept.Bytes != len("# Context Block: system_prompt\n") || x.Kept.Tokens == 0 || x.Kept.Share <= 0 || !x.From.MarkdownOnly {
		t.Errorf("%+v", x.Kept)
	}
}

// A pack that was served is known whole while today's files give it, else by its pack.md.
func TestServedPacks(t *testing.T) {
	d := newDesk(t)
	d.fill(30)
	h := d.look(3000)
	then := d.at(h, 20)
	m := &memory{Source: h.Source, served: []blob.Row{{PackID: then.PackID, Messages: 20}, {PackID: "sha256-gone", Messages: 9}, {PackID: "sha256-old", Messages: 7, Epoch: "0-x"}},
		kept: map[string]string{"sha256-old": "# Context Block: conversation\n## 1-3 left out: 3 records, about 9 tokens, context/line/<number>\n## 4 user\nhi\n"}}
	h = NewHistory(m)
	ctx := context.Background()
	if p, err := h.AtServed(ctx, then.PackID); err != nil || p.Items == nil || p.Markdown != then.Markdown {
		t.Errorf("%v", err)
	}
	p, err := h.AtServed(ctx, "sha256-old")
	if err != nil || p.Items != nil || p.Epoch != "0-x" || p.PackID != "sha256-old" || p.Tokens == 0 || p.PlaceOf(Address{N: 2}).Zone != LeftOut || p.PlaceOf(Address{N: 4}).Zone != Full {
		t.Errorf("%+v, %v", p, err)
	}
	for _, id := range []string{"sha256-gone", "sha256-never"} {
		if p, err := h.AtServed(ctx, id); err == nil {
			t.Errorf("%s: %+v", id, p)
		}
	}
}

// Blocks that several compactions left have one name: those that did not change are no change.
func TestDiffOfGenerationsIsTrue(t *testing.T) {
	block := func(name, text string) string { return "# Context Block: " + name + "\n" + text + "\n" }
	const conversation = "# Context Block: conversation\n"
	one := block("user's words (messages:1-9)", "- [1] a") + block("key lines (messages:1-9)", "[1] a") + conversation
	two := block("files and runs (as of messages:20)", "- x") + block("key lines (messages:10-20)", "[11] b") + conversation
	three := block("key lines (messages:21-30)", "[25] c") + conversation
	major := block("user's words (messages:1-30)", "- [1] a") + block("key lines (messages:1-30)", "[1] a") + conversation
	end := "## 40 user\nhi\n"
	for _, c := range []struct{ before, after, want string }{
		{one + two + end, one + two + three + end, "added key lines (messages:21-30)"},
		{one + two + three + end, one + two + end, "removed key lines (messages:21-30)"},
		{one + end, one + two + end, "added key lines (messages:10-20), added files and runs (as of messages:20)"},
		{one + two + three + end, major + end, "removed user's words (messages:1-9), added user's words (messages:1-30), " +
			"removed key lines (messages:1-9), removed key lines (messages:10-20), removed key lines (messages:21-30), " +
			"added key lines (messages:1-30), removed files and runs (as of messages:20)"},
		{one + two + end, one + two + end, ""},
		{one + two + end, strings.Replace(one+two+end, "[11] b", "[12] c", 1), "changed key lines (messages:10-20)"},
	} {
		a, err := NewPack(40, []byte(c.before), nil, "")
		if err != nil {
			t.Fatal(err)
		}
		b, err := NewPack(40, []byte(c.after), nil, "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		sum := 0
		for _, x := range Compare(a, b, "a", "b", true).Blocks {
			got = append(got, x.What+" "+x.ID)
			sum += x.After - x.Before
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%q, want %q", s, c.want)
		}
		if strings.Count(c.before, conversation) == strings.Count(c.after, conversation) && sum != b.Tokens-a.Tokens {
			t.Errorf("%s: the changes add up to %d, not %d", c.want, sum, b.Tokens-a.Tokens)
		}
	}
}

// The totals of a name contain the blocks that did not change.
func TestTotalsIncludeUnchangedBlocks(t *testing.T) {
	lines := func(span, text string) string {
		return "# Context Block: key lines (messages:" + span + ")\n" + text + "\n"
	}
	pack := func(md string) *Pack {
		p, err := NewPack(40, []byte(md), nil, "")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a := pack(lines("1-9", "[1] a") + "# Context Block: goal\nx\n")
	b := pack(lines("1-9", "[1] a") + lines("10-20", "[11] b") + "# Context Block: goal\ny\n")

	d := Compare(a, b, "a", "b", true)
	one := a.Generations("key lines")[0].Tokens
	two := b.Generations("key lines")[1].Tokens
	want := []Total{{Name: "key lines", BeforeBlocks: 1, AfterBlocks: 2, Unchanged: 1, Before: one, After: one + two}}
	if !slices.Equal(d.Names, want) {
		t.Errorf("%+v, want %+v", d.Names, want)
	}
	if c := d.Blocks[0]; c.Name != "key lines" || c.Range != "messages:10-20" || c.After != two {
		t.Errorf("%+v", c)
	}
}
