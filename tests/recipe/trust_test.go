package recipetest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// wantTrust fails the test unless the generator of a trust test ran when it is trusted, and looks at the report where it did not.
func (s *stage) wantTrust(trusted bool, when string) {
	s.t.Helper()
	b := s.pack()
	ran := s.lines("work/runs") > 0
	if ran != trusted {
		s.t.Errorf("%s: ran is %v, want %v\n%s\n%s", when, ran, trusted, b.md, s.tail("context/pack.report.md"))
	}
	if has := strings.Contains(b.md, "made by gen"); has != trusted {
		s.t.Errorf("%s: the pack is\n%s", when, b.md)
	}
	if report := s.Read("context/pack.report.md"); !trusted && !strings.Contains(report, "ctxfs trust") {
		s.t.Errorf("%s: the report does not say how to trust:\n%s", when, report)
	}
	s.client("", `rm -f "$1"`, s.path("work/runs")).OK()
}

// A package that npm installed brings a generator: it runs when the session's owner has trusted that file as it is.
func TestAPackagesGeneratorRunsOnlyAfterTrust(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for _, where := range []string{"node_modules/@team/context-react", "packages/react"} {
		t.Run(filepath.Dir(where), func(t *testing.T) {
			s := newStage(t, m, owner())
			file := "home/" + where + "/context.yaml"
			const pkg = `
sources:
  - {type: computed_file, id: gen, on_missing: skip, generator: {command: [sh, -c, "echo run >> runs; echo made by gen"]}}
  - {type: file, id: rules, path: "${RECIPE_DIR}/rules.md"}
  - {type: journal}
`
			s.put(file, pkg)
			s.put("home/"+where+"/rules.md", "Use hooks.\n")
			name, _ := strings.CutPrefix(strings.TrimPrefix(where, "packages/"), "node_modules/")
			s.recipe("wait_ms: 60000\nimport: '" + name + "'\n")
			s.say("user", "Begin.")
			s.wantTrust(false, "before trust")
			s.want(s.pack(), "rules", "Use hooks.\n")
			s.cli("trust", s.path(file)).OK()
			s.wantTrust(true, "after trust")
			if fi, err := os.Stat(filepath.Join(m.Dir, fmt.Sprintf("home/%d/trust.jsonl", s.UID))); err != nil || fi.Mode().Perm() != 0o600 {
				t.Errorf("trust.jsonl: %v, %v", fi, err)
			}
			s.put(file, strings.Replace(pkg, "made by gen", "made by gen, edited", 1))
			s.say("assistant", "Yes.")
			s.wantTrust(false, "after an edit")
			s.put(file, pkg)
			s.say("assistant", "Yes.")
			m.Restart()
			s.wantTrust(true, "changed back, after a restart")
		})
	}
}

// A file that the recipe of the owner imports, too.
func TestAnImportedFilesGeneratorNeedsTrust(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("home/base.yaml", `sources: [{type: computed_file, id: gen, on_missing: skip, generator: {command: [sh, -c, "echo run >> runs; echo made by gen"]}}]`)
	s.recipe("wait_ms: 60000\nimport: ./base.yaml\nsources: [{type: journal}]\n")
	s.say("user", "Begin.")
	s.wantTrust(false, "before trust")
	s.cli("trust", s.path("home/base.yaml")).OK()
	s.wantTrust(true, "after trust")
}

