package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// The library says of a file that is no YAML a line at best, often the one where a list
// began, in the words of its grammar. What is here finds the place by trying how much of
// the file is YAML, and says what a person can do there.

// Bounds of the search for a place, in bytes. A reader of a pack waits for it.
const (
	maxSearch = 8 << 10   // of the file
	maxTried  = 512 << 10 // of all that is parsed
)

var (
	yamlLine = lazy.Regexp(`^yaml: line (\d+): `)
	tabbed   = lazy.Regexp(`(?m)^ *\t`)
)

// syntax finds out where data is no YAML and why. err is what the library says.
func syntax(data []byte, err error) (line, column int, why string) {
	why, line = strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		why = err.Error()[len(m[0]):]
	}
	if at := tabbed().FindIndex(data); at != nil && strings.Contains(why, "character that cannot start any token") {
		line, column = place(data, at[1]-1)
		return line, column, "a tab; indent with spaces"
	}
	line = min(max(line, 1), 1+bytes.Count(bytes.TrimRight(data, "\n"), []byte("\n")))
	s := search{data: data, left: maxTried}
	known := len(data) <= maxSearch
	if known {
		line = s.firstBad(line)
	}
	start := 0
	for range line - 1 {
		start += bytes.IndexByte(data[start:], '\n') + 1
	}
	end := start + len(data[start:])
	if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
		end = start + i
	}
	first := start + len(data[start:end]) - len(bytes.TrimLeft(data[start:end], " "))
	at := first
	if known && s.left > 0 {
		for i := end; i > first && s.left > 0; i-- {
			if s.isYAML(i) {
				at = i + len(data[i:end]) - len(bytes.TrimLeft(data[i:end], " "))
				break
			}
		}
		at, why = remedy(data, first, at, why)
	}
	line, column = place(data, at)
	return line, column, why
}

// search tries how much of a file is YAML.
type search struct {
	data []byte
	left int // bytes that may still be parsed; below 0 nothing is known any more
}

