package tests

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxCodeWidth    = 120
	maxCommentWidth = 100
	tabWidth        = 4  // columns of a tab
	wallLines       = 20 // shortest function that needs a paragraph
)

// place is one finding of a counter.
type place struct {
	file  string
	line  int
	count int    // contribution to the figure
	size  int    // severity; reports list the largest first
	note  string // for example "131 columns"
}

func (p place) String() string { return fmt.Sprintf("%s:%d: %s", p.file, p.line, p.note) }

// counter computes one column of limits.txt.
type counter struct {
	column string
	find   func(source) []place
}

// goCounters apply to Go files, docCounters to Markdown files.
var (
	goCounters = []counter{
		{"code", productCode},
		{"wide-code", wideCode},
		{"wide-comments", wideComments},
		{"walls", walls},
		{"comment-phrases", commentPhrases},
		{"message-phrases", messagePhrases},
	}
	docCounters = []counter{{"doc-phrases", docPhrases}}
)

// productCode counts the code lines of a product file: lines with a token that is not a comment.
// Test files, packages of test helpers, doc.go, and the folders tests and examples do not count.
func productCode(f source) []place {
	folder, base := path.Dir(f.name), path.Base(f.name)
	if isTest(f.name) || slices.Contains(testHelpers, folder) || base == docFile || !isProduct(group(f.name)) {
		return nil
	}
	count := codeLines(f.src)
	return []place{{f.name, 1, count, count, fmt.Sprintf("%d code lines", count)}}
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// codeLines returns the number of lines with a token that is not a comment.
func codeLines(src []byte) int {
	code, _ := tokenLines(src)
	return len(code)
}

// tokenLines returns the numbers of the lines with code and of the lines with a comment. A line
// with a trailing comment is in both sets. All lines of a raw string contain code.
func tokenLines(src []byte) (code, comments map[int]bool) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, nil, scanner.ScanComments)
	code, comments = map[int]bool{}, map[int]bool{}

	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return code, comments
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue // inserted by the scanner
		}

		lines := code
		if tok == token.COMMENT {
			lines = comments
		}
		first := file.Line(pos)
		for i := range 1 + strings.Count(text, "\n") {
			lines[first+i] = true
		}
	}
}

// wideCode finds code lines over 120 columns, tests included. A line with a trailing comment is a
// code line. A tab counts as 4 columns, and a string that cannot be broken counts in full.
func wideCode(f source) []place {
	code, _ := tokenLines(f.src)
	return wideLines(f, maxCodeWidth, func(number int, _ string) bool { return code[number] })
}

// wideComments finds lines over 100 columns that contain only a comment. Directives such as
// //go:generate are exempt, because they cannot be broken.
func wideComments(f source) []place {
	code, comments := tokenLines(f.src)
	return wideLines(f, maxCommentWidth, func(number int, line string) bool {
		return comments[number] && !code[number] && !strings.HasPrefix(line, "//go:")
	})
}

// wideLines finds the lines above a width for which the predicate is true.
func wideLines(f source, limit int, applies func(number int, line string) bool) (found []place) {
	for number, line := range numbered(f.src) {
		width := utf8.RuneCountInString(line) + (tabWidth-1)*strings.Count(line, "\t")
		if width > limit && applies(number, line) {
			found = append(found, place{f.name, number, 1, width, fmt.Sprintf("%d columns", width)})
		}
	}
	return found
}

// numbered iterates over the lines of a text without their ends, counted from 1.
func numbered(src []byte) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		number := 0
		for line := range strings.Lines(string(src)) {
			number++
			if !yield(number, strings.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}

// walls finds functions of 20 lines or more without a blank line or a comment in the body, tests
// included. Function literals belong to the function that contains them.
func walls(f source) (found []place) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, f.name, f.src, parser.SkipObjectResolution)
	if err != nil {
		return []place{{f.name, 1, 1, 1 << 20, err.Error()}}
	}
	code, comments := tokenLines(f.src)

	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		first, last := fset.Position(function.Pos()).Line, fset.Position(function.End()).Line
		length := last - first + 1
		if length < wallLines {
			continue
		}

		paragraphs := false
		for line := fset.Position(function.Body.Lbrace).Line; line < last; line++ {
			paragraphs = paragraphs || !code[line] || comments[line]
		}
		if !paragraphs {
			note := fmt.Sprintf("%s has %d lines and no paragraph", function.Name.Name, length)
			found = append(found, place{f.name, first, 1, length, note})
		}
	}
	return found
}

// phrases mark sentences with a relative clause in place of a noun, or a static verb in place of an
// active one. A high count is a symptom: rebuild the sentence instead of replacing the word.
var phrases = regexp.MustCompile(`(?i)\b(what|those of|that of|so many|so much|of which|whose|stands?|anew|tells?|` +
	`comes? to|who|beside|behind|lies?|is matter of|nobody|somebody)\b`)

// phrasesAt returns the finding for one text, or nothing if the text has no phrase.
func phrasesAt(f source, number int, text string) []place {
	found := phrases.FindAllString(text, -1)
	if found == nil {
		return nil
	}
	return []place{{f.name, number, len(found), len(found), strings.Join(found, ", ")}}
}

var (
	commentStart = regexp.MustCompile(`(?:^|\s)//`)
	quotedSlash  = regexp.MustCompile(`"[^"]*//`)
	message      = regexp.MustCompile(`"((?:[^"\\]|\\.){20,})"`)
)

