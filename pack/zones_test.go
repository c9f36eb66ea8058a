package pack

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

var keyLine = regexp.MustCompile(`^\[(e?)(\d+)(?: [^\]]*)?\] (.*)$`)

// checkZones: key lines stand in their records word by word, the summary cites records that are there
// and keeps its bound, and what is folded and not whole names its path.
func checkZones(t *rapid.T, in Input, p packJSON, md string) {
	extra := map[string]int{}
	for _, it := range p.Items {
		if it.Extra && it.Kind != "recall" {
			extra[it.Kind]++
		}
		if it.Kind == "folded" && it.Cut && !strings.Contains(md, " · "+it.Path+"\n") {
			t.Fatalf("%s:%s does not name %s:\n%s", it.Source, it.Range, it.Path, md)
		}
	}
	if max(extra["key_lines"], extra["summary"], extra["user_words"]) > journal.MostGenerations {
		t.Fatalf("zones: %v", extra)
	}
	blocks := strings.Split(md, "# Context Block: key lines (")[1:]
	if len(blocks) < extra["key_lines"] {
		t.Fatalf("%d blocks of key lines, %d are listed", len(blocks), extra["key_lines"])
	}
	for _, block := range blocks[:extra["key_lines"]] {
		checkKeyLines(t, in, block)
	}
}

// checkKeyLines fails t unless the record of each quote contains the quote, apart from line breaks.
// block begins after the opening parenthesis of the heading.
func checkKeyLines(t *rapid.T, in Input, block string) {
	block, _, _ = strings.Cut(block, "\n# Context Block: ")
	block, _, _ = strings.Cut(block+"\n", "\n"+testMarks.End())
	block = strings.TrimSuffix(block, "\n")
	lines := strings.Split(block, "\n")[1:]
	if len(lines) == 0 {
		t.Fatal("no key line")
	}
	m, whole, flat := in.History(), "", ""
	for _, l := range lines {
		text := strings.TrimPrefix(l, " ")
		if found := keyLine.FindStringSubmatch(l); found != nil {
			n, _ := strconv.Atoi(found[2])
			text = found[3]
			at := n
			if tl, ok := m.(*record.Merged); ok {
				at = tl.PositionOf(record.Address{Line: n, Event: found[1] != ""})
			}
			r, err := record.ExcerptOf(m, at)
			if err != nil {
				t.Fatal(err)
			}
			whole, flat = r.Whole(), ""
			for _, c := range r.Calls { // their arguments are read as texts
				gjson.Parse(c.Arguments).ForEach(func(_, v gjson.Result) bool {
					whole += "\n" + v.String()
					return true
				})
				flat += flattened(gjson.Parse(c.Arguments), "")
			}
		}
		text = strings.TrimSuffix(text, "…")
		whole = strings.Join(strings.Fields(whole), " ")
		text = strings.Join(strings.Fields(text), " ")
		if _, args, ok := strings.Cut(text, " \""); ok && !strings.Contains(whole, text) {
			for _, arg := range strings.Split(args, " \"") { // short arguments stand in one line
				if !strings.Contains(flat, "\""+arg) {
					t.Fatalf("%q does not stand in its record:\n%s", l, block)
				}
			}
			continue
		}
		if !strings.Contains(whole, text) {
			t.Fatalf("%q does not stand in its record:\n%s", l, block)
		}
	}
}

// flattened returns the leaves of a value of JSON, each with its key.
func flattened(v gjson.Result, key string) (out string) {
	if !v.IsObject() && !v.IsArray() {
		return " \"" + key + "\":\"" + v.String() + "\""
	}
	v.ForEach(func(k, of gjson.Result) bool {
		name := key
		if v.IsObject() {
			name = k.String()
		}
		out += flattened(of, name)
		return true
	})
	return out
}

func TestZonesStandBehindTheBoundary(t *testing.T) {
	b := mustCompile(t, inputOf(codingLog(200), 8000))
	p := parseJSON(t, b)
	kinds := map[string]int{}
	for _, it := range p.Items {
		kinds[it.Kind]++
	}
	for _, kind := range []string{"user_words", "summary", "key_lines", "folded", "kept_messages", "recent_messages"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s in %v", kind, kinds)
		}
	}
	md := string(b.Markdown)
	for _, want := range []string{"# Context Block: user's words (messages:", "Now make limit", ". (messages:", "tool run_tests (folded) ", "passed, 1 failed: TestRefresh", " · context/line/", "# Context Block: key lines (messages:"} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in\n%s", want, md)
		}
	}
}

// A journal that drops what does not fit has no zones; what it dropped can be recalled.
func TestNoZonesWhereRecordsAreDropped(t *testing.T) {
	for how, s := range map[string]recipe.Source{"max_iterations": {Type: recipe.TypeJournal, MaxIterations: 8}, "truncate_head": {Type: recipe.TypeJournal, TruncateHead: true}} {
		p := parseJSON(t, mustCompile(t, inputBy(recipeOf(s), codingLog(200), 8000)))
		for _, it := range p.Items {
			if it.Extra && it.Kind != "recall" || it.Kind == "folded" {
				t.Errorf("%s: %+v", how, it)
			}
		}
		if len(p.Omitted) == 0 {
			t.Errorf("%s: nothing was left out", how)
		}
	}
}

