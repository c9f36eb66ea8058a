package pack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

func files(t *rapid.T) []blocks.File {
	var out []blocks.File
	add := func(path, content string) { out = append(out, fileOf(path, content)) }
	small := rapid.Map(text(), func(s string) string { return strings.ToValidUTF8(s[:min(len(s), 150)], "") })
	if rapid.Bool().Draw(t, "prompt") {
		add("system_prompt.md", small.Draw(t, "system_prompt"))
	}
	if rapid.Bool().Draw(t, "pin") {
		add("context/pinned/a.md", small.Draw(t, "pinned"))
	}
	for _, name := range optionalFiles {
		if rapid.IntRange(0, 3).Draw(t, name) == 0 {
			add(name, rapid.OneOf(text(), rapid.Just("not \xff\xfe UTF-8 \xe4")).Draw(t, name))
		}
	}
	return out
}

func budget() *rapid.Generator[int] {
	return rapid.OneOf(rapid.IntRange(500, 3000), rapid.IntRange(1000, 40000), rapid.SampledFrom([]int{400, 2000, 8000, 32000, 0}))
}

// For random histories, files and budgets every pack keeps every promise.
func TestPackProperties(t *testing.T) {
	pure(t)
	rapid.Check(t, func(t *rapid.T) {
		h, fs, limit := wholeHistory(t), files(t), budget().Draw(t, "budget")
		encoding := rapid.SampledFrom([]string{"o200k_base", "cl100k_base"}).Draw(t, "encoding")
		in := h.input(h.len(), limit, fs...)
		in.Encoding = encoding
		b, err := compile(in)
		if err != nil {
			t.Fatalf("%v", err)
		}
		checkPack(t, in, b)
		again, err := compile(in)
		if err != nil {
			t.Fatal(err)
		}
		sameBuild(t, b, again)
	})
}

// checkPack holds a pack to all promises that can be seen from one pack.
func checkPack(t *rapid.T, in Input, b *Build) {
	md := string(b.Markdown)
	p := checkNumbers(t, in, b)
	for _, f := range in.Files {
		if in.UsedRecipe().Sources[f.At].Type.Required() && !strings.Contains(md, string(f.Data)) {
			t.Fatalf("%s is not in the pack as it is", f.Path)
		}
	}
	checkAccounting(t, in, p)
	checkRepeats(t, p, md)
	checkZones(t, in, p, md)
	checkLastUser(t, in, md)
	checkFraming(t, in, p, md)
}

// checkNumbers: what pack.json says of tokens and of the prefix is what pack.md has.
func checkNumbers(t *rapid.T, in Input, b *Build) packJSON {
	md := string(b.Markdown)
	counted := countText(in.Encoding, md)
	if counted != b.Tokens {
		t.Fatalf("%d tokens stated, %d counted", b.Tokens, counted)
	}
	if in.Budget > 0 && counted > in.Budget {
		t.Fatalf("%d tokens, the budget is %d", counted, in.Budget)
	}
	var p packJSON
	if err := json.Unmarshal(b.JSON(), &p); err != nil {
		t.Fatal(err)
	}
	p.unname()
	sum := p.Framing
	for _, it := range p.Items {
		sum += it.Tokens
	}
	if sum != counted || p.Tokens != counted {
		t.Fatalf("items and framing sum up to %d, pack.json says %d, the whole has %d", sum, p.Tokens, counted)
	}
	if p.PrefixBytes != b.Prefix || hexOf(b.Markdown[:b.Prefix]) != p.PrefixSHA256 {
		t.Fatal("prefix_sha256 is not of the prefix")
	}
	return p
}

func countText(encoding, s string) int {
	c, err := counterFor(encoding)
	if err != nil {
		panic(err)
	}
	return c.Count(s)
}

func checkAccounting(t *rapid.T, in Input, p packJSON) {
	lines := make([]int, in.Messages.Len())
	for i := range lines {
		lines[i] = i + 1
	}
	accounting(t, p, "messages", in.Messages, lines)
	lines = nil
	for _, e := range in.Tools {
		lines = append(lines, int(e.Line))
	}
	accounting(t, p, "events", in.Events, lines)
}

