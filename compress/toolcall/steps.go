package toolcall

import (
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// Step is one pipeline of a shell script.
type Step struct {
	Text     string     // with single blanks; of a here-document only the first line
	Head     string     // Text up to its first pipe
	Before   string     // the operator before it: "", "&&", "||", ";", or "&"
	After    string     // the operator after it, likewise
	Dir      string     // working directory, by the cd commands before it; see [UnknownDir]
	Line     int        // number of its command line; steps that && or || join have the same one
	Commands [][]string // words of its commands, without quotes, assignments, and wrappers
	Group    bool       // it is a loop, a condition, or a group; Commands are those within
	Inline   bool       // it contains a here-document
}

// UnknownDir is the directory after a cd whose target is known only when it runs. The directory in
// which a script begins is "".
const UnknownDir = "?"

// Limits of [Steps].
const (
	maxScript   = 64 << 10 // bytes
	maxSteps    = 64
	hereDocText = 80 // bytes of the first line of a here-document
)

// Steps splits a shell script into its pipelines. It looks at separators, quotes, and
// here-documents only; a loop, a condition, or a group is one step.
func Steps(script string) []Step {
	var p stepParser
	p.parse(tokensOf(script))
	return p.steps[:min(len(p.steps), maxSteps)]
}

// CommandLine returns steps in one line, as they were written, with the operators between them.
func CommandLine(steps []Step) string {
	var b strings.Builder
	for i := range steps {
		s := &steps[i]
		switch {
		case i == 0:
		case s.Before == "&&" || s.Before == "||":
			b.WriteString(" " + s.Before + " ")
		case s.Before == "&":
			b.WriteString(" & ")
		default:
			b.WriteString("; ")
		}
		b.WriteString(s.Text)
	}
	if n := len(steps); n > 0 && steps[n-1].After == "&" {
		b.WriteString(" &")
	}
	return b.String()
}

// token is a word or a separator of a script.
type token struct {
	raw  string // as written
	word string // without quotes
	here string // first line of the here-document that it begins
	from int    // where the text of this document begins, and where it ends
	to   int
	ends bool // it is an operator or the end of a line
}

// lexer splits a script into tokens.
type lexer struct {
	script  string
	at      int
	tokens  []token
	pending []int // tokens of here-documents that begin after this line
	open    int   // subshells
}

func tokensOf(script string) []token {
	l := lexer{script: script[:min(len(script), maxScript)]}
	for l.at < len(l.script) {
		rest := l.script[l.at:]
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\r':
			l.at++
		case strings.HasPrefix(rest, "\\\n"):
			l.at += 2
		case c == '#':
			l.at += strings.IndexByte(rest+"\n", '\n')
		case c == '\n':
			l.add(1, true)
			l.hereDocuments()
		case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"), strings.HasPrefix(rest, "|&"):
			l.add(2, true)
		case c == ';', c == '|', c == '&' && !strings.HasPrefix(rest, "&>"):
			l.add(1, true)
		case c == '(':
			l.open++
			l.add(1, false)
		case c == ')' && l.open > 0:
			l.open--
			l.add(1, false)
		default:
			l.word(rest)
		}
	}
	return l.tokens
}

// add adds the next n bytes as a token.
func (l *lexer) add(n int, ends bool) {
	raw := l.script[l.at : l.at+n]
	l.tokens = append(l.tokens, token{raw: raw, word: raw, ends: ends})
	l.at += n
}

