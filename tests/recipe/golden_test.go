package recipetest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ctxfs/ctxfs/tests/harness"
)

var update = flag.Bool("update", false, "write the packs that are expected")

// A case is an archive: what stands under home/ (the agent's home), work/ (the
// workspace) and in the session, and want/pack.md, the pack that comes of it.
// A line of want/report must stand in the report.

// The recipes, rows and source strings of the protocol, as it prints them.
func TestTheProtocolAsPrinted(t *testing.T) { runCases(t, "testdata/protocol/*.txtar") }

// A pack for each type of source, condition, cache, import and strategy.
func TestGoldenPacks(t *testing.T) { runCases(t, "testdata/golden/*.txtar") }

// A case of a type of source that shows nothing of it would hold whatever the type did.
func TestEachGoldenPackShowsItsSource(t *testing.T) {
	for _, typ := range types(t) {
		name := "testdata/golden/source-" + strings.ReplaceAll(typ, "_", "-") + ".txtar"
		heading := "# Context Block: " + typ
		switch typ { // the id is the recipe's
		case "file":
			heading = "# Context Block: file (DELTA.md)\n"
		case "computed_file":
			name, heading = "testdata/golden/source-computed-stdout.txtar", "# Context Block: a\n"
		case "pipeline":
			heading = "# Context Block: piped\n"
		case "summary": // only the journal shows summaries, after a compaction
			continue
		case "journal":
			name, heading = "testdata/golden/source-journal-step.txtar", "# Context Block: conversation\n"
		}
		ar, err := txtar.ParseFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		uses, shows := false, false
		for _, f := range ar.Files {
			switch f.Name {
			case "home/context.yaml":
				uses = strings.Contains(string(f.Data), "type: "+typ)
			case "want/pack.md":
				shows = strings.Contains("\n"+string(f.Data), "\n"+heading)
			}
		}
		if !uses || !shows {
			t.Errorf("%s: the recipe uses %s: %v, the pack shows it: %v", name, typ, uses, shows)
		}
	}
}

// types lists the types of sources in the reference of docs/recipe.md, which a test of package
// recipe keeps up to date.
func types(t *testing.T) (all []string) {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(harness.Root(), "docs", "recipe.md"))
	if err != nil {
		t.Fatal(err)
	}

	_, table, _ := strings.Cut(string(doc), "### Types of sources\n")
	table, _, _ = strings.Cut(table, "\n### ")
	for line := range strings.Lines(table) {
		if rest, ok := strings.CutPrefix(line, "| `"); ok {
			typ, _, _ := strings.Cut(rest, "`")
			all = append(all, typ)
		}
	}
	if len(all) < 21 {
		t.Fatalf("the reference lists %q", all)
	}
	return all
}

func runCases(t *testing.T, pattern string) {
	t.Parallel()
	harness.Need(t, "python3")
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	m := harness.Start(t, harness.Options{})
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			runCase(t, m, file)
		})
	}
}

// isLog reports whether a file of a case is appended to.
func isLog(name string) bool { return name == "messages.jsonl" || name == "events.jsonl" }

func runCase(t *testing.T, m *harness.Mount, path string) {
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, m, owner())
	want := map[string]string{}
	var files, logs []file
	for _, f := range ar.Files {
		name, isWant := strings.CutPrefix(f.Name, "want/")
		switch {
		case isWant:
			want[name] = string(f.Data)
		case isLog(name):
			logs = append(logs, file{name, string(f.Data)})
		default:
			files = append(files, file{name, string(f.Data)})
		}
	}
	if len(files) > 0 {
		s.putAll(files)
	}
	for _, f := range logs {
		s.Append(f.name, f.text)
	}
	b := s.settled()
	if rows := s.Errors(); len(rows) > 0 && want["report"] == "" {
		t.Errorf("errors.jsonl has %+v", rows)
	}
	for _, what := range b.unaccounted(s.lines("messages.jsonl")) {
		t.Error(what)
	}
	report := s.Read("context/pack.report.md")
	for line := range strings.Lines(want["report"]) {
		if !strings.Contains(s.hide(report), strings.TrimSuffix(line, "\n")) {
			t.Errorf("the report lacks %q:\n%s", line, report)
		}
	}
	if got := s.hide(b.md); got != want["pack.md"] || *update {
		if *update {
			write(t, path, ar, got)
			return
		}
		t.Errorf("pack.md:\n%s\nwant\n%s\nreport:\n%s", got, want["pack.md"], report)
	}
	if s.pack().md != b.md {
		t.Error("the next read gives another pack")
	}
}

// write puts the pack that was built into the case.
func write(t *testing.T, path string, ar *txtar.Archive, pack string) {
	t.Helper()
	if txtar.NeedsQuote([]byte(pack)) {
		t.Fatal("the pack looks like an archive")
	}
	kept := ar.Files[:0]
	for _, f := range ar.Files {
		if f.Name != "want/pack.md" {
			kept = append(kept, f)
		}
	}
	ar.Files = append(kept, txtar.File{Name: "want/pack.md", Data: []byte(pack)})
	if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
		t.Fatal(err)
	}
}
