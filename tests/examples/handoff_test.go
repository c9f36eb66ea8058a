package examples

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// A parent hands a child a curated context with mkdir and > alone: the child's
// packs hold what the parent chose, whatever the recipe of the child's agent says.
func TestAParentHandsAChildItsContextByFiles(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	parent := m.Session(t, harness.Self(), "coder", "s1")
	parent.Append("messages.jsonl", harness.Message("user", "Make the refresh retry, and have it tested."))

	// The child's agent exists already, with a recipe and a session of its own.
	other := m.Session(t, harness.Self(), "tester", "nightly")
	other.Write("../../system_prompt.md", "You test what others write.\n")
	other.Write("../../context.yaml", "sources:\n  - {type: system_role}\n  - {type: file, id: habits, path: \"${AGENT_HOME}/habits.md\"}\n  - {type: journal}\n")
	other.Write("../../habits.md", "Run everything twice.\n")
	other.Append("messages.jsonl", harness.Message("user", "Nightly run."))

	parent.Bash(`
		set -e
		child=../../../tester/session/job-1
		mkdir $child
		echo '{"parent":"coder/s1"}' > $child/meta.json
		cat > $child/context/handoff.md <<-'END'
			Check the retry in auth/refresh.go.
		END
		cat > $child/context/brief.md <<-'END'
			It must give up on 4xx.
		END
		cat > $child/context/context.yaml <<-'END'
			sources:
			  - {type: system_role}
			  - {type: file, id: brief, path: "${SESSION}/context/brief.md"}
			  - {type: handoff}
			  - {type: journal}
		END
		echo '{"role":"user","content":"Begin."}' >> $child/messages.jsonl
	`).OK()

	child := m.Session(t, harness.Self(), "tester", "job-1")
	marks := ctxabi.MarksOf("tester", "job-1")
	want := "# Context Block: system_role\nYou test what others write.\n" +
		"# Context Block: brief\nIt must give up on 4xx.\n" +
		marks.Begin(ctxabi.Notes) + "# Context Block: handoff\nCheck the retry in auth/refresh.go.\n" + marks.End() +
		"# Context Block: conversation\n## 1 user\nBegin.\n"
	if got := child.Read("context/pack.md"); got != want {
		t.Errorf("the child is shown\n%s\nwant\n%s", got, want)
	}
	if got := other.Read("context/pack.md"); !strings.Contains(got, "Run everything twice.") || strings.Contains(got, "4xx") {
		t.Errorf("another session of the agent is shown\n%s", got)
	}

	// The parent changes its mind; the child sees it at the next look.
	parent.Bash(`echo 'Check the clock, too.' >> ../../../tester/session/job-1/context/handoff.md`).OK()
	if got := child.Read("context/pack.md"); !strings.Contains(got, "Check the clock, too.\n"+marks.End()+"# Context Block: conversation") {
		t.Errorf("the new handoff is not in the child's pack:\n%s", got)
	}

	// A mistake of the parent leaves the child the last good recipe, and says so to both.
	parent.Bash(`sed -i 's/type: handoff/type: handof/' ../../../tester/session/job-1/context/context.yaml`).OK()
	if got := child.Read("context/pack.md"); !strings.Contains(got, "Check the clock, too.") || !strings.Contains(got, "It must give up on 4xx.") {
		t.Errorf("with a wrong recipe the child is shown\n%s", got)
	}
	if rows := child.Read("context/errors.jsonl"); !strings.Contains(rows, "handof") {
		t.Errorf("nothing says that the recipe is wrong: %q", rows)
	}

	// The answer goes back the same way.
	child.Append("messages.jsonl", harness.Message("assistant", "It retries on 404."))
	child.Write("state", "done\n")
	if got := parent.Bash(`cat ../../../tester/session/job-1/{state,latest.md}`).OK(); got != "done\nIt retries on 404.\n" && got != "done\nIt retries on 404." {
		t.Errorf("the parent reads %q", got)
	}
}
