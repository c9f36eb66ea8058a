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

// The direction check: the doc.go of a package lists its files from callers to callees, and at
// most maxUpward percent of the dependencies between the files point upward in that list. A package
// of more than maxListed files is too large for a complete list and for the check; its doc.go names
// the five files to read first.
//
// File A depends on file B if A uses a function or method that B declares, as a call or as a value.
// The number of uses does not matter. Calls through an interface do not count, because they name no
// implementation. Types, variables, constants, and fields do not count, because one file declares a
// type that all files of the package share.
const (
	maxUpward  = 15
	minListed  = 6  // files from which a package must have a list, doc.go included
	maxListed  = 12 // files up to which the list must be complete, doc.go not counted
	firstFiles = 5  // files that the doc.go of a larger package names
	docFile    = "doc.go"
)

// listedPackage is a package as go list describes it.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	folder                  string // path below the repository root; empty outside this module
}

// listPackages returns the packages of the module and all their dependencies, with export data.
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
		if folder, ok := strings.CutPrefix(p.ImportPath, module+"/"); ok {
			p.folder = folder
		}
		all = append(all, p)
	}
}

// exports returns an importer that reads the export data of packages.
func exports(fset *token.FileSet, packages []*listedPackage) types.Importer {
	files := map[string]string{}
	for _, p := range packages {
		files[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("go list returned no export data for %s", path)
		}
		return os.Open(files[path])
	})
}

// callPairs returns the dependencies between files as pairs of base names, each with one example of
// a use. It returns an error if the package does not compile.
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

// listTitle starts the complete list of files in a package comment, firstTitle the list of five.
var (
	listTitle  = regexp.MustCompile(`^(# Files(, from top to bottom)?|Files, from top to bottom:)$`)
	firstTitle = regexp.MustCompile(`^# Files to read first$`)
)

// fileList returns the file names below a title in a package comment, in order, or nil if it has
// none. An indented line starts with one name or more. Other lines up to the next heading are
// captions.
func fileList(doc string, title *regexp.Regexp) (names []string) {
	inside := false
	for line := range strings.Lines(doc) {
		line = strings.TrimRight(line, "\n")
		if title.MatchString(line) {
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

// strayNames returns an error for each name that is listed twice or is not a file of the package.
func strayNames(list, files []string) (wrong []string) {
	for i, name := range list {
		if slices.Contains(list[:i], name) {
			wrong = append(wrong, name+" is listed twice")
		} else if !slices.Contains(files, name) {
			wrong = append(wrong, name+" is not a file of the package")
		}
	}
	return wrong
}

// checkComplete returns the errors in a complete list: it names each file except doc.go once.
func checkComplete(list, files []string) []string {
	wrong := strayNames(list, files)
	for _, name := range files {
		if name != docFile && !slices.Contains(list, name) {
			wrong = append(wrong, name+" is not listed")
		}
	}
	return wrong
}

// checkFirst returns the errors in the package comment of a large package: it names five files.
func checkFirst(doc string, files []string) []string {
	list := fileList(doc, firstTitle)
	wrong := strayNames(list, files)
	if len(list) != firstFiles {
		wrong = append(wrong, fmt.Sprintf("%d files below \"# Files to read first\", want %d", len(list), firstFiles))
	}
	return wrong
}

// upwardCalls returns the dependencies of a file on one above it in the list, sorted.
func upwardCalls(list []string, pairs map[[2]string]string) (up []string) {
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
		if p.folder == "" || outside(p.folder) || strings.HasPrefix(p.folder, "examples/") {
			continue
		}
		files, doc := readPackage(t, fset, p)
		if p.size() > maxListed {
			if wrong := checkFirst(doc, p.GoFiles); wrong != nil {
				t.Errorf("%s/doc.go: %s", p.folder, strings.Join(wrong, ", "))
			}
			continue
		}

		list := fileList(doc, listTitle)
		if list == nil && len(p.GoFiles) < minListed {
			continue
		}
		if wrong := checkComplete(list, p.GoFiles); wrong != nil {
			t.Errorf("%s/doc.go, Files, from top to bottom: %s", p.folder, strings.Join(wrong, ", "))
			continue
		}

		pairs, err := callPairs(fset, files, imp)
		if err != nil {
			t.Errorf("%s: %v", p.folder, err)
			continue
		}
		up := upwardCalls(list, pairs)
		t.Logf("%s: %d of %d file dependencies point upward", p.folder, len(up), len(pairs))
		if len(p.GoFiles) >= minListed && 100*len(up) > maxUpward*len(pairs) {
			t.Errorf("%s: %d of %d file dependencies point upward, limit %d %%:\n%s",
				p.folder, len(up), len(pairs), maxUpward, strings.Join(up, "\n"))
		}
	}
}

// size returns the number of files without doc.go.
func (p *listedPackage) size() int {
	if slices.Contains(p.GoFiles, docFile) {
		return len(p.GoFiles) - 1
	}
	return len(p.GoFiles)
}

// readPackage parses the files of a package. It also returns the package comment of doc.go.
func readPackage(t *testing.T, fset *token.FileSet, p *listedPackage) (files []*ast.File, doc string) {
	t.Helper()
	const mode = parser.ParseComments | parser.SkipObjectResolution
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, mode)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		if name == docFile {
			doc = file.Doc.Text()
		}
	}
	return files, doc
}

