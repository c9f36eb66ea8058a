package packtest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// all is a recipe with each source that reads a file.
const all = `import: ./base.yaml
wait_ms: 60000
sources:
  - {type: system_role}
  - {type: skills}
  - {type: pinned}
  - {type: file, id: near, path: "${AGENT_HOME}/near.md", on_missing: skip}
  - {type: file, id: delta, path: "${CWD}/DELTA.md", on_missing: skip}
  - {type: file, id: named, path: "${AGENT_HOME}/${WHICH}.md", on_missing: skip}
  - {type: handoff}
  - {type: memory}
  - {type: knowledge}
  - {type: playbook}
  - {type: facts}
  - {type: journal}
  - {type: file, id: busy, phase: dynamic, path: "${AGENT_HOME}/busy.md", on_missing: skip, condition: {when: state_is, state: active}}
  - {type: errors}
  - {type: plan}
  - {type: todo}
`

// A program that writes an input and then reads the pack finds what it wrote, whatever the input is.
func TestEachInputIsSeenByTheNextReadThroughTheMount(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	work := workspace(t)
	s := m.Session(t, alice, "coder", "s1")
	s.Append("messages.jsonl", rec1)
	sh := func(script string) string {
		t.Helper()
		return s.Bash(script).OK()
	}
	sh("echo 'env: {WHICH: one}' > ../../base.yaml; echo " + work + " > cwd; cat > ../../context.yaml <<'END'\n" + all + "END\n")
	sh("echo one-text > ../../one.md; echo two-text > ../../two.md; echo busy-text > ../../busy.md; mkdir -p ../../{skills,memory,knowledge/deep,playbooks}")
	sees := func(change, want string) {
		t.Helper()
		if md := sh(change + "; cat context/pack.md"); !strings.Contains(md, want) {
			t.Errorf("%s: no %q in the pack:\n%s\n%s\n%s", change, want, md, s.Read("context/pack.report.md"), s.Read("context/errors.jsonl"))
		}
	}
	for _, c := range []struct{ file, form string }{
		{"../../system_prompt.md", "Be careful, mark %d."},
		{"../../skills/retry.md", "---\nname: retry\nactive: true\n---\nRetry, mark %d."},
		{"context/pinned/a.md", "mark %d"},
		{"../../near.md", "mark %d"},
		{work + "/DELTA.md", "mark %d"},
		{"context/handoff.md", "mark %d"},
		{"../../memory/a.md", "The retry is configurable, mark %d."},
		{"../../knowledge/deep/a.md", "The retry is configurable, mark %d."},
		{"../../playbooks/a.md", "# Make the retry configurable\n\nmark %d"},
		{"context/facts.jsonl", `{"id":"f","text":"mark %d"}`},
		{"context/plan.json", `{"goal":"mark %d"}`},
		{"context/todo.md", "- [ ] mark %d"},
	} {
		for i := range 3 {
			sees(fmt.Sprintf("printf '%%s\\n' '%s' > %s", fmt.Sprintf(c.form, i), c.file), fmt.Sprintf("mark %d", i))
		}
		sees("sed -i s/mark/stamp/ "+c.file, "stamp 2")
		if md := sh("rm " + c.file + "; cat context/pack.md"); strings.Contains(md, "stamp") {
			t.Errorf("%s stayed:\n%s", c.file, md)
		}
	}
	sees(":", "one-text")
	sees("echo WHICH=two > context/env", "two-text")
	sees("rm context/env", "one-text")
	sees("echo 'env: {WHICH: two}' > ../../base.yaml", "two-text")
	sees("echo active > state", "busy-text")
	sees(`echo '{"type":"error","message":"it broke badly"}' >> events.jsonl`, "it broke badly")
	sees(`printf 'sources: [{type: file, path: "${AGENT_HOME}/one.md"}, {type: journal}]\n' > context/context.yaml`, "one-text")
	sees("rm context/context.yaml", "two-text")
	sees("printf 'sources: [{type: file, path: \"${AGENT_HOME}/busy.md\"}]\\n' > ../../new.yaml; mv ../../new.yaml ../../context.yaml", "busy-text")
	if rows := s.Errors(); len(rows) > 0 {
		t.Errorf("errors.jsonl: %+v", rows)
	}
}

