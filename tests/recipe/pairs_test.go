package recipetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// Each pair of types of sources: what each gives alone stands in the pack of both, in the order of the phases and then of the list.
func TestEachPairOfSources(t *testing.T) {
	t.Parallel()
	harness.Need(t, "python3")
	ar, err := txtar.ParseFile("testdata/golden/source-all.txtar")
	if err != nil {
		t.Fatal(err)
	}
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	files := []file{{"work/f.md", "The file.\n"}}
	for _, f := range ar.Files {
		switch {
		case strings.HasPrefix(f.Name, "want/") || f.Name == "home/context.yaml":
		case isLog(f.Name):
			s.Append(f.Name, string(f.Data))
		default:
			files = append(files, file{f.Name, string(f.Data)})
		}
	}
	s.putAll(files)
	sources := map[string]string{
		"file":          `{type: file, id: a file, path: f.md}`,
		"computed_file": `{type: computed_file, id: computed, generator: {command: [cat, f.md]}, cache: {strategy: file_hash, invalidate_on: [f.md]}}`,
		"pipeline":      `{type: pipeline, id: piped, stages: [{generator: [cat, f.md]}, {generator: [tr, a-z, A-Z]}], refresh: compaction}`,
	}
	stable := map[string]bool{"system_role": true, "tools": true, "skills": true}
	for _, typ := range strings.Fields("system_role tools skills pinned memory knowledge playbook summary facts decisions refs handoff journal children errors plan todo") { // recall shows what no other shows
		sources[typ] = "{type: " + typ + "}"
	}
	read := func(lines ...string) built {
		t.Helper()
		s.putAll([]file{{"home/context.yaml", "wait_ms: 60000\nsources:\n  - " + strings.Join(lines, "\n  - ") + "\n"}})
		if rows := s.Errors(); len(rows) > 0 {
			t.Fatalf("%v: %+v", lines, rows)
		}
		b := s.pack()
		for _, what := range b.unaccounted(s.lines("messages.jsonl")) {
			t.Errorf("%v: %s", lines, what)
		}
		return b
	}
	types := make([]string, 0, len(sources))
	alone := map[string][]string{} // the blocks of a type
	text := map[string]string{}
	for typ, line := range sources {
		types = append(types, typ)
		b := read(line)
		for _, id := range b.blocks() {
			if id == "goal" || typ != "handoff" && strings.HasPrefix(id, "general/") {
				continue // of the pack, not of a source
			}
			alone[typ] = append(alone[typ], id)
			text[typ+" "+id] = b.block(id)
		}
		if len(alone[typ]) == 0 && typ != "children" {
			t.Errorf("%s alone gives no block:\n%s\n%s", typ, b.md, s.Read("context/pack.report.md"))
		}
	}
	slices.Sort(types)
	for i, x := range types {
		for _, y := range types[i+1:] {
			first, second := x, y
			if (i+len(y))%2 == 0 { // half of them the other way round
				first, second = y, x
			}
			if first == "journal" { // behind which another task counts
				first, second = second, first
			}
			b := read(sources[first], sources[second])
			if stable[second] && !stable[first] {
				first, second = second, first
			}
			var got []string
			for _, id := range b.blocks() {
				if id != "goal" {
					got = append(got, id)
				}
			}
			want := slices.Concat(alone[first], alone[second])
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s and %s: blocks %q, want %q", x, y, got, want)
			}
			for _, typ := range []string{x, y} {
				for _, id := range alone[typ] {
					if b.block(id) != text[typ+" "+id] {
						t.Errorf("%s and %s: block %s is\n%s\nand alone\n%s", x, y, id, b.block(id), text[typ+" "+id])
					}
				}
			}
		}
	}
}
