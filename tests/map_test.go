package tests

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mapEntry is an answer of docs/map.md: `path: Function` or `path: Type.Method`.
var mapEntry = regexp.MustCompile("`([a-z0-9_/]+\\.go): ([A-Za-z0-9_.]+)`")

// functionsOf returns the functions that a Go source declares, a method as Type.Method.
func functionsOf(t *testing.T, name string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		of := ""
		if f.Recv != nil {
			typ := f.Recv.List[0].Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			if generic, ok := typ.(*ast.IndexExpr); ok {
				typ = generic.X
			}
			of = fmt.Sprint(typ) + "."
		}
		names = append(names, of+f.Name.Name)
	}
	return names
}

// sourcesWith returns the files of the repository, tests aside, that declare a function.
func sourcesWith(t *testing.T, root, function string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		if slices.Contains(functionsOf(t, name), function) {
			rel, err := filepath.Rel(root, name)
			found = append(found, rel)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// docs/map.md says where things are decided. Each function is where it says; where not, the test names the files that
// declare one of that name now.
func TestTheMapLeadsToFunctionsThatExist(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(filepath.Join(root, "docs", "map.md"))
	if err != nil {
		t.Fatal(err)
	}
	questions, entries := 0, 0
	for _, line := range strings.Split(string(said), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 2 || strings.Contains(line, "---") || strings.Contains(line, "| answer |") {
			continue
		}
		questions++
		answers := mapEntry.FindAllStringSubmatch(cells[1], -1)
		if rest := strings.Trim(mapEntry.ReplaceAllString(cells[1], ""), " ,"); len(answers) == 0 || rest != "" {
			t.Errorf("docs/map.md: want `path: Function` as the answer of %q, not %q", strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]))
		}
		for _, a := range answers {
			entries++
			file, function := a[1], a[2]
			if _, err := os.Stat(filepath.Join(root, file)); err != nil || !slices.Contains(functionsOf(t, filepath.Join(root, file)), function) {
				t.Errorf("docs/map.md: there is no %s in %s; a function of this name is in %q", function, file, sourcesWith(t, root, function))
			}
		}
	}
	if questions < 20 || entries < questions {
		t.Errorf("docs/map.md has %d answers to %d questions, want 20 questions at least", entries, questions)
	}
}