func TestTheLastGoodRecipeSurvivesTheDaemon(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	s.Write("../../guide.md", "The guide.\n")
	s.Write("context/context.yaml", "sources:\n  - {type: file, path: \"${AGENT_HOME}/guide.md\"}\n  - {type: journal}\n")
	if b := read(t, s); !strings.Contains(b.md, "The guide.") {
		t.Fatalf("%s", b.md)
	}
	s.Write("context/context.yaml", "sources:\n  - {type: fil}\n") // taken: people save half-finished work
	rows := s.Errors()                                             // at once, before anybody reads a pack
	if len(rows) != 1 || rows[0].Path != "context/context.yaml" || rows[0].Errno != "EINVAL" || !strings.Contains(rows[0].Reason, "context/context.yaml:2:") {
		t.Fatalf("errors.jsonl: %+v", rows)
	}
	check := func(when string) {
		t.Helper()
		if b := read(t, s); !strings.Contains(b.md, "The guide.") || strings.Contains(b.md, "fil}") {
			t.Errorf("%s:\n%s", when, b.md)
		}
		if report := s.Read("context/pack.report.md"); !strings.Contains(report, "context.yaml:2:") {
			t.Errorf("%s: the report says nothing:\n%s", when, report)
		}
	}
	check("at once")
	m.Restart()
	s.Append("messages.jsonl", rec2)
	check("after a restart")
	m.Kill()
	m.Restart()
	check("after a crash")
	if rows := s.Errors(); len(rows) != 1 {
		t.Errorf("one problem, %d rows: %+v", len(rows), rows)
	}
	if cli := m.CLI(t, "pack", "--store", m.Store, s.Ref()).OK(); !strings.Contains(cli, "The guide.") {
		t.Errorf("ctxfs pack does without the last good recipe:\n%s", cli)
	}
}

func TestAMissingSourceIsENODATA(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	s.Write("context/context.yaml", "sources:\n  - {type: journal}\n  - {type: file, id: guide, path: \"${SESSION}/guide.md\"}\n")
	for _, name := range []string{"pack.md", "pack.json", "pack.openai.json"} {
		if r := s.Bash("cat context/" + name); r.Code == 0 || !strings.Contains(r.Stderr, "No data available") {
			t.Errorf("cat %s: %+v", name, r)
		}
	}
	if rows := s.Errors(); len(rows) != 1 || rows[0].Errno != "ENODATA" || !strings.Contains(rows[0].Reason, "guide") {
		t.Errorf("errors.jsonl: %+v", rows)
	}
	s.Write("guide.md", "Now it is here.\n")
	if b := read(t, s); !strings.Contains(b.md, "Now it is here.") {
		t.Errorf("%s", b.md)
	}
}

