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

// outside reports whether a package belongs to tests/, which may import every package.
func outside(pkg string) bool { return pkg == "tests" || strings.HasPrefix(pkg, "tests/") }

// violations returns one line for each import and errno constant that a source file must not use.
// name is its path relative to the repository.
func violations(name, src string) (found []string) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	pkg := path.Dir(name)
	if outside(pkg) {
		return nil
	}
	bad := func(pos token.Pos, format string, args ...any) {
		p := fset.Position(pos)
		found = append(found, fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...)))
	}
	knowsErrno := pkg == "fs" || pkg == "fs/mountpoint" || pkg == "internal/beneath" // the latter two return errors of the kernel
	allowed, known := arrows[pkg]
	if !known {
		bad(file.Package, "the package %s has no row in tests/arrows_test.go", pkg)
	}
	if strings.HasSuffix(name, "_test.go") {
		allowed = slices.Concat(allowed, testArrows[pkg], testHelpers)
	}
	systems := map[string]bool{} // local names of packages with errno constants
	for _, imp := range file.Imports {
		target, _ := strconv.Unquote(imp.Path.Value)
		if inner, ok := strings.CutPrefix(target, module+"/"); ok && inner != pkg && !slices.Contains(allowed, inner) {
			bad(imp.Pos(), "%s must not import %s", pkg, inner)
		}
		if (target == fuse || strings.HasPrefix(target, fuse+"/")) && pkg != "fs" {
			bad(imp.Pos(), "only fs imports go-fuse")
		}
		if target == "syscall" || target == "golang.org/x/sys/unix" {
			local := path.Base(target)
			if imp.Name != nil {
				local = imp.Name.Name
			}
			systems[local] = true
			if local == "." {
				bad(imp.Pos(), "a dot import hides the origin of errno values")
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && systems[id.Name] && errnos[sel.Sel.Name] && !knowsErrno {
			bad(sel.Pos(), "%s.%s: only fs uses errno values", id.Name, sel.Sel.Name)
		}
		return true
	})
	return found
}

const fuse = "github.com/hanwen/go-fuse/v2"

// errnos has the names of all errno constants and of their type.
var errnos = func() map[string]bool {
	m := map[string]bool{"Errno": true, "EWOULDBLOCK": true, "ENOTSUP": true, "EDEADLOCK": true} // aliases, which ErrnoName does not return
	for i := range 200 {
		if name := unix.ErrnoName(syscall.Errno(i)); name != "" {
			m[name] = true
		}
	}
	return m
}()

// source is a file of the repository; its name is the path below the root.
type source struct {
	name string
	src  []byte
}

// sources returns all Go files of the repository.
func sources(t *testing.T) []source {
	t.Helper()
	all := repositoryFiles(t, ".go")
	if len(all) < 500 {
		t.Fatalf("found %d Go files, want at least 500", len(all))
	}
	return all
}

// repositoryFiles returns the files with a suffix, in the order of their paths. It skips hidden
// folders, test data, installed modules, and the build results in bin and man.
func repositoryFiles(t *testing.T, suffix string) (all []source) {
	t.Helper()
	skipped := []string{"testdata", "node_modules", "vendor"}
	results := []string{"../bin", "../man"}

	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && p != ".."
		if d.IsDir() && (hidden || slices.Contains(skipped, d.Name()) || slices.Contains(results, p)) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, suffix) {
			return nil
		}

		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		name, err := filepath.Rel("..", p)
		all = append(all, source{name, src})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestImportsFollowTheArrows(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range sources(t) {
		seen[path.Dir(f.name)] = true
		for _, v := range violations(f.name, string(f.src)) {
			t.Error(v)
		}
	}
	for pkg := range arrows {
		if !seen[pkg] {
			t.Errorf("tests/arrows_test.go: there is no package %s", pkg)
		}
	}
}

// The import table has no cycle, so there is a package to read first.
func TestArrowsHaveNoCycle(t *testing.T) {
	var visit func(pkg string, from []string)
	visit = func(pkg string, from []string) {
		if slices.Contains(from, pkg) {
			t.Fatalf("%s → %s", strings.Join(from, " → "), pkg)
		}
		for _, next := range arrows[pkg] {
			visit(next, append(slices.Clone(from), pkg))
		}
	}
	for pkg := range arrows {
		visit(pkg, nil)
	}
}

