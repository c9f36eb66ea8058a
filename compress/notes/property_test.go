package notes

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// checkFindings fails where a finding is not in the text: each sentence stands there, blanks aside.
func checkFindings(t interface{ Fatalf(string, ...any) }, text string, found []Finding) {
	flat := strings.Join(strings.Fields(text), " ")
	for _, f := range found {
		switch f.Kind {
		case FoundFact, FoundDecision, FoundProposal:
			if f.Text == "" || !strings.Contains(flat, f.Text) {
				t.Fatalf("%s: %q is not said in %q", f.Kind, f.Text, text)
			}
		case FoundTodo:
			if !strings.Contains(flat, strings.TrimSuffix(f.Text, "…")) {
				t.Fatalf("item %q is not said in %q", f.Text, text)
			}
		}
		if len(f.Text) > longSentence {
			t.Fatalf("%d bytes of text, %d of key", len(f.Text), len(f.Key))
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{
		"Never push to main.\nthe port is 8443", "- [ ] a\n- [x] b", "let's use zap", "Option A: x\nOption B: y\nWhich?", "B please", "yes, do that",
		"**never** run `make\nx: `", "> quoted\n\n\tcode\n<a>\nb</a>", "use tabs, not spaces. I'm", "1. [ ] [", "no — no", "\"", "a: \"b", "must", "Niemals ä ö.",
	} {
		for role := range byte(5) {
			f.Add(s, `{"path":"a","todos":[{"content":"c","status":"done"}]}`, role)
		}
	}
	f.Add("x", `{"command":"cat <<A > b; sed 'x y"}`, byte(2))
	f.Fuzz(func(t *testing.T, text, args string, role byte) {
		r := []string{"user", "assistant", "system", "tool", "event"}[role%5]
		text = strings.ToValidUTF8(text, "")
		s := Record{Role: r, Type: "plan", Text: text, Result: r == "tool"}
		for _, name := range []string{"bash", "TodoWrite", "edit", "apply_patch", "TaskCreate", "TaskUpdate"} {
			s.Calls = append(s.Calls, Call{Name: name, Arguments: args})
		}
		for _, tool := range []string{"TaskCreate", "TaskList"} {
			s.Answers = append(s.Answers, Answer{Tool: tool, Text: text})
		}
		found := Find(s)
		again, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		var n, m State
		n.Add(Position{Line: 1}, r, found)
		if found = nil; json.Unmarshal(again, &found) != nil {
			t.Fatalf("findings do not survive their disk: %s", again)
		}
		m.Add(Position{Line: 1}, r, found)
		if a, b := allRows(&n), allRows(&m); a != b {
			t.Fatalf("folded from disk: %s, want %s", b, a)
		}
		if r == "user" || r == "assistant" || r == "system" {
			s.Calls = nil
			checkFindings(t, text, Find(s))
		}
		n.Summary(100, func(s string) int { return len(s) })
	})
}

// noteLines are what random histories are made of.
var noteLines = []string{
	"never push to %s", "the %s port is 8443", "the %s port is 9443", "we use %s", "we no longer use %s", "let's go with %s", "I'll use %s instead of a map because it is bounded.",
	"- [ ] port %s", "- [x] port %s", "Should I replace %s by something else?", "yes", "no", "you can push to %s again", "1. have a look at %s", "the issue is in %s", "all files in %s must have a header", "Option A: %s\nOption B: not\nWhich?", "B please",
}

// history draws records; names come from few, so that they meet.
func history(t *rapid.T) []Record {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Record {
		name := rapid.SampledFrom([]string{"alpha", "beta", "src/gamma.go", "delta-1"}).Draw(t, "name")
		switch rapid.IntRange(0, 8).Draw(t, "what") {
		case 0:
			return Record{Role: "assistant", Calls: []Call{{Name: "edit", Arguments: `{"path":"` + name + `"}`}}}
		case 1:
			return Record{Role: "tool", Tool: "edit", Result: true, Failed: rapid.Bool().Draw(t, "failed"), Text: "no such file", Bytes: rapid.IntRange(10, 20000).Draw(t, "bytes")}
		case 2:
			state := rapid.SampledFrom([]string{"pending", "in_progress", "completed", "cancelled"}).Draw(t, "state")
			return Record{Role: "assistant", Calls: []Call{{Name: "TodoWrite", Arguments: `{"todos":[{"content":"port ` + name + `","status":"` + state + `"}]}`}}}
		case 3:
			n := rapid.SampledFrom([]string{"1", "2"}).Draw(t, "number")
			return rapid.SampledFrom([]Record{
				{Role: "assistant", Calls: []Call{{Name: "TaskCreate", Arguments: `{"subject":"port ` + name + `"}`, ID: n}}},
				{Role: "assistant", Calls: []Call{{Name: "TaskUpdate", Arguments: `{"taskId":"` + n + `","status":"completed"}`}}},
			}).Draw(t, "call")
		case 4:
			n := rapid.SampledFrom([]string{"1", "2"}).Draw(t, "number")
			return rapid.SampledFrom([]Record{
				{Role: "tool", Result: true, Answers: []Answer{{Call: n, Tool: "TaskCreate", Text: "Task #" + n + " created successfully: port"}}},
				{Role: "tool", Result: true, Answers: []Answer{{Tool: "TaskList", Text: "#" + n + " [pending] port " + name}}},
			}).Draw(t, "answer")
		}
		line := rapid.SampledFrom(noteLines).Draw(t, "line")
		return Record{Role: rapid.SampledFrom([]string{"user", "assistant", "system"}).Draw(t, "role"), Text: strings.ReplaceAll(line, "%s", name)}
	}), 0, 60).Draw(t, "history")
}

