package pack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/pack/native"
)

// checkKept: what pack.json says is kept of the pack before are bytes of both, and all tokens are counted once.
func checkKept(t failer, encoding string, before, b *Build) {
	t.Helper()
	var p packJSON
	if err := json.Unmarshal(b.JSON(), &p); err != nil {
		t.Fatalf("%v", err)
	}
	kept := b.Markdown[:p.KeptBytes]
	if hexOf(kept) != p.KeptSHA256 || p.KeptBytes > b.Prefix {
		t.Fatalf("kept_sha256 is not of the first %d bytes, or these are more than the prefix of %d", p.KeptBytes, b.Prefix)
	}
	if n := countText(encoding, string(kept)); n != p.KeptTokens {
		t.Fatalf("kept_tokens is %d, counted %d", p.KeptTokens, n)
	}
	if n := countText(encoding, string(b.Markdown[p.KeptBytes:b.Prefix])); n != p.Written {
		t.Fatalf("written_tokens is %d, counted %d", p.Written, n)
	}
	if p.KeptTokens+p.Written+p.Fresh != p.Tokens || p.Tokens != b.Tokens {
		t.Fatalf("%d kept, %d written and %d fresh of %d", p.KeptTokens, p.Written, p.Fresh, p.Tokens)
	}
	if !strings.Contains(string(b.Report), fmt.Sprintf("%d tokens cached, %d written, %d fresh.", p.KeptTokens, p.Written, p.Fresh)) && p.Tokens > 0 && p.KeptBytes > 0 {
		t.Fatalf("the report counts otherwise:\n%s", b.Report)
	}
	if before == nil {
		if p.KeptBytes > 0 {
			t.Fatalf("%d bytes are kept of a pack that was not", p.KeptBytes)
		}
		return
	}
	if !bytes.HasPrefix(before.Markdown[:before.Prefix], kept) {
		t.Fatalf("the first %d bytes do not begin the pack before:\n%s\n---\n%s", p.KeptBytes, before.Markdown, b.Markdown)
	}
	if before.Epoch == b.Epoch && p.KeptBytes != before.Prefix {
		t.Fatalf("%d bytes are kept within an epoch, the prefix was %d", p.KeptBytes, before.Prefix)
	}
}

// What is kept of the pack of one record fewer is what it has in common with it, through compactions, too.
func TestKeptProperties(t *testing.T) {
	pure(t)
	rapid.Check(t, func(t *rapid.T) {
		h, fs, limit := wholeHistory(t), files(t), budget().Draw(t, "budget")
		var before *Build
		var one Compiler
		shown := 0
		for n := 0; n <= h.len(); n++ {
			in := h.input(n, limit, fs...)
			if at := in.history().Len(); at == shown && n > 0 {
				continue // an event that no pack shows
			}
			shown = in.history().Len()
			b := mustCompile(t, in)
			if again, err := one.Compile(in); err != nil || !bytes.Equal(again.JSON(), b.JSON()) || !bytes.Equal(again.Report, b.Report) {
				t.Fatalf("made behind the pack before it: %v\n%s\n---\n%s", err, again.JSON(), b.JSON())
			}
			if shown < 2 {
				checkKept(t, "", nil, b)
			} else {
				checkKept(t, "", before, b)
			}
			before = b
		}
	})
}

// A compaction keeps the blocks in front of the conversation, what comes between two keeps all but the new record.
func TestKeptThroughCompactions(t *testing.T) {
	pure(t)
	l := longLog(160)
	var c Compiler
	var before *Build
	compactions, kept := 0, 0
	for n := 1; n <= l.Len(); n++ {
		in := inputOf(l.Prefix(n), 2500, sampleFiles()...)
		b, err := c.Compile(in)
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			checkKept(t, "", nil, b)
		} else {
			checkKept(t, "", before, b)
		}
		p := parseJSON(t, b)
		if p.Compactions > compactions {
			compactions = p.Compactions
			if !strings.HasPrefix(string(b.Markdown[p.KeptBytes:]), "# Context Block: ") {
				t.Errorf("record %d: what is kept at a compaction ends at %.60q", n, b.Markdown[p.KeptBytes:])
			}
			kept++
		}
		if head := strings.Index(string(b.Markdown), "# Context Block: pinned/"); n > 1 && p.KeptBytes <= head {
			t.Errorf("record %d: only %d bytes are kept", n, p.KeptBytes)
		}
		before = b
	}
	if kept < 3 {
		t.Errorf("%d compactions", kept)
	}
}

// The marks of Anthropic's rendering stand where pack.json has its breakpoints, few enough and close enough. The last one may
// stand before a call that has no result yet, and where there are marks left one stands in between.
func TestBreakpointsAreWhereMarksStand(t *testing.T) {
	pure(t)
	l := longLog(260)
	between := 0
	for n := 2; n <= l.Len(); n += 3 { // the first record stands in the head, alone
		for _, budget := range []int{2500, 16000} {
			in := inputOf(l.Prefix(n), budget, sampleFiles()...)
			b := mustCompile(t, in)
			points := parseJSON(t, b).Breakpoints
			ends, marks, system := markedBlocks(t, string(b.Markdown), natives(t, b, logsOf(&in), budget, "")[native.Anthropic].data)
			if len(marks) > native.MaxMarks || len(points) > native.MaxMarks || !slices.IsSorted(points) {
				t.Fatalf("%d records at %d: marks %v, breakpoints %v", n, budget, marks, points)
			}
			// upTo is the last block that stands in front of a place in pack.md.
			upTo := func(at int) int {
				return sort.Search(len(ends), func(i int) bool { return ends[i] > at }) - 1
			}
			for i, at := range points {
				want := upTo(at)
				if want >= 0 && want < system-1 && i > 0 {
					want = system - 1
				}
				if i < len(points)-1 && !slices.Contains(marks, want) {
					t.Errorf("%d records at %d: the breakpoint %d has no mark on block %d, they are on %v", n, budget, at, want, marks)
				}
			}
			last := marks[len(marks)-1]
			if want := upTo(points[len(points)-1]); last > want || want-last > 3 {
				t.Errorf("%d records at %d: the last mark is on block %d, the last breakpoint behind %d", n, budget, last, want)
			}
			for i := 1; i < len(marks); i++ {
				if marks[i]-marks[i-1] > native.MarkReach && len(marks) < native.MaxMarks {
					t.Errorf("%d records at %d: %d blocks between marks %v", n, budget, marks[i]-marks[i-1], marks)
				}
			}
			between += max(0, len(marks)-len(points))
		}
	}
	if between == 0 {
		t.Error("no mark stood in between")
	}
}

