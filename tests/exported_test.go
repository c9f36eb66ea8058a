package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// An exported function of a product package returns only types that its callers can name.
func TestExportedResultsHaveNames(t *testing.T) {
	for _, f := range sources(t) {
		if strings.HasSuffix(f.name, "_test.go") || outside(path.Dir(f.name)) {
			continue
		}
		for _, problem := range hiddenResults(t, f) {
			t.Error(problem)
		}
	}
}

// hiddenResults returns one line for each unexported result type of an exported function or method
// in f.
func hiddenResults(t *testing.T, f source) (found []string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, f.name, f.src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if file.Name.Name == "main" {
		return nil
	}

	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !fn.Name.IsExported() || !onExported(fn) || fn.Type.Results == nil {
			continue
		}
		parameters := map[string]bool{}
		if fn.Type.TypeParams != nil {
			for _, p := range fn.Type.TypeParams.List {
				for _, name := range p.Names {
					parameters[name.Name] = true
				}
			}
		}
		for _, r := range fn.Type.Results.List {
			name := elementType(r.Type)
			if name == nil || name.IsExported() || parameters[name.Name] || predeclared[name.Name] {
				continue
			}
			place := fset.Position(fn.Pos()).String()
			found = append(found, place+": "+fn.Name.Name+" returns the unexported type "+name.Name)
		}
	}
	return found
}

// predeclared are the types of the language.
var predeclared = map[string]bool{
	"any": true, "bool": true, "byte": true, "error": true, "rune": true, "string": true, "uintptr": true,
	"int": true, "int8": true, "int16": true, "int32": true, "int64": true,
	"uint": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true,
	"float32": true, "float64": true, "complex64": true, "complex128": true,
}

// elementType returns the type name below pointers and slices. It returns nil for a type of another
// package and for all other forms of types.
func elementType(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.ArrayType:
			e = x.Elt
		case *ast.Ident:
			return x
		default:
			return nil
		}
	}
}

// onExported reports whether a function has no receiver or the receiver's type is exported.
func onExported(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}

	of := f.Recv.List[0].Type
	for {
		switch x := of.(type) {
		case *ast.StarExpr:
			of = x.X
		case *ast.IndexExpr:
			of = x.X
		case *ast.IndexListExpr:
			of = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

// Each form of a result is found or accepted.
func TestHiddenResults(t *testing.T) {
	for src, want := range map[string]int{
		"type t int\nfunc F() t { return 0 }":                       1,
		"type t int\nfunc F() ([]*t, error) { return nil, nil }":    1,
		"type t int\ntype T int\nfunc (T) F() *t { return nil }":    1,
		"type t int\nfunc (t) F() t { return 0 }":                   0,
		"type t int\nfunc f() t { return 0 }":                       0,
		"type T int\nfunc F[v any](x v) (T, v) { return 0, x }":     0,
		"import \"time\"\nfunc F() time.Time { return time.Now() }": 0,
	} {
		if got := hiddenResults(t, source{"x.go", []byte("package x\n" + src)}); len(got) != want {
			t.Errorf("%q: %q, want %d", src, got, want)
		}
	}
}
