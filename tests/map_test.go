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

// mapEntry matches an answer in docs/map.md: `path: Function` or `path: Type.Method`.
var mapEntry = regexp.MustCompile("`([a-z0-9_/]+\\.go): ([A-Za-z0-9_.]+)`")

// functionsOf returns the functions that a Go file declares, a method as Type.Method.
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

		receiver := ""
		if f.Recv != nil {
			typ := f.Recv.List[0].Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			if generic, ok := typ.(*ast.IndexExpr); ok {
				typ = generic.X
			}
			receiver = fmt.Sprint(typ) + "."
		}
		names = append(names, receiver+f.Name.Name)
	}
	return names
}

// sourcesWith returns the files, except test files, that declare a function.
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

// If a function has moved, the error lists the files that declare its name.
func TestMapNamesExistingFunctions(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "map.md"))
	if err != nil {
		t.Fatal(err)
	}

	questions, entries := 0, 0
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 2 {
			continue
		}
		if strings.Contains(line, "---") || strings.Contains(line, "| answer |") {
			continue
		}

		questions++
		answers := mapEntry.FindAllStringSubmatch(cells[1], -1)
		if rest := strings.Trim(mapEntry.ReplaceAllString(cells[1], ""), " ,"); len(answers) == 0 || rest != "" {
			t.Errorf("docs/map.md: the answer to %q is %q, want `path: Function`",
				strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]))
		}

		for _, a := range answers {
			entries++
			file, function := a[1], a[2]
			name := filepath.Join(root, file)
			if _, err := os.Stat(name); err != nil || !slices.Contains(functionsOf(t, name), function) {
				t.Errorf("docs/map.md: %s does not declare %s; these files do: %q",
					file, function, sourcesWith(t, root, function))
			}
		}
	}
	if questions < 20 || entries < questions {
		t.Errorf("docs/map.md has %d answers to %d questions, want at least 20 questions", entries, questions)
	}
}
