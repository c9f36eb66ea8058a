package compress

import "strings"

// outlineWords begin a line that defines something, in the languages that agents mostly read.
var outlineWords = WordSet(`func def class interface struct enum trait impl fn type module namespace package function export public private protected
	static async abstract const describe it test CREATE message service rpc resource data variable @media section`)

// InOutline reports whether a line is a heading or defines something; numbers that a tool put
// before it do not count.
func InOutline(line string, fence bool) bool {
	s := line
	if rest, ok := cutNumber(strings.TrimLeft(line, " \t")); ok {
		s = rest
	}
	indent := IndentOf(s)
	s = strings.TrimSpace(s)
	if level, _ := Heading(s, indent); level > 0 && !fence {
		return true
	}
	word, rest, _ := strings.Cut(s, " ")
	word = strings.TrimRight(word, "(")
	if outlineWords[word] && rest != "" && indent <= 8 {
		return word != "const" && word != "type" && word != "static" || indent == 0
	}
	if strings.HasPrefix(s, "describe(") || strings.HasPrefix(s, "it(") || strings.HasPrefix(s, "test(") {
		return true
	}
	// A section of YAML, TOML or INI.
	return indent == 0 && len(s) < 60 && (strings.HasSuffix(s, ":") && !strings.ContainsAny(s, " (") || s != "" && s[0] == '[' && strings.HasSuffix(s, "]"))
}

// Outline returns all lines of a text that has at most limit, and of a longer one up to limit lines that
// define something. If there are none, it returns the first lines that are not blank.
func Outline(text string, limit int) (out []string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) <= limit {
		return lines
	}
	for _, keep := range []func(line string) bool{
		func(line string) bool { return InOutline(line, false) },
		func(line string) bool { return strings.TrimSpace(line) != "" },
	} {
		for _, line := range lines {
			if len(out) < limit && keep(line) {
				out = append(out, line)
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}
