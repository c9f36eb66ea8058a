// Package perm tests who may see what, with several users under one mount.
package perm

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const alice, bob, team = harness.Alice, harness.Bob, harness.Team

const hello = `{"role":"user","content":"hello"}` + "\n"

// as runs a script in dir as uid.
func as(t *testing.T, m *harness.Mount, uid uint32, dir, script string) harness.Result {
	t.Helper()
	return m.Run(t, harness.Client{UID: uid, Dir: dir, Argv: []string{"bash", "-c", script}})
}

// The session of a newcomer who has nothing but a shell.
func TestAnOrdinaryUserWithAShell(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	script := strings.ReplaceAll(`cd /ctx/home/$(id -u) && mkdir -p agent/coder/session/s1 && cd agent/coder/session/s1 && echo '{"role":"user","content":"hi"}' >> messages.jsonl && cat context/pack.md`, "/ctx/", m.Dir+"/")
	if out := as(t, m, alice, "/", script).OK(); !strings.Contains(out, "hi") {
		t.Errorf("the pack: %q", out)
	}
	dir := filepath.Join(m.Dir, "home/21001/agent/coder/session/s1")
	for _, refused := range []struct{ script, says, errno string }{
		{`echo x > messages.jsonl`, "Operation not permitted", "EPERM"},
		{`rm -f messages.jsonl`, "Operation not permitted", "EPERM"},
		{`mv messages.jsonl y`, "Operation not permitted", "EPERM"},
		{`truncate -s0 messages.jsonl`, "Operation not permitted", "EPERM"},
		{`echo nope >> messages.jsonl`, "Invalid argument", "EINVAL"},
	} {
		before := as(t, m, alice, dir, "wc -l < context/errors.jsonl").OK()
		r := as(t, m, alice, dir, refused.script)
		if r.Code == 0 || !strings.Contains(r.Stderr, refused.says) {
			t.Errorf("%s: ended with %d and %q, want %q", refused.script, r.Code, r.Stderr, refused.says)
		}
		row := as(t, m, alice, dir, "tail -n1 context/errors.jsonl").OK()
		if !strings.Contains(row, refused.errno) || !strings.Contains(row, "messages.jsonl") {
			t.Errorf("%s: errors.jsonl says %q", refused.script, row)
		}
		if after := as(t, m, alice, dir, "wc -l < context/errors.jsonl").OK(); after == before {
			t.Errorf("%s: no new row in errors.jsonl (%s rows)", refused.script, strings.TrimSpace(after))
		}
	}
	if got := as(t, m, alice, dir, "cat messages.jsonl").OK(); got != `{"role":"user","content":"hi"}`+"\n" {
		t.Errorf("messages.jsonl: %q", got)
	}
}

func TestAnotherUserSeesNothing(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, alice, "coder", "s1")
	s.Bash(`echo '{"role":"user","content":"secret"}' >> messages.jsonl; echo rule > context/pinned/rule; echo x > ../../system_prompt.md; cat context/pack.md`).OK()
	home := filepath.Join(m.Dir, "home", "21001")
	denied := func(script string) {
		t.Helper()
		r := as(t, m, bob, m.Dir, script)
		if r.Code == 0 || !strings.Contains(r.Stderr, "Permission denied") || strings.Contains(r.Stdout, "secret") {
			t.Errorf("bob's %s: ended with %d, printed %q and %q", script, r.Code, r.Stdout, r.Stderr)
		}
	}
	denied("cd " + home)
	denied("ls " + home)
	denied("mkdir " + home + "/agent/x")
	denied("touch " + home + "/x")
	denied("mv " + home + " " + home + "x")
	for _, name := range []string{"", "messages.jsonl", "events.jsonl", "latest.md", "state", "cwd", "meta.json", "created_at",
		"context", "context/budget", "context/pack.md", "context/pack.json", "context/pack.report.md", "context/pack.openai.json", "context/errors.jsonl", "context/journal.jsonl",
		"context/pinned", "context/pinned/rule", "context/summary.md", "context/line", "context/line/1", "context/line/1.txt",
		"../../system_prompt.md", "..", "../..", "no-such-file", "context/line/9999"} {
		p := filepath.Join(s.Dir, name)
		denied("stat " + p)
		denied("cat " + p)
		denied("python3 -c 'import os,sys; print(os.getxattr(sys.argv[1],\"user.ctx.tokens\"))' " + p)
		denied("python3 -c 'import os,sys; print(os.listxattr(sys.argv[1]))' " + p)
	}
	denied("echo '" + strings.TrimSpace(hello) + "' >> " + s.Path("messages.jsonl"))
	denied("chmod 777 " + s.Dir)
	denied("rm -f " + s.Path("context/pinned/rule"))
	denied("ln -s x " + s.Path("context/pinned/l"))
	denied("mv " + s.Path("state") + " " + s.Path("cwd"))
	// Bob's own home does not lead there either.
	denied("mkdir -p home/21002/agent/a; cat home/21002/../21001/agent/coder/session/s1/messages.jsonl")
	if out := as(t, m, alice, s.Dir, "cat messages.jsonl").OK(); !strings.Contains(out, "secret") {
		t.Errorf("alice: %q", out)
	}
}
