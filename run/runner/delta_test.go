package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/source"
)

// In all the ways to run a command, it finds its journal where Delta Engine has it, and nothing of anybody else is touched.
func TestARunFindsItsJournalInDelta(t *testing.T) {
	const journal = "/ctx/home/7/agent/coder/session/s1/context/journal.jsonl"
	const another = "/ctx/home/7/agent/tester/session/s1/context/journal.jsonl"
	for _, c := range []struct {
		name, before string // what makes the workspace
		make         bool
		want         string // what show says of it when the command runs
		note         string // in its standard error
	}{
		{"nothing is there", "", false, "", ""},
		{"an output lies there", "", true, "LATEST s1\ns1/journal.jsonl -> " + journal, ""},
		{"a directory is there", "mkdir .delta", false, "LATEST s1\ns1/journal.jsonl -> " + journal, ""},
		{"a file is there", "touch .delta", false, "", ""},
		{"a file is there, an output should", "touch .delta", true, "", "not a directory"},
		{"it was there before", "mkdir -p .delta/s1; echo s1 > .delta/LATEST; ln -s " + journal + " .delta/s1/journal.jsonl", false, "LATEST s1\ns1/journal.jsonl -> " + journal, ""},
		{"that of another agent was there", "mkdir -p .delta/s1; ln -s " + another + " .delta/s1/journal.jsonl", false, "LATEST s1\ns1/journal.jsonl -> " + journal, ""},
		{"that of another session was there", "mkdir -p .delta/s0; echo s0 > .delta/LATEST; ln -s /ctx/home/7/agent/a/session/s0/context/journal.jsonl .delta/s0/journal.jsonl", false,
			"LATEST s1\ns0/journal.jsonl -> /ctx/home/7/agent/a/session/s0/context/journal.jsonl\ns1/journal.jsonl -> " + journal, ""},
		{"a run of an engine is there", "mkdir -p .delta/run7; echo run7 > .delta/LATEST; echo x > .delta/run7/journal.jsonl", true,
			"LATEST run7\nrun7/journal.jsonl x\ns1/journal.jsonl -> " + journal, ""},
		{"the latest is gone", "mkdir -p .delta; echo run7 > .delta/LATEST", true, "LATEST run7\ns1/journal.jsonl -> " + journal, ""},
		{"the latest is a path", "mkdir -p .delta/s0; echo s0/../s0 > .delta/LATEST; ln -s /s0/context/journal.jsonl .delta/s0/journal.jsonl", false,
			"LATEST s0/../s0\ns0/journal.jsonl -> /s0/context/journal.jsonl\ns1/journal.jsonl -> " + journal, ""},
		{"a file is where its journal should be", "mkdir -p .delta/s1; echo x > .delta/s1/journal.jsonl", true, "LATEST s1\ns1/journal.jsonl x", "does not belong to a session; it stays"},
		{"a link of somebody is", "mkdir -p .delta/s1; ln -s /etc/passwd .delta/s1/journal.jsonl", true, "LATEST s1\ns1/journal.jsonl -> /etc/passwd", "does not belong to a session; it stays"},
		{"a link is where the run should be", "mkdir -p .delta elsewhere; ln -s ../elsewhere .delta/s1", true, "s1 -> ../elsewhere", "could not be put in place"},
		{"the latest is a link", "mkdir -p .delta; echo mine > target; ln -s ../target .delta/LATEST", true, "LATEST -> ../target\ns1/journal.jsonl -> " + journal, ""},
		{"the latest is a FIFO", "mkdir -p .delta; mkfifo .delta/LATEST", true, "LATEST\ns1/journal.jsonl -> " + journal, ""},
		{"it is a link", "mkdir elsewhere; ln -s elsewhere .delta", false, "", ""},
		{"it is closed", "mkdir -p .delta; chmod 500 .delta", false, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, m := range modes(t) {
				if m.uid == 0 && c.name == "it is closed" {
					continue
				}
				work := t.TempDir()
				for dir := work; dir != os.TempDir(); dir = filepath.Dir(dir) {
					if err := os.Chmod(dir, 0o755); err != nil {
						t.Fatal(err)
					}
				}
				before := exec.Command("sh", "-c", c.before)
				before.Dir = work
				if out, err := before.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				if err := filepath.WalkDir(work, func(p string, _ os.DirEntry, err error) error {
					if err == nil {
						err = os.Lchown(p, m.uid, m.uid)
					}
					return err
				}); err != nil {
					t.Fatal(err)
				}
				const show = `test -L .delta || cd .delta 2> /dev/null || exit 0; test -L .delta && exit 0
					for f in LATEST */journal.jsonl s1; do if test -L "$f"; then echo "$f -> $(readlink "$f")"; elif test -f "$f"; then echo "$f $(cat "$f")"; elif test -p "$f"; then echo "$f"; fi; done`
				o := m.run(t, source.Command{Args: []string{"sh", "-c", show}, Env: []string{searchPath}, Dir: work, Delta: &source.Delta{Run: "s1", Journal: journal, Make: c.make}})
				if got := strings.TrimSpace(string(o.Data)); got != c.want || o.Failed != "" || (o.Stderr != "") != (c.note != "") || !strings.Contains(o.Stderr, c.note) {
					t.Errorf("%s: there is\n%s, want\n%s\n%q %q", m.name, got, c.want, o.Failed, o.Stderr)
				}
				if left, err := os.ReadDir(filepath.Join(work, "elsewhere")); len(left) > 0 {
					t.Errorf("%s: elsewhere has %v, %v", m.name, left, err)
				}
				if litter, _ := filepath.Glob(filepath.Join(work, ".delta/.*")); len(litter) > 0 {
					t.Errorf("%s: it left %v", m.name, litter)
				}
			}
		})
	}
}
