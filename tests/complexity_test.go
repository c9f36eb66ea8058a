package tests

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// maxComplexity is the highest cyclomatic complexity of a function outside test files.
const maxComplexity = 25

func TestFunctionComplexity(t *testing.T) {
	functions := 0
	for _, f := range sources(t) {
		if strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		for _, c := range complexities(t, f) {
			functions++
			if c.n > maxComplexity {
				t.Errorf("%s: %s has a cyclomatic complexity of %d, limit %d", c.pos, c.function, c.n, maxComplexity)
			}
		}
	}
	if functions < 1000 {
		t.Errorf("found %d functions, want at least 1000", functions)
	}
}

// complexity is the cyclomatic complexity of one function.
type complexity struct {
	function string
	pos      token.Position
	n        int
}

// complexities returns the complexity of each function of a file, in order. A function literal
// belongs to the function that contains it; a literal at package level is a separate function.
func complexities(t *testing.T, f source) (list []complexity) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, f.name, f.src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}

	ast.Inspect(file, func(n ast.Node) bool {
		name := ""
		switch n := n.(type) {
		case *ast.FuncDecl:
			name = n.Name.Name
		case *ast.FuncLit:
			name = "a literal"
		default:
			return true
		}
		list = append(list, complexity{name, fset.Position(n.Pos()), 1 + branches(n)})
		return false
	})
	return list
}

// branches counts the decisions in the code below n: each if, for, and range, each case except
// default, and each && and ||.
func branches(n ast.Node) (count int) {
	ast.Inspect(n, func(n ast.Node) bool {
		decides := false
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			decides = true
		case *ast.CaseClause:
			decides = n.List != nil
		case *ast.CommClause:
			decides = n.Comm != nil
		case *ast.BinaryExpr:
			decides = n.Op == token.LAND || n.Op == token.LOR
		}
		if decides {
			count++
		}
		return true
	})
	return count
}

func TestComplexities(t *testing.T) {
	const src = `package x
func plain() { x := 1; _ = x & 2 }
func loops(a bool) { for a { }; for range 3 { if a && !a || a { } else if a { } } }
func cases(a any) { switch a { case 1, 2: case 3: default: }; switch a.(type) { case int: default: } }
func waits(c chan int) { select { case <-c: case c <- 1: default: } }
func (t *T) literal(a bool) func() { if a { }; return func() { if a { }; func() { for { } }() } }
var f, s = func(a bool) bool { return a || !a }, "if"
func declared()
`

	var got []string
	for _, c := range complexities(t, source{"x.go", []byte(src)}) {
		got = append(got, fmt.Sprintf("%d: %s %d", c.pos.Line, c.function, c.n))
	}
	want := []string{
		"2: plain 1", "3: loops 7", "4: cases 4", "5: waits 3", "6: literal 4", "7: a literal 2", "8: declared 1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the complexities are %q, want %q", got, want)
	}
}
