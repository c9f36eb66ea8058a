// Package tests looks at the project as a whole.
package tests

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const module = "github.com/ctxfs/ctxfs"

// arrows says which rooms a room may import. A new room gets its line here.
var arrows = map[string][]string{
	"ctxabi":              {},
	"tokens":              {"ctxabi"},
	"session":             {"ctxabi", "internal/handles", "internal/memory"},
	"session/sessiontest": {"session", "ctxabi"},
	"compress":            {"tokens", "ctxabi"},
	"pack/recipe":         {"ctxabi"},
	"pack/nativetest":     {},
	"pack/packtest":       {"session", "ctxabi"},
	"pack/journal":        {"pack/record", "pack/recipe", "compress", "tokens", "ctxabi"},
	"pack/native":         {"pack/record", "tokens", "ctxabi"},
	"pack/blocks":         {"pack/native", "pack/record", "pack/recipe", "compress", "ctxabi"},
	"pack/recall":         {"pack/blocks", "pack/journal", "pack/record", "compress", "tokens", "ctxabi"},
	"pack/record":         {"compress", "ctxabi"},
	"pack/source":         {"pack", "pack/blocks", "pack/journal", "pack/record", "pack/recipe", "redact", "compress", "session", "tokens", "ctxabi", "internal/beneath", "internal/handles", "internal/memory"},
	"pack/swap":           {"pack/source", "pack", "pack/journal", "pack/record", "compress", "session", "ctxabi"},
	"pack/build":          {"pack/source", "pack/swap", "pack", "pack/blocks", "pack/native", "pack/journal", "pack/record", "pack/recipe", "redact", "compress", "session", "tokens", "ctxabi", "internal/memory"},
	"pack":                {"pack/recall", "pack/blocks", "pack/native", "pack/journal", "pack/record", "pack/recipe", "redact", "compress", "tokens", "ctxabi"},
	"eval":                {"pack/record", "pack", "pack/recipe", "session", "compress", "tokens", "ctxabi"},
	"search":              {"redact", "compress", "session", "ctxabi", "internal/memory"},
	"inspect":             {"pack/record", "pack", "pack/build", "session", "tokens", "ctxabi"},
	"gc":                  {"ctxabi"}, // session and pack through interfaces of its own
	"fs":                  {"pack", "pack/build", "pack/swap", "pack/native", "session", "search", "gc", "ctxabi", "internal/beneath", "internal/mounts", "internal/handles", "internal/memory"},
	"adapter":             {"ctxabi"},
	"adapter/adaptertest": {"adapter", "ctxabi"},
	"redact":              {}, // texts alone, as compress: what packs and searches show is redacted where they read it, as a whole
	"redact/redacttest":   {},
	"mcp":                 {"mcp/memory", "ctxabi"}, // a client of the mount, like any other
	"mcp/memory":          {},
	"volume":              {"ctxabi"},
	"internal/handles":    {},
	"internal/beneath":    {"internal/handles"},
	"internal/memory":     {"ctxabi"},
	"internal/mounts":     {},
	"internal/runner":     {"pack/source", "ctxabi", "internal/beneath"},
	"cmd/ctxfs":           {"fs", "pack", "pack/build", "pack/source", "pack/native", "pack/blocks", "pack/recipe", "session", "gc", "search", "eval", "inspect", "adapter", "redact", "mcp", "mcp/memory", "volume", "tokens", "ctxabi", "internal/runner", "internal/mounts", "internal/handles", "internal/memory"},
	"examples/clients/go": {},
	"examples/gen":        {},
}

// testArrows are what a room's test files may import beside that.
var testArrows = map[string][]string{
	"ctxabi":       {"tokens"}, // weights are measured against exact counts
	"fs":           {"pack/source"},
	"pack":         {"session"}, // the example of a history in memory
	"examples/gen": {"ctxabi"},  // the example's records pass the check
}

// Test files may also use these, which exist for them.
var testHelpers = []string{"session/sessiontest", "pack/nativetest", "pack/packtest", "redact/redacttest", "tests/harness", "adapter/adaptertest"}

// outside says that a room stands outside of the program, as its users do, and may
// know all of it.
func outside(room string) bool { return room == "tests" || strings.HasPrefix(room, "tests/") }