// A root daemon serves a user who owns every name below his home. Whatever he makes of them, he
// reads nothing that is not his, and the daemon neither hangs nor ends.
func TestNoNameBelowAHomeLeadsTheDaemonAstray(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	const mallory = 1234
	other := m.Session(t, alice, "coder", "s1")
	other.Append("messages.jsonl", harness.Message("user", "the-secret of alice"))
	other.Bash("mkdir ../../knowledge; echo the-secret of alice > ../../knowledge/k.md").OK()
	vault := filepath.Join(t.TempDir(), "vault")
	if err := os.MkdirAll(filepath.Join(vault, "skill"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"k.md", "context.yaml", "skill/SKILL.md", "shadow"} {
		if err := os.WriteFile(filepath.Join(vault, name), []byte("reserve_tokens: 0 # the-secret of root\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := m.Session(t, mallory, "coder", "s1")
	s.Append("messages.jsonl", harness.Message("user", "Tell me the-secre of retry root alice shadow passwd"))
	id, err := os.ReadFile(filepath.Join(s.InStore(), ".ctxfs/id"))
	if err != nil {
		t.Fatal(err)
	}
	recipe := `sources:
  - {type: system_role}
  - {type: tools}
  - {type: skills}
  - {type: pinned}
  - {type: memory}
  - {type: knowledge}
  - {type: playbook}
  - {type: file, on_missing: skip, path: "${AGENT_HOME}/sub/k.md"}
  - {type: file, on_missing: skip, path: "${AGENT_HOME}/sub/shadow"}
  - {type: file, on_missing: skip, path: "${AGENT_HOME}/../../../21001/agent/coder/knowledge/k.md"}
  - {type: file, on_missing: skip, path: "${AGENT_HOME}/x/../../../../21001/agent/coder/knowledge/k.md"}
  - {type: file, on_missing: skip, path: "${SESSION}/.ctxfs/id"}
  - {type: file, on_missing: skip, path: "${SESSION}/context/../.ctxfs/arrivals"}
  - {type: file, on_missing: skip, path: "` + m.Store + `/home/21001/agent/coder/knowledge/k.md"}
  - {type: file, on_missing: skip, path: "` + vault + `/k.md"}
  - {type: journal}
`
	alices := filepath.Join(m.Store, "home/21001/agent/coder")
	for _, target := range []string{vault, alices + "/knowledge", alices, "/etc", "/root", "/proc/self", "/proc/1/root/etc", m.Dir, s.Dir, "../session/s1/.ctxfs", "session/s1/.ctxfs", "session/s1/context", ".", ".."} {
		s.Write("../../context.yaml", recipe)
		s.Bash("cd ../..; all='knowledge memory skills playbooks sub node_modules packages'; rm -rf $all system_prompt.md tools.json; for n in $all; do ln -s '" + target + "' $n; done; " +
			"ln -s '" + target + "/k.md' system_prompt.md; ln -s '" + target + "/id' tools.json").OK()
		noLeak(t, s, target, string(id))
		s.Bash("cd ../..; rm -f knowledge memory; mkdir -p knowledge memory; ln -s '" + target + "' knowledge/dir; ln -s '" + target + "/k.md' knowledge/file.md; mkfifo memory/pipe; ln -s pipe memory/topipe").OK()
		noLeak(t, s, target+" one deeper", string(id))
		s.Bash("cd ../..; rm -f context.yaml; ln -s '" + target + "/context.yaml' context.yaml").OK()
		noLeak(t, s, target+" as the recipe", string(id))
		s.Bash("cd ../..; rm -f context.yaml; printf 'import: [vault, sub/context.yaml]\n" + `sources: [{type: journal}]` + "\n' > context.yaml").OK()
		noLeak(t, s, target+" as a package", string(id))
	}
	// And while he changes them as fast as he can.
	s.Bash(`cd ../..; rm -f knowledge context.yaml`)
	s.Write("../../context.yaml", recipe)
	s.Bash(`cd ../..; mkdir -p real; echo mine > real/k.md
		( for i in $(seq 200); do ln -sfn ` + vault + ` knowledge; ln -sfn real knowledge; done ) & 
		for i in $(seq 20); do cat session/s1/context/pack.md; done > session/s1/seen; wait`).OK()
	if seen := s.Read("seen"); strings.Contains(seen, "the-secret") {
		t.Error("a link that is swapped leaks")
	}
}

func noLeak(t *testing.T, s *harness.Session, what, id string) {
	t.Helper()
	r := s.Bash("cat context/pack.md context/pack.json context/pack.report.md context/errors.jsonl")
	for _, leak := range []string{"the-secret", strings.TrimSpace(id), "root:x:", "root:*:"} {
		if strings.Contains(r.Stdout, leak) || strings.Contains(r.Stderr, leak) {
			t.Errorf("%s: %q leaks:\n%s", what, leak, r.Stdout)
		}
	}
	if !strings.Contains(r.Stdout, "Tell me") {
		t.Errorf("%s: no pack: %s %s", what, r.Stdout, r.Stderr)
	}
}

// trustRow is the row that trusts a file of the mount as it is now.
func trustRow(t *testing.T, m *harness.Mount, rel string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(m.Dir, rel))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return fmt.Sprintf(`{"path":%q,"sha256":%q}`, rel, hex.EncodeToString(sum[:])) + "\n"
}

func TestInASpaceTheOwnerSaysWhatHeTrusts(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	const bob, team = harness.Bob, harness.Team
	work := workspace(t)
	file(t, filepath.Join(work, "DELTA.md"), "Small steps of alice.\n", alice, 0o600)
	m.CLI(t, "space", "new", "crew", "--group", fmt.Sprint(team), "--store", m.Store).OK()
	member := func(uid uint32, script string) harness.Result {
		return m.Run(t, harness.Client{UID: uid, GIDs: []uint32{uid, team}, Argv: []string{"bash", "-c", "umask 002; " + script}})
	}
	const home = "shared/crew/agent/coder"
	const dir = home + "/session/s1"
	member(alice, "mkdir -p "+dir+" && cd "+dir+` && echo '{"role":"user","content":"hi"}' >> messages.jsonl && echo `+work+` > cwd`).OK()
	member(bob, `printf 'wait_ms: 60000\nsources: [{type: file, path: "${CWD}/DELTA.md", on_missing: skip}, {type: journal}]\n' > `+home+`/context.yaml`).OK()
	used := func(want bool, reason string) {
		t.Helper()
		r := member(bob, "cd "+dir+"; cat context/pack.md context/pack.report.md")
		if strings.Contains(r.OK(), "Small steps") != want || !strings.Contains(r.Stdout, reason) {
			t.Errorf("want the guide %v and %q:\n%s", want, reason, r.Stdout)
		}
	}
	used(false, "ctxfs trust "+m.Dir+"/"+home+"/context.yaml")
	recipe, cwd := trustRow(t, m, home+"/context.yaml"), trustRow(t, m, dir+"/cwd")
	trust := fmt.Sprintf("home/%d/trust.jsonl", alice)
	if r := member(bob, "echo '"+strings.TrimSpace(recipe)+"' >> "+trust); r.Code == 0 {
		t.Error("bob wrote what alice trusts")
	}
	member(alice, "echo '"+strings.TrimSpace(recipe)+"' > "+trust).OK()
	used(false, "ctxfs trust "+m.Dir+"/"+dir+"/cwd")
	member(alice, "echo '"+strings.TrimSpace(cwd)+"' >> "+trust).OK()
	used(true, "")
	member(bob, "echo '# edited' >> "+home+"/context.yaml").OK()
	used(false, "ctxfs trust")
	if r := member(alice, "echo nonsense >> "+trust); r.Code == 0 && strings.Contains(member(alice, "cat "+trust).OK(), "nonsense") {
		t.Error("nonsense was taken for trust")
	}
	if got := strings.TrimSpace(member(alice, "stat -c '%a %u' "+trust+"; ls home/"+fmt.Sprint(alice)).OK()); got != fmt.Sprintf("600 %d\nagent\nproject\ntrust.jsonl", alice) {
		t.Errorf("trust.jsonl: %q", got)
	}
	if r := member(bob, "cat "+trust); r.Code == 0 {
		t.Error("bob reads what alice trusts")
	}
	m.Restart()
	if got := member(alice, "cat "+trust).OK(); got != recipe+cwd {
		t.Errorf("after a restart: %q", got)
	}
	member(alice, "rm "+trust+"; ! test -e "+trust).OK()
}

// A generator may read the pack that it is run for: it gets the one before.
func TestAGeneratorReadsItsOwnPackThroughTheMount(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, alice, "coder", "s1")
	s.Append("messages.jsonl", rec1)
	work := workspace(t)
	s.Write("cwd", work)
	s.Write("context/context.yaml", `wait_ms: 20000
sources:
  - {type: journal}
  - {type: computed_file, id: echo, phase: dynamic, generator: {command: [bash, -c, 'echo "I am $(id -u) in $PWD of $CTX_AGENT"; grep -c "Make the retry" "$CTX_SESSION/context/pack.md"']}, output_path: "${CWD}/echo.md"}
`)
	b := read(t, s)
	if !strings.Contains(b.md, fmt.Sprintf("I am %d in %s of coder\n1\n", alice, work)) {
		t.Errorf("%s\n%s", b.md, s.Read("context/pack.report.md"))
	}
	s.Append("messages.jsonl", rec2)
	if b := read(t, s); !strings.Contains(b.md, "I am") {
		t.Errorf("%s\n%s", b.md, s.Read("context/pack.report.md"))
	}
	if cli := m.CLI(t, "pack", "--store", m.Store, s.Ref()).OK(); !strings.Contains(cli, "I am") {
		t.Errorf("ctxfs pack:\n%s", cli)
	}
}

// A system prompt that a recipe names as a file stands whole or there is no pack: it is never cut but by a max_tokens.
func TestASystemPromptNamedAsAFileWasCut(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	s.Bash(`for i in $(seq 2000); do echo "Rule $i: never close ledger $((i * 7)) before noon."; done > ../../system_prompt.md`).OK()
	recipe := func(more string) {
		s.Bash(`printf 'sources:\n  - {type: file, path: "${AGENT_HOME}/system_prompt.md"` + more + `}\n  - {type: journal}\n' > context/context.yaml`).OK()
	}
	recipe("")
	s.Bash("echo 64000 > context/budget").OK()
	if b := read(t, s); !strings.Contains(b.md, "Rule 1000: ") || len(b.Items) == 0 || b.Items[0].Cut || b.Items[0].Kind != "system" {
		t.Errorf("it does not stand whole: %+v", b.Items)
	}
	if err := os.WriteFile(s.Path("context/budget"), []byte("8000\n"), 0o644); !errors.Is(err, unix.EFBIG) {
		t.Errorf("a budget that has no room for it: %v", err)
	}
	s.Bash("echo 64000 > context/budget; printf 'total_max_tokens: 8000\n' | cat - context/context.yaml > n; : > context/budget; cat n > context/context.yaml; rm n").OK()
	if _, err := os.ReadFile(s.Path("context/pack.md")); !errors.Is(err, unix.EFBIG) {
		t.Errorf("pack.md: %v", err)
	}
	if report := s.Read("context/pack.report.md"); !strings.Contains(report, "system_prompt.md") || !strings.Contains(report, "8000 tokens") {
		t.Errorf("the report says:\n%s", report)
	}
	recipe(", max_tokens: 900")
	s.Bash("echo 8000 > context/budget").OK()
	if b := read(t, s); strings.Contains(b.md, "Rule 1000: ") || !b.Items[0].Cut {
		t.Errorf("max_tokens does not hold: %+v", b.Items)
	}
}
