package builder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// everything is a recipe with each source that reads a file.
const everything = `
import: ./base.yaml
env: {NAME: notes}
sources:
  - {type: system_role}
  - {type: tools}
  - {type: skills}
  - {type: pinned}
  - {type: file, id: near, path: "${AGENT_HOME}/near.md", on_missing: skip}
  - {type: file, id: here, path: "${SESSION}/scratch.md", on_missing: skip}
  - {type: file, id: beside, path: "${RECIPE_DIR}/beside.md", on_missing: skip}
  - {type: file, id: named, path: "${AGENT_HOME}/${NAME}.md", on_missing: skip}
  - {type: handoff}
  - {type: memory}
  - {type: knowledge}
  - {type: playbook}
  - {type: summary}
  - {type: facts}
  - {type: journal}
  - {type: file, id: flag, phase: dynamic, path: "${AGENT_HOME}/flag.md", on_missing: skip, condition: {when: file_exists, path: "${AGENT_HOME}/flag"}}
  - {type: file, id: busy, phase: dynamic, path: "${AGENT_HOME}/busy.md", on_missing: skip, condition: {when: state_is, state: active}}
  - {type: errors}
  - {type: plan}
  - {type: todo}
`

// Each input is seen by the very next read, also within one tick of the disk's clock and with the same size.
func TestEachInputIsSeenByTheNextRead(t *testing.T) {
	d := newDesk(t, Config{Budget: 20000})
	d.append(packtest.Message("user", "Fix the token refresh of the ledger."))
	d.write("../../base.yaml", "reserve_tokens: 0\n")
	d.write("../../context.yaml", everything)
	d.pack()
	if rows := d.x.Errors(); len(rows) > 0 {
		t.Fatalf("the recipe is wrong:\n%s", rows)
	}
	for _, c := range []struct{ name, form string }{
		{"../../system_prompt.md", "The ledger, mark %d.\n"},
		{"../../tools.json", `[{"name":"mark %d"}]`},
		{"../../skills/ledger.md", "---\nname: ledger\nactive: true\n---\nThe ledger's token, mark %d.\n"},
		{"../../skills/deep/SKILL.md", "---\nname: deep\nactive: true\n---\nThe token, mark %d.\n"},
		{"context/pinned/a.md", "mark %d\n"},
		{"../../near.md", "mark %d\n"},
		{"scratch.md", "mark %d\n"},
		{"../../beside.md", "mark %d\n"},
		{"../../notes.md", "mark %d\n"},
		{"context/handoff.md", "mark %d\n"},
		{"../../memory/a.md", "The token refresh of the ledger, mark %d.\n"},
		{"../../knowledge/deep/er/a.md", "The token refresh of the ledger, mark %d.\n"},
		{"../../playbooks/a.md", "# The token refresh of the ledger\n\nmark %d\n"},
		{"context/facts.jsonl", `{"id":"f","text":"mark %d"}` + "\n"},
		{"context/plan.json", `{"goal":"mark %d"}`},
		{"context/todo.md", "- [ ] mark %d\n"},
	} {
		for i := range 4 {
			d.write(c.name, fmt.Sprintf(c.form, i))
			if got, want := string(d.pack().Markdown), fmt.Sprintf("mark %d", i); !strings.Contains(got, want) {
				t.Fatalf("%s: %s is not in the pack:\n%s\n%s", c.name, want, got, d.pack().Report)
			}
		}
		if err := os.Remove(filepath.Join(d.x.Dir(), c.name)); err != nil {
			t.Fatal(err)
		}
		if got := string(d.pack().Markdown); strings.Contains(got, "mark 3") {
			t.Fatalf("%s stayed after it was removed:\n%s", c.name, got)
		}
	}
}