// violations gives what is wrong with one source file, by its path below the
// repository's root.
func violations(name, src string) (found []string) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	room := path.Dir(name)
	if outside(room) {
		return nil
	}
	bad := func(pos token.Pos, format string, args ...any) {
		p := fset.Position(pos)
		found = append(found, fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...)))
	}
	knowsErrno := room == "fs" || room == "internal/beneath" // the latter hands on what the kernel says
	allowed, known := arrows[room]
	if !known {
		bad(file.Package, "%s is a room that the table of arrows does not know", room)
	}
	if strings.HasSuffix(name, "_test.go") {
		allowed = slices.Concat(allowed, testArrows[room], testHelpers)
	}
	systems := map[string]bool{} // the names under which this file knows errno constants
	for _, imp := range file.Imports {
		target, _ := strconv.Unquote(imp.Path.Value)
		if inner, ok := strings.CutPrefix(target, module+"/"); ok && inner != room && !slices.Contains(allowed, inner) {
			bad(imp.Pos(), "%s must not import %s", room, inner)
		}
		if (target == fuse || strings.HasPrefix(target, fuse+"/")) && room != "fs" {
			bad(imp.Pos(), "only fs imports go-fuse")
		}
		if target == "syscall" || target == "golang.org/x/sys/unix" {
			local := path.Base(target)
			if imp.Name != nil {
				local = imp.Name.Name
			}
			systems[local] = true
			if local == "." {
				bad(imp.Pos(), "a dot import hides where errno values come from")
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := sel.X.(*ast.Ident); ok && systems[pkg.Name] && errnos[sel.Sel.Name] && !knowsErrno {
			bad(sel.Pos(), "%s.%s: only fs knows errno values", pkg.Name, sel.Sel.Name)
		}
		return true
	})
	return found
}

const fuse = "github.com/hanwen/go-fuse/v2"

// errnos are the names of all errno constants, and of their type.
var errnos = func() map[string]bool {
	m := map[string]bool{"Errno": true, "EWOULDBLOCK": true, "ENOTSUP": true, "EDEADLOCK": true} // aliases have no number of their own
	for i := range 200 {
		if name := unix.ErrnoName(syscall.Errno(i)); name != "" {
			m[name] = true
		}
	}
	return m
}()

func TestImportsFollowTheArrows(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != ".." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "node_modules", "vendor"}, d.Name()) || slices.Contains([]string{"../bin", "../man"}, p)) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") {
			return nil
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		name, err := filepath.Rel("..", p)
		if err != nil {
			return err
		}
		seen[path.Dir(name)] = true
		for _, v := range violations(name, string(src)) {
			t.Error(v)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for room := range arrows {
		if !seen[room] {
			t.Errorf("the table of arrows has a room %s that does not exist", room)
		}
	}
}

// The arrows form no circle, so that there is a first room to read.
func TestArrowsFormNoCircle(t *testing.T) {
	var visit func(room string, from []string)
	visit = func(room string, from []string) {
		if slices.Contains(from, room) {
			t.Fatalf("%s → %s", strings.Join(from, " → "), room)
		}
		for _, next := range arrows[room] {
			visit(next, append(slices.Clone(from), room))
		}
	}
	for room := range arrows {
		visit(room, nil)
	}
}