func foldAll(records []Record) *State {
	n := &State{}
	for i, s := range records {
		n.Add(Position{Line: i + 1}, s.Role, Find(s))
	}
	return n
}

func allRows(n *State) string {
	return fmt.Sprint(n.Facts(), n.Decisions(), n.Refs(), n.Todo(), n.Summary(300, func(s string) int { return len(s) / 4 }))
}

// checkPorts fails where what the user said of a port last does not hold, or what was said before
// it does.
func checkPorts(t *rapid.T, records []Record, n *State) {
	for _, name := range []string{"alpha", "beta"} {
		said := ""
		for _, s := range records {
			if s.Role == "user" && strings.HasPrefix(s.Text, "the "+name+" port is") {
				said = s.Text
			}
		}
		var held []string
		for _, f := range n.Facts() {
			if strings.HasPrefix(f.Text, "the "+name+" port is") {
				held = append(held, f.Text)
			}
		}
		if said != "" && len(held) != 1 || len(held) > 1 {
			t.Fatalf("said %q, held %q", said, held)
		}
	}
}

func TestNotesPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := history(t)
		n := foldAll(records)
		if allRows(n) != allRows(foldAll(records)) {
			t.Fatal("the same history folds to other rows")
		}
		ids := map[string]bool{}
		last := 0
		row := func(id, source string, ordered bool) {
			if ids[id] {
				t.Fatalf("two rows %s", id)
			}
			ids[id] = true
			src, err := ctxabi.ParseSource(source)
			if err != nil || src.Kind != ctxabi.ByRange || src.Span.To > len(records) {
				t.Fatalf("%s cites %s of %d records: %v", id, source, len(records), err)
			}
			if ordered && src.Span.To < last {
				t.Fatalf("%s cites %s behind a later row", id, source)
			}
			if ordered {
				last = src.Span.To
			}
		}
		texts := map[string]bool{}
		for _, f := range n.Facts() {
			row(f.ID, f.Source, true)
			if key := strings.ToLower(f.Text); texts[key] && !strings.Contains(f.Text, "port is") {
				t.Fatalf("a fact stands twice: %s", f.Text)
			} else {
				texts[key] = true
			}
		}
		last = 0
		for _, d := range n.Decisions() {
			row(d.ID, d.Source, true)
			if d.By != "user" && d.By != "assistant" {
				t.Fatalf("%s is by %q", d.ID, d.By)
			}
		}
		paths := map[string]bool{}
		for _, r := range n.Refs() {
			row(r.ID, r.Source, false)
			if paths[r.Path] || !slices.Contains(ctxabi.RefKinds, r.Kind) {
				t.Fatalf("ref %+v stands twice, or is of no kind", r)
			}
			paths[r.Path] = true
		}
		checkPorts(t, records, n)
		if tokens := rapid.IntRange(0, 400).Draw(t, "tokens"); len(n.Summary(tokens, func(s string) int { return len(s) })) > tokens {
			t.Fatal("a summary exceeds its tokens")
		}
	})
}

