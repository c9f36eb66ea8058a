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

// arrows is which rooms a room may import. A new room gets its line here.
var arrows = map[string][]string{
	// A cluster of hosts. Nothing of it is imported by what a single host needs but the verbs of a cluster.
	"cluster/engine":                 {}, // keeps bytes: what entries mean, the journal above knows
	"cluster/engine/enginetest":      {"cluster/engine"},
	"cluster/engine/fake":            {"cluster/engine"},
	"cluster/journal":                {"cluster/engine"}, // bytes alone
	"cluster/bulk":                   {"cluster/engine", "cluster/journal", "session", "session/archive", "session/arrival", "session/blob", "session/disk", "session/log", "ctxabi", "internal/lru", "internal/vfs"},
	"cluster/names":                  {"cluster/engine", "cluster/journal", "ctxabi"},
	"cluster/names/keeper":           {"cluster/engine", "cluster/journal", "cluster/names", "ctxabi", "internal/beneath", "internal/vfs", "session", "session/disk"},
	"cluster/nats":                   {"cluster/engine"},
	"cluster/member":                 {"cluster/engine", "cluster/nats"}, // the files of one machine
	"cluster/keep":                   {"cluster/engine", "cluster/nats", "cluster/member"},
	"cluster/embed":                  {"cluster/nats", "cluster/member"}, // a module of its own: the server
	"cluster/embed/cmd/ctxfs-server": {"cluster/embed", "cluster/member"},
	"cluster/peers":                  {"cluster/engine", "cluster/journal", "session/arrival"}, // what hosts ask each other
	"cluster/replica":                {"cluster/engine", "cluster/journal", "session", "session/log", "session/arrival", "session/disk", "ctxabi", "internal/vfs"},
	"cluster/host":                   {"cluster/engine", "cluster/journal", "cluster/peers", "cluster/replica", "session", "session/log", "session/arrival", "session/disk", "ctxabi"},

	"ctxabi":                       {},
	"internal/tokens":              {"ctxabi"},
	"session":                      {"ctxabi", "internal/handles", "internal/memory", "session/archive", "session/blob", "session/disk", "session/log", "internal/vfs"},
	"session/sessiontest":          {"session", "session/arrival", "ctxabi", "internal/memory", "internal/vfs"},
	"compress":                     {"internal/tokens", "ctxabi"},
	"pack/recipe":                  {"ctxabi"},
	"pack/nativetest":              {},
	"pack":                         {"internal/redact", "pack/recipe", "compress", "internal/tokens", "ctxabi", "compress/result", "compress/notes", "session/check", "pack/recall", "pack/blocks", "pack/native", "pack/journal", "pack/finds", "pack/record"},
	"internal/eval/exam":           {"internal/eval", "internal/tokens"},
	"internal/eval":                {"pack", "pack/recipe", "session", "compress", "internal/tokens", "ctxabi", "compress/notes", "pack/record"},
	"internal/search":              {"internal/redact", "compress", "session", "session/disk", "ctxabi", "internal/lru", "internal/memory", "session/check", "internal/search/excerpt", "internal/search/segment", "internal/search/document"},
	"internal/search/excerpt":      {"compress", "ctxabi"},
	"internal/search/segment":      {"ctxabi", "compress"}, // compress in its tests
	"internal/search/document":     {"compress", "session", "ctxabi", "internal/search/excerpt"},
	"internal/lru":                 {},
	"internal/coder":               {},
	"internal/inspect":             {"pack", "session", "internal/tokens", "ctxabi", "pack/record", "pack/build", "pack/native"},
	"gc":                           {"ctxabi"}, // session and pack through interfaces of its own
	"fs/mountpoint":                {"internal/mounts"},
	"fs":                           {"fs/mountpoint", "pack", "session", "internal/search", "gc", "ctxabi", "internal/beneath", "internal/mounts", "internal/handles", "internal/memory", "gc/world", "internal/lru", "session/check", "pack/build", "pack/project", "pack/swap", "pack/native"},
	"internal/adapter":             {"ctxabi"},
	"internal/adapter/bodies":      {"internal/adapter", "ctxabi"}, // what OpenAI's and Anthropic's messages have in common
	"internal/adapter/openai":      {"internal/adapter/bodies", "internal/adapter", "ctxabi"},
	"internal/adapter/anthropic":   {"internal/adapter/bodies", "internal/adapter", "ctxabi"},
	"internal/adapter/codex":       {"internal/adapter", "ctxabi"},
	"internal/adapter/responses":   {"internal/adapter/codex", "internal/adapter/bodies", "internal/adapter", "ctxabi"},
	"internal/adapter/claude":      {"internal/adapter", "ctxabi"},
	"internal/adapter/openhands":   {"internal/adapter", "ctxabi"},
	"internal/adapter/sweagent":    {"internal/adapter", "ctxabi"},
	"internal/adapter/atif":        {"internal/adapter", "ctxabi"},
	"internal/adapter/native":      {"internal/adapter", "ctxabi"},
	"internal/adapter/pi":          {"internal/adapter", "ctxabi"},
	"internal/adapter/aider":       {"internal/adapter"},
	"internal/adapter/langchain":   {"internal/adapter/bodies", "internal/adapter", "ctxabi"},
	"internal/adapter/opencode":    {"internal/adapter", "ctxabi"},
	"internal/adapter/gemini":      {"internal/adapter", "internal/adapter/bodies", "ctxabi"},
	"internal/adapter/formats":     {"internal/adapter", "internal/adapter/aider", "internal/adapter/anthropic", "internal/adapter/atif", "internal/adapter/claude", "internal/adapter/codex", "internal/adapter/gemini", "internal/adapter/langchain", "internal/adapter/native", "internal/adapter/opencode", "internal/adapter/openai", "internal/adapter/openhands", "internal/adapter/pi", "internal/adapter/responses", "internal/adapter/sweagent", "ctxabi"},
	"internal/adapter/adaptertest": {"internal/adapter/formats", "internal/adapter", "ctxabi"},
	"internal/transcript":          {"internal/adapter", "internal/adapter/claude", "internal/adapter/formats", "internal/redact", "internal/mounts", "session", "ctxabi", "internal/usage"}, // what import and export do
	"internal/redact":              {},                                                                                                                                                       // texts alone, as compress: what packs and searches show is redacted where they read it, as a whole
	"internal/redact/redacttest":   {},
	"internal/mcp":                 {"internal/mcp/memory", "internal/brief", "ctxabi"}, // a client of the mount, like any other
	"internal/mcp/memory":          {},
	"internal/volume":              {"ctxabi"},
	"internal/usage":               {},
	"internal/trust":               {"pack/source", "internal/locate", "ctxabi"},
	"internal/hook":                {"internal/adapter", "internal/adapter/formats", "internal/transcript", "internal/locate", "internal/mcp", "internal/mounts", "ctxabi", "internal/daemon", "internal/brief", "internal/hook/jobs"},
	"internal/install":             {},
	"internal/brief":               {"internal/mounts", "ctxabi"},
	"internal/hook/jobs":           {},
	"internal/doctor":              {"session", "internal/daemon", "internal/locate", "internal/mounts", "internal/handles", "internal/volume"},
	"internal/daemon":              {"session", "internal/mounts"},
	"internal/locate":              {"session", "internal/daemon", "internal/mounts", "internal/usage", "ctxabi"},
	"internal/handles":             {},
	"internal/beneath":             {"internal/handles"},
	"internal/memory":              {"ctxabi"},
	"internal/mounts":              {"ctxabi"},
	"internal/runner":              {"ctxabi", "internal/beneath", "pack/source"},
	"internal/overview":            {"internal/inspect", "internal/mounts", "ctxabi"},
	"internal/top":                 {"internal/overview", "internal/inspect", "internal/mounts", "ctxabi"},
	"internal/web":                 {"internal/overview", "internal/inspect", "pack/native", "gc", "ctxabi"}, // a client of the mount; what it compiles, cmd/ctxfs hands to it
	"cmd/ctxfs":                    {"cluster/keep", "cluster/member", "cluster/nats", "internal/web", "internal/top", "internal/overview", "fs", "pack/recipe", "session", "session/arrival", "gc", "internal/search", "internal/eval", "internal/eval/exam", "internal/inspect", "internal/adapter", "internal/adapter/formats", "internal/transcript", "internal/redact", "internal/mcp", "internal/mcp/memory", "internal/volume", "internal/tokens", "ctxabi", "internal/runner", "internal/mounts", "internal/memory", "gc/world", "session/check", "pack/build", "pack/source", "pack/native", "pack/blocks", "internal/usage", "internal/daemon", "internal/locate", "internal/doctor", "internal/hook", "internal/install", "internal/trust"},
	"examples/clients/go":          {},
	"examples/gen":                 {},
	"compress/result":              {"compress", "internal/tokens", "ctxabi"},
	"compress/toolcall":            {"internal/coder", "compress", "ctxabi"},
	"compress/ledger":              {"internal/coder", "compress/toolcall", "compress", "ctxabi"},
	"compress/acts":                {"internal/coder", "compress/toolcall", "compress/notes", "compress", "ctxabi"},
	"compress/verdicts":            {"internal/coder", "compress/toolcall", "compress/notes", "compress/result", "compress", "ctxabi"},
	"compress/notes":               {"internal/coder", "compress/toolcall", "compress", "internal/tokens", "ctxabi"},
	"internal/suite":               {},
	"gc/world":                     {"session/check", "gc", "pack", "session", "internal/search", "ctxabi", "internal/beneath", "internal/handles", "pack/build"},
	"session/arrival":              {"internal/vfs"},
	"session/archive":              {"ctxabi", "session/disk", "internal/vfs", "internal/lru"},
	"session/blob":                 {"ctxabi", "session/disk", "internal/vfs", "internal/handles"},
	"session/check":                {"ctxabi", "session", "session/archive", "session/arrival", "session/blob", "session/disk", "session/log", "internal/vfs"},
	"session/log":                  {"ctxabi", "session/archive", "session/arrival", "session/disk", "internal/vfs", "internal/handles", "internal/memory"},
	"session/disk":                 {"ctxabi", "internal/vfs"},
	"internal/vfs":                 {"ctxabi", "internal/handles"},
	"pack/project":                 {"compress"},
	"pack/packtest":                {"session", "ctxabi"},
	"pack/finds":                   {"pack/record", "ctxabi", "compress/notes"},
	"pack/journal":                 {"internal/coder", "pack/finds", "compress/acts", "compress/toolcall", "compress/ledger", "compress/verdicts", "pack/record", "pack/recipe", "compress", "internal/tokens", "ctxabi", "compress/notes", "compress/result"},
	"pack/native":                  {"pack/record", "internal/tokens", "ctxabi"},
	"pack/blocks":                  {"pack/native", "pack/record", "pack/recipe", "compress", "ctxabi", "compress/notes", "internal/lru"},
	"pack/recall":                  {"compress/toolcall", "pack/blocks", "pack/journal", "pack/record", "compress", "internal/tokens", "ctxabi", "compress/notes"},
	"pack/record":                  {"compress", "ctxabi", "compress/notes", "compress/result"},
	"pack/source":                  {"pack", "pack/blocks", "pack/journal", "pack/finds", "pack/record", "pack/recipe", "internal/redact", "compress", "session", "internal/tokens", "ctxabi", "internal/beneath", "internal/handles", "internal/memory", "compress/notes"},
	"pack/swap":                    {"pack/source", "pack", "pack/journal", "pack/finds", "pack/record", "compress", "session", "ctxabi"},
	"pack/build":                   {"pack/project", "pack/source", "pack/swap", "pack", "pack/blocks", "pack/native", "pack/journal", "pack/finds", "pack/record", "pack/recipe", "internal/redact", "compress", "session", "internal/tokens", "ctxabi", "internal/memory", "compress/notes", "session/check", "internal/lru", "pack/recall"},
}