// markedBlocks gives where in md each block of a body ends, the indices of those that bear a mark, and how many are system texts.
func markedBlocks(t *testing.T, md string, data []byte) (ends, marks []int, system int) {
	t.Helper()
	type block struct {
		Type, Text string
		Content    any
		Mark       any `json:"cache_control"`
	}
	var body struct {
		System   []block
		Messages []struct{ Content []block }
	}
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatal(err)
	}
	blocks := body.System
	for _, m := range body.Messages {
		blocks = append(blocks, m.Content...)
	}
	at := 0
	for i, b := range blocks {
		text := b.Text
		if s, ok := b.Content.(string); ok {
			text = s
		}
		if b.Type == "tool_use" {
			text = "[call "
		}
		if k := strings.Index(md[at:], strings.TrimSpace(text)); k >= 0 {
			at += k + len(strings.TrimSpace(text))
		}
		ends = append(ends, at)
		if b.Mark != nil {
			marks = append(marks, i)
		}
	}
	return ends, marks, len(body.System)
}

// What ctxfs writes has sorted keys and nothing in it that depends on when and where it is written.
func TestSameHistoryElsewhereAndLater(t *testing.T) {
	make := func(later bool) map[string][]byte {
		d := newDesk(t, Config{Budget: 3000})
		d.write("context/pinned/rules.md", "Never delete the ledger.\n")
		d.write("context/facts.jsonl", `{"id":"f1","text":"CI runs Go 1.26","source":"messages:3","at":1.50,"b":{"z":1,"a":2}}`+"\n")
		d.write("../../tools.json", toolsJSON)
		d.write("../../memory/a.md", "# Modules\n\nModule m is broken.\n")
		for i, r := range longLog(80).Records() {
			d.append(r)
			if i%20 == 10 {
				d.event(fmt.Appendf(nil, `{"type":"tool_call","id":"e%d","name":"bash","arguments":"{\"z\": 1.50, \"a\": 1e3}"}`, i))
				d.event(fmt.Appendf(nil, `{"type":"tool_result","id":"e%d","content":"done"}`, i))
			}
		}
		if later {
			err := filepath.WalkDir(filepath.Dir(d.dir), func(path string, _ os.DirEntry, err error) error {
				if err != nil {
					return err
				}
				then := time.Now().Add(-90 * 24 * time.Hour)
				return os.Chtimes(path, then, then)
			})
			if err != nil {
				t.Fatal(err)
			}
			d.restart(Config{Budget: 3000})
		}
		b := d.pack()
		out := map[string][]byte{"pack.md": b.Markdown, "pack.json": b.JSON(), "pack.report.md": b.Report}
		for _, f := range native.Formats {
			data, err := d.b.Native(d.x, b, f)
			if err != nil {
				t.Fatal(err)
			}
			out[string(f)] = data
		}
		for name, data := range out {
			if strings.Contains(string(data), filepath.Dir(d.dir)) {
				t.Errorf("%s names the directory of the store", name)
			}
			// The id names this very session, and stands in no prompt.
			if without := bytes.ReplaceAll(data, []byte(b.ID), []byte("id")); name == "pack.json" || name == "pack.report.md" {
				out[name] = without
			} else if len(without) != len(data) {
				t.Errorf("%s holds the id of the pack", name)
			}
		}
		return out
	}
	here, there := make(false), make(true)
	for name, data := range here {
		if string(data) != string(there[name]) {
			i := commonPrefix(string(data), string(there[name]))
			t.Errorf("%s differs from byte %d on:\n%s\n---\n%s", name, i, clip(string(data[max(0, i-200):])), clip(string(there[name][max(0, i-200):])))
		}
		if name != "pack.md" && name != "pack.report.md" {
			if key := unsorted(json.NewDecoder(bytes.NewReader(data))); key != "" {
				t.Errorf("%s: %s", name, key)
			}
		}
	}
}

// unsorted reads one JSON value and gives the first key that stands behind a greater one.
func unsorted(d *json.Decoder) string {
	d.UseNumber()
	token, err := d.Token()
	if err != nil {
		return err.Error()
	}
	open, ok := token.(json.Delim)
	if !ok {
		return ""
	}
	last := ""
	for d.More() {
		if open == '{' {
			token, err := d.Token()
			if err != nil {
				return err.Error()
			}
			key := token.(string)
			if key <= last && last != "" {
				return fmt.Sprintf("the key %q stands behind %q", key, last)
			}
			last = key
		}
		if wrong := unsorted(d); wrong != "" {
			return wrong
		}
	}
	if _, err := d.Token(); err != nil {
		return err.Error()
	}
	return ""
}
