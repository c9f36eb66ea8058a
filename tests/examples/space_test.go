package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// In a shared space a colleague may write the recipe, but his programs run as the
// session's owner only when she has agreed, and only she can.
func TestARecipeOfASharedSpaceRunsProgramsOnlyWhenTrusted(t *testing.T) {
	harness.NeedRoot(t)
	const alice, bob, group = 21001, 21002, 21000
	m := harness.Start(t, harness.Options{})
	m.CLI(t, "space", "new", "team", "--store", m.Store, "--group", fmt.Sprint(group)).OK()
	agent := filepath.Join(m.Dir, "shared/team/agent/coder")
	recipe := filepath.Join(agent, "context.yaml")
	as := func(uid uint32, script string) harness.Result {
		return m.Run(t, harness.Client{UID: uid, GIDs: []uint32{group}, Dir: "/",
			Argv: []string{"bash", "-c", "set -e; umask 007; cd " + filepath.Dir(agent) + "; " + script}, Env: []string{"PATH=" + harness.UserPath(t)}})
	}
	work, err := os.MkdirTemp("", "ctxfs-test-work-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(work) })
	if err := os.Chmod(work, 0o755); err != nil {
		t.Fatal(err)
	}

	as(bob, `mkdir -p coder && printf '%s\n' 'wait_ms: 60000' 'sources:' '  - {type: computed_file, id: who, on_missing: skip, generator: [id, -u]}' '  - {type: journal}' > coder/context.yaml`).OK()
	as(alice, `mkdir -p coder/session/s1; cd coder/session/s1; echo `+work+` > cwd; echo '{"role":"user","content":"Hi."}' >> messages.jsonl`).OK()
	pack := func() string { return as(alice, `cat coder/session/s1/context/pack.md`).OK() }
	if got := pack(); strings.Contains(got, "Block: who") || !strings.Contains(got, "Hi.") {
		t.Errorf("before anybody agreed alice is shown\n%s", got)
	}
	as(bob, `ctxfs trust `+recipe).OK() // for himself
	if got := pack(); strings.Contains(got, "Block: who") {
		t.Errorf("bob's trust ran a program as alice:\n%s", got)
	}
	if out := as(alice, `ctxfs trust `+recipe).OK(); !strings.Contains(out, "who runs id -u") {
		t.Errorf("ctxfs trust does not say what it lets run: %q", out)
	}
	if got := pack(); strings.Contains(got, "Block: who") {
		t.Errorf("bob may write cwd, too, and alice did not agree to what it says:\n%s", got)
	}
	if report := as(alice, `cat coder/session/s1/context/pack.report.md`).OK(); !strings.Contains(report, "run: ctxfs trust "+agent+"/session/s1/cwd") {
		t.Errorf("the report does not say what to do:\n%s", report)
	}
	if out := as(alice, `ctxfs trust coder/session/s1/cwd`).OK(); !strings.Contains(out, "the workspace "+work) {
		t.Errorf("ctxfs trust does not say which workspace: %q", out)
	}
	if got := pack(); !strings.Contains(got, fmt.Sprintf("Block: who\n%d\n", alice)) {
		t.Errorf("alice agreed, but is shown\n%s\n%s", got, as(alice, `cat coder/session/s1/context/pack.report.md`).Stdout)
	}
	as(bob, `sed -i 's/id, -u/id, -un/' coder/context.yaml`).OK()
	if got := pack(); strings.Contains(got, "Block: who") {
		t.Errorf("bob's edit ran as alice:\n%s", got)
	}
}