// A history without end: rows stay bounded, and a twentieth of its size.
func TestNotesAreBounded(t *testing.T) {
	var n State
	size := 0
	for i := 1; i <= 6000; i++ {
		name := fmt.Sprintf("service%d", i)
		s := Record{Role: "user", Text: fmt.Sprintf("Never touch %s.\nThe port of %s is %d.\nlet's use %s for that\n1. have a look at %s\n", name, name, 1000+i, name, name) + strings.Repeat("some more words that say nothing at all\n", 8)}
		n.Add(Position{Line: 2*i - 1}, s.Role, Find(s))
		c := Record{Role: "assistant", Calls: []Call{{Name: "write", Arguments: `{"path":"` + name + `.go","content":"` + strings.Repeat("x", 300) + `"}`}}}
		n.Add(Position{Line: 2 * i}, c.Role, Find(c))
		size += len(s.Text) + len(c.Calls[0].Arguments)
	}
	rows := 0
	for _, list := range []any{n.Facts(), n.Decisions(), n.Refs()} {
		raw, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		rows += len(raw)
	}
	rows += len(n.Todo())
	if rows*20 > size || rows > 128<<10 || rows < 16<<10 {
		t.Errorf("%d bytes of rows of a history of %d", rows, size)
	}
	if f := n.Facts(); f[len(f)-1].Source != "messages:11999" {
		t.Errorf("the newest fact is of %s", f[len(f)-1].Source)
	}
}

func TestNotesOfASession(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var n State
	line := 0
	for raw := range bytes.Lines(data) {
		line++
		m := ctxabi.DecodeMessage(bytes.TrimSpace(raw))
		s := Record{Role: m.Role.String(), Text: m.Text, Result: m.Role == ctxabi.Tool, Tool: m.Name}
		for _, c := range m.Calls {
			s.Calls = append(s.Calls, Call{Name: c.Name, Arguments: c.Arguments})
		}
		n.Add(Position{Line: line}, s.Role, Find(s))
	}
	var b strings.Builder
	rows := func(name string, list any) {
		fmt.Fprintf(&b, "== %s\n", name)
		raw, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(strings.ReplaceAll(string(raw), "},{", "},\n{") + "\n")
	}
	rows("facts.jsonl", n.Facts())
	rows("decisions.jsonl", n.Decisions())
	rows("refs.jsonl", n.Refs())
	b.WriteString("== todo.md\n" + n.Todo() + "== summary.md\n" + n.Summary(300, func(s string) int { return ctxabi.Weight(s) }))
	file := filepath.Join("testdata", "session.want")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "compression.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []any{n.Facts(), n.Decisions(), n.Refs()} {
		raw, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		shown := "```json\n" + strings.ReplaceAll(strings.Trim(string(raw), "[]"), "},{", "}\n{") + "\n```\n"
		if !strings.Contains(string(doc), shown) {
			t.Errorf("docs/compression.md does not show\n%s", shown)
		}
	}
	if !strings.Contains(string(doc), "```\n"+n.Todo()+"```\n") {
		t.Errorf("docs/compression.md does not show\n%s", n.Todo())
	}
	if b.String() != string(want) {
		t.Errorf("differs; run with -update if that is meant.\n--- got\n%s\n--- want\n%s", b.String(), want)
	}
}

func BenchmarkFind(b *testing.B) {
	log := strings.Repeat("2024-05-18 12:00:01 INFO the port is 8443, and it must not change\n\tat foo.bar(x.go:12)\n", 700)
	talk := strings.Repeat("Please have a look at the second test. The port is 8443, and you must never push to main.\n\nI think that the parser does what it should do, but let's use another one.\n", 60)
	for _, c := range []struct {
		name string
		said Record
	}{
		{"output", Record{Role: "tool", Tool: "bash", Result: true, Text: log}},
		{"failed", Record{Role: "tool", Tool: "bash", Result: true, Failed: true, Text: log}},
		{"user", Record{Role: "user", Text: talk}},
		{"assistant", Record{Role: "assistant", Text: talk}},
		{"call", Record{Role: "assistant", Calls: []Call{{Name: "write", Arguments: `{"path":"a.go","content":"` + strings.Repeat("some code\\n", 5000) + `"}`}}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			size := len(c.said.Text)
			for _, call := range c.said.Calls {
				size += len(call.Arguments)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				Find(c.said)
			}
		})
	}
}

func BenchmarkNotesAdd(b *testing.B) {
	var found [][]Finding
	for i := range 1000 {
		found = append(found, Find(Record{Role: "user", Text: fmt.Sprintf("Look at it.\nNever touch service%d.\nThe port of service%d is %d.\nlet's use lib%d for that\n", i, i, i, i)}))
	}
	var n State
	at := 0
	for b.Loop() {
		at++
		n.Add(Position{Line: at}, "user", found[at%len(found)])
	}
}
