package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A session that one program began goes on in the other: its model is sent what was said.
func TestASessionIsHandedOver(t *testing.T) {
	for _, c := range []struct{ from, to program }{{claude, codex}, {codex, claude}, {claude, claude}} {
		t.Run(c.from.name+" to "+c.to.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(filepath.Join(w.dir, "README.md"), "# App\n")
			codex.set(w)
			w.mount()
			w.run("ctxfs", "install", c.from.name)
			w.run(c.from.first(told + " [[play work]]")...)
			session := c.from.name + "/" + w.recorded(c.from.name, "The command failed with 3.")

			before := w.kept(c.to)
			dry := w.try("ctxfs", "export", "--to", c.to.name, "--dry-run", session)
			if after := w.kept(c.to); dry.code != 0 || len(after) != len(before) {
				t.Errorf("--dry-run: %+v, %q", dry, after)
			}
			lines := strings.Split(strings.TrimSpace(w.run("ctxfs", "export", "--to", c.to.name, session)), "\n")
			if len(lines) != 3 || lines[1] != "Resume it in "+w.dir+":" {
				t.Fatalf("it prints %q", lines)
			}
			if fi, err := os.Stat(lines[0]); err != nil || fi.Mode() != 0o600 || len(w.kept(c.to)) != len(before)+1 {
				t.Errorf("%s: %v", lines[0], err)
			}

			w.api.Requests()
			resume := map[string][]string{codex.name: {codexAlone, codexFree, question}, claude.name: {"--dangerously-skip-permissions", "-p", question}}[c.to.name]
			w.run(append(strings.Fields(lines[2]), resume...)...)
			said := w.asked(question).Said()
			wants(t, said, told, "README.md", "The command failed with 3.")
			if !strings.Contains(w.read(lines[0]), question) {
				t.Errorf("the conversation did not go on in %s", lines[0])
			}
			for _, file := range before {
				if strings.Contains(w.read(file), question) {
					t.Errorf("the conversation went on in %s", file)
				}
			}
		})
	}
}

// kept returns the transcripts of a program.
func (w *world) kept(p program) []string {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.home, p.kept))
	if err != nil {
		w.t.Fatal(err)
	}
	return files
}