// word adds the word at the beginning of rest.
func (l *lexer) word(rest string) {
	var word strings.Builder
	mark := "" // delimiter of a here-document
	i := 0
	for i < len(rest) {
		c, n := rest[i], 1
		switch {
		case strings.IndexByte(" \t\r\n;|", c) >= 0, c == ')' && l.open > 0, strings.HasPrefix(rest[i:], "\\\n"),
			c == '&' && !strings.HasSuffix(rest[:i], ">") && !strings.HasPrefix(rest[i:], "&>"):
			n = 0
		case c == '\'' || c == '"':
			n = quotedLen(rest[i:])
			word.WriteString(strings.Trim(rest[i:i+n], string(c)))
		case c == '\\' && i+1 < len(rest):
			n = 2
			word.WriteString(rest[i+strings.Count(" '\"\\$", rest[i+1:i+2]) : i+2])
		case c == '`':
			n = quotedLen(rest[i:])
			word.WriteString(rest[i : i+n])
		case c == '(' || c == '{' && strings.HasSuffix(rest[:i], "$"):
			n = bracketLen(rest[i:])
			word.WriteString(rest[i : i+n])
		case strings.HasPrefix(rest[i:], "<<") && !strings.HasPrefix(rest[i:], "<<<") && !strings.HasSuffix(rest[:i], "<"):
			delimiter := strings.TrimLeft(strings.TrimPrefix(rest[i+2:], "-"), " \t")
			end := strings.IndexAny(delimiter+"\n", " \t\n;|&<>)")
			mark = strings.Trim(delimiter[:end], `'"\`)
			n = len(rest) - i - len(delimiter) + end
			word.WriteString(rest[i : i+n])
		default:
			word.WriteByte(c)
		}
		if i += n; n == 0 {
			break
		}
	}
	if mark != "" {
		l.pending = append(l.pending, len(l.tokens))
	}
	l.tokens = append(l.tokens, token{raw: rest[:i], word: word.String(), here: mark})
	l.at += max(i, 1)
}

// quotedLen returns the length of the quoted text at the beginning of s.
func quotedLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] == '"':
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return len(s)
}

// bracketLen returns the length of the text in brackets at the beginning of s.
func bracketLen(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\'', '"':
			i += quotedLen(s[i:]) - 1
		case '(', '{':
			depth++
		case ')', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// hereDocuments reads the here-documents of the line that ended, and keeps the first line of each.
func (l *lexer) hereDocuments() {
	for _, i := range l.pending {
		t := &l.tokens[i]
		lines, first, mark := 0, "", t.here
		t.from, t.to = l.at, l.at
		for l.at < len(l.script) {
			line, _, _ := strings.Cut(l.script[l.at:], "\n")
			l.at = min(len(l.script), l.at+len(line)+1)
			if strings.TrimSpace(line) == mark {
				break
			}
			t.to = l.at
			if lines++; first == "" {
				first = strings.Join(strings.Fields(line), " ")
			}
		}
		t.here = " " + compress.Clip(first, hereDocText)
		if lines > 1 && !strings.HasSuffix(t.here, "…") {
			t.here += " …"
		}
	}
	l.pending = nil
}

// Words of the shell.
var (
	openWords  = compress.WordSet("for while until if case select {")
	closeWords = compress.WordSet("done fi esac }")
	groupWords = compress.WordSet("while until if elif do then else done fi esac time { } ( ) !") // a command follows
	loopWords  = compress.WordSet("for select case")                                              // no command follows
)

// stepParser collects the steps of tokens.
type stepParser struct {
	dir   string
	line  int
	steps []Step
}

func (p *stepParser) parse(tokens []token) {
	from, depth, start, before := 0, 0, true, ""
	for i, t := range append(tokens, token{raw: "\n", ends: true}) {
		switch {
		case t.ends && i == len(tokens), t.ends && depth == 0 && t.raw[0] != '|', t.raw == "||" && depth == 0:
			if joins := before == "&&" || before == "||"; i == from && t.raw == "\n" && joins {
				from = i + 1
				continue // the line goes on
			}
			after := strings.TrimSpace(t.raw)
			p.step(tokens[from:i], before, after)
			if before = after; after != "&&" && after != "||" {
				p.line++
			}
			from, depth, start = i+1, 0, true
		case t.ends:
			start = true
		case t.raw == "(", start && openWords[t.raw]:
			depth++
			start = groupWords[t.raw]
		case t.raw == ")", start && closeWords[t.raw]:
			depth = max(0, depth-1)
			start = false
		default:
			start = start && groupWords[t.raw]
		}
	}
}

// step appends a pipeline, or the steps of a script within it.
func (p *stepParser) step(tokens []token, before, after string) {
	if n := len(tokens); n > 1 && tokens[0].raw == "(" && tokens[n-1].raw == ")" {
		p.nested(tokens[1 : n-1])
		return
	}
	s := Step{Before: before, After: after, Dir: p.dir, Line: p.line, Commands: commandsOf(tokens)}
	if len(s.Commands) == 0 {
		return
	}
	s.Group = openWords[tokens[0].raw]
	if inner := ShellScript(s.Commands[0]); inner != "" && len(s.Commands) == 1 && !s.Group {
		p.nested(tokensOf(inner))
		return
	}
	s.Text = textOfTokens(tokens)
	s.Head = s.Text
	if pipe := slices.IndexFunc(tokens, func(t token) bool { return t.ends && t.raw[0] == '|' }); pipe >= 0 {
		s.Head = textOfTokens(tokens[:pipe])
	}
	s.Inline = slices.ContainsFunc(tokens, func(t token) bool { return t.here != "" })
	p.steps = append(p.steps, s)
	if first := s.Commands[0]; !s.Group && (first[0] == "cd" || first[0] == "pushd") {
		p.dir = joinDir(p.dir, first[1:])
	}
}

// nested appends the steps of a script within the script. They belong to the command line that runs
// it, and their directory does not outlast it.
func (p *stepParser) nested(tokens []token) {
	inner := stepParser{dir: p.dir}
	inner.parse(tokens)
	for _, s := range inner.steps {
		s.Line = p.line
		p.steps = append(p.steps, s)
	}
}

// textOfTokens returns tokens as one line.
func textOfTokens(tokens []token) string {
	var b strings.Builder
	here, ends := "", true
	for _, t := range tokens {
		raw := t.raw
		if raw == "\n" {
			if ends {
				continue
			}
			raw = ";"
		}
		if b.Len() > 0 && raw != ";" {
			b.WriteByte(' ')
		}
		b.WriteString(raw)
		here += t.here
		ends = t.ends || groupWords[raw]
	}
	return strings.Join(strings.Fields(b.String()), " ") + here
}

// commandsOf returns the words of the commands among tokens.
func commandsOf(tokens []token) (commands [][]string) {
	var words []string
	end := func() {
		for len(words) > 0 && isAssignment(words[0]) {
			words = words[1:]
		}
		if len(words) > 0 && !loopWords[words[0]] {
			words = Unwrapped(words)
			words[0] = words[0][strings.LastIndexByte(words[0], '/')+1:]
			commands = append(commands, words)
		}
		words = nil
	}
	for _, t := range tokens {
		switch {
		case t.ends:
			end()
		case len(words) > 0 || !groupWords[t.raw]:
			words = append(words, t.word)
		}
	}
	end()
	return commands
}

// joinDir returns the directory after a cd with these operands.
func joinDir(dir string, operands []string) string {
	if len(operands) != 1 || strings.ContainsAny(operands[0], "$`*?") || operands[0] == "-" {
		return UnknownDir
	}
	switch to := operands[0]; {
	case strings.HasPrefix(to, "/"), strings.HasPrefix(to, "~"):
		return path.Clean(to)
	case dir == UnknownDir:
		return dir
	default:
		return path.Join(dir, to)
	}
}

// isAssignment reports whether a word sets a variable: NAME=value.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.IndexFunc(name, func(c rune) bool { return c != '_' && !isAlphanumeric(c) }) < 0
}

func isAlphanumeric(c rune) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }
