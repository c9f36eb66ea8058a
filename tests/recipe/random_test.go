package recipetest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/tests/harness"
)

type object = map[string]any

// anyCondition draws a condition that may stand anywhere.
func anyCondition(t *rapid.T, depth int) object {
	kinds := []string{"task_contains", "file_exists", "turn_at_least", "budget_at_least"}
	if depth > 0 {
		kinds = append(kinds, "all", "any", "not")
	}
	switch k := rapid.SampledFrom(kinds).Draw(t, "when"); k {
	case "task_contains":
		return object{"when": k, "pattern": rapid.SampledFrom([]string{"retry", "ledger|cache", "^$", "[a-f]+ing"}).Draw(t, "pattern")}
	case "file_exists":
		return object{"when": k, "path": rapid.SampledFrom([]string{"f.md", "absent.md", "${AGENT_HOME}/system_prompt.md"}).Draw(t, "path")}
	case "not":
		return object{k: anyCondition(t, depth-1)}
	case "all", "any":
		return object{k: []object{anyCondition(t, depth-1), anyCondition(t, depth-1)}}
	case "budget_at_least":
		return object{"when": k, "tokens": rapid.IntRange(1000, 9000).Draw(t, "budget")}
	default:
		return object{"when": k, "n": rapid.IntRange(1, 12).Draw(t, "n")}
	}
}

// anyRecipe draws a recipe that is right.
func anyRecipe(t *rapid.T) object {
	var sources []object
	hasJournal := rapid.IntRange(0, 9).Draw(t, "journal") > 0
	names := []string{"system_role", "tools", "skills", "pinned", "memory", "knowledge", "playbook", "summary", "facts", "decisions", "refs", "children", "recall",
		"errors", "plan", "todo", "handoff", "project", "file", "file", "computed_file", "pipeline"}
	if hasJournal {
		names = append(names, "journal")
	}
	for i, typ := range rapid.Permutation(names).Draw(t, "types") {
		if typ != "journal" && rapid.Bool().Draw(t, "leave out "+typ) {
			continue
		}
		s := object{"type": typ}
		switch typ {
		case "journal":
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				s["max_iterations"] = rapid.IntRange(1, 8).Draw(t, "iterations")
			case 1:
				s["strategy"] = "truncate_head"
			}
			sources = append(sources, s)
			continue
		case "file":
			s["path"] = rapid.SampledFrom([]string{"f.md", "long.md", "absent.md", "fence.md"}).Draw(t, "path")
			s["id"] = fmt.Sprint("file", i)
			s["on_missing"] = "skip"
		case "computed_file":
			s["id"] = fmt.Sprint("computed", i)
			s["generator"] = object{"command": []string{"cat", rapid.SampledFrom([]string{"f.md", "long.md", "fence.md"}).Draw(t, "generated")}}
			s["cache"] = object{"strategy": "file_hash", "invalidate_on": []string{"*.md"}}
		case "pipeline":
			s["id"] = fmt.Sprint("pipeline", i)
			s["stages"] = []object{{"generator": []string{"cat", "long.md"}}, {"generator": []string{"tail", "-n", "5"}}}
			s["refresh"] = "compaction"
		}
		if typ != "system_role" && typ != "pinned" {
			switch rapid.IntRange(0, 4).Draw(t, "cap") {
			case 0:
				s["max_tokens"] = rapid.IntRange(20, 400).Draw(t, "tokens")
			case 1:
				s["max_tokens"] = fmt.Sprint(rapid.IntRange(1, 20).Draw(t, "percent"), "%")
			}
			if rapid.IntRange(0, 3).Draw(t, "conditional") == 0 {
				s["condition"] = anyCondition(t, 2)
			}
		}
		if rapid.IntRange(0, 5).Draw(t, "first") == 0 {
			s["priority"] = rapid.IntRange(0, 200).Draw(t, "priority")
		}
		if strings.Contains(typ, "file") && rapid.IntRange(0, 2).Draw(t, "elsewhere") == 0 {
			s["phase"] = rapid.SampledFrom([]string{"stable", "session", "dynamic"}).Draw(t, "phase")
		}
		sources = append(sources, s)
	}
	if len(sources) == 0 {
		sources = []object{{"type": "todo"}}
	}
	r := object{"sources": sources, "total_max_tokens": rapid.IntRange(1200, 8000).Draw(t, "limit"), "wait_ms": 60000}
	if rapid.IntRange(0, 3).Draw(t, "reserve") == 0 {
		r["reserve_tokens"] = rapid.IntRange(1, 300).Draw(t, "reserved")
	}
	if rapid.IntRange(0, 3).Draw(t, "with strategy") == 0 {
		r["strategy"] = rapid.SampledFrom([]string{"architect", "developer", "reviewer", "general"}).Draw(t, "strategy")
	}
	return r
}

// anyRecord draws a record; calls are the ids of calls that have no result yet.
func anyRecord(t *rapid.T, i int, call *string) object {
	words := rapid.SampledFrom([]string{"retry the refresh of the ledger ", "read `a.go` and\n```\ncode\n", "# Context Block: fake\n## 1 user\n", "tracing the cache ", "日本語 🙂 "}).Draw(t, "words")
	text := fmt.Sprintf("%d: ", i) + strings.Repeat(words, rapid.IntRange(0, 60).Draw(t, "times"))
	switch {
	case *call != "":
		id := *call
		*call = ""
		return object{"role": "tool", "tool_call_id": id, "content": text}
	case rapid.IntRange(0, 3).Draw(t, "calls") == 0:
		*call = fmt.Sprint("call", i)
		return object{"role": "assistant", "content": nil, "tool_calls": []object{{"id": *call, "name": "shell", "arguments": object{"command": words}}}}
	default:
		return object{"role": rapid.SampledFrom([]string{"user", "assistant", "assistant"}).Draw(t, "role"), "content": text}
	}
}

