package formats_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
)

// FuzzImportClaudeCode: whatever a transcript says, its records are such that
// a session takes them, a second import adds nothing, and where nothing was
// lost it comes back as it was.
func FuzzImportClaudeCode(f *testing.F) {
	files, _ := filepath.Glob("testdata/claude-code/*.jsonl")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 6<<10 {
			f.Add(data)
		}
	}
	f.Add(claudeLines("u1 - prompt", "a1 u1 call m t1", "r1 a1 result t1", "q r1 queued", "f q file", "b - boundary q", "s b summary"))
	format, _ := formats.Lookup("claude-code")
	f.Fuzz(func(t *testing.T, data []byte) {
		format.Sniff("", data)
		var s adaptertest.Session
		_, losses := s.Import(t, format, "", data)
		if again, _ := s.Import(t, format, "", data); len(again) > 0 {
			t.Errorf("a second import adds %.300s", again[0].Line)
		}
		out, lost := s.Export(t, format)
		if len(losses)+len(lost) > 0 {
			return
		}
		if diff := adaptertest.CanonicalEqual(data, out); diff != "" {
			t.Errorf("%s\n%q\n%q", diff, data, out)
		}
	})
}

// Any forest of records, imported in any steps, comes back as it was, and no
// message of it is in the session twice.
func TestClaudeGrowsInAnySteps(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(rt, "records")
		var lines []string
		for i := range n {
			parent := rapid.SampledFrom([]string{"-", ".", "gone", "before", "before", "before", "any", "any"}).Draw(rt, "parent")
			switch {
			case parent == "before" && i > 0:
				parent = fmt.Sprint("u", i-1)
			case parent == "before":
				parent = "-"
			case parent == "any":
				parent = fmt.Sprint("u", rapid.IntRange(0, n-1).Draw(rt, "any"))
			}
			id := rapid.SampledFrom([]string{"m1", "m2"}).Draw(rt, "id")
			call := rapid.SampledFrom([]string{"t1", "t2", "t3"}).Draw(rt, "call")
			kind := rapid.SampledFrom([]string{"prompt", "text " + id, "call " + id + " " + call, "result " + call, "meta " + call, "queued", "file", "boundary u0", "summary", "apierror " + id, "progress", "elsewhere o"}).Draw(rt, "kind")
			if name, rest, _ := strings.Cut(kind, " "); rapid.IntRange(0, 3).Draw(rt, "side") == 0 {
				kind = name + "~ " + rest
			}
			uuid := fmt.Sprint("u", i)
			if rapid.IntRange(0, 12).Draw(rt, "twice") == 0 {
				uuid = "u0"
			}
			lines = append(lines, uuid+" "+parent+" "+kind)
		}
		var s adaptertest.Session
		for _, end := range append(rapid.SliceOfN(rapid.IntRange(0, n), 0, 4).Draw(rt, "steps"), n) {
			s.Import(t, f, "", claudeLines(lines[:end]...))
		}
		said := map[string]bool{}
		for _, r := range s.Records {
			stamp, _ := r.Stamp()
			for _, id := range stamp.IDs {
				if said[id] {
					rt.Fatalf("%s is there twice", id)
				}
				said[id] = true
			}
		}
		out, _ := s.Export(t, f)
		if diff := adaptertest.CanonicalEqual(claudeLines(lines...), out); diff != "" {
			rt.Fatalf("%s\n%s", diff, strings.Join(lines, "\n"))
		}
	})
}
