package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Bounds of a file.
const (
	maxFile  = 1 << 20 // bytes
	maxNodes = 50_000  // after aliases are followed
	maxDepth = 64
)

// parse reads the one YAML document of data; where there is none, it says why not.
func parse(file string, data []byte) (root *yaml.Node, problem *Problem) {
	bad := func(line, column int, format string, args ...any) (*yaml.Node, *Problem) {
		return nil, &Problem{Origin: Origin{file, line, column}, Text: fmt.Sprintf(format, args...)}
	}
	if len(data) > maxFile {
		return bad(1, 1, "the file has more than %d bytes, the limit of a recipe", maxFile)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	if at := invalid(data); at >= 0 {
		line, column := place(data, at)
		return bad(line, column, "the file is not UTF-8 text")
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	doc, err := decode(d)
	if errors.Is(err, io.EOF) {
		return bad(1, 1, "the file is empty; a recipe has sources or an import")
	}
	var next *yaml.Node
	if err == nil {
		if next, err = decode(d); err == nil {
			return bad(next.Line, next.Column, "a second document begins here; a recipe has only one")
		}
	}
	if !errors.Is(err, io.EOF) {
		line, column, why := explain(data, err)
		return bad(line, column, "not YAML: %s", why)
	}

	m := measure{open: map[*yaml.Node]bool{}}
	m.walk(doc, 0)
	if m.bad != nil {
		return bad(m.bad.Line, m.bad.Column, "%s", m.why)
	}
	return doc.Content[0], nil
}

// decode reads one document. The library panics on some inputs that are no YAML.
func decode(d *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	doc = new(yaml.Node)
	if err := d.Decode(doc); err != nil {
		return nil, err
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, io.EOF
	}
	return doc, nil
}

var (
	yamlLine = lazy.Regexp(`^yaml: line (\d+): `)
	tabbed   = lazy.Regexp(`(?m)^ *\t`)
)

// maxSearch limits the search for the line of a mistake: bytes of the file, times its lines.
const maxSearch = 1 << 19

// explain returns the line of a mistake, the column where its text begins, and the message of the
// YAML library. The library often names the line where a list or mapping begins, so explain looks
// for the line after the longest prefix that is YAML, unless the file is large.
func explain(data []byte, err error) (line, column int, why string) {
	why, line = strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		why = err.Error()[len(m[0]):]
	}
	if at := tabbed().FindIndex(data); at != nil && (strings.Contains(why, "tab") || strings.Contains(why, "cannot start any token")) {
		line, column = place(data, at[1]-1)
		return line, column, "a tab; indent with spaces"
	}

	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	line = min(max(line, 1), len(lines))
	if len(data)*len(lines) <= maxSearch {
		for line = len(lines); line > 1 && !isYAML(strings.Join(lines[:line-1], "\n")); {
			line--
		}
	}
	text := lines[line-1]
	return line, 1 + len(text) - len(strings.TrimLeft(text, " ")), why
}

// isYAML reports whether a text is any number of YAML documents.
func isYAML(text string) bool {
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := decode(d); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// invalid returns the offset of the first byte that is NUL or not UTF-8, or -1.
func invalid(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == 0 || r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// place returns line and column of an offset, from 1.
func place(data []byte, at int) (line, column int) {
	before := data[:at]
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

// measure walks a document with its aliases followed, and finds where it goes too far.
type measure struct {
	open  map[*yaml.Node]bool // around the node that is looked at
	count int
	bad   *yaml.Node
	why   string
}

func (m *measure) walk(n *yaml.Node, depth int) {
	m.count++
	switch {
	case depth > maxDepth:
		m.bad, m.why = n, fmt.Sprintf("nested deeper than %d", maxDepth)
	case m.count > maxNodes:
		m.bad, m.why = n, fmt.Sprintf("more than %d values, with those of aliases", maxNodes)
	case m.open[n]:
		m.bad, m.why = n, "an alias is inside the value that it names"
	case n.Kind == yaml.AliasNode:
		m.walk(n.Alias, depth)
	default:
		m.open[n] = true
		for _, c := range n.Content {
			if m.bad == nil {
				m.walk(c, depth+1)
			}
		}
		delete(m.open, n)
	}
}

// pair is one key of a mapping.
type pair struct{ key, value *yaml.Node }

// isMerge reports whether a key is <<.
func isMerge(k *yaml.Node) bool { return k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" }

// mergedBy returns the mappings that the value of << names.
func mergedBy(v *yaml.Node) []*yaml.Node {
	if to := follow(v); to.Kind == yaml.SequenceNode {
		return to.Content
	}
	return []*yaml.Node{v}
}

// follow returns what an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// instead returns what to write instead of a value that must be a mapping, or "".
func instead(n *yaml.Node) string {
	s := follow(n).Value
	key, value, colon := strings.Cut(s, ":")
	switch {
	case follow(n).Kind != yaml.ScalarNode || s == "" || strings.Contains(s, "\n"):
		return ""
	case colon && value != "" && !strings.Contains(key, " "):
		return fmt.Sprintf("; put a space after the colon: %.40s: %.40s", key, value)
	case slices.Contains(anyType, s):
		return "; write {type: " + s + "}"
	}
	return ""
}

// what returns the type of a value in words.
func what(n *yaml.Node) string {
	switch n = follow(n); n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!str":
		return fmt.Sprintf("the string %.60q", n.Value)
	case "!!int", "!!float":
		return fmt.Sprintf("the number %.60s", n.Value)
	case "!!bool":
		return n.Value
	case "!!null":
		return "empty"
	case "!!timestamp":
		return "a date"
	}
	return "a " + n.Tag
}