// isYAML reports whether the first n bytes are any number of documents.
func (s *search) isYAML(n int) bool {
	if s.left -= n; s.left < 0 {
		return false
	}
	d := yaml.NewDecoder(bytes.NewReader(s.data[:n]))
	for {
		if _, err := decode(d); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// firstBad returns the line behind the longest beginning that is YAML; told where that is not found in time.
func (s *search) firstBad(told int) int {
	for at := bytes.LastIndexByte(bytes.TrimRight(s.data, "\n"), '\n'); at > 0 && s.left > 0; at = bytes.LastIndexByte(s.data[:at], '\n') {
		if s.isYAML(at) {
			return 2 + bytes.Count(s.data[:at], []byte("\n"))
		}
	}
	if s.left > 0 {
		return 1
	}
	return told
}

// remedy returns what to do at data[at], before which all is YAML; first is where the text of that line begins.
// It may find that the mistake is elsewhere. Of what it does not know it says what the library does.
func remedy(data []byte, first, at int, why string) (int, string) {
	rest := data[at:]
	switch {
	case len(rest) == 0:
		return at, why
	case strings.HasPrefix(why, "unknown anchor"):
		alias := "*" + strings.Split(why+"''", "'")[1]
		return at + max(0, bytes.Index(rest, []byte(alias))), fmt.Sprintf("%.40s is an alias, but no anchor has this name; quote it if it is a text", alias)
	case strings.Contains(why, "could not find expected ':'"):
		return first, `this is not "key: value"; write a colon and a space after a key`
	}
	switch c := rest[0]; c {
	case '"', '\'', '[', '{':
		f := flow{data: data, indent: indent(data, first)}
		if where, text := f.find(at); text != "" {
			return where, text
		}
	case '@', '`', '%', '*', '&', '|', '>':
		return at, fmt.Sprintf("a text cannot begin with %c; quote it", c)
	case '\t':
		return at, "a tab; indent with spaces"
	case ']', '}':
		return at, fmt.Sprintf("%c has no opening bracket; quote it if it is part of a text", c)
	case ':':
		if bytes.Contains(data[first:at], []byte(": ")) {
			return at, "a second colon in one line; quote the value"
		}
		return first, "it is indented deeper than the line above, which has its value already or lacks its colon"
	}
	if at == first || strings.Trim(string(data[first:at]), "- ") == "" {
		return at, "its indentation matches no line above; the entries of one list, and the keys of one mapping, begin in the same column"
	}
	if strings.HasPrefix(why, "did not find expected") {
		return at, "nothing can follow the value before it; quote all of it if it is one text"
	}
	return at, why
}

// indent is how far the line with data[at] is indented.
func indent(data []byte, at int) int {
	line := data[bytes.LastIndexByte(data[:at], '\n')+1:]
	return len(line) - len(bytes.TrimLeft(line, " "))
}

// flow looks for what is wrong in a list or mapping in brackets, or in a quoted string.
type flow struct {
	data   []byte
	indent int   // of the line in which it begins
	open   []int // where the brackets stand that are not closed yet
	fresh  bool  // a value or a key may begin here
	closed int   // where the last quoted string ended; -1: nowhere
}

// find returns the place of the first mistake from at on, where a bracket or a quote opens, and what to do; "" where it
// knows none.
func (f *flow) find(at int) (int, string) {
	f.fresh, f.closed = true, -1
	for i := at; i < len(f.data); i++ {
		end, wrong, why := f.token(i)
		if why != "" {
			return wrong, why
		}
		if len(f.open) == 0 {
			return 0, ""
		}
		i = end
	}
	return f.unclosed()
}

// token reads what stands at i. It returns the offset of its end, or the place of a mistake and what to do.
func (f *flow) token(i int) (end, wrong int, why string) {
	end = i
	switch c := f.data[i]; c {
	case '"', '\'':
		if !f.fresh {
			break // within a text
		}
		if end, wrong, why = f.quoted(i); why == "" {
			f.closed, f.fresh = end, false
		}
	case '[', '{':
		if !f.fresh {
			return i, i, fmt.Sprintf("%c in a text between brackets; quote the text", c)
		}
		f.open = append(f.open, i)
	case ']', '}':
		wrong, why = f.closes(i)
	case ',':
		if before := bytes.TrimRight(f.data[:i], " \n"); strings.IndexByte(",[{", before[len(before)-1]) >= 0 {
			return i, i, "a comma with nothing before it"
		}
		f.fresh = true
	case ':':
		f.fresh = f.fresh || f.endsKey(i)
	case '#':
		end = f.comment(i)
	case '\n':
		if f.ends(i) {
			wrong, why = f.unclosed()
		}
	case '@', '`', '%', '|', '>', '*', '&':
		if f.fresh && !f.named(i) {
			return i, i, fmt.Sprintf("a text cannot begin with %c; quote it", c)
		}
		f.fresh = false
	case ' ':
	default:
		f.fresh = false
	}
	return end, wrong, why
}

// closes notes that the bracket at i closes the innermost one. It returns i and what to do if that is of the other kind.
func (f *flow) closes(i int) (wrong int, why string) {
	n := len(f.open) - 1
	if c, b := f.data[i], f.data[f.open[n]]; c != b+2 {
		line, column := place(f.data, f.open[n])
		return i, fmt.Sprintf("%c is here, but the %c of line %d, column %d is not closed yet", c, b, line, column)
	}
	f.open, f.fresh = f.open[:n], false
	return 0, ""
}

// endsKey reports whether the colon at i ends a key rather than being part of a text.
func (f *flow) endsKey(i int) bool {
	return f.closed == i-1 || i+1 == len(f.data) || strings.IndexByte(" \n,[]{}", f.data[i+1]) >= 0
}

// comment returns the offset of the last byte before the line break if a comment begins at i, else i.
func (f *flow) comment(i int) int {
	line := bytes.IndexByte(f.data[i:], '\n')
	if i == 0 || strings.IndexByte(" \n", f.data[i-1]) < 0 || line < 0 {
		return i
	}
	return i + line - 1
}

// named reports whether the character at i begins an alias or an anchor.
func (f *flow) named(i int) bool {
	if c := f.data[i]; c != '*' && c != '&' || i+1 == len(f.data) {
		return false
	}
	c := f.data[i+1]
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// ends reports whether the line behind the line break at i cannot belong to what is open: it is not indented deeper.
func (f *flow) ends(i int) bool {
	next := bytes.TrimLeft(f.data[i:], " \n")
	if len(next) == 0 || next[0] == ']' || next[0] == '}' {
		return false
	}
	return indent(f.data, len(f.data)-len(next)) <= f.indent
}

func (f *flow) unclosed() (int, string) {
	if len(f.open) == 0 {
		return 0, ""
	}
	at := f.open[len(f.open)-1]
	return at, fmt.Sprintf("%c has no closing %c", f.data[at], f.data[at]+2)
}

// quoted returns the offset of the end of the string that begins at i, or what is wrong with it.
func (f *flow) quoted(i int) (end, at int, why string) {
	q := f.data[i]
	for j := i + 1; j < len(f.data); j++ {
		switch c := f.data[j]; {
		case c == '\n' && f.ends(j):
			return 0, i, fmt.Sprintf("a text begins here with %c and has no closing one", q)
		case c == '\\' && q == '"':
			if j++; j < len(f.data) && bytes.IndexByte([]byte("0abt\tnvfre \"/\\N_LPxuU\n"), f.data[j]) < 0 {
				_, n := utf8.DecodeRune(f.data[j:])
				return 0, j - 1, fmt.Sprintf(`\%s is not an escape between "; write \\ for a backslash, or put the text between '`, f.data[j:j+n])
			}
		case c == q && q == '\'' && j+1 < len(f.data) && f.data[j+1] == q:
			j++
		case c == q:
			return j, 0, ""
		}
	}
	return 0, i, fmt.Sprintf("a text begins here with %c and has no closing one", q)
}
