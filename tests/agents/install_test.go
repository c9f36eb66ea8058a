package agents

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What install wrote goes without a trace: the bytes of before, and no file more.
func TestRemoveGivesTheSettingsBack(t *testing.T) {
	for _, p := range []program{claude, codex, gemini, opencode} {
		t.Run(p.name, func(t *testing.T) {
			w := newWorld(t)
			p.set(w)
			w.mount()
			before := w.tree()
			w.run("ctxfs", "install", "--dry-run", p.name)
			if after := w.tree(); !maps.Equal(after, before) {
				t.Errorf("--dry-run changed %v", after)
			}
			w.run("ctxfs", "install", p.name)
			connected := w.tree()
			if again := w.run("ctxfs", "install", p.name); !strings.Contains(again, "nothing to do") || !maps.Equal(w.tree(), connected) {
				t.Errorf("a second install: %s", again)
			}
			for _, name := range p.places {
				wants(t, connected[name], "ctxfs")
			}
			w.run("ctxfs", "install", p.name, "--remove")
			after := w.tree()
			for name, text := range before {
				if after[name] != text {
					t.Errorf("%s was\n%sand is\n%s", name, text, after[name])
				}
			}
			for name := range after {
				if _, was := before[name]; !was {
					t.Errorf("%s is left", name)
				}
			}
		})
	}
}

// A program that has changed its settings meanwhile keeps them: only what is ctxfs' goes.
func TestRemoveLeavesWhatAProgramHasSet(t *testing.T) {
	for _, c := range []struct {
		program
		add []string
	}{
		{claude, []string{"claude", "mcp", "add", "--scope", "user", "other", "--", "cat"}},
		{codex, []string{"codex", "mcp", "add", "other", "--", "cat"}},
		{gemini, []string{"gemini", "mcp", "add", "--scope", "user", "other", "cat"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.set(w)
			w.mount()
			w.run("ctxfs", "install", c.name)
			w.run(c.add...)
			w.run(c.first("Say ok.")...)
			w.recorded(c.name, "Say ok.")
			w.run("ctxfs", "install", c.name, "--remove")
			found := ""
			for _, name := range c.places {
				if b, err := os.ReadFile(filepath.Join(w.home, name)); err == nil {
					lacks(t, string(b), "ctxfs hook", "ctxfs mcp", `"ctxfs"`, "mcp_servers.ctxfs")
					found += string(b)
				}
			}
			wants(t, found, "other")
			w.api.Requests()
			w.run(c.first(question)...)
			lacks(t, w.asked(question).Said(), "Your memory is files in")
		})
	}
}

// tree returns the files of the user's home by their paths, but for what is mounted and what ctxfs keeps for itself.
func (w *world) tree() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.home, func(name string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.home, name)
		switch {
		case rel == "ctx" || rel == ".local/share/ctxfs" || rel == ".local/state/ctxfs" || rel == ".cache":
			return fs.SkipDir
		case err != nil || e.IsDir():
			return err
		case e.Type().IsRegular():
			b, err := os.ReadFile(name)
			all[rel] = string(b)
			return err
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}
