package builder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/pack/packtest"
)

// Whatever is done to the files of a home, one after the other and within one tick of the disk's clock: who looked before sees what
// somebody sees who looks for the first time.
func TestWhoLookedBeforeSeesWhatAFirstLookSees(t *testing.T) {
	const recipe = `
sources:
  - {type: system_role}
  - {type: tools}
  - {type: skills}
  - {type: pinned}
  - {type: memory, top: 20}
  - {type: knowledge, top: 20}
  - {type: file, id: near, path: "${AGENT_HOME}/notes/near.md", on_missing: skip, fallback: [{type: file, path: "${AGENT_HOME}/memory/a.md"}]}
  - {type: file, id: linked, path: "${AGENT_HOME}/knowledge/deep/b.md", on_missing: skip}
  - {type: handoff}
  - {type: journal}
  - {type: file, id: gate, path: "${AGENT_HOME}/system_prompt.md", phase: dynamic, on_missing: skip, condition: {when: file_exists, path: "${AGENT_HOME}/notes/gate"}}
  - {type: todo}
`
	dirs := []string{"../../memory", "../../knowledge", "../../knowledge/deep", "../../notes", "../../skills", "../../skills/a.md", "context/pinned"}
	files := []string{"../../system_prompt.md", "../../tools.json", "context/handoff.md", "context/todo.md", "../../notes/gate", "../../notes/near.md", "../../skills/a.md/SKILL.md"}
	for _, dir := range dirs {
		for _, name := range []string{"a.md", "b.md"} {
			files = append(files, dir+"/"+name)
		}
	}
	config := Config{Budget: 20000}
	d := newDesk(t, config)
	d.append(packtest.Message("user", "The token refresh of the ledger."))
	d.write("../../context.yaml", recipe)
	rapid.Check(t, func(rt *rapid.T) {
		for _, name := range append(files, dirs...) {
			os.RemoveAll(filepath.Join(d.x.Dir(), name))
		}
		d.builder(config)
		at := func(name string) string { return filepath.Join(d.x.Dir(), name) }
		any := func(of []string, what string) string { return rapid.SampledFrom(of).Draw(rt, what) }
		for step := range rapid.IntRange(1, 15).Draw(rt, "steps") {
			// What cannot be done, as a directory stands in the way, changes nothing, and that is a case, too.
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0, 1, 2:
				file := at(any(files, "file"))
				os.MkdirAll(filepath.Dir(file), 0o700)
				os.WriteFile(file, fmt.Appendf(nil, "The token of the ledger, mark %d.\n", rapid.IntRange(0, 9).Draw(rt, "mark")), 0o600)
			case 3:
				os.WriteFile(at(any(files, "file")), []byte(any([]string{"", "\x00", "---\nactive: true\n---\nThe ledger.\n", `[{"name":"x"}]`}, "text")), 0o600)
			case 4:
				os.Remove(at(any(files, "file")))
			case 5:
				os.RemoveAll(at(any(dirs, "directory")))
			case 6:
				os.Rename(at(any(dirs, "directory")), at(any(dirs, "to")))
			case 7:
				os.Rename(at(any(files, "file")), at(any(files, "to")))
			case 8:
				os.Symlink(any([]string{"a.md", "..", "../memory", "../memory/a.md", "../nowhere", "/etc/hostname"}, "target"), at(any(append(files, dirs...), "link")))
			case 9:
				for range 100 { // until the signs of what was written tell
					d.b.Current(context.Background(), d.x)
				}
			}
			b, err := NewBuilder(config)
			if err != nil {
				rt.Fatal(err)
			}
			warm, warmErr := d.b.Current(context.Background(), d.x)
			first, firstErr := b.Current(context.Background(), d.x)
			if warmErr != nil || firstErr != nil {
				if fmt.Sprint(warmErr) != fmt.Sprint(firstErr) {
					rt.Fatalf("step %d: %v and %v", step, warmErr, firstErr)
				}
				continue
			}
			same(rt, warm, first)
			if rt.Failed() {
				rt.Fatalf("step %d", step)
			}
		}
	})
}
