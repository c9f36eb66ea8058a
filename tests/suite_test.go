package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Packages whose tests have random choices or forms for the matrix run them through internal/suite, and the list of the
// matrix names tests that exist. (That each test with a form for the matrix is in the list is what suite sees to when
// the test runs; that each of the list has such a form, when the matrix runs.)
func TestSuitesAreRunAsOne(t *testing.T) {
	through := []string{"suite.Main(m)", "suite.Wrap(m)", "harness.Main(m)", "Main(m)"} // the last is that of the package itself
	needs, mains, tests := map[string]string{}, map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob("../*/*_test.go")
	for _, pattern := range []string{"../*/*/*_test.go", "../*/*/*/*_test.go", "../*/*/*/*/*_test.go"} {
		more, _ := filepath.Glob(pattern)
		files = append(files, more...)
	}
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		if strings.Contains(name, "/testdata/") || strings.Contains(name, "/node_modules/") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		pkg := strings.TrimPrefix(filepath.Dir(name), "../")
		for _, imp := range file.Imports {
			switch imp.Path.Value {
			case `"pgregory.net/rapid"`, `"` + module + `/internal/suite"`, `"` + module + `/tests/harness"`:
				needs[pkg] = name
			}
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			body := string(src[fset.Position(f.Pos()).Offset:fset.Position(f.End()).Offset])
			switch {
			case f.Name.Name == "TestMain":
				mains[pkg] = slices.ContainsFunc(through, func(s string) bool { return strings.Contains(body, s) })
			case strings.HasPrefix(f.Name.Name, "Test"):
				tests[pkg+" "+f.Name.Name] = true
			}
		}
	}
	for pkg, name := range needs {
		if !mains[pkg] {
			t.Errorf("%s: package %s needs func TestMain(m *testing.M) { suite.Main(m) }", name, pkg)
		}
	}
	list, err := os.ReadFile("../internal/suite/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(list), "\n"), "\n")
	if !slices.IsSorted(lines) || len(slices.Compact(slices.Clone(lines))) != len(lines) {
		t.Error("internal/suite/matrix.txt is not sorted, or has a line twice")
	}
	listed := map[string]bool{} // by name
	for _, line := range lines {
		if !tests[line] {
			t.Errorf("internal/suite/matrix.txt names %q, which is no test", line)
		}
		_, name, _ := strings.Cut(line, " ")
		listed[name] = true
	}
	for test := range tests {
		_, name, _ := strings.Cut(test, " ")
		if listed[name] && !slices.Contains(lines, test) {
			t.Errorf("rename %s: runs select tests by name, and internal/suite/matrix.txt lists this name", test)
		}
	}
}
