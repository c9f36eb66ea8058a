// Package adapter runs ctxfs import and ctxfs export, as built, against real
// mounts: every sample of every format, transcripts that grow, are torn,
// large or cut short by a kill, and every format written as every other.
package adapter

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/agents/adapter/formats"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// sample is a file of agents/adapter/formats/testdata.
type sample struct {
	format, file string
	hostile      bool
}

func (s sample) name() string { return s.format + "/" + filepath.Base(s.file) }

// session is what the session is called that the sample becomes.
func (s sample) session() string {
	return strings.NewReplacer("/", "-", ".", "-").Replace(s.name())
}

func samples(t *testing.T) (all []sample) {
	dir := filepath.Join(harness.Root(), "agents/adapter/formats/testdata")
	for _, f := range formats.Formats() {
		entries, err := os.ReadDir(filepath.Join(dir, f.Name))
		if err != nil {
			t.Errorf("%s has no samples: %v", f.Name, err)
			continue
		}
		for _, e := range entries {
			if e.Type().IsRegular() {
				all = append(all, sample{f.Name, filepath.Join(dir, f.Name, e.Name()), strings.HasPrefix(e.Name(), "hostile-")})
			}
		}
	}
	return all
}

// some returns all samples in the matrix, else the first n of each format that are hostile and the first n that are not.
// The tests of agents/adapter/formats read all of them without a mount.
func some(t *testing.T, n int) (list []sample) {
	t.Helper()
	n = suite.Pick(t, n, math.MaxInt)
	seen := map[sample]int{}
	for _, s := range samples(t) {
		kind := sample{format: s.format, hostile: s.hostile}
		if seen[kind]++; seen[kind] <= n {
			list = append(list, s)
		}
	}
	return list
}

// place is a session of the tester in a mount, which need not exist.
type place struct {
	m    *harness.Mount
	path string
}

func at(m *harness.Mount, agent, name string) place {
	return place{m, filepath.Join(m.Dir, fmt.Sprintf("home/%d/agent/%s/session/%s", harness.Self(), agent, name))}
}

func (p place) read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.path, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (p place) lines(t *testing.T, name string) int { return strings.Count(p.read(t, name), "\n") }

func (p place) export(t *testing.T, format string) (data, said string) {
	t.Helper()
	r := p.m.CLI(t, "export", "--format", format, p.path)
	return r.OK(), r.Stderr
}

const nothingNew = "added nothing new"

// Every sample becomes a session that can be used at once, and comes out as it went in.
func TestEverySample(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	for _, s := range some(t, 2) {
		t.Run(s.name(), func(t *testing.T) { testSample(t, m, s) })
	}
}

func testSample(t *testing.T, m *harness.Mount, s sample) {
	data, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	p := at(m, "samples", s.session())
	args := []string{"import", s.file, p.path}
	if s.hostile {
		args = []string{"import", "--format", s.format, s.file, p.path}
	}
	r := m.CLI(t, args...)
	if _, err := os.Stat(p.path); err != nil {
		if r.Code != 1 || !strings.Contains(r.Stderr, "nothing was imported") {
			t.Fatalf("no session, exit %d: %s", r.Code, r.Stderr)
		}
		if !s.hostile && strings.Count(string(data), "\n") > 1 {
			t.Fatal("nothing of it was imported")
		}
		return
	}
	r.OK()
	if !s.hostile && (strings.Contains(r.Stderr, "loss") || !strings.Contains(r.Stderr, ": "+s.format+" (detected")) {
		t.Errorf("import says: %s", r.Stderr)
	}
	if strings.TrimSpace(r.Stdout) != p.path {
		t.Errorf("it prints %q, not the session's directory", r.Stdout)
	}
	if rows := p.read(t, "context/errors.jsonl"); rows != "" {
		t.Errorf("the session refused something: %s", rows)
	}
	usable(t, p)
	again := m.CLI(t, args...)
	if again.OK(); !strings.Contains(again.Stderr, nothingNew) {
		t.Errorf("imported again it says: %s", again.Stderr)
	}
	if f, _ := formats.Lookup(s.format); f.Export == nil {
		return
	}
	out, said := p.export(t, s.format)
	if s.hostile && strings.Contains(r.Stderr+said, "loss") {
		return
	}
	if diff := adaptertest.CanonicalEqual(data, []byte(out)); diff != "" {
		t.Errorf("the export is another transcript: %s", diff)
	}
}