// What decides without being shown is seen by the very next read, too.
func TestEachSettingIsSeenByTheNextRead(t *testing.T) {
	d := newDesk(t, Config{Budget: 20000})
	d.append(packtest.Message("user", "hi"))
	d.write("../../base.yaml", "reserve_tokens: 0\n")
	d.write("../../context.yaml", everything)
	for name, text := range map[string]string{"flag.md": "The flag is up.\n", "busy.md": "It is busy.\n", "notes.md": "Old notes.\n", "new.md": "New notes.\n", "base.md": "Of the base.\n"} {
		d.write("../../"+name, text)
	}
	says := func(want bool, text string) {
		t.Helper()
		if b := d.pack(); strings.Contains(string(b.Markdown), text) != want {
			t.Errorf("%q in the pack: %v, want %v\n%s\n%s", text, !want, want, b.Markdown, b.Report)
		}
	}
	says(false, "The flag is up.")
	d.write("../../flag", "")
	says(true, "The flag is up.")
	says(false, "It is busy.")
	d.write("state", "active\n")
	says(true, "It is busy.")
	d.write("state", "done\n")
	says(false, "It is busy.")
	says(true, "Old notes.")
	d.write("context/env", "NAME=new\n")
	says(true, "New notes.")
	says(false, "Old notes.")
	d.write("context/env", "# none\n")
	says(true, "Old notes.")
	says(false, "Of the base.")
	d.write("../../base.yaml", "sources:\n  - {type: file, id: base, path: \"${RECIPE_DIR}/base.md\"}\n")
	says(true, "Of the base.")
	d.event([]byte(`{"type":"error","name":"make","message":"no rule\nto make target"}`))
	says(true, "no rule to make target")
	d.event([]byte(`{"type":"tool_result","id":"x","name":"go","is_error":true,"output":"undefined: retry"}`))
	says(true, "undefined: retry")
	d.write("../../context.yaml", "sources: [{type: journal}]\n")
	says(false, "Old notes.")
	d.write("context/context.yaml", "sources: [{type: file, path: \"${AGENT_HOME}/new.md\"}, {type: journal}]\n")
	says(true, "New notes.")
	if err := os.Remove(filepath.Join(d.x.Dir(), "context/context.yaml")); err != nil {
		t.Fatal(err)
	}
	says(false, "New notes.")
	if rows := d.x.Errors(); len(rows) > 0 {
		t.Errorf("errors.jsonl:\n%s", rows)
	}
}

// A model or an encoding is the recipe's, then meta.json's, then the mount's; one that nobody knows is said to be so.
func TestWhoNamesTheModel(t *testing.T) {
	d := newDesk(t, Config{Budget: 2000, Encoding: "cl100k_base"})
	d.append(packtest.Message("user", "hi"))
	for _, c := range []struct{ recipe, meta, want, note string }{
		{"", "{}", "cl100k_base", ""},
		{"", `{"model":"gpt-4o"}`, "o200k_base", ""},
		{"model: gpt-4\n", `{"model":"gpt-4o"}`, "cl100k_base", ""},
		{"", `{"model":"nobody-1"}`, "o200k_base", `meta.json names "nobody-1"`},
		{"", `{"model":7}`, "cl100k_base", ""},
	} {
		d.write("../../context.yaml", c.recipe+"sources: [{type: journal}]\n")
		d.write("meta.json", c.meta)
		report := string(d.pack().Report)
		if !strings.Contains(report, "("+c.want+")") || !strings.Contains(report, c.note) {
			t.Errorf("recipe %q, meta %s: want %s, %q\n%s", c.recipe, c.meta, c.want, c.note, report)
		}
	}
	if _, err := NewBuilder(Config{Encoding: "nobody"}); err == nil {
		t.Error("a mount with an unknown encoding")
	}
}

func TestBudgetOfTheSessionBeforeTheRecipesBeforeTheMounts(t *testing.T) {
	d := newDesk(t, Config{Budget: 3000})
	d.append(packtest.Message("user", "hi"))
	for _, c := range []struct {
		recipe, budget string
		want           int
	}{
		{"", "", 3000},
		{"total_max_tokens: 2500\n", "", 2500},
		{"total_max_tokens: 2500\n", "2000", 2000},
		{"", "2000", 2000},
	} {
		d.write("../../context.yaml", c.recipe+"sources: [{type: journal}]\n")
		d.write("context/budget", c.budget)
		if got := accountOf(t, d.pack()).BudgetTokens; got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestMissingRequiredSourceIsNoData(t *testing.T) {
	d := newDesk(t, Config{Budget: 3000})
	d.append(packtest.Message("user", "hi"))
	d.write("../../context.yaml", "sources:\n  - {type: journal}\n  - {type: file, id: guide, path: \"${AGENT_HOME}/guide.md\"}\n")
	for range 3 {
		if _, err := d.b.Current(context.Background(), d.x); !errors.Is(err, ctxabi.ErrNoData) {
			t.Fatalf("got %v", err)
		}
	}
	rows := string(d.x.Errors())
	if strings.Count(rows, "\n") != 1 || !strings.Contains(rows, "ENODATA") || !strings.Contains(rows, "guide") {
		t.Errorf("errors.jsonl:\n%s", rows)
	}
	d.write("../../guide.md", "Here.\n")
	if !strings.Contains(string(d.pack().Markdown), "Here.\n") {
		t.Error("not in the pack")
	}
}
