package perm

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// names says whether a text has the number of a user, and not as a part of a hash or of the name of a temporary directory.
func names(text string, uid int) bool {
	return regexp.MustCompile(fmt.Sprintf(`(^|[^0-9a-f])%d([^0-9a-f]|$)`, uid)).MatchString(text)
}

// What goes of a session is its owner's to decide and to know.
func TestAnotherUserCollectsNothing(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{Args: []string{"--gc-interval=0", "--gc-grace=0"}})
	a, b := m.Session(t, alice, "coder", "s1"), m.Session(t, bob, "coder", "s1")
	litter := `i=context/dedup/blob/sha256-$(printf secret | sha256sum | cut -d' ' -f1); printf secret > $i; echo swap_ttl=1ns > context/gc.policy; echo $i`
	blob := strings.TrimSpace(a.Bash(litter).OK())
	b.Bash(litter).OK()
	// Alice's pin names the content of both; a blob is its session's.
	a.Bash("echo " + filepath.Base(blob) + " > context/pinned/p.md").OK()

	for _, script := range []string{
		"setfattr -n user.ctx.gc -v sweep " + a.Dir, "setfattr -n user.ctx.gc -v plan " + a.Dir, "cat " + a.Path("context/gc.report"),
		"ctxfs gc " + a.Dir, "ctxfs gc --dry-run --json " + a.Dir, "echo > " + a.Path("context/gc.policy"),
	} {
		r := m.Run(t, harness.Client{UID: bob, Dir: m.Dir, Argv: []string{"bash", "-c", script}, Env: []string{"PATH=" + harness.UserPath(t)}})
		if r.Code == 0 || strings.Contains(r.Stdout+r.Stderr, "sha256-") {
			t.Errorf("bob's %s: %+v", script, r)
		}
	}
	// Without a session it is about his own, all of them.
	r := m.Run(t, harness.Client{UID: bob, Dir: m.Dir, Argv: []string{harness.Binary(t), "gc", "--verbose", "--store", m.Store}})
	if r.Code != 0 || !strings.Contains(r.Stdout, "1 session looked at") || names(r.Stdout+r.Stderr, alice) {
		t.Errorf("bob's collection tells of alice: %+v", r)
	}
	own := as(t, m, bob, b.Dir, "cat context/gc.report && ls context/dedup/blob").OK()
	if !strings.Contains(own, "removed\tblob\t6\t"+blob+"\t") || names(own, alice) || strings.HasSuffix(own, filepath.Base(blob)+"\n") {
		t.Errorf("bob's own: %s", own)
	}
	if got := as(t, m, alice, a.Dir, "cat "+blob).OK(); got != "secret" {
		t.Errorf("alice's: %q", got)
	}
	status := as(t, m, bob, m.Dir, "cat status").OK()
	if !strings.Contains(status, "gc_removed=") || names(status, alice) {
		t.Errorf("status: %s", status)
	}
}

// In a space members read and write; what goes is for who made the session.
func TestAMemberCollectsNothingOfAnother(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{Args: []string{"--gc-interval=0", "--gc-grace=0"}})
	m.CLI(t, "space", "new", "crew", "--group", fmt.Sprint(team), "--store", m.Store).OK()
	member := func(uid uint32, script string) harness.Result {
		return m.Run(t, harness.Client{UID: uid, GIDs: []uint32{uid, team}, Dir: m.Dir, Argv: []string{"bash", "-c", script}})
	}
	dir := "shared/crew/agent/coder/session/s1"
	member(alice, "mkdir -p "+dir).OK()
	r := member(bob, "cat "+dir+"/context/gc.report && setfattr -n user.ctx.gc -v sweep "+dir)
	if r.Code == 0 || !strings.Contains(r.Stderr, "not permitted") {
		t.Errorf("a member collects: %+v", r)
	}
	member(alice, "setfattr -n user.ctx.gc -v sweep "+dir).OK()
}