// Each rule finds a violation.
func TestViolationsAreFound(t *testing.T) {
	imports := func(paths ...string) string {
		src := "package x\n"
		for _, p := range paths {
			src += "import " + p + "\n"
		}
		return src
	}
	for _, c := range []struct{ name, src, want string }{
		{"pack/builder/builder.go", imports(`"` + module + `/session"`), ""},
		{"pack/builder/at_test.go", imports(`"`+module+`/session/sessiontest"`, `"`+module+`/pack"`), ""},
		{"pack/builder.go", imports(`"` + module + `/session"`), "pack must not import session"},
		{"fs/mount.go", imports(`"`+fuse+`/fs"`) + "import \"syscall\"\nvar _ = syscall.EPERM", ""},
		{"ctxabi/weight_test.go", imports(`"` + module + `/internal/tokens"`), ""},
		{"tests/posix/posix_test.go", imports(`"` + fuse + `/posixtest"`), ""},
		{"internal/vfs/os.go", imports(`"golang.org/x/sys/unix"`) + "var _ = unix.EPOLLIN + unix.O_CLOEXEC", ""},
		{"session/x.go", "package x\ntype t struct{ EPERM int }\nvar syscall t\nvar _ = syscall.EPERM", ""},

		{"session/log.go", imports(`"` + module + `/pack"`), "session must not import pack"},
		{"session/log_test.go", imports(`"` + module + `/pack"`), "session must not import pack"},
		{"pack/builder/at.go", imports(`"` + module + `/session/sessiontest"`), "pack/builder must not import session/sessiontest"},
		{"pack/builder.go", imports(`"` + module + `/fs"`), "pack must not import fs"},
		{"ctxabi/x.go", imports(`t "` + module + `/internal/tokens"`), "ctxabi must not import internal/tokens"},
		{"pack/builder.go", imports(`"` + module + `/run/runner"`), "pack must not import run/runner"},
		{"unheard/x.go", imports(), "the package unheard has no row"},
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

// pure are the packages that compile a pack from its inputs. They read no file, clock, or session.
var pure = []string{"pack", "pack/blocks", "pack/journal", "pack/native", "pack/recall", "pack/record"}

func TestPackIsPure(t *testing.T) {
	impure := []string{"os", "os/exec", "os/user", "io/fs", "net", "net/http", "syscall", "log", "log/slog", "path/filepath", "math/rand", "math/rand/v2", "crypto/rand", "golang.org/x/sys/unix"}
	for _, pkg := range pure {
		files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pkg, len(files), err)
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
						t.Errorf("%s reads the clock", name)
					}
				}
				return true
			})
		}
		for _, d := range deps(t, pkg) {
			inner, ok := strings.CutPrefix(d, module+"/")
			layer, _, _ := strings.Cut(inner, "/")
			outer := layer == "internal" ||
				slices.Contains([]string{"agents", "eval", "fs", "gc", "run", "search", "views"}, layer)
			pure := slices.Contains([]string{"internal/tokens", "internal/redact", "internal/lru", "internal/lazy",
				"internal/coder", "internal/picture", "internal/calls", "search/segment"}, inner)
			if ok && (layer == "session" || outer && !pure || inner == "pack/source" || inner == "pack/builder") {
				t.Errorf("%s depends on %s", pkg, inner)
			}
		}
	}
}

// The race run leaves out pack and pack/recipe, because they and their tests start no goroutine.
// The packages around them stay in it and use them from several goroutines.
func TestPackStartsNoGoroutine(t *testing.T) {
	for _, pkg := range []string{"pack", "pack/recipe"} {
		files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pkg, len(files), err)
		}

		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if _, ok := n.(*ast.GoStmt); ok {
					t.Errorf("%s starts a goroutine; add %s to the race run in dist/test.sh", name, pkg)
				}
				return true
			})
		}
	}
}

// deps returns all packages that a package depends on, including itself.
func deps(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "../"+pkg).CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	list := strings.Fields(string(out))
	if !slices.Contains(list, module+"/"+pkg) {
		t.Fatalf("go list does not list the package itself:\n%s", out)
	}
	return list
}

// The collector runs without a mount: it does not link go-fuse.
func TestCollectorNeedsNoMount(t *testing.T) {
	for _, pkg := range []string{"gc", "gc/world"} {
		for _, d := range deps(t, pkg) {
			if d == module+"/fs" || strings.HasPrefix(d, fuse) {
				t.Errorf("%s depends on %s", pkg, d)
			}
		}
	}
}

// Counting tokens needs no network: it does not link package net.
func TestTokensNeedNoNetwork(t *testing.T) {
	for _, d := range deps(t, "internal/tokens") {
		if d == "net" || strings.HasPrefix(d, "net/") {
			t.Errorf("internal/tokens depends on %s", d)
		}
	}
}