// Between two compactions a pack reads the new record and nothing old.
func TestOneMoreRecordReadsNoHistory(t *testing.T) {
	l := codingLog(2000)
	var c Compiler
	last, compactions := 0, 0
	asked := l.Len() - 121 // the first request makes the index of terms, for which all is read once
	for !record.IsUser(l.At(asked)) {
		asked--
	}
	if _, err := c.Compile(inputOf(l.Prefix(asked), 8000)); err != nil {
		t.Fatal(err)
	}
	begin := l.Len() - 120
	for n := begin; n <= l.Len(); n++ {
		pre := l.Prefix(n)
		b, err := c.Compile(inputOf(pre, 8000))
		if err != nil {
			t.Fatal(err)
		}
		if k := parseJSON(t, b).Compactions; k != last {
			last = k
			compactions++
			if pre.Reads > 6*journal.WindowRecords+100 {
				t.Errorf("a compaction read %d records", pre.Reads)
			}
			continue
		}
		if !record.IsUser(l.At(n)) { // else the words of those since the last request are read
			most := 33                                              // the new record also for the notes of the next compaction
			most += 100                                             // the best records of a search, their neighbors, and their calls
			if n-begin <= journal.WindowRecords/journal.ReadAhead { // those that the next compaction needs are read some at a time, once
				most += 2 * journal.ReadAhead
			}
			if pre.Reads > most {
				t.Errorf("%d records were read for record %d, more than %d", pre.Reads, n, most)
			}
		}
	}
	if compactions < 3 {
		t.Errorf("%d compactions", compactions)
	}
}

// After a compaction the pack stands near its low mark, and never is much of the budget left at the high one.
func TestBudgetIsUsed(t *testing.T) {
	l := codingLog(600)
	var c Compiler
	least, most := 8000, 0
	for n := l.Len() / 2; n <= l.Len(); n++ {
		b, err := c.Compile(inputOf(l.Prefix(n), 8000))
		if err != nil {
			t.Fatal(err)
		}
		least, most = min(least, b.Tokens), max(most, b.Tokens)
	}
	if least < 8000*55/100 || most < 8000*70/100 {
		t.Errorf("packs of %d to %d tokens at 8000", least, most)
	}
}

// A step that shows more than one call keeps each call with its result, whichever zone it is in.
func TestFoldsKeepGroupsTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := history(t)
		in := inputOf(l, rapid.IntRange(1500, 6000).Draw(t, "budget"))
		mm := NewMemo()
		f := mm.Fold(l, rulesOf(in.Budget, 0))
		past, err := mm.Zones(l, f, testCounter)
		if err != nil {
			t.Fatal(err)
		}
		for _, z := range past {
			for at := max(z.From, 1); z.From > 0 && at < z.Boundary(); at++ {
				if call := int(l.At(at).CallOf); call > f.Lead.N && call < z.From && call >= z.First() && at-call < 4*journal.OrphansTogether {
					t.Fatalf("record %d is folded, its call %d is not: folded from %d", at, call, z.From)
				}
			}
		}
	})
}

// What another agent's report ends with stays when its line leaves the folded records, whatever its listings name.
func TestTheConclusionOfASubTaskOutlivesItsListing(t *testing.T) {
	conclusion := "Conclusion: the parser is in importer/parse.py, and it drops the last row of each sheet."
	var report strings.Builder
	for i := range 60 {
		fmt.Fprintf(&report, "Step %d: read file_%d.py and looked at function_%d_of_it\n", i, i, i*7)
	}
	l := logOf(string(message("user", "Find the parser and mend it.")),
		`{"role":"assistant","tool_calls":[{"id":"t","name":"task","arguments":"{\"prompt\":\"find the parser\"}"}]}`,
		fmt.Sprintf(`{"role":"tool","tool_call_id":"t","content":%q}`, report.String()+"\n"+conclusion))
	for i := range 60 {
		l.Append([]byte(fmt.Sprintf(`{"role":"assistant","content":"Now the edit of part %d.","tool_calls":[{"id":"e%d","name":"edit","arguments":"{\"path\":\"src/part_%d.py\",\"old\":\"value_%d\",\"new\":\"other_%d\"}"}]}`, i, i, i, i*3, i*5)))
		l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"e%d","content":"edited src/part_%d.py, line %d"}`, i, i, i*11)))
	}
	for _, budget := range []int{2000, 3000, 4000, 8000} {
		md := string(mustCompile(t, inputOf(l, budget)).Markdown)
		if !strings.Contains(md, conclusion) {
			t.Errorf("%d: the conclusion is in no block of\n%s", budget, md)
		}
		if strings.Count(md, conclusion) > 1 {
			t.Errorf("%d: the conclusion stands there more than once", budget)
		}
	}
}
