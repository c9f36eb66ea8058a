package recipe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// everything has every key.
const everything = `
version: 1
strategy: mine
model: gpt-4o
encoding: o200k_base
total_max_tokens: 0
reserve_tokens: 10
wait_ms: 0
history: {high: 0.9, low: 0.5, key_lines: 0, min_gain: 0.1}
summarizer: {command: [sum], timeout_ms: 5}
env: {PORT: 8080, NAME: "a \" b", EMPTY: ""}
messages:
  - {role: developer, content: "x\ty\u2028z"}
strategies:
  mine:
    system_prompt: "true"
    sections:
      - {name: A b, from: plan.task, required: true}
      - {name: B, path: "${SESSION}/b.md", max_tokens: 5}
      - {name: C, text: "  "}
    leaves_out: [todo, map]
sources:
  - type: system_role
    fallback:
      - {type: file, path: "$$a${PORT}", id: other, phase: session, priority: 3}
      - {type: computed_file, generator: [x]}
  - {type: memory, top: 5, max_tokens: "2.5%", condition: {all: [{when: task_contains, pattern: a}, {any: [{when: file_exists, path: x}, {not: {when: budget_at_least, tokens: 5}}]}]}}
  - {type: knowledge, max_tokens: 100%}
  - {type: computed_file, id: map, generator: {command: [a, ""]}, output_path: o, refresh: compaction, cache: {strategy: ttl, ttl: 1d}}
  - {type: pipeline, stages: [{generator: [a]}, {generator: {command: [b], timeout_ms: 1}, output: p}], cache: {strategy: never}}
  - {type: journal, max_iterations: 5, step: 2, strategy: truncate_head, max_tokens: 50%}
  - {type: todo, on_missing: error, condition: {when: state_is, state: active}}
  - {type: todo, condition: {when: state_is, state: [idle, done]}}
  - {type: plan, condition: {when: turn_at_least, n: 3}}
`