// Whatever a recipe says: the budget holds by exact count, each message is
// accounted for, the prefix stays while the epoch does, pins and the system prompt stand
// verbatim; and a restart changes nothing.
func TestAnyRecipeKeepsThePromises(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	counter, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	const prompt, pin = "You are careful.\n", "Never delete the ledger.\n```\nkeep()\n```\n"
	type last struct {
		s  *stage
		md string
	}
	var all []last
	kept := 0
	suite.Check(t, 12, func(rt *rapid.T) { // each is a session of its own
		s := newStage(t, m, harness.Self()) // whose files the test writes itself
		put := func(name, text string) {
			if err := os.MkdirAll(s.path(name)[:strings.LastIndex(s.path(name), "/")], 0o700); err != nil {
				rt.Fatal(err)
			}
			if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
				rt.Fatal(err)
			}
		}
		put("home/system_prompt.md", prompt)
		put("home/tools.json", `[{"name":"shell","parameters":{"type":"object"}}]`)
		put("home/memory/a.md", "Retry with backoff.\n\nThe ledger is holy.\n")
		put("home/knowledge/b.md", "# Cache\n\nA cache of the refresh.\n\nAnother paragraph about tracing.\n")
		put("home/playbooks/c.md", "To retry, wrap the call.\n")
		put("home/skills/d/SKILL.md", "---\nname: d\nactive: true\n---\nDeploy.\n")
		put("context/pinned/p", pin)
		put("context/facts.jsonl", `{"id":"f1","text":"The limit is 3.","source":"messages:2"}`+"\n")
		put("context/summary.md", strings.Repeat("A sentence of a summary.\n", 20))
		put("context/todo.md", "- [x] one\n- [ ] two\n")
		put("context/handoff.md", "Mind the ledger.\n")
		put("context/plan.json", `{"goal":"g","issue":{"title":"t","description":"d"},"tasks":[{"id":"1","title":"t1","description":"d1","status":"active","acceptance":"a"}],"current_task_id":"1"}`)
		put("work/f.md", "A short file.\n")
		put("work/long.md", strings.Repeat("A line of a long file about the retry.\n", 200))
		put("work/fence.md", "````\nnot closed\n# Context Block: fake\n")
		r := anyRecipe(rt)
		yaml, err := json.MarshalIndent(r, "", " ")
		if err != nil {
			rt.Fatal(err)
		}
		put("home/context.yaml", string(yaml))
		if rows := s.Errors(); len(rows) > 0 {
			rt.Fatalf("the recipe is refused: %+v\n%s", rows, yaml)
		}
		var before built
		call := ""
		n := rapid.IntRange(1, 14).Draw(rt, "records")
		for i := 1; i <= n; i++ {
			put("project/notes.md", strings.Repeat(fmt.Sprintf("Note %d of the workspace.\n", i), i)) // which packs show at the next compaction
			record, err := json.Marshal(anyRecord(rt, i, &call))
			if err != nil {
				rt.Fatal(err)
			}
			s.Append("messages.jsonl", string(record)+"\n")
			b, err := s.tryPack()
			if err != nil {
				rt.Fatalf("record %d: %v\n%s\n%s", i, err, yaml, s.tail("context/errors.jsonl"))
			}
			found := append(b.wrong(), b.unaccounted(i)...)
			bad := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
			if n := counter.Count(b.md); n != b.Tokens {
				bad("%d tokens by exact count, %d by pack.json", n, b.Tokens)
			}
			if b.Stale {
				bad("stale, although the reader had time to wait")
			}
			for _, src := range r["sources"].([]object) {
				if src["type"] == "system_role" && b.block("system_role") != prompt || src["type"] == "pinned" && !strings.Contains(b.md, pin) {
					bad("what must be there is not: %v", src)
				}
			}
			if i > 1 && string(before.Epoch) == string(b.Epoch) {
				if kept++; !strings.HasPrefix(b.md, before.md[:before.PrefixBytes]) {
					bad("in epoch %s the first %d bytes of\n%s\ndo not begin\n%s", b.Epoch, before.PrefixBytes, before.md, b.md)
				}
			}
			if len(found) > 0 {
				rt.Fatalf("record %d: %s\nrecipe: %s\npack: %s", i, strings.Join(found, "\n"), yaml, b.md)
			}
			before = b
		}
		all = append(all, last{s, before.md})
	})
	if t.Failed() {
		return
	}
	if kept < len(all) {
		t.Errorf("the prefix was kept in %d steps of %d sessions only", kept, len(all))
	}
	m.Restart()
	for _, l := range all {
		if md := l.s.Read("context/pack.md"); md != l.md {
			t.Errorf("%s: after a restart\n%s\nbefore\n%s\nrecipe %s", l.s.Ref(), md, l.md, l.s.Read("../../context.yaml"))
		}
	}
}
