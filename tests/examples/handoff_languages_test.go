package examples

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// parents are programs that hand a child session, argument 1, its context, from the parent's own session, argument 2:
// a recipe, a handoff, a plan, a first request, and the directory that names the child.
var parents = map[string][]string{
	"bash": {"bash", "-c", `
		set -e
		child=$1; cd "$2"
		mkdir -p "$child"
		printf '%s\n' 'strategy: developer' 'sources:' '  - {type: system_role}' '  - {type: handoff}' '  - {type: journal}' > "$child/context/context.yaml"
		echo 'Give up on 4xx.' > "$child/context/handoff.md"
		echo '{"tasks":[{"id":"t","title":"Test the retry"}],"current_task_id":"t"}' > "$child/context/plan.json"
		echo '{"role":"user","content":"Begin."}' >> "$child/messages.jsonl"
		mkdir context/child/job
		basename "$(realpath "$child/../..")" > context/child/job/agent
		basename "$child" > context/child/job/session`, "bash"},
	"python3": {"python3", "-c", `
import json, os, pathlib, sys
child = pathlib.Path(sys.argv[1]); os.chdir(sys.argv[2])
child.mkdir(parents=True)
(child / "context/context.yaml").write_text("strategy: developer\nsources:\n  - {type: system_role}\n  - {type: handoff}\n  - {type: journal}\n")
(child / "context/handoff.md").write_text("Give up on 4xx.\n")
(child / "context/plan.json").write_text(json.dumps({"tasks": [{"id": "t", "title": "Test the retry"}], "current_task_id": "t"}, indent=2))
with open(child / "messages.jsonl", "a") as log:
    log.write(json.dumps({"role": "user", "content": "Begin."}) + "\n")
link = pathlib.Path("context/child/job"); link.mkdir()
(link / "agent").write_text(child.parent.parent.name)
(link / "session").write_text(child.name)`},
	"node": {"node", "-e", `
const fs = require('fs'), path = require('path')
const [child, parent] = process.argv.slice(-2)
process.chdir(parent)
fs.mkdirSync(child, {recursive: true})
fs.writeFileSync(child + '/context/context.yaml', 'strategy: developer\nsources:\n  - {type: system_role}\n  - {type: handoff}\n  - {type: journal}\n')
fs.writeFileSync(child + '/context/handoff.md', 'Give up on 4xx.\n')
fs.writeFileSync(child + '/context/plan.json', JSON.stringify({tasks: [{id: 't', title: 'Test the retry'}], current_task_id: 't'}))
fs.appendFileSync(child + '/messages.jsonl', JSON.stringify({role: 'user', content: 'Begin.'}) + '\n')
fs.mkdirSync('context/child/job')
fs.writeFileSync('context/child/job/agent', path.basename(path.resolve(child, '../..')))
fs.writeFileSync('context/child/job/session', path.basename(child))`, "--"},
}

// Whatever a parent is written in, and whoever of a group it is, the child sees what it was handed, and the parent what came of it.
func TestAParentInAnyLanguageHandsAChildItsContext(t *testing.T) {
	const alice, bob, group = 21001, 21002, 21000
	type pair struct {
		name          string
		agents        string // directory of agents
		parent, child harness.Client
	}
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	own := harness.Client{UID: harness.Self()}
	pairs := []pair{{"home", filepath.Join(m.Dir, "home", fmt.Sprint(own.UID), "agent"), own, own}}
	if harness.Self() == 0 {
		m.CLI(t, "space", "new", "team", "--store", m.Store, "--group", fmt.Sprint(group)).OK()
		as := func(uid uint32) harness.Client { return harness.Client{UID: uid, GIDs: []uint32{group}} }
		pairs = append(pairs, pair{"shared", filepath.Join(m.Dir, "shared/team/agent"), as(alice), as(bob)})
	}
	want := "# Context Block: system_role\nYou are a senior developer"
	rest := "# Context Block: handoff\nGive up on 4xx.\n# Context Block: developer/Task\nTest the retry\n[ctxfs %s: end]\n# Context Block: conversation\n## 1 user\nBegin.\n"
	for _, p := range pairs {
		run := func(c harness.Client, argv ...string) harness.Result {
			c.Dir, c.Argv = "/", append([]string{"sh", "-c", `umask 007; exec "$@"`, "sh"}, argv...)
			return m.Run(t, c)
		}
		for language, program := range parents {
			t.Run(p.name+"/"+language, func(t *testing.T) {
				harness.Need(t, program[0])
				parent := filepath.Join(p.agents, "coder/session", language)
				child := filepath.Join(p.agents, "tester/session", language)
				run(p.parent, "mkdir", "-p", parent).OK()
				run(p.parent, append(program, child, parent)...).OK()
				if pack := run(p.child, "cat", child+"/context/pack.md").OK(); !strings.HasPrefix(pack, want) || !strings.Contains(pack, fmt.Sprintf(rest, ctxabi.MarksOf("tester", language).Tag())) {
					t.Errorf("the child is shown\n%s\n%s", pack, run(p.child, "cat", child+"/context/errors.jsonl").Stdout)
				}
				run(p.child, "bash", "-c", `cd "$1" && echo '{"role":"assistant","content":"It retries on 404."}' >> messages.jsonl && echo done > state`, "bash", child).OK()
				if pack := run(p.parent, "cat", parent+"/context/pack.md").OK(); !strings.Contains(pack, "- job: done, tester/"+language+", context/child/job/result.md\n> It retries on 404.\n") {
					t.Errorf("the parent is shown\n%s", pack)
				}
			})
		}
	}
}
