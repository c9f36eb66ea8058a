package recipetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// Each pair of types of sources, a type beside itself among them: what each gives alone stands in the pack of both, in the order of
// the phases and then of the list. Recall alone depends on the other: it shows nothing that stands in the pack.
func TestEachPairOfSources(t *testing.T) {
	t.Parallel()
	harness.Need(t, "python3")
	ar, err := txtar.ParseFile("testdata/golden/source-all.txtar")
	if err != nil {
		t.Fatal(err)
	}
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	files := []file{{"work/f.md", "The file.\n"}, {"project/notes.md", "Notes of the workspace.\n"}}
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
	for _, typ := range types(t) {
		if sources[typ] == "" {
			sources[typ] = "{type: " + typ + "}"
		}
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
	var kinds []string
	alone := map[string][]string{} // the blocks of a type
	text := map[string]string{}
	for typ, line := range sources {
		kinds = append(kinds, typ)
		b := read(line)
		for _, id := range b.blocks() {
			if id == "goal" || typ != "handoff" && strings.HasPrefix(id, "general/") {
				continue // of the pack, not of a source
			}
			alone[typ] = append(alone[typ], id)
			text[typ+" "+id] = b.block(id)
		}
		if len(alone[typ]) == 0 {
			t.Errorf("%s alone gives no block:\n%s\n%s", typ, b.md, s.Read("context/pack.report.md"))
		}
	}
	slices.Sort(kinds)
	every := suite.Pick(t, 4, 1) // from one partner of a source to the next
	for i, x := range kinds {
		for k, y := range kinds[i:] {
			if k%every != 0 { // each with itself and some of the others
				continue
			}
			if x == y {
				if x != "journal" { // there is one at most
					twins(t, read(sources[x], twinOf(sources[x])), alone[x], func(id string) string { return text[x+" "+id] })
				}
				continue
			}
			first, second := x, y
			if (i+len(y))%2 == 0 { // half of them the other way round
				first, second = y, x
			}
			if first == "journal" { // behind which another task counts
				first, second = second, first
			}
			b := read(sources[first], sources[second])
			if stable[second] && !stable[first] || first == "recall" { // which stands last in any case
				first, second = second, first
			}
			var got []string
			for _, id := range b.blocks() {
				if id != "goal" {
					got = append(got, id)
				}
			}
			want := slices.Concat(alone[first], alone[second])
			inJournal := x == "journal" && y == "summary" // the journal shows the summary, after a compaction
			switch {
			case inJournal:
				want = alone[x]
			case first == "journal" && second == "recall":
				want = alone[first]
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s and %s: blocks %q, want %q", x, y, got, want)
			}
			for _, typ := range []string{x, y} {
				for _, id := range alone[typ] {
					if typ != "recall" && !(inJournal && typ == y) && b.block(id) != text[typ+" "+id] {
						t.Errorf("%s and %s: block %s is\n%s\nand alone\n%s", x, y, id, b.block(id), text[typ+" "+id])
					}
				}
			}
		}
	}
}

// twinOf is a line of a recipe under another id.
func twinOf(line string) string {
	typ, rest, _ := strings.Cut(strings.TrimPrefix(line, "{type: "), ",")
	typ = strings.TrimSuffix(typ, "}")
	if id, more, ok := strings.Cut(rest, ","); ok && strings.Contains(id, "id:") {
		return "{type: " + typ + ", id: twin," + more
	}
	return "{type: " + typ + ", id: twin}"
}

// twins fails the test unless the blocks of a source stand twice in b, the second time under the name twin.
func twins(t *testing.T, b built, alone []string, text func(id string) string) {
	t.Helper()
	var want []string
	for _, id := range alone {
		want = append(want, id)
		if !strings.HasPrefix(alone[0], "recall") && b.block(id) != text(id) {
			t.Errorf("%s beside its twin is\n%s\nand alone\n%s", id, b.block(id), text(id))
		}
	}
	for _, id := range alone {
		name := "twin"
		if _, file, ok := strings.Cut(id, "/"); ok {
			name += "/" + file
		}
		if strings.HasPrefix(id, "recall") { // the first says it all
			continue
		}
		want = append(want, name)
		if b.block(name) != text(id) {
			t.Errorf("%s, the twin of %s, is\n%s\nand should be\n%s", name, id, b.block(name), text(id))
		}
	}
	var got []string
	for _, id := range b.blocks() {
		if id != "goal" {
			got = append(got, id)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q stand there, want %q:\n%s", got, want, b.md)
	}
}