// accounting: each of lines stands in exactly one item or omission, and no other is counted.
func accounting(t *rapid.T, p packJSON, source string, log record.Records, lines []int) {
	seen := map[int]int{}
	each := func(r string, do func(line int)) {
		span, err := ctxabi.ParseSpan(r)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, line := range lines {
			if span.From <= line && line <= span.To {
				seen[line]++
				do(line)
				n++
			}
		}
		if n == 0 {
			t.Fatalf("%s:%s holds nothing", source, r)
		}
	}
	for _, it := range p.Items {
		if it.Source == source && !it.Extra {
			n := 0
			each(it.Range, func(int) { n++ })
			if span, _ := ctxabi.ParseSpan(it.Range); span.Len() != n {
				t.Fatalf("%s:%s is said to stand there, %d records of it do", source, it.Range, n)
			}
		}
	}
	for _, o := range p.Omitted {
		if o.Source == source {
			var bytes, weight int64
			each(o.Range, func(line int) {
				e := log.At(line)
				bytes, weight = bytes+int64(e.Len)+1, weight+int64(e.Weight)
			})
			if o.Bytes != bytes || o.TokensEst != weight {
				t.Fatalf("%s: %d bytes and %d tokens stated, %d and %d summed up", o.Range, o.Bytes, o.TokensEst, bytes, weight)
			}
		}
	}
	for _, line := range lines {
		if seen[line] != 1 {
			t.Fatalf("%s:%d stands in %d items and omissions\nitems %+v\nomitted %+v", source, line, seen[line], p.Items, p.Omitted)
		}
	}
}

// checkLastUser: the last request stands in every pack, as it is up to a quarter of the limit.
func checkLastUser(t *rapid.T, in Input, md string) {
	for line := in.Messages.Len(); line > 0; line-- {
		if !record.IsUser(in.Messages.At(line)) {
			continue
		}
		if !strings.Contains(md, fmt.Sprintf("\n## %d user", line)) {
			t.Fatalf("the last user record %d is not in the pack:\n%s", line, md)
		}
		raw, _ := in.Messages.Record(line)
		text := ctxabi.DecodeMessage(raw).Text
		if (in.Budget == 0 || countText(in.Encoding, text)*4 <= in.Budget) && !strings.Contains(md, text) {
			t.Fatalf("the last user record %d is not verbatim", line)
		}
		return
	}
}

// Record by record: within an epoch the prefix only grows, and what was
// compiled step by step is what is compiled at once.
func TestPrefixAndIncrementalProperties(t *testing.T) {
	pure(t)
	suite.Check(t, 20, func(t *rapid.T) {
		h, fs, limit := wholeHistory(t), files(t), budget().Draw(t, "budget")
		var c Compiler
		var before *Build
		for n := 0; n <= h.len(); n++ {
			in := h.input(n, limit, fs...)
			b, err := c.Compile(in)
			if err != nil {
				t.Fatal(err)
			}
			if b.Tokens > limit && limit > 0 {
				t.Fatalf("%d tokens, the budget is %d", b.Tokens, limit)
			}
			if before != nil && before.Epoch == b.Epoch && !bytes.HasPrefix(b.Markdown, before.Markdown[:before.Prefix]) {
				t.Fatalf("record %d broke the prefix within epoch %s:\n%s\n---\n%s", n, b.Epoch, before.Markdown, b.Markdown)
			}
			if before != nil && before.Epoch == b.Epoch && before.Prefix > b.Prefix {
				t.Fatal("the prefix shrank")
			}
			before = b
			if n == h.len() || n%16 == 7 {
				sameBuild(t, b, mustCompile(t, in))
			}
		}
	})
}

// A fold reads no record. Findings read all records of a history that is new to them once, with the
// calls of results, and so does the index of recall; zones, sections, and the goal look at a window
// of them.
func TestFoldReadsNoRecord(t *testing.T) {
	pure(t)
	l := longLog(5000)
	b := mustCompile(t, inputOf(l, 2000))
	if parseJSON(t, b).Compactions == 0 {
		t.Fatal("no compaction")
	}
	if l.Reads > 5*l.Len()/2+journal.MostGenerations*journal.WindowRecords {
		t.Errorf("%d records were read to show a few", l.Reads)
	}
}

// Whatever CheckFits lets pass can be built, however odd the history: the
// conversation gets along with the least that it is promised.
func TestLeastRoomIsEnough(t *testing.T) {
	pure(t)
	rapid.Check(t, func(t *rapid.T) {
		h, fs := wholeHistory(t), files(t)
		counter, err := counterFor("")
		if err != nil {
			t.Fatal(err)
		}
		required, _ := (&Input{Files: fs}).required(counter)
		in := h.input(h.len(), required+minJournal+rapid.IntRange(0, 100).Draw(t, "more"), fs...)
		b, err := compile(in)
		if err != nil {
			t.Fatal(err)
		}
		if n := countText("", string(b.Markdown)); n > in.Budget || n != b.Tokens {
			t.Fatalf("%d tokens (stated %d), the budget is %d", n, b.Tokens, in.Budget)
		}
		var p packJSON
		if err := json.Unmarshal(b.JSON(), &p); err != nil {
			t.Fatal(err)
		}
		p.unname()
		checkAccounting(t, in, p)
	})
}

// required returns the exact tokens of all that stands verbatim in the pack of these files, and the limit; 0: none.
// The input needs no history.
func (in *Input) required(c *tokens.Counter) (n, limit int) {
	y := in.begin(NewMemo(), c)
	return y.demand().required, y.limit
}