// commentPhrases counts the phrases in line comments, tests included. It skips directives and lines
// with // after a quotation mark.
func commentPhrases(f source) (found []place) {
	for number, line := range numbered(f.src) {
		if quotedSlash.MatchString(line) {
			continue
		}
		for _, at := range commentStart.FindAllStringIndex(line, -1) {
			if text := line[at[1]:]; !strings.HasPrefix(text, "go:") {
				found = append(found, phrasesAt(f, number, text)...)
				break
			}
		}
	}
	return found
}

// messagePhrases counts the phrases in messages: quoted strings of at least 20 characters with a
// space, outside test files.
func messagePhrases(f source) (found []place) {
	if isTest(f.name) {
		return nil
	}
	for number, line := range numbered(f.src) {
		for _, match := range message.FindAllStringSubmatch(line, -1) {
			if strings.Contains(match[1], " ") && !strings.HasPrefix(match[1], "github.com") {
				found = append(found, phrasesAt(f, number, match[1])...)
			}
		}
	}
	return found
}

// docPhrases counts the phrases in Markdown outside fenced code.
func docPhrases(f source) (found []place) {
	fenced := false
	for number, line := range numbered(f.src) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced {
			found = append(found, phrasesAt(f, number, line)...)
		}
	}
	return found
}

func TestCodeLines(t *testing.T) {
	for src, want := range map[string]int{
		"":                                     0,
		"package x\n":                          1,
		"// a\npackage x // b\n\n/* c\nd */\n": 1,
		"package x\nvar a = `1\n\n2`\n":        4,
		"package x\nvar (\n)\n":                3,
	} {
		if got := codeLines([]byte(src)); got != want {
			t.Errorf("%q: %d lines, want %d", src, got, want)
		}
	}
}

func TestCounters(t *testing.T) {
	long := strings.Repeat("x", 130)
	function := func(lines int, last string) string {
		return "package x\n\nfunc f() {\n" + strings.Repeat("\tg()\n", lines-3) + last + "}\n"
	}

	for _, c := range []struct {
		column, name, src string
		want              []string // "line count"
	}{
		{"code", "pack/x.go", "package x\n\n// a\nvar a int\n", []string{"1 2"}},
		{"code", "pack/x_test.go", "package x\n", nil},
		{"code", "tests/x/x.go", "package x\n", nil},
		{"code", "examples/x.go", "package x\n", nil},

		{"wide-code", "x.go", "package x\nvar a = `\n" + long + "`\n", []string{"3 1"}},
		{"wide-code", "x_test.go", "package x\nvar a int // " + long + "\n", []string{"2 1"}},
		{"wide-code", "x.go", "package x\n// " + long + "\n", nil},
		{"wide-code", "x.go", "package x\nvar a = `" + strings.Repeat("é", maxCodeWidth-10) + "`\n", nil},
		{"wide-code", "x.go", "package x\n\tvar a = `" + strings.Repeat("é", maxCodeWidth-10) + "`\n", []string{"2 1"}},

		{"wide-comments", "x.go", "package x\n// " + long + "\n/*\n" + long + "\n*/\n", []string{"2 1", "4 1"}},
		{"wide-comments", "x.go", "package x\nvar a int // " + long + "\n//go:generate " + long + "\n", nil},
		{"wide-comments", "x.go", "package x\n\t// " + long[:maxCommentWidth-7] + "\n", nil},
		{"wide-comments", "x.go", "package x\n\t// " + long[:maxCommentWidth-6] + "\n", []string{"2 1"}},

		{"walls", "x.go", function(20, "\tg()\n"), []string{"3 1"}},
		{"walls", "x_test.go", "package x\n" + function(20, "\t_ = `\n\n`\n")[10:], []string{"3 1"}},
		{"walls", "x.go", function(19, "\tg()\n"), nil},
		{"walls", "x.go", function(20, "\n"), nil},
		{"walls", "x.go", function(20, "\tg() // a\n"), nil},
		{"walls", "x.go", strings.Replace(function(20, "\tg()\n"), "func", "// f\nfunc", 1), []string{"4 1"}},
		{"walls", "x.go", "package", []string{"1 1"}},

		{"comment-phrases", "x.go", "// what Stands, whose\nvar a int // Nobody\n", []string{"1 3", "2 1"}},
		{"comment-phrases", "x_test.go", "\tf() // lies behind\n", []string{"1 2"}},
		{"comment-phrases", "x.go", "// whatever standing\nvar what = \"a // what\"\n", nil},
		{"comment-phrases", "x.go", "//go:embed what\nhttp://what\n", nil},
		{"comment-phrases", "x.go", "//go:embed a // what\n", []string{"1 1"}},
		{"comment-phrases", "x.go", "a //go:b // what\n", []string{"1 1"}},

		{"message-phrases", "x.go", `f("nobody knows what came", "who is it, I said")`, []string{"1 2"}},
		{"message-phrases", "x.go", `f("a \"quoted\" text says who", 1)`, []string{"1 1"}},
		{"message-phrases", "x_test.go", `f("nobody knows what came")`, nil},
		{"message-phrases", "x.go", `f("who is short", "what-has-no-space-at-all")`, nil},
		{"message-phrases", "x.go", `f("github.com/who is not meant")`, nil},

		{"doc-phrases", "README.md", "So many words\n```\nwhat\n```\ncomes to what\n", []string{"1 1", "5 2"}},
	} {
		var got []string
		for _, counter := range slices.Concat(goCounters, docCounters) {
			if counter.column != c.column {
				continue
			}
			for _, p := range counter.find(source{c.name, []byte(c.src)}) {
				got = append(got, fmt.Sprint(p.line, p.count))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s of %s: %q\n got %q\nwant %q", c.column, c.name, c.src, got, c.want)
		}
	}
}