func load(t *testing.T, h home, entry string) *Recipe {
	t.Helper()
	r, err := Load(entry, h.read)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// brief lists sources: block, phase, place.
func brief(r *Recipe) string {
	var b strings.Builder
	for _, s := range r.Sources {
		fmt.Fprintf(&b, "%s %s %s:%d\n", s.Block, s.Phase, s.Origin.File, s.Origin.Line)
	}
	return b.String()
}

func TestEveryKeySurvives(t *testing.T) {
	r := load(t, home{"context.yaml": everything}, "context.yaml")
	again(t, r)
	if s := r.Sources[1]; s.Fallback != 1 || s.Block != "other" || s.Phase != Session || s.Priority != 3 || s.OnMissing != Skip {
		t.Errorf("the first fallback is %+v", s)
	}
	if s := r.Sources[2]; s.Fallback != 2 || s.Block != "system_role" || s.Phase != Stable || s.OnMissing != Skip {
		t.Errorf("the second fallback is %+v", s)
	}
	if s := r.Sources[3]; s.MaxTokens != 250 || !s.Percent || s.Top != 5 {
		t.Errorf("%+v", s)
	}
	var blocks []string
	for _, s := range r.Sources[6:] {
		blocks = append(blocks, s.Block)
	}
	if want := []string{"pipeline (p)", "journal", "todo", "todo 2", "plan"}; !slices.Equal(blocks, want) {
		t.Errorf("blocks %q, not %q", blocks, want)
	}
	var texts []string
	for _, v := range r.templates() {
		texts = append(texts, fmt.Sprintf("%s %d:%d", v.Text, v.Origin.Line, v.Origin.Column))
	}
	if got := strings.Join(texts, "\n"); !strings.Contains(got, "$$a${PORT} 25:28") || !strings.Contains(got, "${SESSION}/b.md 19:25") {
		t.Errorf("templates:\n%s", got)
	}
}

func TestImportedSourcesComeFirstAndAreReplacedInPlace(t *testing.T) {
	h := home{
		"context.yaml": `import: ./lib/base.yaml
model: mine
env: {B: "2"}
history: {low: 0.4}
sources:
  - {type: todo}
  - {type: file, id: guide, path: mine.md}
  - {type: journal, id: talk, max_iterations: 3, step: 2}
  - {type: file, path: new.md}
`,
		"lib/base.yaml": `model: theirs
encoding: o200k_base
env: {A: "1", B: "1"}
history: {high: 0.8}
strategies: {special: {leaves_out: [todo]}}
sources:
  - {type: file, id: guide, path: theirs.md, fallback: [{type: file, path: x}]}
  - {type: file, path: unnamed.md}
  - {type: journal}
  - {type: todo}
`,
	}
	r := load(t, h, "context.yaml")
	want := `guide session context.yaml:7
file (unnamed.md) session lib/base.yaml:8
talk  context.yaml:8
todo dynamic context.yaml:6
file (new.md) dynamic context.yaml:9
`
	if got := brief(r); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if r.Model != "mine" || r.Encoding != "o200k_base" || fmt.Sprint(r.Env) != "[{A 1} {B 2}]" || r.History != (History{0.8, 0.4, 0.1, 0.22, 0.13, 0.09, 0.05, 0.15}) {
		t.Errorf("%+v", r)
	}
	if r.Origins["env.A"].File != "lib/base.yaml" || r.Origins["encoding"] != (Origin{"lib/base.yaml", 2, 11}) || r.Origins["history.high"].File != "lib/base.yaml" || r.Origins["history.low"].File != "context.yaml" {
		t.Errorf("%v", r.Origins)
	}
	if len(r.Strategies) != 5 || r.Strategies[4].Name != "special" {
		t.Errorf("%+v", r.Strategies)
	}
	if len(r.Files) != 2 || r.Files[0].Imported || !r.Files[1].Imported || r.Files[1].Path != "lib/base.yaml" || len(r.Files[1].SHA256) != 64 {
		t.Errorf("%+v", r.Files)
	}
	again(t, r)
}

// What a package runs is still what the package wrote, so trust is asked for its file.
func TestTuningAnImportedSourceKeepsItsOrigin(t *testing.T) {
	h := home{
		"context.yaml":                   "import: \"@a/b\"\nsources:\n  - {id: map, max_tokens: 7, condition: {when: turn_at_least, n: 2}}\n  - {id: journal, max_iterations: 9, step: 3}\n",
		"packages/@a/b/context.yaml":     "import: ./more.yaml\nsources:\n  - {type: computed_file, id: map, generator: [run], max_tokens: 1%, condition: {when: file_exists, path: \"${X}\"}}\n",
		"packages/@a/b/more.yaml":        "sources:\n  - type: journal\n",
		"node_modules/@a/c/context.yaml": "sources: [{type: todo}]\n",
	}
	r := load(t, h, "context.yaml")
	s := r.Sources[1]
	if s.Origin.File != "packages/@a/b/context.yaml" || s.MaxTokens != 7 || s.Percent || s.Stages[0].Command[0] != "run" || s.Condition.N != 2 || s.Condition.Path != "" {
		t.Errorf("%+v", s)
	}
	if s.Origins["max_tokens"].File != "context.yaml" || s.Origins["condition.path"] != (Origin{}) {
		t.Errorf("%+v", s.Origins)
	}
	if j := r.Sources[0]; j.MaxIterations != 9 || j.Step != 3 || j.ID != "" {
		t.Errorf("%+v", j)
	}
	if r.Files[1].Package != "@a/b" || r.Files[2].Package != "@a/b" {
		t.Errorf("%+v", r.Files)
	}
	again(t, r)
}

func TestAFileIsImportedOnce(t *testing.T) {
	h := home{
		"context.yaml": "import: [./a.yaml, ./b.yaml]\n",
		"a.yaml":       "import: ./c.yaml\nsources: [{type: file, path: a}]\n",
		"b.yaml":       "import: ./c.yaml\nsources: [{type: file, path: b}]\n",
		"c.yaml":       "sources: [{type: file, path: c}]\n",
	}
	if got, want := brief(load(t, h, "context.yaml")), "file (c) session c.yaml:1\nfile (a) session a.yaml:2\nfile (b) session b.yaml:2\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestHashIsOfMeaningOnly(t *testing.T) {
	h := home{
		"a.yaml":     "model: m\nwait_ms: 500\nsources:\n  - {type: file, path: a, id: x}\n",
		"dir/b.yaml": "# another place, another order\nsources:\n- id: x\n  path: \"a\"\n  type: file\n  priority: 100\nmodel: 'm'\n",
		"c.yaml":     "model: m\nsources:\n  - {type: file, path: b, id: x}\n",
		"d.yaml":     "model: m\nx: &a {type: file, path: a, id: x}\nsources: [*a]\n",
		"e.yaml":     "model: m\nsources:\n  - <<: {type: file, path: z}\n    path: a\n    id: x\n",
	}
	a := load(t, h, "a.yaml").Hash
	if b := load(t, h, "dir/b.yaml").Hash; a != b {
		t.Error("the order of keys changes the hash")
	}
	if load(t, h, "c.yaml").Hash == a {
		t.Error("another path has the same hash")
	}
	if load(t, h, "e.yaml").Hash != a {
		t.Error("a merged key is not the same")
	}
	if _, err := Load("d.yaml", h.read); err == nil || !strings.HasPrefix(err.Error(), `d.yaml:2:1: unknown key "x"`) {
		t.Error(err)
	}
}

func TestWarnings(t *testing.T) {
	h := home{"context.yaml": `total_max_tokens: 100
reserve_tokens: 100
summarizer: {command: [a]}
strategies: {mine: {leaves_out: [todo, nothing]}}
sources:
  - {type: pinned, max_tokens: 5}
  - {type: todo}
  - {type: computed_file, id: a, generator: [a]}
  - {type: computed_file, id: b, generator: [a], refresh: compaction}
  - {type: computed_file, id: c, generator: [a], cache: {strategy: never}}
  - {type: computed_file, id: d, generator: [a], cache: {strategy: ttl, ttl: 1m}}
  - {type: file, path: "${SESSION}/context/../messages.jsonl"}
  - {type: file, path: "${SESSION}/latest.md"}
  - {type: file, path: "${SESSION}/scratch.md"}
  - {type: journal, max_iterations: 20, max_tokens: 50%}
  - {type: file, path: "${SESSION}/state"}
  - {type: computed_file, generator: [a]}
`, "truncate.yaml": "sources: [{type: journal, strategy: truncate_head}]\n", "none.yaml": "sources: [{type: todo}]\n",
		"late.yaml":  "sources:\n  - {type: file, path: a.md, condition: {any: [{when: task_contains, pattern: REST}]}}\n  - {type: memory}\n  - {type: journal}\n  - {type: playbook, condition: {when: task_contains, pattern: REST}}\n",
		"plain.yaml": "summarizer: {command: [a]}\nsources: [{type: journal}]\n"}
	for entry, want := range map[string][]string{
		"context.yaml": {"context.yaml:6:32: pinned: max_tokens has no effect", "context.yaml:7:5: todo: it changes", "context.yaml:8:5: a: it runs each turn",
			"context.yaml:10:68: c: it runs at each read of the pack", "context.yaml:11:68: d: it runs again when its ttl has passed", "context.yaml:12:24: file (messages.jsonl): it changes",
			"context.yaml:13:24: file (latest.md): it yields nothing", "context.yaml:15:37: journal: it drops an iteration",
			"context.yaml:3:13: summarizer", "context.yaml:2:17: reserve_tokens", `context.yaml:4:40: leaves_out of mine names "nothing"`},
		"truncate.yaml": {"truncate.yaml:1:37: journal: truncate_head"},
		"late.yaml": {"late.yaml:2:55: file (a.md): task_contains: before the journal it looks at the first request",
			"late.yaml:3:12: memory: before the journal it looks at the first request"},
		"none.yaml":  {"none.yaml:1:1: no source has the type journal"},
		"plain.yaml": nil,
	} {
		got := load(t, h, entry).Warnings()
		if len(got) != len(want) {
			t.Errorf("%s: %d warnings, not %d: %v", entry, len(got), len(want), Problems(got))
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i].String(), want[i]) {
				t.Errorf("%s, not %s", got[i], want[i])
			}
		}
	}
	if w := Default().Warnings(); len(w) != 0 {
		t.Errorf("of the default recipe: %v", Problems(w))
	}
}

