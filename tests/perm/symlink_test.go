package perm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// The daemon runs as root: where it resolves a name that a user planted, it must not leave the store.
func TestPlantedSymlinksLeadNowhereForTheDaemon(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	b := m.Session(t, bob, "coder", "s1")
	b.Bash(`echo '{"role":"user","content":"bobs-secret"}' >> messages.jsonl; echo bobs-secret > ../../notes`).OK()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("roots-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := m.Session(t, alice, "coder", "s1")
	s.Append("messages.jsonl", hello)
	bobs := filepath.Join(m.Store, "home/21002/agent/coder/notes")
	for _, target := range []string{secret, "/etc/shadow", bobs} {
		for _, name := range []string{"../../system_prompt.md", "context/pinned/rule.md", "context/summary.md", "context/todo.md", "../../context.yaml", "context/env", "cwd", "context/budget"} {
			s.Bash("ln -sf " + target + " " + name)
			for _, read := range []string{"cat context/pack.md context/pack.json context/pack.report.md", "cat " + name} {
				r := s.Bash(read)
				for _, leak := range []string{"roots-secret", "bobs-secret", "root:"} {
					if strings.Contains(r.Stdout, leak) || strings.Contains(r.Stderr, leak) {
						t.Errorf("%s -> %s: %s shows %q", name, target, read, leak)
					}
				}
			}
			s.Bash("echo overwritten > " + name)
			s.Bash("rm -f " + name)
		}
		// A directory on the way is a symlink.
		s.Bash("mv context/pinned context/p2; ln -s " + filepath.Dir(target) + " context/pinned")
		if r := s.Bash("cat context/pack.md"); strings.Contains(r.Stdout, "-secret") {
			t.Errorf("pinned -> %s leaks", filepath.Dir(target))
		}
		s.Bash("rm -f context/pinned; mv context/p2 context/pinned")
	}
	for file, want := range map[string]string{secret: "roots-secret\n", bobs: "bobs-secret\n"} {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", file, got, err)
		}
	}
	// A client follows its own symlink with its own rights, as anywhere.
	if got := s.Bash("ln -s messages.jsonl ../../link 2>/dev/null; ln -s session/s1/messages.jsonl ../../log; cat ../../log").OK(); got != hello {
		t.Errorf("through a symlink of its own: %q", got)
	}
}

func TestASessionPlantedAsASymlinkIsNotEntered(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	b := m.Session(t, bob, "coder", "s1")
	b.Append("messages.jsonl", `{"role":"user","content":"bobs-secret"}`+"\n")
	a := m.Session(t, alice, "coder", "s1")
	as(t, m, alice, a.AgentHome(), "ln -s "+filepath.Join(m.Store, "home/21002/agent/coder/session/s1")+" session/s2; ln -s ../../21002/agent/coder ../other")
	for _, p := range []string{"session/s2/messages.jsonl", "session/s2/context/pack.md", "../other/session/s1/messages.jsonl"} {
		if r := as(t, m, alice, a.AgentHome(), "cat "+p); r.Code == 0 || strings.Contains(r.Stdout, "bobs-secret") {
			t.Errorf("cat %s: %+v", p, r)
		}
	}
	// A restart scans the store: it must not take the link for a session.
	m.Restart()
	if r := as(t, m, alice, a.AgentHome(), "cat session/s2/context/pack.md"); strings.Contains(r.Stdout, "bobs-secret") {
		t.Errorf("after a restart: %+v", r)
	}
}

// A store in a directory that everybody can enter, as an administrator makes it by hand: the directories below home
// belong to their users, who could plant links in them without asking the mount.
func TestAUserWhoReachesTheStoreCannotLeadTheDaemonElsewhere(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, alice, "coder", "s1")
	s.Append("messages.jsonl", hello)
	elsewhere := t.TempDir()
	if err := os.WriteFile(filepath.Join(elsewhere, "summary.md"), []byte("roots-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plant := func() {
		t.Helper()
		stored := filepath.Join(m.Store, "home/21001/agent/coder/session/s1")
		if r := as(t, m, alice, "/", "cd "+stored+" && mv context .ctxfs/away && ln -s "+elsewhere+" context"); r.Code == 0 {
			t.Error("alice changed the store past the mount")
		}
		if r := s.Bash("cat context/pack.md"); strings.Contains(r.Stdout, "roots-secret") {
			t.Error("the pack holds what only root may read")
		}
	}
	plant()
	m.Stop()
	if err := os.Chmod(filepath.Join(m.Store, "home"), 0o755); err != nil { // as an older daemon, or a careless copy, left it
		t.Fatal(err)
	}
	m.Restart()
	plant()
}

func TestRootServesNoStoreThatSomebodyElseCanChange(t *testing.T) {
	harness.NeedRoot(t)
	for _, c := range []struct {
		name string
		uid  int
		mode os.FileMode
	}{{"another user's", alice, 0o755}, {"everybody's", 0, 0o777}, {"a group's", 0, 0o770}} {
		m := harness.Start(t, harness.Options{NoStart: true})
		os.Chown(m.Store, c.uid, 0)
		os.Chmod(m.Store, c.mode)
		if err := m.TryStart(); err == nil || !strings.Contains(err.Error(), "chown root") {
			t.Errorf("%s store: %v", c.name, err)
		}
	}
}
