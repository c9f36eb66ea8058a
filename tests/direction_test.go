package tests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Calls inside a package run mostly one way: its doc.go lists the files from top to bottom, and of the
// arrows between them at most maxUp percent go up.
//
// An arrow is a pair of files, the first of which uses a function or a method that the second declares,
// once or a hundred times. Calls and function values count alike. A call through an interface does not
// count, because it names no body; types, variables, constants and fields do not count, because a type
// that all files share stands in one of them wherever its methods are.
const (
	maxUp    = 15
	listedBy = 6 // a package of that many files lists them; a smaller one may
	docFile  = "doc.go"
)

// listedPackage is a package as go list describes it.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	room                    string // its path below the repository's root; "" if it lies elsewhere
}

// listPackages returns the packages of the module and all that they import, with their export data.
func listPackages(t *testing.T) (all []*listedPackage) {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = "..", &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(listedPackage)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if room, ok := strings.CutPrefix(p.ImportPath, module+"/"); ok {
			p.room = room
		}
		all = append(all, p)
	}
}

// exports returns an importer that reads the export data of packages.
func exports(fset *token.FileSet, packages []*listedPackage) types.Importer {
	where := map[string]string{}
	for _, p := range packages {
		where[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if where[path] == "" {
			return nil, fmt.Errorf("go list knows no export data of %s", path)
		}
		return os.Open(where[path])
	})
}

// callPairs returns the arrows between files, by their base names, with one of the uses that make each.
func callPairs(fset *token.FileSet, files []*ast.File, imp types.Importer) (map[[2]string]string, error) {
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: imp}).Check("p", fset, files, info); err != nil {
		return nil, err
	}
	base := func(n ast.Node) string { return filepath.Base(fset.Position(n.Pos()).Filename) }
	declared := map[types.Object]string{}
	for _, file := range files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				declared[info.Defs[f.Name]] = base(f)
			}
		}
	}
	pairs := map[[2]string]string{}
	for id, obj := range info.Uses {
		f, ok := obj.(*types.Func)
		if !ok {
			continue
		}
		if to, ok := declared[f.Origin()]; ok && to != base(id) {
			p := fset.Position(id.Pos())
			use := fmt.Sprintf("%s:%d uses %s", filepath.Base(p.Filename), p.Line, id.Name)
			if pair := [2]string{base(id), to}; pairs[pair] == "" || use < pairs[pair] {
				pairs[pair] = use
			}
		}
	}
	return pairs, nil
}

// listTitle begins the list of files in a package comment, as a heading or as a line of text.
var listTitle = regexp.MustCompile(`^(# Files(, from top to bottom)?|Files, from top to bottom:)$`)

// fileList returns the names in a package comment's list of files, in its order; nil if it has none. Names stand
// at the beginning of an indented line, one or several; other lines up to the next heading are captions.
func fileList(doc string) (names []string) {
	inside := false
	for line := range strings.Lines(doc) {
		line = strings.TrimRight(line, "\n")
		if listTitle.MatchString(line) {
			inside = true
		} else if strings.HasPrefix(line, "# ") {
			inside = false
		}
		if !inside || !strings.HasPrefix(line, "\t") {
			continue
		}
		for _, field := range strings.Fields(line) {
			if !strings.HasSuffix(field, ".go") {
				break
			}
			names = append(names, field)
		}
	}
	return names
}

// misnamed returns what is wrong with a list of the files of a package: it names each but doc.go once.
func misnamed(list, files []string) (wrong []string) {
	for i, name := range list {
		if slices.Contains(list[:i], name) {
			wrong = append(wrong, name+" is listed twice")
		} else if !slices.Contains(files, name) {
			wrong = append(wrong, name+" is listed and is no file of the package")
		}
	}
	for _, name := range files {
		if name != docFile && !slices.Contains(list, name) {
			wrong = append(wrong, name+" is not listed")
		}
	}
	return wrong
}

// goingUp returns those of the arrows that go from a file to one that the list has above it, in order.
func goingUp(list []string, pairs map[[2]string]string) (up []string) {
	for pair, use := range pairs {
		if slices.Index(list, pair[0]) > slices.Index(list, pair[1]) {
			up = append(up, fmt.Sprintf("%s → %s: %s", pair[0], pair[1], use))
		}
	}
	slices.Sort(up)
	return up
}