func TestCallPairs(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	for name, src := range map[string]string{
		"a.go": "package p\ntype T struct{ n int }\ntype do interface{ run() }\n" +
			"func A(d do) { d.run(); d.run(); T{}.m(); _ = c }",
		"b.go": "package p\nfunc (t T) m() { c(t.n); c(t.n); g[int](); A := func() {}; A() }",
		"c.go": "package p\nfunc c(int) {}\nvar table = []any{A}\n" +
			"func g[V any]() { (*h[V])(nil).run() }\ntype h[V any] struct{}",
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
		t.Errorf("the pairs are %v, want %v", got, want)
	}

	up := upwardCalls([]string{"a.go", "b.go", "c.go", "d.go"}, pairs)
	if want := []string{"c.go → a.go: c.go:3 uses A", "d.go → b.go: d.go:2 uses m"}; !slices.Equal(up, want) {
		t.Errorf("the upward calls are %q, want %q", up, want)
	}
	if _, err := callPairs(fset, files[:1], nil); err == nil {
		t.Error("no error for a package that does not compile")
	}
}

func TestFileList(t *testing.T) {
	const doc = "Package p has parts.\n\n\tx.go is not listed here\n\n" +
		"# Files, from top to bottom\n\n" +
		"The verbs:\n\n\ta.go  first,\n\t      and more than x.go\n\tb.go  second\n\n" +
		"The rest:\n\n\tc.go d.go  unlike x.go\n\te.go\n\n" +
		"# Files to read first\n\n\tb.go  second\n\n" +
		"# More\n\n\tx.go no\n"
	list, want := fileList(doc, listTitle), []string{"a.go", "b.go", "c.go", "d.go", "e.go"}
	if !slices.Equal(list, want) {
		t.Errorf("the list is %q, want %q", list, want)
	}
	if got, want := fileList(doc, firstTitle), []string{"b.go"}; !slices.Equal(got, want) {
		t.Errorf("the first files are %q, want %q", got, want)
	}

	for _, title := range []string{"Files, from top to bottom:", "# Files", "# Files\n\nFrom callers to callees:"} {
		got := fileList("Package p.\n\n"+title+"\n\n\ta.go  first\n", listTitle)
		if !slices.Equal(got, []string{"a.go"}) {
			t.Errorf("%q: the list is %q", title, got)
		}
	}
	if got := fileList("Package p has a.go.\n\n\ta.go\n", listTitle); got != nil {
		t.Errorf("a comment without a list has %q", got)
	}
}

func TestCompleteList(t *testing.T) {
	if got := checkComplete([]string{"a.go", "b.go"}, []string{"b.go", "a.go", "doc.go"}); got != nil {
		t.Errorf("a complete list has errors: %q", got)
	}

	got := checkComplete([]string{"a.go", "a.go", "x.go"}, []string{"a.go", "b.go", "doc.go"})
	want := []string{"a.go is listed twice", "x.go is not a file of the package", "b.go is not listed"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFirstFiles(t *testing.T) {
	files := []string{"a.go", "b.go", "c.go", "d.go", "doc.go", "e.go", "f.go"}
	for _, c := range []struct{ title, list, want string }{
		{"# Files to read first", "a.go b.go c.go d.go e.go", ""},
		{"# Files to read first", "a.go b.go c.go d.go", `4 files below "# Files to read first", want 5`},
		{"# Files to read first", "a.go b.go c.go d.go e.go f.go", `6 files below "# Files to read first", want 5`},
		{"# Files to read first", "a.go b.go c.go d.go x.go", "x.go is not a file of the package"},
		{"# Files to read first", "a.go b.go c.go d.go d.go", "d.go is listed twice"},
		{"# Parts", "a.go b.go c.go d.go e.go", `0 files below "# Files to read first", want 5`},
	} {
		got := checkFirst("Package p.\n\n"+c.title+"\n\n\t"+c.list+"\n", files)
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s, %s: %q, want %q", c.title, c.list, got, c.want)
		}
	}
}