// What npm does at an update: the recipe stays, the script is another one. And trust that is taken back counts from the next read on.
func TestAnUpdatedScriptOfAPackageNeedsTrustAgain(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	const recipe, script = "home/node_modules/@a/b/context.yaml", "home/node_modules/@a/b/bin/gen.sh"
	s.putBytes(script, "#!/bin/sh\necho run >> runs; echo made by gen\n")
	s.put(recipe, `sources: [{type: computed_file, id: gen, on_missing: skip, generator: {command: ["${RECIPE_DIR}/bin/gen.sh"]}}]`)
	s.recipe("wait_ms: 60000\nimport: '@a/b'\nsources: [{type: journal}]\n")
	s.say("user", "Begin.")
	s.wantTrust(false, "before trust")
	s.cli("trust", s.path(recipe)).OK()
	s.wantTrust(true, "after trust")
	update := func(word string) {
		s.putBytes(script+".new", "#!/bin/sh\necho run >> runs; echo made by gen "+word+"\n")
		s.client("", `mv "$1.new" "$1"`, s.path(script)).OK()
	}
	update("two")
	s.wantTrust(false, "after an update of the script")
	if report := s.Read("context/pack.report.md"); !strings.Contains(report, "ctxfs trust "+s.path(script)) {
		t.Errorf("the report does not name the script:\n%s", report)
	}
	s.say("assistant", "Yes.")
	s.wantTrust(false, "after an update, with a longer history")
	s.cli("trust", s.path(recipe)).OK()
	s.wantTrust(true, "trusted again")
	s.cli("trust", "--revoke", s.path(recipe)).OK()
	s.wantTrust(false, "by the read after it was revoked")
}

// A script that was trusted is replaced by what is no file of the home: it leads elsewhere, or holds what is run instead.
func TestATrustedScriptThatIsNoFileAnyMoreDoesNotRun(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	const recipe = "home/node_modules/@a/b/context.yaml"
	for name, replace := range map[string]string{
		"by a link":              `rm bin/gen && ln -s "$2/evil/gen" bin/gen`,
		"by a link for its path": `rm -r bin && ln -s "$2/evil" bin`,
		"by a directory":         `rm bin/gen && mkdir bin/gen && cp "$2/evil/gen" bin/gen/it`,
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, m, owner())
			const script = "#!/bin/sh\necho run >> runs; echo made by gen\n"
			s.putBytes("home/node_modules/@a/b/bin/gen", script)
			s.putBytes("work/evil/gen", script)
			s.put(recipe, `sources: [{type: computed_file, id: gen, on_missing: skip, generator: {command: [sh, -c, 'if [ -d "$$0" ]; then "$$0/it"; else "$$0"; fi', "${RECIPE_DIR}/bin/gen"]}}]`)
			s.recipe("wait_ms: 60000\nimport: '@a/b'\nsources: [{type: journal}]\n")
			s.say("user", "Begin.")
			s.cli("trust", s.path(recipe)).OK()
			s.wantTrust(true, "after trust")
			s.client("", `cd "$1" && `+replace, s.path("home/node_modules/@a/b"), s.work).OK()
			s.wantTrust(false, "replaced "+name)
			if report := s.Read("context/pack.report.md"); !strings.Contains(report, "not trusted: node_modules/@a/b/bin/gen ") {
				t.Errorf("the report does not say why:\n%s", report)
			}
		})
	}
}

// Commands of one user that trust and revoke at once take no row from each other.
func TestTrustsAtOnceAreAllKept(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	for _, when := range []struct{ flag, want string }{{"", "12\n"}, {"--revoke", "0\n"}} {
		if got := s.client("", `cd "$1" && for i in $(seq 12); do
			mkdir -p packages/p$i; echo "sources: [{type: journal}]" > packages/p$i/context.yaml
			"$2" trust $3 packages/p$i/context.yaml >/dev/null & done; wait
			cat ../../trust.jsonl 2>/dev/null | wc -l`, s.AgentHome(), harness.Binary(t), when.flag).OK(); got != when.want {
			t.Errorf("trust %s, twelve at once: %s rows", when.flag, strings.TrimSpace(got))
		}
	}
}

// A recipe that somebody else owns: root wrote it, or left it.
func TestAForeignRecipesGeneratorNeedsTrust(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, dev)
	const yaml = `wait_ms: 60000
sources: [{type: computed_file, id: gen, on_missing: skip, generator: {command: [sh, -c, "echo run >> runs; echo made by gen"]}}, {type: journal}]`
	if err := os.WriteFile(s.path("home/context.yaml"), []byte(yaml), 0o644); err != nil { // as root
		t.Fatal(err)
	}
	s.say("user", "Begin.")
	s.wantTrust(false, "before trust")
	s.cli("trust", s.path("home/context.yaml")).OK()
	s.wantTrust(true, "after trust")
}

