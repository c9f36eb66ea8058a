package ledger

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/internal/suite"
)

// names are the files that random commands work on.
var names = []string{"a", "b.txt", "c.md", "d", "d/a", "d/b.txt", "d/e", "d/e/c.md", "e", "*.txt", "d/*", "e/b.txt", "$V", "l"}

// simple draws a command without parts.
func simple(t *rapid.T) string {
	n := func() string { return rapid.SampledFrom(names).Draw(t, "name") }
	word := rapid.SampledFrom([]string{"one", "'two three'", "four\\n", "$V", "$(ls)"}).Draw(t, "word")
	return rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 27).Draw(t, "what") {
		case 0, 1:
			return "echo " + word + " > " + n()
		case 2:
			return "echo " + word + " >> " + n()
		case 3:
			return "cat > " + n() + " <<'EOF'\nx $V\ny\nEOF\n:"
		case 4, 5:
			return "rm " + n()
		case 6:
			return "rm -rf " + n() + " " + n()
		case 7, 8, 9:
			return "mv " + n() + " " + n()
		case 10, 11, 12:
			return "cp " + n() + " " + n()
		case 13:
			return "cp -r " + n() + " " + n()
		case 14:
			return "mkdir -p " + n()
		case 15:
			return "mkdir " + n()
		case 16:
			return "touch " + n()
		case 17:
			return "cd " + n()
		case 18:
			return "V=" + rapid.SampledFrom([]string{"a", "d", "q", "'a b'"}).Draw(t, "value")
		case 19:
			return "sed -i s/o/p/ " + n()
		case 20:
			return rapid.SampledFrom([]string{"true", "false", "set -e", "ls nosuch", "exit 1", "cd ..", "test -f a", "ls", "export W=1"}).Draw(t, "builtin")
		case 21:
			return "cat " + n() + " " + n() + " > " + n()
		case 22:
			return "cat " + n() + " | tee " + n()
		case 23:
			return "ln -s " + n() + " " + n()
		case 24:
			return "ln " + n() + " " + n()
		case 25:
			return "rmdir " + n()
		case 26:
			return "cat < " + n() + " > " + n()
		}
		return "truncate -s 0 " + n()
	}).Draw(t, "command")
}

// script draws a script of commands.
func script(t *rapid.T, depth int) string {
	if depth == 0 {
		return simple(t)
	}
	inner := func() string { return script(t, depth-1) }
	switch rapid.IntRange(0, 13).Draw(t, "form") {
	case 0, 1, 2:
		return inner() + " && " + inner()
	case 3:
		return inner() + " || " + inner()
	case 4, 5:
		return inner() + "; " + inner()
	case 6:
		return "( " + inner() + " )"
	case 7:
		return "{ " + inner() + "; } > " + rapid.SampledFrom([]string{"a", "e", "/dev/null"}).Draw(t, "file")
	case 8:
		return "if " + inner() + "; then " + inner() + "; else " + inner() + "; fi"
	case 9:
		return "for V in a d; do " + inner() + "; done"
	case 10:
		return inner() + " 2>/dev/null"
	case 11:
		return "! " + inner()
	case 12:
		return inner() + " | " + inner()
	}
	return inner()
}

// Of random scripts no state says anything that is false of their directory, and it says something of most
// files.
func TestRandomScriptsAgainstAShell(t *testing.T) {
	var all judged
	suite.Check(t, 60, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "w")
		if err != nil {
			rt.Fatal(err)
		}
		var steps []step
		for i := range rapid.IntRange(1, 5).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0, 1:
				steps = append(steps, write(rapid.SampledFrom([]string{"a", "b.txt", "d/a", "d/b.txt", "d/e/c.md"}).Draw(rt, "file"), fmt.Sprint("text ", i, "\n")))
			case 2:
				steps = append(steps, read(rapid.SampledFrom([]string{"a", "b.txt", "d/a"}).Draw(rt, "file")))
			case 3:
				steps = append(steps, keep(strings.ReplaceAll(script(rt, 1), "exit 1", "false")))
			default:
				steps = append(steps, sh(script(rt, rapid.IntRange(0, 2).Draw(rt, "depth"))))
			}
		}
		list := play(t, dir, steps)
		for way := range ways {
			j := judge(t, dir, told(list, way))
			for _, w := range j.wrong {
				rt.Errorf("way %d: %s", way, w)
			}
			if way == inField {
				all.files += j.files
				all.present += j.present
				all.texts += j.texts
			}
		}
		if rt.Failed() {
			for i, p := range list {
				rt.Logf("%d %v\n    exit %d: %q", 2*i+2, p.step, p.exit, p.output)
			}
		}
	})
	t.Logf("of %d files %d are known, and what stands in %d", all.files, all.present, all.texts)
	if all.files > 100 && all.present*3 < all.files {
		t.Errorf("of %d files only %d are known", all.files, all.present)
	}
}