func TestCallsRunDown(t *testing.T) {
	packages := listPackages(t)
	fset := token.NewFileSet()
	imp := exports(fset, packages)
	for _, p := range packages {
		if p.room == "" || outside(p.room) || strings.HasPrefix(p.room, "examples/") {
			continue
		}
		files, list := readPackage(t, fset, p)
		if list == nil && len(p.GoFiles) < listedBy {
			continue
		}
		if wrong := misnamed(list, p.GoFiles); wrong != nil {
			t.Errorf("%s/doc.go, Files, from top to bottom: %s", p.room, strings.Join(wrong, ", "))
			continue
		}
		pairs, err := callPairs(fset, files, imp)
		if err != nil {
			t.Errorf("%s: %v", p.room, err)
			continue
		}
		up := goingUp(list, pairs)
		t.Logf("%s: %d of %d arrows go up", p.room, len(up), len(pairs))
		if len(p.GoFiles) >= listedBy && 100*len(up) > maxUp*len(pairs) {
			t.Errorf("%s: %d of %d arrows go up, and at most %d %% may:\n%s", p.room, len(up), len(pairs), maxUp, strings.Join(up, "\n"))
		}
	}
}

// readPackage parses the files of a package, and returns the list in its doc.go, too.
func readPackage(t *testing.T, fset *token.FileSet, p *listedPackage) (files []*ast.File, list []string) {
	t.Helper()
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		if name == docFile {
			list = fileList(file.Doc.Text())
		}
	}
	return files, list
}

// The checker itself must be able to fail.
func TestCallPairs(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	for name, src := range map[string]string{
		"a.go": "package p\ntype T struct{ n int }\ntype do interface{ run() }\nfunc A(d do) { d.run(); d.run(); T{}.m(); _ = c }",
		"b.go": "package p\nfunc (t T) m() { c(t.n); c(t.n); g[int](); A := func() {}; A() }",
		"c.go": "package p\nfunc c(int) {}\nvar table = []any{A}\nfunc g[V any]() { (*h[V])(nil).run() }\ntype h[V any] struct{}",
		"d.go": "package p\nfunc (*h[V]) run() { var t T; t.m() }",
	} {
		file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	pairs, err := callPairs(fset, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for p := range pairs {
		got = append(got, p[0][:1]+p[1][:1])
	}
	slices.Sort(got)
	if want := []string{"ab", "ac", "bc", "ca", "cd", "db"}; !slices.Equal(got, want) {
		t.Errorf("the arrows are %v, want %v", got, want)
	}
	if got, want := goingUp([]string{"a.go", "b.go", "c.go", "d.go"}, pairs), []string{"c.go → a.go: c.go:3 uses A", "d.go → b.go: d.go:2 uses m"}; !slices.Equal(got, want) {
		t.Errorf("%q go up, want %q", got, want)
	}
	if _, err := callPairs(fset, files[:1], nil); err == nil {
		t.Error("a package that does not compile has arrows")
	}
}

func TestFileList(t *testing.T) {
	const doc = "Package p has parts.\n\n\tx.go is not listed here\n\n# Files, from top to bottom\n\nThe verbs:\n\n\ta.go  first,\n\t      and more than x.go\n\tb.go  second\n\nThe rest:\n\n\tc.go d.go  unlike x.go\n\te.go\n\n# More\n\n\tx.go no\n"
	list := fileList(doc)
	if want := []string{"a.go", "b.go", "c.go", "d.go", "e.go"}; !slices.Equal(list, want) {
		t.Errorf("the list is %q, want %q", list, want)
	}
	for _, title := range []string{"Files, from top to bottom:", "# Files", "# Files\n\nFrom callers to callees:"} {
		if got := fileList("Package p.\n\n" + title + "\n\n\ta.go  first\n"); !slices.Equal(got, []string{"a.go"}) {
			t.Errorf("%q: the list is %q", title, got)
		}
	}
	if got := fileList("Package p has a.go.\n\n\ta.go\n"); got != nil {
		t.Errorf("a comment without a list has %q", got)
	}
	if got := misnamed(list, []string{"e.go", "d.go", "c.go", "b.go", "a.go", "doc.go"}); got != nil {
		t.Errorf("a whole list is wrong: %q", got)
	}
	if got, want := misnamed([]string{"a.go", "a.go", "x.go"}, []string{"a.go", "b.go", "doc.go"}), []string{"a.go is listed twice", "x.go is listed and is no file of the package", "b.go is not listed"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