// Trust is the owner's own: another user's trust, or a row that another user's file holds, is none.
func TestOnesTrustIsNotAnothers(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s, o := newStage(t, m, dev), newStage(t, m, other)
	s.put("home/base.yaml", `sources: [{type: computed_file, id: gen, on_missing: skip, generator: {command: [sh, -c, "echo run >> runs; echo made by gen"]}}]`)
	s.recipe("wait_ms: 60000\nimport: ./base.yaml\nsources: [{type: journal}]\n")
	s.say("user", "Begin.")
	if r := o.cli("trust", s.path("home/base.yaml")); r.Code == 0 {
		t.Errorf("another user trusts a file that is closed to them: %s", r.Stdout)
	}
	s.wantTrust(false, "after another's trust")
	if r := o.client("", `cat "$1"; echo '{}' >> "$1"; rm -f "$1"`, filepath.Join(m.Dir, "home/1234/trust.jsonl")); !strings.Contains(r.Stderr, "denied") {
		t.Errorf("another user and trust.jsonl: %+v", r)
	}
	// A link instead of the file leads nowhere.
	s.client("", `ln -sf "$1" "$2"`, filepath.Join(publicTemp(t), "t"), filepath.Join(m.Dir, "home/1234/trust.jsonl"))
	s.wantTrust(false, "with a link for trust.jsonl")
}

// In a shared space others may write the recipe: its generators run as the session's owner only with that user's trust.
func TestASharedSpacesGeneratorRunsOnlyAfterTrust(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	m.CLI(t, "space", "new", "crew", "--group", fmt.Sprint(team), "--store", m.Store).OK()
	member := func(uid uint32, text, script string) harness.Result {
		return m.Run(t, harness.Client{UID: uid, GIDs: []uint32{uid, team}, Stdin: strings.NewReader(text), Argv: []string{"bash", "-c", "umask 022; " + script}})
	}
	work := publicTemp(t)
	if err := os.Chown(work, dev, dev); err != nil {
		t.Fatal(err)
	}
	const dir = "shared/crew/agent/coder/session/s1"
	recipe := func(word string) string {
		return `wait_ms: 60000
sources: [{type: computed_file, id: gen, on_missing: skip, generator: {command: [sh, -c, "id -u > ` + work + `/ran; echo made by gen ` + word + `"]}}, {type: journal}]` + "\n"
	}
	member(dev, "", "mkdir -p "+dir+` && cd `+dir+` && echo '{"role":"user","content":"from dev"}' >> messages.jsonl && echo `+work+` > cwd`).OK()
	ran := func() bool {
		t.Helper()
		for range 3 {
			if md := member(other, "", "cat "+dir+"/context/pack.md").OK(); !strings.Contains(md, "from dev") {
				t.Errorf("the pack is\n%s", md)
			}
		}
		_, err := os.Stat(filepath.Join(work, "ran"))
		os.Remove(filepath.Join(work, "ran"))
		return err == nil
	}
	const file = "shared/crew/agent/coder/context.yaml"
	trust := func(uid uint32, name string) harness.Result {
		return member(uid, "", harness.Binary(t)+" trust "+filepath.Join(m.Dir, name))
	}
	member(dev, recipe("one"), "cat > "+file).OK()
	if ran() {
		t.Error("the owner's own recipe in a space ran without trust")
	}
	trust(dev, file).OK()
	trust(dev, dir+"/cwd").OK()
	member(dev, "", "echo '"+strings.TrimSpace(harness.Message("assistant", "Yes."))+"' >> "+dir+"/messages.jsonl").OK()
	if !ran() {
		t.Errorf("the trusted recipe did not run:\n%s", member(dev, "", "cat "+dir+"/context/pack.report.md").OK())
	}
	member(other, recipe("two"), "cat > "+file).OK()
	if ran() {
		t.Error("a member's edit ran as the owner without new trust")
	}
	trust(other, file).OK() // their own
	if ran() {
		t.Error("a member's trust let it run as the owner")
	}
	// The cwd is the group's to write as well.
	trust(dev, file).OK()
	elsewhere := publicTemp(t)
	member(other, "", "echo "+elsewhere+" > "+dir+"/cwd").OK()
	if ran() {
		t.Error("it ran in a directory that a member chose")
	}
}

