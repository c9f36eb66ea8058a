package perm

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// What the sessions of a workspace share stays with their user, though another one works in the same directory. A shared
// space has no workspaces.
func TestTheMemoryOfAWorkspaceIsItsUsersAlone(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	const begin = `cd home/$(id -u) && mkdir -p agent/coder/session/s1 && echo /srv/app > agent/coder/session/s1/cwd && echo '{"role":"user","content":"The port is 8443."}' >> agent/coder/session/s1/messages.jsonl && echo mine > project/srv-app/notes.md && cat project/srv-app/memory.md`
	if got := as(t, m, alice, m.Dir, begin).OK(); !strings.Contains(got, "8443") {
		t.Fatalf("alice has %q", got)
	}
	if got := as(t, m, bob, m.Dir, strings.ReplaceAll(begin, "8443", "9443")).OK(); strings.Contains(got, "8443") || !strings.Contains(got, "9443") {
		t.Errorf("bob has %q", got)
	}
	dir := filepath.Join(m.Dir, "home/21001/project")
	for _, script := range []string{"ls " + dir, "ls " + dir + "/srv-app", "cat " + dir + "/srv-app/memory.md", "cat " + dir + "/srv-app/notes.md", "echo x > " + dir + "/srv-app/notes.md", "echo x > " + dir + "/srv-app/new"} {
		if r := as(t, m, bob, m.Dir, script); r.Code == 0 || !strings.Contains(r.Stderr, "Permission denied") {
			t.Errorf("bob, %s: ended with %d: %s%s", script, r.Code, r.Stdout, r.Stderr)
		}
	}
	if got := as(t, m, alice, m.Dir, "stat -c '%U %u %a' "+dir+"/srv-app "+dir+"/srv-app/*").OK(); got != "UNKNOWN 21001 700\nUNKNOWN 21001 400\nUNKNOWN 21001 644\n" {
		t.Errorf("alice's files: %s", got)
	}
	// What root makes there is alice's directory all the same.
	m.Run(t, harness.Client{UID: 0, Dir: m.Dir, Argv: []string{"bash", "-c", "echo root > home/21001/project/srv-root/notes.md"}}).OK()
	if got := as(t, m, alice, m.Dir, "cat "+dir+"/srv-root/notes.md; rm "+dir+"/srv-root/notes.md && ls "+dir).OK(); got != "root\nsrv-app\n" {
		t.Errorf("of root: %q", got)
	}
	// A link that she plants leads the daemon nowhere.
	as(t, m, alice, m.Dir, "ln -sf /etc/shadow "+dir+"/srv-app/notes.md").OK()
	if got := as(t, m, alice, m.Dir, "cat home/21001/agent/coder/session/s1/context/pack.md").OK(); strings.Contains(got, "root:") {
		t.Errorf("a pack has %q", got)
	}
	m.CLI(t, "space", "new", "--store", m.Store, "team", "--group", "21500")
	if r := as(t, m, 0, m.Dir, "ls shared/team/project"); r.Code == 0 {
		t.Error("a shared space has workspaces")
	}
}
