package inspect

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// The turns that are found by halving are those that building every pack shows.
func TestLivesAreThoseOfEveryPack(t *testing.T) {
	d := newDesk(t)
	d.fill(110)
	ctx := context.Background()
	const budget = 2500
	h := d.look(budget)
	every := d.look(budget)
	var packs []*Pack
	for n := range every.Len() + 1 {
		packs = append(packs, d.at(every, n))
	}
	if packs[h.Len()].Compactions < 3 {
		t.Fatalf("only %d compactions at %d", packs[h.Len()].Compactions, budget)
	}
	seen := map[Zone]bool{}
	check := func(event bool, n int) {
		records, err := h.Why(ctx, event, ctxabi.Span{From: n, To: n})
		if err != nil {
			t.Fatal(err)
		}
		r := records[0]
		var want []Turn
		was := Place{}
		for at, p := range packs {
			is := p.PlaceOf(r.Record)
			seen[is.Zone] = true
			if is != was {
				turn := Turn{At: at, Place: is, Tokens: p.TokensOf(r.Record)}
				if was.Zone != Absent {
					turn.Compaction = p.Compactions > packs[at-1].Compactions
					if p.Epoch != packs[at-1].Epoch {
						turn.EpochReason = p.EpochReason
					}
				}
				want = append(want, turn)
			}
			was = is
		}
		if r.Note == "" && !reflect.DeepEqual(r.Life, want) {
			t.Errorf("%s at %d tokens:\n got %+v\nwant %+v", r.Record, budget, r.Life, want)
		}
		if r.Note != "" && (!event || len(want) > 0 && want[0].shown()) {
			t.Errorf("%s: %s, but %+v", r.Record, r.Note, want)
		}
		chunked := slices.ContainsFunc(r.Paths, func(p string) bool { return strings.HasPrefix(p, ctxabi.SwapChunkDir+"/sha256-") })
		if r.Zone == LeftOut && !chunked { // one that is shown may have left the prompt at another budget
			t.Errorf("%s is %s: %q", r.Record, r.Place, r.Paths)
		}
		if r.Whole == 0 || r.What == "" || r.Tokens != packs[h.Len()].TokensOf(r.Record) || r.Zone == Full && r.Tokens != r.Whole {
			t.Errorf("%+v", r)
		}
	}
	for n := 1; n <= h.Len(); n += 3 {
		check(false, n)
	}
	for n := 1; n <= h.Events().Len(); n += 5 {
		check(true, n)
	}
	for _, z := range []Zone{Full, Folded, Kept, LeftOut, Shortened} {
		if !seen[z] {
			t.Errorf("at %d no record ever was %s", budget, z)
		}
	}
}

func TestWhyNamesLinesAndCitations(t *testing.T) {
	md := "# Context Block: summary (messages:1-9)\n- Asked: mend it (messages:2)\n- Failed: no (messages:22)\n" +
		"# Context Block: key lines (messages:1-9)\n[2] port = 80\n host = a\n[5] x\n y\n[e2] z\n" +
		"# Context Block: conversation\n## 1-9 left out: 9 records, about 99 tokens, context/line/<number>\n## 10 user\nhi\n" +
		"# Context Block: recall\nfrom messages:2-4: port\n"
	account := `{"items":[{"kind":"summary","extra":true,"phase":"journal","source":"messages","range":"1-9"},{"kind":"key_lines","extra":true,"phase":"journal","source":"messages","range":"1-9"},
		{"kind":"recent_messages","phase":"journal","source":"messages","range":"10"},{"kind":"recall","id":"recall","phase":"dynamic","source":"recall"}],
		"omitted":[{"source":"messages","range":"1-9","reason":"compacted"}]}`
	p, err := NewPack(10, []byte(md), []byte(account), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a                    Address
		lines, cited, footer []string
	}{
		{Address{N: 2}, []string{"port = 80", "host = a"}, []string{"- Asked: mend it (messages:2)"}, []string{"recall"}},
		{Address{N: 5}, []string{"x", "y"}, nil, nil},
		{Address{N: 3}, nil, nil, []string{"recall"}},
		{Address{N: 22}, nil, []string{"- Failed: no (messages:22)"}, nil},
		{Address{true, 2}, []string{"z"}, nil, nil},
		{Address{N: 10}, nil, nil, nil},
	} {
		quotes, citations, footer := p.mentions(c.a)
		lines, cited := linesOf(quotes), linesOf(citations)
		if !slices.Equal(lines, c.lines) || !slices.Equal(cited, c.cited) || !slices.Equal(footer, c.footer) {
			t.Errorf("%s: %q, %q, %q", c.a, lines, cited, footer)
		}
	}
}