// What an untrusted package brings must not run by way of the owner's own generators either.
func TestAnUntrustedPackageCannotTurnTheOwnersGenerators(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for name, c := range map[string]struct{ pkg, own string }{
		"by PATH":          {"env: {PATH: '$HOME_IN_MOUNT/node_modules/evil/bin:/usr/bin:/bin'}\n", ""},
		"by BASH_ENV":      {"env: {BASH_ENV: '$HOME_IN_MOUNT/node_modules/evil/bin/cat'}\n", ""},
		"by a variable":    {"env: {TOOL: '$HOME_IN_MOUNT/node_modules/evil/bin/cat'}\n", "['${TOOL}', f.md]"},
		"by the same id":   {"sources: [{type: computed_file, id: gen, generator: {command: ['$HOME_IN_MOUNT/node_modules/evil/bin/cat', f.md]}}]\n", "tuned"},
		"by a cache":       {"sources: [{type: computed_file, id: gen, generator: {command: ['$HOME_IN_MOUNT/node_modules/evil/bin/cat', f.md]}, cache: {strategy: never}}]\n", "tuned"},
		"by a fallback":    {"sources: [{type: file, id: x, path: absent.md, fallback: [{type: computed_file, generator: {command: ['$HOME_IN_MOUNT/node_modules/evil/bin/cat', f.md]}}], on_missing: skip}]\n", ""},
		"by a pipeline":    {"sources: [{type: pipeline, id: x, on_missing: skip, stages: [{generator: ['$HOME_IN_MOUNT/node_modules/evil/bin/cat', f.md]}]}]\n", ""},
		"by a summarizer":  {"summarizer: {command: ['$HOME_IN_MOUNT/node_modules/evil/bin/cat']}\n", ""},
		"by RECIPE_DIR":    {"sources: [{type: computed_file, id: x, on_missing: skip, generator: {command: ['${RECIPE_DIR}/bin/cat']}}]\n", ""},
		"by another entry": {"import: ./deep.yaml\n", ""},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, m, owner())
			s.putBytes("home/node_modules/evil/bin/cat", "#!/bin/bash\necho run >> "+s.work+"/runs\n/bin/cat \"$@\"\n")
			s.put("home/node_modules/evil/context.yaml", c.pkg)
			s.put("home/node_modules/evil/deep.yaml", "sources: [{type: computed_file, id: x, on_missing: skip, generator: {command: ['${RECIPE_DIR}/bin/cat', f.md]}}]\n")
			s.put("work/f.md", "The file.\n")
			source := "{type: computed_file, id: gen, on_missing: skip, generator: {command: " + cmp.Or(c.own, "[bash, -c, 'cat f.md']") + "}}"
			if c.own == "tuned" { // what the package says, with a smaller part
				source = "{id: gen, on_missing: skip, max_tokens: 60}"
			}
			s.recipe("import: evil\nwait_ms: 10000\nsources:\n  - " + source + "\n  - {type: journal}\n")
			s.say("user", "Begin.")
			b := s.pack()
			s.say("assistant", "Yes.")
			s.pack()
			if n := s.lines("work/runs"); n > 0 {
				t.Errorf("the package's program ran %d times:\n%s\n%s", n, b.md, s.Read("context/pack.report.md"))
			}
		})
	}
}
