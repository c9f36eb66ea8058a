package perm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestASharedSpaceBelongsToItsGroup(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	m.CLI(t, "space", "new", "crew", "--group", fmt.Sprint(team), "--store", m.Store).OK()
	member := func(uid uint32, script string) harness.Result {
		return m.Run(t, harness.Client{UID: uid, GIDs: []uint32{uid, team}, Argv: []string{"bash", "-c", "umask 022; " + script}})
	}
	const dir = "shared/crew/agent/coder/session/s1"
	member(alice, "mkdir -p "+dir+" && cd "+dir+` && echo '{"role":"user","content":"from alice"}' >> messages.jsonl && echo rule > context/pinned/a.md && echo 9000 > context/budget`).OK()
	out := member(bob, "cd "+dir+` && echo '{"role":"assistant","content":"from bob"}' >> messages.jsonl && echo 8000 > context/budget && echo more >> context/pinned/a.md && echo b > context/pinned/b.md && cat messages.jsonl context/pinned/a.md context/budget`).OK()
	if !strings.Contains(out, "from alice") || !strings.Contains(out, "from bob") || !strings.HasSuffix(out, "rule\nmore\n8000\n") {
		t.Errorf("bob reads %q", out)
	}
	for path, want := range map[string]string{
		"shared/crew":                fmt.Sprintf("2770 %d directory", team),
		"shared/crew/agent/coder":    fmt.Sprintf("2770 %d directory", team),
		dir:                          fmt.Sprintf("2770 %d directory", team),
		dir + "/context":             fmt.Sprintf("2770 %d directory", team),
		dir + "/messages.jsonl":      fmt.Sprintf("660 %d regular file", team),
		dir + "/context/budget":      fmt.Sprintf("660 %d regular file", team),
		dir + "/context/pinned/b.md": fmt.Sprintf("660 %d regular file", team),
	} {
		if got := strings.TrimSpace(member(bob, "stat -c '%a %g %F' "+path).OK()); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if r := member(bob, "cd "+dir+"; rm -f messages.jsonl; truncate -s0 messages.jsonl"); r.Code == 0 || strings.Count(r.Stderr, "not permitted") != 2 {
		t.Errorf("history in a space: %+v", r)
	}
	// A member may fork what he reads, and owns the fork; only its owner takes a session away.
	member(bob, "cd "+dir+" && setfattr -n user.ctx.fork -v bobs . && echo '{\"role\":\"user\",\"content\":\"mine\"}' >> ../bobs/messages.jsonl && cat ../bobs/context/pack.md | grep -c from").OK()
	if r := member(bob, "setfattr -n user.ctx.remove -v s1 "+dir); r.Code == 0 || !strings.Contains(r.Stderr, "not permitted") {
		t.Errorf("a member removes a session of another: %+v", r)
	}
	if r := member(alice, "setfattr -n user.ctx.remove -v bobs "+dir+"/../bobs"); r.Code == 0 || !strings.Contains(r.Stderr, "not permitted") {
		t.Errorf("the maker of a session removes the fork of a member: %+v", r)
	}
	member(bob, "setfattr -n user.ctx.remove -v bobs "+dir+"/../bobs && ! ls "+dir+"/../bobs/state").OK()

	// Who is not in the group is outside, the group's number as uid or not.
	for _, outsider := range []uint32{alice, bob, team} {
		for _, script := range []string{"ls shared/crew", "cat " + dir + "/messages.jsonl", "stat " + dir + "/state", "mkdir -p shared/crew/agent/x"} {
			r := m.Run(t, harness.Client{UID: outsider, GIDs: []uint32{outsider + 1000}, Argv: []string{"bash", "-c", script}})
			if r.Code == 0 || !strings.Contains(r.Stderr, "Permission denied") {
				t.Errorf("outsider %d: %s: %+v", outsider, script, r)
			}
		}
	}
	if r := member(alice, "mkdir shared/mine"); r.Code == 0 {
		t.Error("a user made a space")
	}
	m.Restart()
	if out := member(bob, "cat "+dir+"/messages.jsonl").OK(); strings.Count(out, "\n") != 2 {
		t.Errorf("after a restart: %q", out)
	}
}

// A daemon of an ordinary user serves that user, through the setuid fusermount3.
func TestAnOrdinaryUsersOwnMount(t *testing.T) {
	harness.NeedRoot(t)
	harness.NeedFusermount(t)
	uid := harness.KnownUser(t, "nobody")
	m := harness.Start(t, harness.Options{UID: uid, GID: uid})
	dir := filepath.Join(m.Dir, "home", fmt.Sprint(uid), "agent/coder/session/s1")
	run := func(uid uint32, script string) harness.Result {
		return m.Run(t, harness.Client{UID: uid, Dir: "/", Argv: []string{"bash", "-c", script}})
	}
	out := run(uid, "mkdir -p "+dir+" && cd "+dir+` && echo '{"role":"user","content":"mine"}' >> messages.jsonl && cat context/pack.md; truncate -s0 messages.jsonl; wc -l < messages.jsonl`)
	if !strings.Contains(out.Stdout, "mine") || !strings.HasSuffix(out.Stdout, "1\n") || !strings.Contains(out.Stderr, "not permitted") {
		t.Errorf("the user: %+v", out)
	}
	for _, other := range []uint32{alice, 0} {
		if r := run(other, "ls "+m.Dir); r.Code == 0 {
			t.Errorf("uid %d sees the mount of another user: %q", other, r.Stdout)
		}
	}
	m.Restart()
	if out := run(uid, "cat "+dir+"/messages.jsonl").OK(); out != `{"role":"user","content":"mine"}`+"\n" {
		t.Errorf("after a restart: %q", out)
	}
	m.Kill()
	m.Restart() // over a dead mountpoint
	if out := run(uid, "wc -l < "+dir+"/messages.jsonl").OK(); out != "1\n" {
		t.Errorf("after a crash: %q", out)
	}
}

// In a space the group may write cwd: it must not become a way to read what
// only the session's owner may.
func TestAMemberCannotReadTheOwnersFilesThroughCwd(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	m.CLI(t, "space", "new", "crew", "--group", fmt.Sprint(team), "--store", m.Store).OK()
	member := func(uid uint32, script string) harness.Result {
		return m.Run(t, harness.Client{UID: uid, GIDs: []uint32{uid, team}, Argv: []string{"bash", "-c", script}})
	}
	work := t.TempDir()
	for dir := work; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(work, "AGENTS.md")
	if err := os.WriteFile(secret, []byte("only for alice\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(secret, alice, alice); err != nil {
		t.Fatal(err)
	}
	const dir = "shared/crew/agent/coder/session/s1"
	member(alice, "mkdir -p "+dir+` && echo '{"role":"user","content":"from alice"}' >> `+dir+"/messages.jsonl").OK()
	for _, how := range []string{"echo " + work + " > cwd", "echo " + work + " > new && mv new cwd", "rm -f cwd; echo " + work + " > cwd"} {
		member(bob, "cd "+dir+" && { "+how+"; }")
		for _, name := range []string{"pack.md", "pack.json", "pack.report.md"} {
			if r := member(bob, "cat "+dir+"/context/"+name); r.Code != 0 || strings.Contains(r.Stdout, "only for alice") {
				t.Errorf("after %q bob reads of %s: %+v", how, name, r)
			}
		}
	}
	if out := member(alice, "cat "+dir+"/context/pack.report.md").OK(); !strings.Contains(out, "AGENTS.md") {
		t.Errorf("the report does not say that the guide was skipped:\n%s", out)
	}
}