func TestExpand(t *testing.T) {
	known := func(name string) (string, bool) { return "<" + name + ">", name != "NONE" }
	for in, want := range map[string]string{
		"": "", "a": "a", "${A}/b": "<A>/b", "$$": "$", "$${A}": "${A}", "$A $5 $": "$A $5 $", "${A}${B_1}x": "<A><B_1>x",
	} {
		if got, err := Expand(in, known); got != want || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"${NONE}", "${", "${}", "${a b}", "${1}"} {
		if got, err := Expand(in, known); err == nil {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// What << merges counts as if it stood there, whichever key it is.
func TestAFallbackThatIsMergedIsKept(t *testing.T) {
	r := load(t, home{"context.yaml": "sources:\n  - &a {type: file, path: a, fallback: [{type: file, path: b}]}\n  - {<<: *a, path: c}\n  - {<<: [{path: d}, *a]}\n"}, "context.yaml")
	var got []string
	for _, s := range r.Sources {
		got = append(got, fmt.Sprint(s.Path, s.Fallback))
	}
	if want := []string{"a0", "b1", "c0", "b1", "d0", "b1"}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

// The override of the protocol's own example names no id: it takes the place of what was imported.
func TestAnOverrideWithoutAnIdWasAddedBehindTheJournal(t *testing.T) {
	base := "sources:\n  - {type: computed_file, id: map, generator: [theirs], output_path: \"${CWD}/map.md\", max_tokens: 100}\n  - {type: file, path: a.md}\n  - {type: journal}\n"
	two := "sources:\n  - {type: computed_file, generator: [one], output_path: one.md}\n  - {type: computed_file, generator: [two], output_path: two.md}\n  - {type: journal}\n"
	for name, c := range map[string]struct{ base, own, want string }{
		"the only one": {base, "  - type: computed_file\n    generator:\n      command: [\"custom-summarizer.py\"]\n", "map session context.yaml:3\nfile (a.md) session base.yaml:3\njournal  base.yaml:4\n"},
		"by its output": {two, "  - {type: computed_file, generator: [mine], output_path: two.md}\n",
			"computed_file (one.md) session base.yaml:2\ncomputed_file (two.md) session context.yaml:3\njournal  base.yaml:4\n"},
		"one of two": {two, "  - {type: computed_file, generator: [mine]}\n",
			"computed_file (one.md) session base.yaml:2\ncomputed_file (two.md) session base.yaml:3\njournal  base.yaml:4\ncomputed_file (mine) dynamic context.yaml:3\n"},
		"two for one": {base, "  - {type: computed_file, generator: [x]}\n  - {type: computed_file, generator: [y]}\n",
			"map session base.yaml:2\nfile (a.md) session base.yaml:3\njournal  base.yaml:4\ncomputed_file (x) dynamic context.yaml:3\ncomputed_file (y) dynamic context.yaml:4\n"},
		"a file by its path": {base, "  - {type: file, path: a.md, max_tokens: 5}\n", "map session base.yaml:2\nfile (a.md) session context.yaml:3\njournal  base.yaml:4\n"},
		"another file":       {base, "  - {type: file, path: b.md}\n", "map session base.yaml:2\nfile (a.md) session base.yaml:3\njournal  base.yaml:4\nfile (b.md) dynamic context.yaml:3\n"},
		"beside one by its id": {base, "  - {id: map, max_tokens: 7}\n  - {type: computed_file, generator: [more]}\n",
			"map session base.yaml:2\nfile (a.md) session base.yaml:3\njournal  base.yaml:4\ncomputed_file (more) dynamic context.yaml:4\n"},
	} {
		h := home{"context.yaml": "import: ./base.yaml\nsources:\n" + c.own, "base.yaml": c.base}
		r := load(t, h, "context.yaml")
		if got := brief(r); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
		again(t, r)
	}
}
