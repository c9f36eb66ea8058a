package container

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// step is a command of the document and what it prints.
type step struct {
	line   int
	script string
	output string
}

// steps reads the commands of a Markdown document: fenced blocks marked sh
// that are followed at once by one marked text (its output), or that stand
// alone (then they must print nothing). Blocks for which host is true are left
// out.
func steps(doc string, host func(script string) bool) (all []step) {
	lines := strings.Split(doc, "\n")
	for i := 0; i < len(lines); i++ {
		kind, ok := strings.CutPrefix(lines[i], "```")
		if !ok {
			continue
		}
		begin := i + 1
		for i++; i < len(lines) && lines[i] != "```"; i++ {
		}
		body := strings.Join(lines[begin:i], "\n") + "\n"
		switch {
		case kind == "sh" && !host(body):
			all = append(all, step{line: begin, script: body})
		case kind == "text" && len(all) > 0 && lines[begin-2] == "```":
			all[len(all)-1].output = body
		}
	}
	return all
}

// docs/containers.md tells the truth: each of its commands prints what stands
// below it, in containers of a real runtime, as root and as another user.
func TestContainersDocument(t *testing.T) {
	r := newRuntime(t)
	m := harness.Start(t, harness.Options{})
	b, err := os.ReadFile(filepath.Join(harness.Root(), "docs", "containers.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := steps(string(b), func(script string) bool {
		return strings.Contains(script, "ctxfs mount ") // the harness has started a daemon
	})
	if len(all) < 7 {
		t.Fatalf("only %d commands found in the document", len(all))
	}
	// Variables that a block sets hold for the later ones.
	prologue := ""
	for _, s := range all {
		got, err := r.bash(m, prologue+s.script)
		if got != s.output {
			t.Errorf("docs/containers.md:%d: %v\n%s\nprints\n%s\nwant\n%s", s.line, err, s.script, got, s.output)
		}
		for _, line := range strings.Split(s.script, "\n") {
			if strings.HasPrefix(line, "as1234=") {
				prologue += line + "\n"
			}
		}
		if t.Failed() {
			return
		}
	}
}
