package perm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestHomesAreOwnedAndClosed(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	stat := func(uid uint32, path string) string {
		return strings.TrimSpace(as(t, m, uid, m.Dir, "stat -c '%a %u %F' "+path).OK())
	}
	// Not there yet, and yet it resolves, for everyone.
	for _, uid := range []uint32{alice, bob, 0} {
		if got := stat(uid, "home/21001"); got != "700 21001 directory" {
			t.Errorf("uid %d sees alice's home as %q", uid, got)
		}
	}
	if got := as(t, m, bob, m.Dir, "ls home").OK(); got != "" {
		t.Errorf("home lists %q before anything was made", got)
	}
	if _, err := os.Stat(filepath.Join(m.Store, "home/21001")); !os.IsNotExist(err) {
		t.Errorf("looking at a home made it in the store: %v", err)
	}
	for _, name := range []string{"01", "-1", "+1", "4294967295", "4294967296", "root", "1.0"} {
		if r := as(t, m, bob, m.Dir, "stat home/"+name); r.Code == 0 || !strings.Contains(r.Stderr, "No such file") {
			t.Errorf("home/%s: %+v", name, r)
		}
		if r := as(t, m, bob, m.Dir, "mkdir home/"+name); r.Code == 0 {
			t.Errorf("mkdir home/%s worked", name)
		}
	}
	m.Session(t, alice, "coder", "s1")
	if got := as(t, m, bob, m.Dir, "ls home").OK(); got != "21001\n" {
		t.Errorf("home lists %q", got)
	}
	for path, want := range map[string]string{
		"home/21001":                                             "700 21001 directory",
		"home/21001/agent/coder":                                 "700 21001 directory",
		"home/21001/agent/coder/session/s1":                      "700 21001 directory",
		"home/21001/agent/coder/session/s1/messages.jsonl":       "600 21001 regular empty file",
		"home/21001/agent/coder/session/s1/context":              "700 21001 directory",
		"home/21001/agent/coder/session/s1/context/pack.json":    "400 21001 regular file",
		"home/21001/agent/coder/session/s1/context/errors.jsonl": "400 21001 regular empty file",
		"home/21001/agent/coder/session/s1/context/pinned":       "700 21001 directory",
	} {
		if got := stat(alice, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if fi, err := os.Stat(filepath.Join(m.Store, "home/21001")); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("the home in the store: %v, %v", fi, err)
	}
	// Nobody makes things in somebody else's home or at the root, root apart.
	for _, script := range []string{"mkdir -p home/21001/agent/x", "mkdir x", "touch x", "mkdir home/21002x", "mkdir shared/x", "rmdir home/21002", "rm README.md", "echo x > status"} {
		if r := as(t, m, bob, m.Dir, script); r.Code == 0 {
			t.Errorf("bob's %s worked", script)
		}
	}
}

func TestUmaskAppliesToOrdinaryFiles(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, alice, "coder", "s1")
	got := as(t, m, alice, s.AgentHome(), `umask 022; touch a; mkdir d; umask 077; touch b; mkdir e; umask 0; touch c; install -m 640 /dev/null f; stat -c '%n %a %u %g' a d b e c f`).OK()
	want := "a 644 21001 21001\nd 755 21001 21001\nb 600 21001 21001\ne 700 21001 21001\nc 666 21001 21001\nf 640 21001 21001\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if r := as(t, m, alice, s.AgentHome(), "chown 21002 a"); r.Code == 0 {
		t.Error("alice gave a file away")
	}
	if r := as(t, m, alice, s.AgentHome(), "chmod 4755 a; stat -c %a a"); r.Stdout != "4755\n" && r.Stdout != "755\n" && r.Stdout != "644\n" {
		t.Errorf("chmod 4755: %+v", r)
	}
}