// testArrows are what a room's test files may import beside that.
var testArrows = map[string][]string{
	"ctxabi":               {"internal/tokens"},                                    // weights are measured against exact counts
	"cluster/bulk":         {"cluster/engine/fake", "session/check", "pack/build"}, // two stores hold the same, packs and all
	"examples/gen":         {"ctxabi"},                                             // the example's records pass the check
	"session/blob":         {"session"},                                            // a session is what keeps them
	"session":              {"session/check", "session/arrival"},                   // each test ends with a check of its store
	"session/log":          {"session", "session/check"},                           // a store is what its logs are tested in
	"fs":                   {"pack/source"},
	"pack":                 {"session"}, // the example of a history in memory
	"cluster/host":         {"cluster/engine/fake", "session/check", "internal/vfs"},
	"cluster/replica":      {"cluster/engine/fake"},
	"cluster/names/keeper": {"session/check"}, // what is materialised is a store without damage
}

// Test files may also use these, which exist for them.
var testHelpers = []string{"session/sessiontest", "pack/nativetest", "pack/packtest", "internal/redact/redacttest", "tests/harness", "internal/adapter/adaptertest", "internal/suite", "cluster/engine/enginetest", "cluster/engine/fake"}

// outside reports whether a room stands outside of the program, as its users do, and may
// know all of it.
func outside(room string) bool { return room == "tests" || strings.HasPrefix(room, "tests/") }

