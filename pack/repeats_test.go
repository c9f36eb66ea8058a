package pack

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/record"
)

var referenceLine = regexp.MustCompile(`(?m)^[{[]?"?\[?(?:mostly )?the same as (?:lines? [0-9-]+ of )?(e?\d+) above.*`)

// checkRepeats: what a record refers to stands in front of it, and as more than a reference; the path is the record's own.
func checkRepeats(t failer, p packJSON, md string) {
	t.Helper()
	how := map[string]string{}
	each := func(do func(it item, name string)) {
		for _, it := range p.Items {
			if span, err := ctxabi.ParseSpan(it.Range); err == nil && !it.Extra && (it.Source == "messages" || it.Source == "events") {
				for n := span.From; n <= span.To; n++ {
					name := fmt.Sprint(n)
					if it.Source == "events" {
						name = "e" + name
					}
					do(it, name)
				}
			}
		}
	}
	each(func(it item, name string) { how[name] = it.Kind + " " + it.Shortened })
	each(func(it item, name string) {
		if it.Shortened != journal.ByRepeat {
			return
		}
		at := strings.Index(md, "\n## "+name+" ")
		if at < 0 {
			t.Fatalf("record %s is not there:\n%s", name, md)
		}
		body, _, _ := strings.Cut(md[at+1:], "\n## ")
		refs := referenceLine.FindAllStringSubmatch(body, -1)
		if len(refs) == 0 || it.Path != ctxabi.LineDir+"/"+name+".txt" || !strings.Contains(body, it.Path) {
			t.Fatalf("record %s (path %s) has no reference with its path:\n%s", name, it.Path, body)
		}
		for _, ref := range refs {
			to := strings.Index(md, "\n## "+ref[1]+" ")
			if kind, ok := how[ref[1]]; !ok || to < 0 || to > at || !strings.HasPrefix(kind, "recent_") {
				t.Fatalf("record %s refers to %s, which does not stand in front of it (%q):\n%s", name, ref[1], kind, md)
			}
		}
	})
}

