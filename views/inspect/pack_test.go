package inspect

import (
	"cmp"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// What is read of pack.md adds up to what pack.json says, whatever the records hold.
func TestPackTakenApart(t *testing.T) {
	d := newDesk(t)
	d.fill(120)
	for _, budget := range []int{1200, 3000, 9000, 0} {
		h := d.look(budget)
		for n := 0; n <= h.Len(); n += 1 + h.Len()/40 {
			checkParts(t, d.at(h, n), h, n)
		}
		checkParts(t, d.at(h, h.Len()), h, h.Len())
	}
}

func checkParts(t *testing.T, p *Pack, h *History, n int) {
	t.Helper()
	if p.Messages != n {
		t.Errorf("at %d: %d messages", n, p.Messages)
	}
	for line := 1; line <= h.Len(); line++ {
		a := Address{N: line}
		place := p.PlaceOf(a)
		_, shown := p.parts.records[a]
		if (place.Zone == Absent) != (line > n) || shown != place.shown() {
			t.Fatalf("at %d: record %d is %q, in pack.md: %v\n%s", n, line, place, shown, p.Markdown)
		}
	}
	for _, a := range p.parts.order {
		if !p.PlaceOf(a).shown() {
			t.Errorf("at %d: %s stands in pack.md, but is %q", n, a, p.PlaceOf(a))
		}
	}
	checkItems(t, p, n)
	whole := ""
	for _, x := range p.Pieces() {
		whole += x.Text
		if x.Record != (Address{}) && p.parts.records[x.Record] != x.Text {
			t.Errorf("at %d: %s is %q, not %q", n, x.Record, x.Text, p.parts.records[x.Record])
		}
	}
	if whole != p.Markdown {
		t.Errorf("at %d: the pieces are not the pack:\n%s", n, whole)
	}

	// Of pack.md alone as much is known of who stands in it.
	alone, err := NewPack(n, []byte(p.Markdown), nil, p.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	if alone.Tokens != p.Tokens {
		t.Errorf("at %d: counted %d tokens, it has %d", n, alone.Tokens, p.Tokens)
	}
	for line := 1; line <= n; line++ {
		a := Address{N: line}
		if alone.PlaceOf(a).shown() != p.PlaceOf(a).shown() || (alone.PlaceOf(a).Zone == Folded) != (p.PlaceOf(a).Zone == Folded) {
			t.Errorf("at %d: by pack.md alone record %d is %q, not %q", n, line, alone.PlaceOf(a), p.PlaceOf(a))
		}
	}
}

// checkItems holds the tokens of pack.json to what stands in pack.md.
func checkItems(t *testing.T, p *Pack, n int) {
	t.Helper()
	all := p.Framing
	blocks := map[string]int{} // what is recalled is an item for each part of one block
	for _, it := range p.Items {
		all += it.Tokens
		switch event, ok := ofLog(it.Source); {
		case ok && !it.Extra && it.Range != "":
			span, err := ctxabi.ParseSpan(cmp.Or(it.RangeV1, it.Range))
			if err != nil {
				t.Fatal(err)
			}
			sum := 0
			for line := span.From; line <= span.To; line++ {
				sum += p.TokensOf(Address{event, line})
			}
			if sum != it.Tokens {
				t.Errorf("at %d: %s:%s has %d tokens in pack.md, %d in pack.json", n, it.Source, it.Range, sum, it.Tokens)
			}
		case it.isBlock():
			blocks[it.ID] += it.Tokens
		}
	}
	for id, tokens := range blocks {
		if text, ok := p.parts.block(id); !ok || p.counter.CountParts(text) != tokens {
			t.Errorf("at %d: block %s of %d tokens is\n%s", n, id, tokens, text)
		}
	}
	s, z := p.Sections()
	whole := 0 // records in full
	for _, a := range p.parts.order {
		if p.PlaceOf(a).Zone == Full {
			whole += p.TokensOf(a)
		}
	}
	if z.Full != whole {
		t.Errorf("at %d: %d tokens in full, the records have %d", n, z.Full, whole)
	}
	zones := z.UserWords + z.Summary + z.Files + z.Notes + z.KeyLines + z.Folded + z.Kept + z.Full + z.Shortened + z.Framing
	if all != p.Tokens || s.Stable+s.Session+s.Journal+s.Footer != p.Tokens || zones != s.Journal {
		t.Errorf("at %d: %d tokens, %+v, %+v", n, p.Tokens, s, z)
	}
}

func TestParseRecords(t *testing.T) {
	for text, want := range map[string]marks{
		"messages:57": {span: ctxabi.Span{From: 57, To: 57}}, "57": {span: ctxabi.Span{From: 57, To: 57}}, "57-60": {span: ctxabi.Span{From: 57, To: 60}}, "messages:57-60": {span: ctxabi.Span{From: 57, To: 60}},
		"events:12": {true, ctxabi.Span{From: 12, To: 12}}, "e12": {true, ctxabi.Span{From: 12, To: 12}}, "events:e12": {true, ctxabi.Span{From: 12, To: 12}},
		"e3-e7": {true, ctxabi.Span{From: 3, To: 7}}, "events:3-7": {true, ctxabi.Span{From: 3, To: 7}},
	} {
		event, span, ok, err := ParseRecords(text)
		if err != nil || !ok || event != want.event || span != want.span {
			t.Errorf("%s: %v %v %v %v", text, event, span, ok, err)
		}
	}
	for _, text := range []string{"60-57", "0", "messages:0", "messages:x", "messages:", "events:", "57-", "-", "events:7-3", "057", "99999999999"} {
		if _, span, ok, err := ParseRecords(text); !ok || err == nil {
			t.Errorf("%s: %v %v %v", text, span, ok, err)
		}
	}
	for _, text := range []string{"", "knowledge", "pinned/rules.md", "e", "errors", "e2e", "e3-7", "goal"} {
		if _, span, ok, err := ParseRecords(text); ok || err != nil {
			t.Errorf("%s: %v %v %v", text, span, ok, err)
		}
	}
}

// Taking apart never fails, and loses nothing of what a block or a record begins.
func FuzzTakeApart(f *testing.F) {
	for _, s := range []string{"# Context Block: conversation\n## 1 user\nx\n## 2-9 and e3-e7 left out: 9 records\n", "## 1 user\n```\n## 2 x\n```\n## 3 y\n", "# Context Block: a\r## 4 z\n~~~\n", "## e1 tool", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, md string) {
		p := takeApart(md)
		sum := 0
		for _, b := range p.blocks {
			sum += len(b.text)
		}
		for _, text := range p.records {
			sum += len(text)
		}
		if sum > len(md) {
			t.Fatalf("%q has %d bytes, its parts %d", md, len(md), sum)
		}
		if _, err := NewPack(0, []byte(md), nil, ""); err != nil {
			t.Fatal(err)
		}
	})
}

var _ Source = (*Stored)(nil)
var _ Source = (*Mounted)(nil)