// violations returns what is wrong with one source file, by its path below the
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
	knowsErrno := room == "fs" || room == "fs/mountpoint" || room == "internal/beneath" // the latter two hand on what the kernel says
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

// source is a Go file by its path below the repository's root.
type source struct {
	name string
	src  []byte
}

// sources returns all Go files of the repository.
func sources(t *testing.T) (all []source) {
	t.Helper()
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
		all = append(all, source{name, src})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 500 {
		t.Fatalf("only %d Go files were found", len(all))
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
		{"pack/build.go", imports(`"` + module + `/session"`), "pack must not import session"},
		{"fs/mount.go", imports(`"`+fuse+`/fs"`) + "import \"syscall\"\nvar _ = syscall.EPERM", ""},
		{"ctxabi/weight_test.go", imports(`"` + module + `/internal/tokens"`), ""},
		{"tests/posix/posix_test.go", imports(`"` + fuse + `/posixtest"`), ""},
		{"internal/vfs/os.go", imports(`"golang.org/x/sys/unix"`) + "var _ = unix.EPOLLIN + unix.O_CLOEXEC", ""},
		{"session/x.go", "package x\ntype t struct{ EPERM int }\nvar syscall t\nvar _ = syscall.EPERM", ""},

		{"session/log.go", imports(`"` + module + `/pack"`), "session must not import pack"},
		{"session/log_test.go", imports(`"` + module + `/pack"`), "session must not import pack"},
		{"pack/build/at.go", imports(`"` + module + `/session/sessiontest"`), "pack/build must not import session/sessiontest"},
		{"pack/build.go", imports(`"` + module + `/fs"`), "pack must not import fs"},
		{"ctxabi/x.go", imports(`t "` + module + `/internal/tokens"`), "ctxabi must not import internal/tokens"},
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
var pure = []string{"pack", "pack/blocks", "pack/finds", "pack/journal", "pack/native", "pack/recall", "pack/record"}

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
		for _, d := range deps(t, room) {
			if inner, ok := strings.CutPrefix(d, module+"/"); ok && (inner == "session" || strings.HasPrefix(inner, "session/") || strings.HasPrefix(inner, "internal/") && !slices.Contains([]string{"internal/tokens", "internal/redact", "internal/lru", "internal/coder"}, inner) || inner == "pack/source" || inner == "pack/build") {
				t.Errorf("%s depends on %s", room, inner)
			}
		}
	}
}

// deps returns all packages that a room needs, itself among them.
func deps(t *testing.T, room string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "../"+room).CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	list := strings.Fields(string(out))
	if !slices.Contains(list, module+"/"+room) {
		t.Fatalf("go list does not list the package itself:\n%s", out)
	}
	return list
}

// Collecting garbage needs no mount: it does not even link go-fuse.
func TestTheCollectorKnowsNoMount(t *testing.T) {
	for _, room := range []string{"gc", "gc/world"} {
		for _, d := range deps(t, room) {
			if d == module+"/fs" || strings.HasPrefix(d, fuse) {
				t.Errorf("%s depends on %s", room, d)
			}
		}
	}
}

// Counting tokens is offline: it does not even link a network.
func TestTokensKnowNoNetwork(t *testing.T) {
	for _, d := range deps(t, "internal/tokens") {
		if d == "net" || strings.HasPrefix(d, "net/") {
			t.Errorf("internal/tokens depends on %s", d)
		}
	}
}