// What repeats is a reference in every form in which results are written, in the native renderings, too, and a compaction that
// lets the first one go shows the next in full.
func TestRepeats(t *testing.T) {
	type m = map[string]any
	encode := func(v any) []byte {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	h := newHistory()
	n := 0
	read := func(text string) {
		n++
		id := fmt.Sprint("c", n)
		h.message(encode(m{"role": "assistant", "content": nil, "tool_calls": []m{{"id": id, "function": m{"name": "read_file", "arguments": `{"path":"ledger.go"}`}}}}))
		h.message(encode(m{"role": "tool", "tool_call_id": id, "content": text}))
	}
	h.message(message("user", "Read ledger.go."))
	read(document(0))  // 3
	read(document(0))  // 5: the same
	read(document(15)) // 7: after an edit
	h.message(encode(m{"role": "assistant", "content": []m{{"type": "tool_use", "id": "t1", "name": "test", "input": m{}}, {"type": "tool_use", "id": "t2", "name": "orders", "input": m{}}}}))
	h.message(encode(m{"role": "user", "content": []m{{"type": "tool_result", "tool_use_id": "t1", "content": document(4)}, {"type": "tool_result", "tool_use_id": "t2", "content": document(5)}}})) // 9
	h.message(encode(m{"role": "assistant", "content": []m{{"type": "tool_use", "id": "t3", "name": "test", "input": m{}}, {"type": "tool_use", "id": "t4", "name": "orders", "input": m{}}}}))
	h.message(encode(m{"role": "user", "content": []m{{"type": "tool_result", "tool_use_id": "t3", "content": document(4)}, {"type": "tool_result", "tool_use_id": "t4", "content": document(8)},
		{"type": "image", "source": m{"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="}}}})) // 11
	h.event(encode(m{"type": "tool_call", "id": "ev", "name": "cat", "arguments": "{}"}))
	h.event(encode(m{"type": "tool_result", "id": "ev", "content": document(0), "exit_code": 0})) // e2
	in := h.input(h.len(), 20000)
	b := mustCompile(t, in)
	golden(t, "repeats/pack.md", b.Markdown)
	p := parseJSON(t, b)
	checkRepeats(t, p, string(b.Markdown))
	short := map[string]string{}
	for _, it := range p.Items {
		if it.Cut {
			short[it.Source+it.Range] = it.Shortened
		}
	}
	if fmt.Sprint(short) != "map[events2:repeat messages11:repeat messages5:repeat messages7:repeat messages9:log]" {
		t.Errorf("shortened are %v", short)
	}
	if !strings.Contains(string(b.Report), "| 5 | a reference to what it repeats |") {
		t.Errorf("the report does not say so:\n%s", b.Report)
	}
	for f, n := range natives(t, b, logsOf(&in), in.Budget, "") {
		golden(t, fmt.Sprintf("repeats/pack.%s.json", f), n.data)
		if strings.Count(string(n.data), "the same as ") != 5 || strings.Contains(string(n.data), record.NothingGiven) || strings.Contains(string(n.data), native.NoResult) {
			t.Errorf("%s: not all references stand in the place of results", f)
		}
	}
	if len(p.Repairs) > 0 {
		t.Errorf("repairs: %v", p.Repairs)
	}

	// More and more until the first one leaves.
	for p.Compactions == 0 {
		h.message(message("assistant", weighing(300)))
		in = h.input(h.len(), 6000)
		b = mustCompile(t, in)
		p = parseJSON(t, b)
	}
	for _, it := range p.Items {
		if it.Range == "7" && strings.HasPrefix(it.Kind, "recent") && it.Shortened == journal.ByRepeat {
			t.Errorf("%+v refers to what has left", it)
		}
	}
	checkRepeats(t, p, string(b.Markdown))
}

// For histories that say the same again and again every promise holds, in every form and at every length.
func TestRepeatProperties(t *testing.T) {
	pure(t)
	suite.Check(t, 10, func(t *rapid.T) {
		h, id := newHistory(), 0
		for range rapid.IntRange(5, 40).Draw(t, "turns") {
			id++
			text := document(rapid.IntRange(0, 23).Draw(t, "document"))
			again := document(rapid.IntRange(0, 23).Draw(t, "another"))
			switch rapid.IntRange(0, 5).Draw(t, "form") {
			case 0:
				h.message(message("user", text))
			case 1:
				h.message(message("assistant", text))
			case 2:
				h.event(fmt.Appendf(nil, `{"type":"tool_call","id":"e%d","name":"cat","arguments":"{}"}`, id))
				h.event(fmt.Appendf(nil, `{"type":"tool_result","id":"e%d","content":%s}`, id, quoteJSON(text)))
			case 3:
				h.message(fmt.Appendf(nil, `{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"a","input":{}},{"type":"tool_use","id":"u%d","name":"b","input":{}}]}`, id, id))
				h.message(fmt.Appendf(nil, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%s},{"type":"tool_result","tool_use_id":"u%d","content":%s}]}`, id, quoteJSON(text), id, quoteJSON(again)))
			default:
				h.message(fmt.Appendf(nil, `{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","function":{"name":"bash","arguments":"{}"}}]}`, id))
				h.message(fmt.Appendf(nil, `{"role":"tool","tool_call_id":"c%d","content":%s}`, id, quoteJSON(text)))
			}
		}
		limit := rapid.SampledFrom([]int{1500, 4000, 8000, 20000, 60000}).Draw(t, "budget")
		var c Compiler
		var before *Build
		var nativeBefore map[native.Format]nativeOf
		for n := 1; n <= h.len(); n++ {
			in := h.input(n, limit)
			b, err := c.Compile(in)
			if err != nil {
				t.Fatal(err)
			}
			now := natives(t, b, logsOf(&in), limit, "")
			if before != nil && before.Epoch == b.Epoch {
				if !strings.HasPrefix(string(b.Markdown), string(before.Markdown[:before.Prefix])) {
					t.Fatalf("record %d broke the prefix", n)
				}
				keepsPrefix(t, nativeBefore, now)
			}
			before, nativeBefore = b, now
			if n%8 == 3 || n == h.len() {
				checkPack(t, in, b)
				sameBuild(t, b, mustCompile(t, in))
			}
		}
	})
}
