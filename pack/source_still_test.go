package pack

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// A look that goes the way of the one before it must find whatever a look at everything would find.
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
		"a record":                       func(d *desk) { d.append(message("user", "more")) },
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
			d.append(message("user", "one, deeper, more, linked"))
			first := d.pack()
			for !d.b.still(context.Background(), d.x, d.b.entry(d.x.ID()).last) {
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
