package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// riddle is how a doc comment must not begin: it names what a function has instead of what it returns or does.
var riddle = regexp.MustCompile(`^\w+ (gives|says|tells|lets)\b`)

// namesError is what the doc comment of a function that returns an error has somewhere.
var namesError = regexp.MustCompile(`(?i)\b(err\w*|errors?|fails?|failure|refus\w*|context\.\w+|ctx)\b`)

// wellKnown are methods whose contract is that of an interface that every Go reader knows.
var wellKnown = []string{"Read", "ReadAt", "ReadFrom", "Write", "WriteTo", "WriteString", "Close", "Seek", "Sync", "Unwrap", "Is", "As",
	"UnmarshalJSON", "MarshalJSON", "UnmarshalYAML", "MarshalYAML", "UnmarshalText", "MarshalText", "Set", "Scan"}

// Doc comments are contracts: "X returns …", "X reports whether …", and what an error means.
func TestDocCommentsAreContracts(t *testing.T) {
	for _, f := range sources(t) {
		for _, what := range riddles(t, f) {
			t.Error(what)
		}
	}
}

// riddles returns the doc comments of a file that are no contracts, each with its place.
func riddles(t *testing.T, f source) (found []string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, f.name, f.src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	test := strings.HasSuffix(f.name, "_test.go")
	bad := func(pos token.Pos, what string) {
		found = append(found, fset.Position(pos).String()+": "+what)
	}
	doc := func(c *ast.CommentGroup) {
		if text := c.Text(); riddle.MatchString(text) {
			line, _, _ := strings.Cut(text, "\n")
			bad(c.Pos(), line)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			doc(n.Doc)
		case *ast.TypeSpec:
			doc(n.Doc)
		case *ast.ValueSpec:
			doc(n.Doc)
		case *ast.Field:
			doc(n.Doc)
		case *ast.FuncDecl:
			doc(n.Doc)
			if !test && n.Name.IsExported() && returnsError(n) && !slices.Contains(wellKnown, n.Name.Name) && onExported(n) && !namesError.MatchString(n.Doc.Text()) {
				bad(n.Pos(), n.Name.Name+" returns an error that its comment does not name")
			}
		}
		return true
	})
	return found
}

// returnsError reports whether the last result of a function is an error.
func returnsError(f *ast.FuncDecl) bool {
	if f.Type.Results == nil {
		return false
	}
	last := f.Type.Results.List[len(f.Type.Results.List)-1]
	name, ok := last.Type.(*ast.Ident)
	return ok && name.Name == "error"
}

// onExported reports whether a function is a plain one, or a method of a type that is exported.
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

// The check itself must be able to fail.
func TestRiddlesAreFound(t *testing.T) {
	for src, want := range map[string]int{
		"// F gives the sum.\nfunc F() int { return 1 }":                       1,
		"// f says whether.\nfunc f() bool { return true }":                    1,
		"// F returns the sum.\nfunc F() int { return 1 }":                     0,
		"// F does it.\nfunc F() error { return nil }":                         1,
		"// F does it; it returns ErrX if not.\nfunc F() error { return nil }": 0,
		"// f does it.\nfunc f() error { return nil }":                         0,
		"type t int\n// F does it.\nfunc (t) F() error { return nil }":         0,
		"type T int\n// F does it.\nfunc (*T) F() error { return nil }":        1,
		"// T tells all.\ntype T struct{}":                                     1,
		"type T struct {\n// A lets go.\nA int }":                              1,
		"// c does it.\nconst c = 1 // x gives y":                              0,
	} {
		if got := riddles(t, source{"x.go", []byte("package x\n" + src)}); len(got) != want {
			t.Errorf("%q: %q, want %d", src, got, want)
		}
	}
}
