package ui

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// tree returns what stands below a directory, but for what the daemon keeps for itself: names, sizes and contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(p, "/.ctxfs/") && !strings.Contains(p, "/served/") && !strings.Contains(p, "packs") && !strings.Contains(p, "outputs") {
			return err
		}
		b, err := os.ReadFile(p)
		files[strings.TrimPrefix(p, dir)] = fmt.Sprintf("%d %x", len(b), sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Looking at every view leaves nothing behind: no row in packs.jsonl, nothing served, no run of a generator or a
// summarizer, not a byte of the session.
func TestBrowsingLeavesNothing(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := example(t, m, "s1")
	ran := filepath.Join(t.TempDir(), "ran")
	s.Write("context/context.yaml", strings.ReplaceAll(`version: 1
summarizer: {command: [sh, -c, "echo x >> RAN; echo '- It happened. (messages:1)'"]}
sources:
  - {type: pinned}
  - {type: computed_file, id: made, generator: [sh, -c, "echo x >> RAN; echo made"], on_missing: skip}
  - {type: journal}
`, "RAN", ran))
	if said := s.Run(harness.Binary(t), "recipe", "check", s.Path("context/context.yaml")).OK(); !strings.Contains(said, "no mistakes") {
		t.Fatal(said)
	}
	s.Read("context/errors.jsonl")
	before := tree(t, s.InStore())
	x := serve(t, m)
	h := map[string]string{"Cookie": x.enter(t), "Sec-Fetch-Site": "same-origin"}
	for _, path := range []string{
		"/", "/part/sessions", "/part/search?q=token", "/session/R", "/pack/R", "/time/R", "/notes/R", "/tree/R", "/part/overview/R", "/part/record/R?r=messages:20", "/part/life/R?r=messages:20", "/part/pack/R",
		"/part/pack/R?budget=20000", "/part/pack/R?format=anthropic", "/part/pack/R?format=gemini&budget=3000", "/part/calls/R", "/part/moment/R?n=100", "/part/diff/R?a=100&b=200", "/part/notes/R", "/part/family/R", "/part/plan/R",
		"/data/ribbon/R?from=1&n=300", "/data/ribbon/R?from=1&n=10&log=events", "/data/places/R",
	} {
		path = strings.ReplaceAll(path, "R", s.Ref())
		if status, text, _ := x.ask(t, "GET", path, h, ""); status != http.StatusOK {
			t.Errorf("%s: %d %.300s", path, status, text)
		} else if _, budget, ok := strings.Cut(path, "budget="); ok && !strings.Contains(text, `data-budget="`+budget+`"`) {
			t.Errorf("%s is not a pack of that budget", path)
		}
	}
	for name, was := range before {
		if now := tree(t, s.InStore())[name]; now != was {
			t.Errorf("%s was %s and is %s", name, was, now)
		}
	}
	for name := range tree(t, s.InStore()) {
		if before[name] == "" {
			t.Errorf("%s has come", name)
		}
	}
	if rows := s.Read("context/packs.jsonl"); rows != "" {
		t.Errorf("packs.jsonl has %s", rows)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a command of the recipe ran")
	}
	if status, text, _ := x.ask(t, "GET", "/part/pack/"+s.Ref(), h, ""); status != http.StatusOK || !strings.Contains(text, "made") {
		t.Errorf("the pack does not name what was not run: %d", status)
	}
	s.Read("context/pack.md")
	if _, err := os.Stat(ran); err != nil {
		t.Error("the command would not have run anyway: ", err)
	}
	if rows := s.Read("context/packs.jsonl"); strings.Count(rows, "\n") != 1 {
		t.Errorf("a read of the pack is noted as %q", rows)
	}
}

// A required command whose output is not there yet is not run by looking, and the page says so. What it made when
// somebody read the pack is shown.
func TestALookWaitsForARequiredCommand(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.Session(t, harness.Self(), "coder", "s1")
	s.Append("messages.jsonl", harness.Message("user", "hi"))
	ran := filepath.Join(t.TempDir(), "ran")
	s.Write("context/context.yaml", strings.ReplaceAll(`version: 1
sources:
  - {type: computed_file, id: made, generator: [sh, -c, "echo x >> RAN; echo the output of it"]}
  - {type: journal}
`, "RAN", ran))
	x := serve(t, m)
	h := map[string]string{"Cookie": x.enter(t), "Sec-Fetch-Site": "same-origin"}
	status, text, _ := x.ask(t, "GET", "/part/pack/"+s.Ref(), h, "")
	if _, err := os.Stat(ran); err == nil || status == http.StatusOK || !strings.Contains(text, "This prompt is not made by looking") {
		t.Errorf("%d %s", status, text)
	}
	s.Read("context/pack.md")
	if status, text, _ := x.ask(t, "GET", "/part/pack/"+s.Ref(), h, ""); status != http.StatusOK || !strings.Contains(text, "the output of it") {
		t.Errorf("after a read of the pack: %d %s", status, text)
	}
	if b, err := os.ReadFile(ran); err != nil || string(b) != "x\n" {
		t.Errorf("it ran %q, %v", b, err)
	}
}
