package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// recipeFiles are the files of a pack of 30 sources and 200 files of knowledge, by
// their names below the agent's home (home/), the workspace (work/) or the session.
func recipeFiles() map[string]string {
	files := map[string]string{
		"home/system_prompt.md":       text(1, 4000),
		"home/tools.json":             `[{"name":"shell","parameters":{"type":"object"}},{"name":"read_file","parameters":{"type":"object"}}]`,
		"home/skills/deploy/SKILL.md": "---\nname: deploy\nactive: true\n---\n" + text(2, 1000),
		"context/pinned/rules.md":     text(3, 500),
		"context/handoff.md":          text(4, 500),
		"context/summary.md":          text(5, 1500),
		"context/facts.jsonl":         `{"id":"f1","text":"RetryMax is 3","source":"messages:2"}` + "\n",
		"context/decisions.jsonl":     `{"id":"d1","decision":"backoff with jitter","source":"user:latest"}` + "\n",
		"context/refs.jsonl":          `{"id":"r1","path":"auth/refresh.go","kind":"file"}` + "\n",
		"context/todo.md":             "- [x] retry\n- [ ] config\n",
		"context/plan.json":           `{"goal":"retry","tasks":[{"id":"t1","title":"retry","description":"d","status":"active"}],"current_task_id":"t1"}`,
	}
	for i := range 200 {
		files[fmt.Sprintf("home/knowledge/k%03d.md", i)] = fmt.Sprintf("# Topic %d\n\n%s\n\n%s\n", i, text(100+i, 1000), text(300+i, 1000))
	}
	for i := range 20 {
		files[fmt.Sprintf("home/memory/m%02d.md", i)] = text(500+i, 300)
	}
	for i := range 5 {
		files[fmt.Sprintf("home/playbooks/p%d.md", i)] = text(600+i, 800)
	}
	for i := range 11 {
		files[fmt.Sprintf("work/doc%02d.md", i)] = text(700+i, 1500)
	}
	for i := range 2 {
		files[fmt.Sprintf("work/src/in%d.go", i)] = text(800+i, 800)
	}
	return files
}

// recipe30 is a recipe of 30 sources.
func recipe30() string {
	var b strings.Builder
	b.WriteString("wait_ms: 60000\nsources:\n")
	for _, typ := range strings.Fields("system_role tools skills pinned handoff memory knowledge playbook summary facts decisions refs") {
		fmt.Fprintf(&b, "  - {type: %s}\n", typ)
	}
	for i := range 11 {
		fmt.Fprintf(&b, "  - {type: file, id: doc%d, path: doc%02d.md, max_tokens: 300}\n", i, i)
	}
	for i := range 2 {
		fmt.Fprintf(&b, "  - {type: computed_file, id: gen%d, generator: {command: [head, -c, '800', src/in%d.go]}, cache: {strategy: file_hash, invalidate_on: ['src/**']}}\n", i, i)
	}
	for _, typ := range strings.Fields("journal children errors plan todo") {
		fmt.Fprintf(&b, "  - {type: %s}\n", typ)
	}
	return b.String()
}

// benchRecipe measures a pack of 30 sources and 200 files of knowledge against reading those files one by one.
func benchRecipe(t *testing.T, z sizes, tab *table) {
	sites := newSites(t)
	defer stop(sites)
	daemon := of(sites, ctxfs).daemon()
	files := recipeFiles()
	const changed = "home/knowledge/k100.md"
	type placed struct {
		list, change string
		session      *harness.Session // where the place is ctxfs
	}
	// lay puts the files into a place and gives a list of what is read there.
	lay := func(p *site, name string) placed {
		t.Helper()
		list := filepath.Join(t.TempDir(), "list")
		dir := filepath.Join(p.dir, name)
		root := func(file string) string { return filepath.Join(dir, file) }
		var s *harness.Session
		if p.ours() {
			s = p.mount.Session(t, harness.Self(), name, "s1")
			work := t.TempDir()
			root = func(file string) string {
				if rest, ok := strings.CutPrefix(file, "home/"); ok {
					return filepath.Join(s.AgentHome(), rest)
				}
				if rest, ok := strings.CutPrefix(file, "work/"); ok {
					return filepath.Join(work, rest)
				}
				return s.Path(file)
			}
			s.Write("cwd", work)
		}
		var names strings.Builder
		for file, data := range files {
			if err := os.MkdirAll(filepath.Dir(root(file)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(root(file), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&names, root(file))
		}
		if s != nil {
			names.Reset()
			fmt.Fprintln(&names, s.Path("context/pack.md"))
			s.Write("../../context.yaml", recipe30())
			for i := range 40 {
				s.Append("messages.jsonl", string(turn(i)))
			}
			if rows := s.Errors(); len(rows) > 0 {
				t.Fatalf("the recipe is refused: %+v", rows)
			}
		}
		if err := os.WriteFile(list, []byte(names.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return placed{list, root(changed), s}
	}
	first, warm, after := samples{}, samples{}, samples{}
	stop := profile(t, daemon, "recipe")
	each(z, sites, func(p *site, r int) float64 {
		at := lay(p, fmt.Sprintf("recipe%d", r))
		ns := p.run(t, "cat-list", at.list, 20)
		first.add(p.name, ns[0])
		warm.add(p.name, median(ns[1:]))
		after.add(p.name, median(p.run(t, "cat-list", at.list, 20, at.change)))
		if at.session != nil {
			md := at.session.Read("context/pack.md")
			for _, id := range []string{"system_role", "knowledge", "memory", "doc10", "gen1", "plan", "todo"} {
				if !strings.Contains(md, "# Context Block: "+id+"\n") {
					t.Fatalf("the pack lacks %s:\n%s\n%s", id, md, at.session.Read("context/pack.report.md"))
				}
			}
		}
		return 0
	})
	stop()
	files200 := fmt.Sprintf("pack of 30 sources, 200 files of knowledge, first; elsewhere `cat` of its %d files", len(files))
	tab.compare(files200, "ns", first, 50, native)
	unchanged := tab.compare("... nothing changed", "ns", warm, 50, native)
	tab.reachRatio("recipe", tab.compare("... after a change of one file", "ns", after, 50, native))
	tab.floor("recipe", unchanged.Ratio)
}
