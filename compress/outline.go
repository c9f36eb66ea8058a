package compress

import "strings"

// outlineWords begin a line that defines something, in the languages that agents mostly read.
var outlineWords = WordSet(`func def class interface struct enum trait impl fn type module namespace package function export public private protected
	static async abstract const describe it test CREATE message service rpc resource data variable @media section`)

// InOutline reports whether a line is a heading or defines something; numbers that a tool put
// before it do not count.
func InOutline(line string, fence bool) bool {
	s := strings.TrimLeft(line, " \t0123456789")
	if s != strings.TrimLeft(line, " \t") { // "12:  func", "12→func", "12| func"
		for _, mark := range []string{":", "→", "|", "\t"} {
			if rest, ok := strings.CutPrefix(s, mark); ok {
				s = rest
				break
			}
		}
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

// emptyWords begin a line that says little of what is in a file: of its imports, a comment, brackets.
var emptyWords = WordSet(`package import from use using #include require else } ) ] end // # /* * -- """ /** */ #! {`)

// Outline returns the lines of a file that tell most of what is in it, at most limit of them, in their order: all if
// there are no more; else those that define something, then the first of the others, without imports, comments and
// lines of brackets alone.
func Outline(text string, limit int) (out []string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) <= limit {
		return lines
	}
	empty, defines := make([]bool, len(lines)), make([]bool, len(lines))
	imports, defined := false, 0
	for i, line := range lines {
		first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		first = strings.TrimRight(first, ",;(")
		empty[i] = imports || first == "" || emptyWords[first]
		switch {
		case imports:
			imports = first != ")" && first != "}"
		case first == "import" || first == "use":
			imports = strings.HasSuffix(line, "(") || strings.HasSuffix(line, "{")
		}
		if defines[i] = !empty[i] && InOutline(line, false); defines[i] {
			defined++
		}
	}
	others := limit - defined
	for i, line := range lines {
		switch {
		case empty[i] || len(out) == limit:
			continue
		case !defines[i]:
			if others <= 0 {
				continue
			}
			others--
		}
		out = append(out, line)
	}
	return out
}
