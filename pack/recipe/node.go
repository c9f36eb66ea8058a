package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
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
		return bad(1, 1, "the file has %d bytes; a recipe has at most %d", len(data), maxFile)
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
	if err != nil {
		line, column, why := syntax(data, err)
		return bad(line, column, "not YAML: %s", why)
	}
	next, err := decode(d)
	if err == nil {
		return bad(next.Line, next.Column, "a second document begins here; a recipe is one")
	}
	if !errors.Is(err, io.EOF) {
		line, column, why := syntax(data, err)
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

// invalid gives the offset of the first byte that is NUL or not UTF-8, or -1.
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

// place gives line and column of an offset, from 1.
func place(data []byte, at int) (line, column int) {
	before := data[:at]
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

var (
	yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)
	tabbed   = regexp.MustCompile(`(?m)^ *\t`)
)

// syntax finds out where data is no YAML. The library gives a line, for some errors the one after.
func syntax(data []byte, err error) (line, column int, why string) {
	lines := 1 + bytes.Count(bytes.TrimRight(data, "\n"), []byte("\n"))
	why, line = strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		why = err.Error()[len(m[0]):]
	}
	if at := tabbed.FindIndex(data); at != nil && strings.Contains(why, "character that cannot start any token") {
		line, column = place(data, at[1]-1)
		return line, column, "a tab; indent with blanks"
	}
	line = min(max(line, 1), lines)
	if len(data) <= maxSearch {
		line = firstBad(data, line)
	}
	text := string(bytes.Split(data, []byte("\n"))[line-1])
	return line, 1 + len(text) - len(strings.TrimLeft(text, " ")), why
}

// maxSearch is the size in bytes up to which the line of an error is looked for by trying.
const maxSearch = 8 << 10

// firstBad gives the line behind the longest beginning of data that is YAML; told where
// there is none. The library often tells where a list began, not where it went wrong.
func firstBad(data []byte, told int) int {
	for at := bytes.LastIndexByte(bytes.TrimRight(data, "\n"), '\n'); at > 0; at = bytes.LastIndexByte(data[:at], '\n') {
		if _, err := decode(yaml.NewDecoder(bytes.NewReader(data[:at]))); err == nil {
			return 2 + bytes.Count(data[:at], []byte("\n"))
		}
	}
	return told
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
		m.bad, m.why = n, fmt.Sprintf("more than %d values, aliases followed", maxNodes)
	case m.open[n]:
		m.bad, m.why = n, "an alias stands inside of what it names"
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

// follow gives what an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// what says in words of which type a value is.
func what(n *yaml.Node) string {
	switch n = follow(n); n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!str":
		return "a string"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "empty"
	case "!!timestamp":
		return "a date"
	}
	return "a " + n.Tag
}