// A line that two blocks have, as the summaries of two compactions and a note, is cited once.
func TestWhyCitesALineOnce(t *testing.T) {
	md := "# Context Block: summary (messages:1-9)\n- Failed: no (messages:2)\n# Context Block: summary (messages:10-19)\n- Failed: no (messages:2)\n" +
		"# Context Block: conversation\n## 20 user\nhi\n"
	account := `{"items":[{"kind":"summary","extra":true,"phase":"journal","source":"messages","range":"1-9"},{"kind":"summary","extra":true,"phase":"journal","source":"messages","range":"10-19"}]}`
	p, err := NewPack(20, []byte(md), []byte(account), "")
	if err != nil {
		t.Fatal(err)
	}
	want := []Quote{{"- Failed: no (messages:2)", []string{"summary (messages:1-9)", "summary (messages:10-19)"}}}
	if _, cited, _ := p.mentions(Address{N: 2}); !reflect.DeepEqual(cited, want) {
		t.Errorf("cited: %q", cited)
	}
}

// linesOf returns the lines of quotes.
func linesOf(list []Quote) (lines []string) {
	for _, q := range list {
		lines = append(lines, q.Line)
	}
	return lines
}

func TestWhyRefuses(t *testing.T) {
	d := newDesk(t)
	h := d.look(1000)
	ctx := context.Background()
	if _, err := h.Why(ctx, false, ctxabi.Span{From: 1, To: 1}); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("of an empty session: %v", err)
	}
	d.fill(20)
	h = d.look(1000)
	if _, err := h.Why(ctx, false, ctxabi.Span{From: 3, To: h.Len() + 1}); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("behind the end: %v", err)
	}
	if _, err := h.Block(ctx, "knowledge"); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("a block that is not there: %v", err)
	}
	if _, err := h.At(ctx, -1); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("at -1: %v", err)
	}
}

func TestWhyOfBlocks(t *testing.T) {
	d := newDesk(t)
	d.fill(20)
	long := ""
	for range 400 {
		long += "One more line of what was handed over.\n"
	}
	d.write("context/handoff.md", long)
	h := d.look(3000)
	ctx := context.Background()
	pin, err := h.Block(ctx, "pinned/rules.md")
	if err != nil || !pin.Shown || pin.Cut || pin.Asked != pin.Given || pin.Given == 0 || pin.Source != "context/pinned/rules.md" {
		t.Errorf("%+v, %v", pin, err)
	}
	same, err := h.Block(ctx, "context/pinned/rules.md")
	if err != nil || !reflect.DeepEqual(same, pin) {
		t.Errorf("by its path: %+v, %v", same, err)
	}
	cut, err := h.Block(ctx, "handoff")
	if err != nil || !cut.Shown || !cut.Cut || cut.Asked <= cut.Given || cut.Left == 0 || cut.Why == "" {
		t.Errorf("%+v, %v", cut, err)
	}
}

// Why finds the blocks that represent compacted records, of all compactions, and says of each citation once.
func TestWhyOfZonesIsTrue(t *testing.T) {
	md := "# Context Block: summary (messages:1-9)\n- Asked: mend it (messages:2)\n# Context Block: key lines (messages:1-9)\n[2] port = 80\n" +
		"# Context Block: files and runs (as of messages:12)\n- go test: ok (2)\n# Context Block: summary (messages:10-20)\n- Asked: more (messages:12)\n" +
		"# Context Block: key lines (messages:10-20)\n[12] x\n# Context Block: conversation\n## 21 user\nhi\n# Context Block: recall\n## 2 user (recalled)\nmessages:2\n## 3 user (recalled)\nmessages:3\n"
	item := func(kind, span string, tokens string) string {
		return `{"kind":"` + kind + `","extra":true,"phase":"journal","source":"messages.jsonl","range":"` + span + `","tokens":` + tokens + `},`
	}
	account := `{"items":[` + item("summary", "1-9", "20") + item("key_lines", "1-9", "11") + item("state", "1-12", "12") + item("summary", "10-20", "22") + item("key_lines", "10-20", "13") +
		`{"kind":"recent_messages","phase":"journal","source":"messages.jsonl","range":"21"},
		{"kind":"recall","id":"recall","phase":"dynamic","extra":true,"source":"messages.jsonl","range":"2"},{"kind":"recall","id":"recall","phase":"dynamic","extra":true,"source":"messages.jsonl","range":"3"}],
		"omitted":[{"source":"messages.jsonl","range":"1-20","reason":"compacted"}]}`
	p, err := NewPack(21, []byte(md), []byte(account), "")
	if err != nil {
		t.Fatal(err)
	}
	lines, cited, footer := p.mentions(Address{N: 2})
	wantLines := []Quote{{"port = 80", []string{"key lines (messages:1-9)"}}}
	wantCited := []Quote{
		{"- Asked: mend it (messages:2)", []string{"summary (messages:1-9)"}},
		{"- go test: ok (2)", []string{"files and runs (as of messages:12)"}},
	}
	if !reflect.DeepEqual(lines, wantLines) || !reflect.DeepEqual(cited, wantCited) || !slices.Equal(footer, []string{"recall"}) {
		t.Errorf("%q, %q, %q", lines, cited, footer)
	}

	for name, want := range map[string]struct{ kind, generations string }{
		"summary":                            {"summary", "messages:1-9 at 1-2, messages:10-20 at 7-8"},
		"key lines":                          {"key_lines", "messages:1-9 at 3-4, messages:10-20 at 9-10"},
		"key_lines":                          {"key_lines", "messages:1-9 at 3-4, messages:10-20 at 9-10"},
		"key lines (messages:1-9)":           {"key_lines", "messages:1-9 at 3-4"},
		"files and runs":                     {"state", "as of messages:12 at 5-6"},
		"files and runs (as of messages:12)": {"state", "as of messages:12 at 5-6"},
		"conversation":                       {"", " at 11-13"},
	} {
		b, ok := p.Block(name)
		if !ok {
			t.Errorf("%s: not found", name)
			continue
		}
		var got []string
		sum := 0
		for _, g := range b.Generations {
			got = append(got, fmt.Sprintf("%s at %d-%d", g.Range, g.First, g.Last))
			sum += g.Tokens
		}
		known := b.Kind == want.kind && b.Given == sum && sum > 0 && b.Asked == 0 && b.Shown
		if !known || strings.Join(got, ", ") != want.generations {
			t.Errorf("%s: %+v", name, b)
		}
	}
	if b, ok := p.Block("user's words"); ok {
		t.Errorf("a block that the pack does not have: %+v", b)
	}
	if ids := strings.Join(p.blockIDs(), ", "); ids != "summary, key lines, files and runs, conversation, recall" {
		t.Errorf("the blocks are %s", ids)
	}
}

