package recipe

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the expected messages anew")

// Each file of testdata/broken is wrong, and the file .want beside it says what is said of it.
func TestBrokenRecipes(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.yaml")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h := home{"base.yaml": packages["base.yaml"], filepath.Base(file): string(data)}
		r, err := Load(filepath.Base(file), h.read)
		if r != nil || err == nil {
			t.Errorf("%s: nothing is said of it", file)
			continue
		}
		want := strings.TrimSuffix(file, ".yaml") + ".want"
		if *update {
			if err := os.WriteFile(want, []byte(err.Error()+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		expected, err2 := os.ReadFile(want)
		if err2 != nil {
			t.Fatal(err2)
		}
		if err.Error()+"\n" != string(expected) {
			t.Errorf("%s:\n%v\nexpected\n%s", file, err, expected)
		}
		for _, p := range err.(Problems) {
			inside(t, h, p.Origin)
		}
	}
}

// breaks are the line breaks of YAML.
var breaks = regexp.MustCompile("\r\n|[\r\n\u0085\u2028\u2029]")

// inside checks that a place is one of a file.
func inside(t *testing.T, h home, at Origin) {
	t.Helper()
	text, ok := h[at.File]
	lines := breaks.Split(text, -1)
	if !ok || at.Line < 1 || at.Line > len(lines) || at.Column < 1 || at.Column > len(lines[at.Line-1])+1 {
		t.Errorf("%+v is not a place in %q", at, text)
	}
}

func TestProblemsOfAllFilesAreFound(t *testing.T) {
	h := home{
		"context.yaml":                    "import: [./a.yaml, pkg]\nmodel: 3\n",
		"a.yaml":                          "sources: [{type: file}]\n",
		"packages/pkg/context.yaml":       "import: ./more.yaml\nsources:\n  - {type: todo, id: x}\n  - {type: todo, id: x}\n",
		"packages/pkg/more.yaml":          "strategy: none\n",
		"node_modules/other/context.yaml": "import: back\n",
		"node_modules/back/context.yaml":  "import: other\n",
		"cycle.yaml":                      "import: other\n",
		"session/s/context/context.yaml":  "import: ../../../a/../b.yaml\n",
		"b.yaml":                          "import: session/s/context/context.yaml\n",
		"session/s/context/outside.yaml":  "import: ../../../../x.yaml\n",
		"id.yaml":                         "import: ./id2.yaml\nsources:\n  - {type: todo, fallback: [{type: plan, id: y}]}\n",
		"id2.yaml":                        "sources:\n  - {type: facts, id: y}\n",
	}
	for entry, want := range map[string]string{
		"context.yaml": `context.yaml:2:8: model must be a string, it is the number 3; quote it
a.yaml:1:11: a file source needs "path"
packages/pkg/context.yaml:4:22: duplicate id "x"; it is in line 3 already
packages/pkg/more.yaml:1:11: strategy is "none"; allowed: architect, developer, general, reviewer`,
		"cycle.yaml":                     `node_modules/back/context.yaml:1:9: import cycle: node_modules/other/context.yaml -> node_modules/back/context.yaml -> node_modules/other/context.yaml`,
		"session/s/context/context.yaml": `b.yaml:1:9: import cycle: session/s/context/context.yaml -> b.yaml -> session/s/context/context.yaml`,
		"session/s/context/outside.yaml": `session/s/context/outside.yaml:1:9: import "../../../../x.yaml": it is outside of the agent's home`,
		"id.yaml":                        `id.yaml:3:46: duplicate id "y"; it is in id2.yaml:2 already`,
		"packages/pkg/more.yaml":         `packages/pkg/more.yaml:1:1: a recipe needs "sources"`,
	} {
		if _, err := Load(entry, h.read); err == nil || err.Error() != want {
			t.Errorf("%s:\n%v\nexpected\n%s", entry, err, want)
		}
	}
	if _, err := Load("none.yaml", h.read); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a recipe that is not there: %v", err)
	}
}

func TestHugeFilesAreRefusedOrReadWithoutQuadraticWork(t *testing.T) {
	for text, want := range map[string]string{
		"env:\n" + many("  V%d: x\n") + "sources: [{type: todo}]\n":                       "env has 20000 entries; at most 1000 are allowed",
		"sources:\n" + many("  - {type: file, path: a%d}\n"):                              "more than 50000 values, with those of aliases",
		"sources: [{type: todo}]\nmessages:\n" + many("  - {role: user, content: c%d}\n"): "more than 50000 values, with those of aliases",
		"sources: [{type: todo}]\nstrategies:\n" + many("  s%d: {}\n"):                    "strategies has 20000 entries; at most 1000 are allowed",
		"sources:\n" + many("  - a%d\n"):                                                  "sources has 20000 entries; at most 1000 are allowed",
		strings.Repeat("#", maxFile+1):                                                    "the file has more than 1048576 bytes, the limit of a recipe",
	} {
		_, err := Load("a.yaml", home{"a.yaml": text}.read)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%.40q: %.200v, not %s", text, err, want)
		}
	}
}

// many returns 20,000 lines.
func many(format string) string {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// A strategy that a file defines which cannot be read is not called unknown, and a journal whose type is misspelt makes no other source wrong.
func TestAMistakeIsNotToldTwice(t *testing.T) {
	for text, want := range map[string]string{
		"import: ./none.yaml\nstrategy: mine\nsources: [{type: todo}]\n":                                                           `c.yaml:1:9: import "./none.yaml": not found; looked for none.yaml in the agent's home`,
		"import: ./bad.yaml\nstrategy: mine\nsources: [{type: todo}]\n":                                                            `bad.yaml:1:1: not YAML: did not find expected node content`,
		"sources: [{type: journa}, {type: todo, condition: {when: state_is, state: idle}}]\nimport: ./good.yaml\nstrategy: good\n": `c.yaml:1:18: type is "journa"; did you mean "journal"? allowed: ` + strings.Join(anyType, ", "),
	} {
		_, err := Load("c.yaml", home{"c.yaml": text, "bad.yaml": "sources: [\n", "good.yaml": "strategies: {good: {}}\n"}.read)
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n%v\nexpected\n%s", text, err, want)
		}
	}
}

// A file that is no YAML has a message with a place in the file, however large it is.
func TestBrokenYAMLHasAPlace(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("# a comment\n", 1000) + "sources: [\n",
		"sources:\n  - {type: file, path: " + strings.Repeat("x", 7000),
		"sources: [\n" + strings.Repeat("a\n", 4000),
		"sources: {\n" + strings.Repeat("[\n", 4000),
	} {
		h := home{"c.yaml": text}
		_, err := Load("c.yaml", h.read)
		var problems Problems
		if !errors.As(err, &problems) || len(problems) != 1 || !strings.HasPrefix(problems[0].Text, "not YAML: ") {
			t.Fatalf("%.40q: %.200v", text, err)
		}
		inside(t, h, problems[0].Origin)
	}
}