// The checker itself must be able to fail.
func TestViolationsAreFound(t *testing.T) {
	imports := func(paths ...string) string {
		src := "package x\n"
		for _, p := range paths {
			src += "import " + p + "\n"
		}
		return src
	}
	for _, c := range []struct{ name, src, want string }{
		{"pack/build/builder.go", imports(`"` + module + `/session"`), ""},
		{"pack/build/at_test.go", imports(`"`+module+`/session/sessiontest"`, `"`+module+`/pack"`), ""},
		{"fs/mount.go", imports(`"`+fuse+`/fs"`) + "import \"syscall\"\nvar _ = syscall.EPERM", ""},
		{"ctxabi/weight_test.go", imports(`"` + module + `/tokens"`), ""},
		{"tests/posix/posix_test.go", imports(`"` + fuse + `/posixtest"`), ""},
		{"session/vfs.go", imports(`"golang.org/x/sys/unix"`) + "var _ = unix.EPOLLIN + unix.O_CLOEXEC", ""},
		{"session/x.go", "package x\ntype t struct{ EPERM int }\nvar syscall t\nvar _ = syscall.EPERM", ""},

		{"session/log.go", imports(`"` + module + `/pack"`), "session must not import pack"},
		{"session/log_test.go", imports(`"` + module + `/pack"`), "session must not import pack"},
		{"pack/build.go", imports(`"` + module + `/session"`), "pack must not import session"},
		{"pack/build/at.go", imports(`"` + module + `/session/sessiontest"`), "pack/build must not import session/sessiontest"},
		{"pack/build.go", imports(`"` + module + `/fs"`), "pack must not import fs"},
		{"ctxabi/x.go", imports(`t "` + module + `/tokens"`), "ctxabi must not import tokens"},
		{"pack/build.go", imports(`"` + module + `/internal/runner"`), "pack must not import internal/runner"},
		{"unheard/x.go", imports(), "unheard is a room that the table"},
		{"cmd/ctxfs/x.go", imports(`f "` + fuse + `/fuse"`), "only fs imports go-fuse"},
		{"session/x.go", imports(`"syscall"`) + "var _ = syscall.ENOSPC", "syscall.ENOSPC: only fs"},
		{"session/x_test.go", imports(`"syscall"`) + "var _ = syscall.EINVAL", "syscall.EINVAL: only fs"},
		{"pack/x.go", imports(`u "golang.org/x/sys/unix"`) + "var _ = u.EWOULDBLOCK", "u.EWOULDBLOCK: only fs"},
		{"pack/x.go", imports(`"syscall"`) + "func f(e syscall.Errno) {}", "syscall.Errno: only fs"},
		{"pack/x.go", imports(`. "syscall"`), "dot import"},
		{"pack/x.go", "package", "expected 'IDENT'"},
	} {
		got := violations(c.name, c.src)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: %q\n got %q\nwant %q", c.name, c.src, got, c.want)
		}
	}
}

// pure are the packages that a pack is a pure function by: they read no file, no clock and no session.
var pure = []string{"pack", "pack/blocks", "pack/journal", "pack/native", "pack/recall", "pack/record"}

func TestPackIsPure(t *testing.T) {
	impure := []string{"os", "os/exec", "os/user", "io/fs", "net", "net/http", "syscall", "log", "log/slog", "path/filepath", "math/rand", "math/rand/v2", "crypto/rand", "golang.org/x/sys/unix"}
	for _, room := range pure {
		files, err := filepath.Glob(filepath.Join("..", room, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", room, len(files), err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, imp := range file.Imports {
				if target, _ := strconv.Unquote(imp.Path.Value); slices.Contains(impure, target) {
					t.Errorf("%s imports %s", name, target)
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "time" && (sel.Sel.Name == "Now" || sel.Sel.Name == "Since") {
						t.Errorf("%s asks the clock", name)
					}
				}
				return true
			})
		}
		out, err := exec.Command("go", "list", "-deps", "../"+room).CombinedOutput()
		if err != nil {
			t.Fatalf("go list: %v\n%s", err, out)
		}
		for _, d := range strings.Fields(string(out)) {
			if inner, ok := strings.CutPrefix(d, module+"/"); ok && (inner == "session" || strings.HasPrefix(inner, "session/") || strings.HasPrefix(inner, "internal/") || inner == "pack/source" || inner == "pack/build") {
				t.Errorf("%s depends on %s", room, inner)
			}
		}
	}
}

// A package below pack can be read in one sitting.
func TestPackagesOfPacksAreSmall(t *testing.T) {
	const mostFiles, mostLines = 30, 4000 // lines of code
	err := filepath.WalkDir("../pack", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() == "testdata" {
			return err
		}
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return err
		}
		files, lines := 0, 0
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			src, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			files++
			for line := range strings.Lines(string(src)) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
					lines++
				}
			}
		}
		if files > mostFiles || lines > mostLines {
			t.Errorf("%s has %d files of %d lines of code, the most are %d and %d", dir, files, lines, mostFiles, mostLines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Counting tokens is offline: it does not even link a network.
func TestTokensKnowNoNetwork(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../tokens").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, module+"/tokens") {
		t.Fatalf("go list does not list the package itself:\n%s", out)
	}
	for _, d := range deps {
		if d == "net" || strings.HasPrefix(d, "net/") {
			t.Errorf("tokens depends on %s", d)
		}
	}
}