// What pack.responses.json holds can be had as a session again, also what Codex thought and a freeform call.
func TestAPackForResponsesIsReadBack(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	from, to := at(m, "packs", "from"), at(m, "packs", "to")
	m.CLI(t, "import", filepath.Join(harness.Root(), "agents/adapter/formats/testdata/codex/rollout-2025-11-20T09-00-00-cart.jsonl"), from.path).OK()
	file := filepath.Join(t.TempDir(), "pack.responses.json")
	if err := os.WriteFile(file, []byte(from.read(t, "context/pack.responses.json")), 0o666); err != nil {
		t.Fatal(err)
	}
	r := m.CLI(t, "import", file, to.path)
	if r.OK(); strings.Contains(r.Stderr, "loss") || !strings.Contains(r.Stderr, ": responses (detected") {
		t.Errorf("import says: %s", r.Stderr)
	}
	usable(t, to)
	messages := to.read(t, "messages.jsonl")
	for _, want := range []string{"Why does the cart show 0?", `"name":"apply_patch"`, "*** Begin Patch", "The loop added nothing; it does now.", "Success. Updated"} {
		if !strings.Contains(messages, want) {
			t.Errorf("the session does not have %q:\n%s", want, messages)
		}
	}
}

// usable reads what an agent reads.
func usable(t *testing.T, p place) {
	t.Helper()
	var pack struct {
		Tokens int
		Budget int `json:"budget_tokens"`
	}
	if err := json.Unmarshal([]byte(p.read(t, "context/pack.json")), &pack); err != nil {
		t.Fatal(err)
	}
	if pack.Budget == 0 || pack.Tokens > pack.Budget {
		t.Errorf("the pack has %d tokens of %d", pack.Tokens, pack.Budget)
	}
	messages := p.lines(t, "messages.jsonl")
	if text := p.read(t, "context/pack.md"); messages > 0 && !strings.Contains(text, "# Context Block: conversation") {
		t.Errorf("no conversation in the pack of %d messages:\n%s", messages, text)
	}
	for _, of := range []string{"openai", "anthropic", "responses", "gemini", "genai"} {
		if body := p.read(t, "context/pack."+of+".json"); !json.Valid([]byte(body)) {
			t.Errorf("pack.%s.json is not JSON", of)
		}
	}
	if messages > 0 {
		p.read(t, fmt.Sprintf("context/at/%d/pack.md", (messages+1)/2))
		p.read(t, fmt.Sprintf("context/line/%d.txt", messages))
	}
	children, err := os.ReadDir(filepath.Join(p.path, "context/child"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range children {
		child := at(p.m, "samples", strings.TrimSpace(p.read(t, "context/child/"+c.Name()+"/session")))
		if child.read(t, "messages.jsonl")+child.read(t, "events.jsonl") == "" {
			t.Errorf("child %s is empty", c.Name())
		}
		if got := p.read(t, "context/child/"+c.Name()+"/result.md"); got != child.read(t, "latest.md") {
			t.Errorf("the result of child %s is %q", c.Name(), got)
		}
	}
}

// What root imports for a user is the user's, and no other user sees it or can import there.
func TestTwoUsers(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	file := filepath.Join(t.TempDir(), "s.jsonl")
	data, err := os.ReadFile(filepath.Join(harness.Root(), "agents/adapter/formats/testdata/native/with-children.jsonl"))
	if err == nil {
		err = os.WriteFile(file, data, 0o644)
	}
	if err == nil {
		err = os.Chmod(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.Chmod(filepath.Dir(filepath.Dir(file)), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.CLI(t, "import", file, m.Dir+"/home/1000/agent/coder/session/s1").OK()
	run := func(uid uint32, script string) harness.Result {
		return m.Run(t, harness.Client{UID: uid, Argv: []string{"sh", "-c", script}, Env: []string{"PATH=" + filepath.Dir(harness.Binary(t)) + ":/usr/bin:/bin"}})
	}
	own := run(1000, `cd $CTX/home/1000/agent/coder/session/s1 && stat -c %u . messages.jsonl context/child/review/agent ../s1-review/messages.jsonl && echo '{"role":"user","content":"mine"}' >> messages.jsonl && ctxfs import --quiet `+file+` .`)
	if got := strings.Fields(own.OK()); !slices.Equal(got[:4], []string{"1000", "1000", "1000", "1000"}) {
		t.Errorf("owners: %v", got)
	}
	if r := run(1001, "ctxfs import "+file+" $CTX/home/1000/agent/coder/session/s1; ctxfs import "+file+" $CTX/home/1000/agent/coder/session/s2; ctxfs export --format native $CTX/home/1000/agent/coder/session/s1"); r.Code == 0 || r.Stdout != "" {
		t.Errorf("another user: exit %d, %s", r.Code, r.Stdout)
	}
	run(1001, "ctxfs import "+file+" $CTX/home/1001/agent/coder/session/s1").OK()
	if b, err := os.ReadFile(m.Dir + "/home/1000/agent/coder/session/s1/messages.jsonl"); err != nil || strings.Count(string(b), "\n") != 5 {
		t.Errorf("%v: %s", err, b)
	}
}