func TestSplitBlockID(t *testing.T) {
	for id, want := range map[string][2]string{
		"summary (messages:1-118)":             {"summary", "messages:1-118"},
		"key lines (messages:1-9, events:2-4)": {"key lines", "messages:1-9, events:2-4"},
		"facts (events:3)":                     {"facts", "events:3"},
		"files and runs (as of messages:288)":  {"files and runs", "as of messages:288"},
		"user's words (messages:1-9)":          {"user's words", "messages:1-9"},
		"summary":                              {"summary", ""},
		"summary (old)":                        {"summary (old)", ""},
		"summary (messages:1-9":                {"summary (messages:1-9", ""},
		"pinned/summary (messages:1-9).md":     {"pinned/summary (messages:1-9).md", ""},
		"recall (messages:1-9)":                {"recall (messages:1-9)", ""},
	} {
		if name, span := SplitBlockID(id); name != want[0] || span != want[1] {
			t.Errorf("%s: %q, %q", id, name, span)
		}
	}
}

// A block of a file and a block of compacted records may have one name.
func TestFileHidesNoGenerations(t *testing.T) {
	const own = "# Context Block: summary\nmine\n"
	const past = "# Context Block: summary (messages:1-9)\n- a (messages:2)\n# Context Block: conversation\n## 10 user\nhi\n"
	shown := `{"id":"summary","kind":"summary","phase":"session","source":"context/summary.md","tokens":7},`
	derived := `{"kind":"summary","extra":true,"phase":"journal","source":"messages.jsonl","range":"1-9","tokens":20}`
	omitted := `{"id":"summary","source":"context/summary.md","bytes":800,"reason":"its share"}`
	for _, c := range []struct {
		name, md, account string
		ids               []string
		left              int64
	}{
		{"shown", own + past, `{"items":[` + shown + derived + `]}`, []string{"summary", "summary (messages:1-9)"}, 0},
		{"omitted", past, `{"items":[` + derived + `],"omitted":[` + omitted + `]}`, []string{"summary (messages:1-9)"}, 800},
	} {
		p, err := NewPack(10, []byte(c.md), []byte(c.account), "")
		if err != nil {
			t.Fatal(err)
		}
		b, ok := p.Block("summary")
		if !ok || !b.Shown || b.Left != c.left || b.Source != "context/summary.md" {
			t.Fatalf("%s: %+v", c.name, b)
		}
		var ids []string
		for _, g := range b.Generations {
			ids = append(ids, g.ID)
		}
		if !slices.Equal(ids, c.ids) {
			t.Errorf("%s: %q", c.name, ids)
		}
	}
}

// A block with several items, such as recall, has the tokens of all of them.
func TestBlockAddsUpItems(t *testing.T) {
	account := `{"items":[
		{"id":"recall","kind":"recall","phase":"dynamic","source":"messages.jsonl","range":"2","tokens":9,"cut":true},
		{"id":"recall","kind":"recall","phase":"dynamic","source":"messages.jsonl","range":"3","tokens":8}]}`
	p, err := NewPack(10, []byte("# Context Block: recall\nx\n"), []byte(account), "")
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := p.Block("recall"); !ok || b.Given != 17 || b.Asked != 0 || !b.Cut || b.Source != "messages.jsonl" {
		t.Errorf("%+v", b)
	}
}
