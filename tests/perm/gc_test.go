package perm

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// names reports whether a text has the number of a user, and not as a part of a hash or of the name of a temporary directory.
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

// A member wrote delete_after=1s into the policy of a colleague's session, and the collector took it away for good.
func TestAMemberCannotLetTheHistoryOfAnotherGo(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{Args: []string{"--gc-interval=0", "--gc-grace=0"}})
	m.CLI(t, "space", "new", "crew", "--group", fmt.Sprint(team), "--store", m.Store).OK()
	const sessions = "shared/crew/agent/coder/session/"
	member := func(uid uint32, name, script string) harness.Result {
		return m.Run(t, harness.Client{UID: uid, GIDs: []uint32{uid, team}, Dir: filepath.Join(m.Dir, sessions+name), Argv: []string{"bash", "-c", script},
			Env: []string{"PATH=" + harness.UserPath(t)}})
	}
	made := 0
	// fresh makes a session of alice's, with a policy of its own or the one that every session has.
	fresh := func(policy string) string {
		made++
		name := fmt.Sprint("s", made)
		m.Run(t, harness.Client{UID: alice, GIDs: []uint32{alice, team}, Argv: []string{"mkdir", "-p", sessions + name}}).OK()
		member(alice, name, `echo '{"role":"user","content":"from alice"}' >> messages.jsonl`).OK()
		if policy != "" {
			member(alice, name, "printf '"+policy+"' > context/gc.policy").OK()
		}
		return name
	}
	const evil = `printf 'keep_messages=0\nkeep_events=0\ndelete_after=1ns\n'`
	for name, c := range map[string]struct{ policy, script string }{
		"write":            {"", evil + " > context/gc.policy"},
		"append":           {"", evil + " >> context/gc.policy"},
		"one at a time":    {"", "for l in $(" + evil + "); do echo $l >> context/gc.policy; done"},
		"rename over":      {"", evil + " > context/new && mv -f context/new context/gc.policy"},
		"from another":     {"", evil + " > ../../p && mv -f ../../p context/gc.policy"},
		"copy":             {"", evil + " > context/new; cp context/new context/gc.policy"},
		"hard link":        {"", evil + " > context/new; ln -f context/new context/gc.policy"},
		"symbolic link":    {"", evil + " > context/new; ln -sf new context/gc.policy"},
		"sed -i":           {"", "sed -i 's/^keep_messages=1/keep_messages=0/; s/^keep_events=1/keep_events=0/; s/^delete_after=0/delete_after=1ns/' context/gc.policy"},
		"vim":              {"", "vim -Nu NONE -es -c '%s/^delete_after=.*/delete_after=1ns/' -c wq context/gc.policy"},
		"truncate":         {"delete_after=30d\\n", "truncate -s 0 context/gc.policy"},
		"empty":            {"delete_after=30d\\n", ": > context/gc.policy"},
		"remove":           {"archive_after=30d\\n", "rm -f context/gc.policy"},
		"move away":        {"archive_after=30d\\n", "mv context/gc.policy context/old"},
		"drop a key":       {"keep_events=0\\narchive_after=30d\\npack_ttl=1d\\n", "printf 'keep_events=0\\npack_ttl=1d\\n' > context/gc.policy"},
		"where none is":    {"", "rm context/gc.policy && " + evil + " > context/gc.policy"},
		"after a mv of it": {"", "cd ..; mv \"$OLDPWD\" moved && " + evil + " > moved/context/gc.policy; mv moved \"$OLDPWD\""},
	} {
		s := fresh(c.policy)
		before := member(alice, s, "cat context/gc.policy").OK()
		member(bob, s, c.script)
		after := member(alice, s, "cat context/gc.policy 2>/dev/null").Stdout
		if name == "where none is" {
			before = "" // the defaults may be removed
		}
		if after != before {
			t.Errorf("%s: the policy was\n%sand is\n%s", name, before, after)
		}
		errs := member(alice, s, "cat context/errors.jsonl").OK()
		link := strings.HasSuffix(name, "link") // which no settings file can be, whoever asks
		told := strings.Contains(errs, "only the session's owner decides about its history") && strings.Contains(errs, "EPERM") && strings.Contains(errs, fmt.Sprintf(`"uid":%d`, bob))
		if !link && !told {
			t.Errorf("%s: errors.jsonl says\n%s", name, errs)
		}
		member(alice, s, "setfattr -n user.ctx.gc -v sweep .").OK()
		if got := member(alice, s, "cat messages.jsonl").OK(); !strings.Contains(got, "from alice") {
			t.Errorf("%s: the history is %q", name, got)
		}
	}

	// A shell hears of a write at once, and the other settings are a member's to change, whatever stands beside them.
	s := fresh("keep_messages=0\\nkeep_events=0\\ndelete_after=30d\\n")
	if r := member(bob, s, "echo delete_after=1s >> context/gc.policy"); r.Code == 0 || !strings.Contains(r.Stderr, "not permitted") {
		t.Errorf("a shell is not told: %+v", r)
	}
	for _, script := range []string{
		"echo pack_ttl=2d >> context/gc.policy", "sed -i s/pack_ttl=2d/pack_ttl=3d/ context/gc.policy",
		`printf 'delete_after=720h # as before\nkeep_events=0\nswap_ttl=1d\nkeep_messages=0\n' > context/gc.policy`,
		"cp context/gc.policy context/new && echo dedup_min_refs=0 >> context/new && mv context/new context/gc.policy",
	} {
		if r := member(bob, s, script); r.Code != 0 {
			t.Errorf("a member's %q: %+v", script, r)
		}
	}
	if got := member(alice, s, "cat context/gc.policy").OK(); !strings.Contains(got, "720h") || !strings.Contains(got, "dedup_min_refs=0") {
		t.Errorf("the policy is\n%s", got)
	}

	// What is asked for by name is the owner's, too; and the owner's own words count.
	s = fresh("")
	dir := filepath.Join(m.Dir, sessions+s)
	for _, script := range []string{
		"setfattr -n user.ctx.remove -v " + s + " .", "setfattr -n user.ctx.archive -v 1 .", "setfattr -n user.ctx.gc -v sweep .",
		"ctxfs session rm --force " + dir, "ctxfs session archive " + dir, "ctxfs gc " + dir, "ctxfs session rm --force --store " + m.Store + " " + sessions + s,
	} {
		if r := member(bob, s, script); r.Code == 0 {
			t.Errorf("a member's %q: %+v", script, r)
		}
	}
	member(alice, s, evil+" > context/gc.policy && setfattr -n user.ctx.gc -v sweep . && setfattr -n user.ctx.gc -v sweep .; true").OK()
	if r := m.Run(t, harness.Client{UID: alice, GIDs: []uint32{alice, team}, Argv: []string{"ls", sessions + s}}); r.Code == 0 {
		t.Errorf("the owner's own policy lets nothing go: %+v", r)
	}
}
