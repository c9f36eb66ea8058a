package builder

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/packtest"
)

func TestNothingNewIsSaidOnlyWhenNothingIs(t *testing.T) {
	const recipe = "sources:\n  - {type: system_role}\n  - {type: pinned}\n  - {type: knowledge}\n  - {type: file, path: \"${CWD}/DELTA.md\", on_missing: skip}\n" +
		"  - {type: file, path: \"${AGENT_HOME}/notes/a.md\", on_missing: skip}\n  - {type: journal}\n  - {type: todo}\n"
	for name, change := range map[string]func(d *desk){
		"a file of a directory":          func(d *desk) { d.write("../../knowledge/a.md", "The other one.\n") },
		"a file more in a directory":     func(d *desk) { d.write("../../knowledge/b.md", "One more.\n") },
		"a file in a directory below":    func(d *desk) { d.write("../../knowledge/deep/er/c.md", "Deeper.\n") },
		"a file less":                    func(d *desk) { os.Remove(d.x.Dir() + "/../../knowledge/a.md") },
		"a file that was not there":      func(d *desk) { d.write("context/todo.md", "- [ ] more\n") },
		"a directory that was not there": func(d *desk) { d.write("../../notes/a.md", "Notes.\n") },
		"a pin":                          func(d *desk) { d.write("context/pinned/p.md", "Pin.\n") },
		"the recipe":                     func(d *desk) { d.write("../../context.yaml", "sources: [{type: journal}]\n") },
		"a recipe of the session":        func(d *desk) { d.write("context/context.yaml", "sources: [{type: journal}]\n") },
		"the budget":                     func(d *desk) { d.write("context/budget", "9000\n") },
		"a record":                       func(d *desk) { d.append(packtest.Message("user", "more")) },
		"the workspace":                  func(d *desk) { d.b.config.Workspace.(*workspace).files["/work/DELTA.md"] = "Changed.\n" },
		"a link instead of a file": func(d *desk) {
			d.write("../../other.md", "Linked.\n")
			file := filepath.Join(d.x.Dir(), "../../knowledge/a.md")
			os.Remove(file)
			os.Symlink("../other.md", file)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &workspace{files: map[string]string{"/work/DELTA.md": "Guide.\n"}}
			d := newDesk(t, Config{Budget: 8000, Workspace: w})
			d.write("cwd", "/work\n")
			d.write("../../context.yaml", recipe)
			d.write("../../knowledge/a.md", "The one.\n")
			d.append(packtest.Message("user", "one, deeper, more, linked"))
			first := d.pack()
			for !isSettled(d) {
				if d.pack() != first {
					t.Fatal("another build of the same files")
				}
			}
			change(d)
			if d.pack() == first {
				t.Error("the change is not seen")
			}
		})
	}
}

// The pack is that of a builder that sees the files for the first time, whichever files were
// changed, moved, and removed together.
func TestChangedFilesAreFoundAmongThoseThatAreNot(t *testing.T) {
	const dirs, files = 3, 4
	name := func(dir, file int) string { return fmt.Sprintf("../../knowledge/d%d/f%d.md", dir, file) }
	d := newDesk(t, Config{Budget: 64000})
	d.write("../../context.yaml", "sources: [{type: knowledge, top: 100}, {type: pinned}, {type: journal}]\n")
	for dir := range dirs {
		for file := range files {
			d.write(name(dir, file), fmt.Sprintf("word first %d %d\n", dir, file))
		}
	}
	d.append(packtest.Message("user", "word"))
	path := func(dir int) string { return filepath.Join(d.x.Dir(), filepath.Dir(name(dir, 0))) }
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 30 {
		for d.pack(); !isSettled(d); d.pack() {
		}
		var edits []string
		for n := range 1 + random.IntN(3) {
			dir, file, edit := random.IntN(dirs), random.IntN(files), random.IntN(4)
			edits = append(edits, fmt.Sprint(edit, dir, file))
			switch edit {
			case 0:
				os.Remove(filepath.Join(d.x.Dir(), name(dir, file)))
			case 1: // two directories change their places
				os.Rename(path(dir), path(dir)+"x")
				os.Rename(path((dir+1)%dirs), path(dir))
				os.Rename(path(dir)+"x", path((dir+1)%dirs))
			default:
				d.write(name(dir, file), strings.Repeat(fmt.Sprintf("word edit %d %d\n", round, n), 1+n))
			}
		}
		got := string(d.pack().Markdown)
		d.b.Drop(d.x)
		if want := string(d.pack().Markdown); got != want {
			t.Fatalf("after %q:\n%s\nis not what a first look gives:\n%s", edits, got, want)
		}
	}
}
