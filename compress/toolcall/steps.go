package toolcall

import (
	"path"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// Step is one pipeline of a shell script.
type Step struct {
	Text     string     // as written, with single blanks; of a here-document only the first line
	Head     string     // Text up to its first pipe
	Before   string     // the operator before it on its command line: "", "&&", "||", ";", or "&"
	After    string     // the operator behind it: likewise, "" at the end of a line
	Dir      string     // working directory, by the cd commands before it; see [UnknownDir]
	Line     int        // number of its command line: steps that && or || join have the same one
	Commands [][]string // words of its commands, without quotes, assignments, and wrappers
	Group    bool       // it is a loop, a condition, or a group; Commands are those within
	Inline   bool       // it contains a here-document
	Body     string     // text of its here-documents
}

// UnknownDir is the directory after a cd whose target is known only when it runs. The directory in
// which a script begins is "".
const UnknownDir = "?"

// Bounds of [Steps].
const (
	maxScript   = 64 << 10 // bytes
	maxSteps    = 64
	hereDocText = 80 // bytes of the first line of a here-document
)

// Steps splits a shell script into its pipelines. It only looks at separators, quotes, and
// here-documents; a loop, a condition, or a group is one step.
func Steps(script string) []Step {
	if len(script) > maxScript {
		script = script[:maxScript]
	}
	r := stepReader{script: script, start: true}
	r.read()
	return r.steps
}

// stepReader reads a script once from its first byte to its last.
type stepReader struct {
	script string
	at     int

	text  strings.Builder // of the current step
	here  string          // first lines of its here-documents
	body  string          // text of its here-documents
	owner int             // 1 + the step that the next here-documents belong to; 0: the current one
	flat  bool            // the steps within a group are read
	dir   string
	line  int
	op    string   // the operator before the current step
	depth int      // open brackets, loops, and conditions
	start bool     // a command begins here
	ends  []string // delimiters of the here-documents that begin after this line
	steps []Step
}

func (r *stepReader) read() {
	for r.at < len(r.script) && len(r.steps) < maxSteps {
		c, rest := r.script[r.at], r.script[r.at:]
		switch {
		case c == '\'' || c == '"' || c == '`':
			r.write(rest[:quotedLen(rest)])
		case c == '#' && r.atWord():
			r.at += strings.IndexByte(rest+"\n", '\n')
		case c == '\n':
			r.at++
			r.newline()
		case r.operator(c, rest):
		case r.start && c >= 'a' && c <= 'z':
			r.keyword(rest)
		default:
			r.write(rest[:1])
			r.start = r.start && (c == ' ' || c == '\t') || c == '|'
		}
	}
	r.flush("", r.line)
}

// operator reads an operator, a bracket, or a backslash; it reports false if there is none.
func (r *stepReader) operator(c byte, rest string) bool {
	switch {
	case c == '\\' && len(rest) > 1:
		if rest[1] == '\n' {
			rest = "  "
		}
		r.write(rest[:2])
	case strings.HasPrefix(rest, "<<<"):
		r.write("<<<")
	case strings.HasPrefix(rest, "<<"):
		r.hereDoc(rest)
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"):
		r.separate(rest[:2], r.line)
	case c == ';' || c == '&' && !strings.HasPrefix(rest, "&>") && !strings.HasSuffix(r.text.String(), ">"):
		r.separate(rest[:1], r.line+1)
	case c == '(' || c == '{':
		r.depth++
		r.write(rest[:1])
		r.start = true
	case (c == ')' || c == '}') && r.depth > 0:
		r.depth--
		r.write(rest[:1])
	default:
		return false
	}
	return true
}

// write appends text to the step and moves on by its length.
func (r *stepReader) write(text string) {
	r.text.WriteString(text)
	r.at += len(text)
	r.start = r.start && strings.TrimSpace(text) == ""
}

// atWord reports whether a word begins here.
func (r *stepReader) atWord() bool {
	return r.at == 0 || strings.IndexByte(" \t\n;", r.script[r.at-1]) >= 0
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

// hereDoc reads an operator << and its delimiter.
func (r *stepReader) hereDoc(rest string) {
	n := len(rest) - len(strings.TrimLeft(strings.TrimPrefix(rest[2:], "-"), " \t"))
	end := n
	for end < len(rest) && strings.IndexByte(" \t\n;|&<>)", rest[end]) < 0 {
		end++
	}
	if mark := strings.Trim(rest[n:end], `'"\`); mark != "" {
		r.ends = append(r.ends, mark)
	}
	r.write(rest[:end])
}

// newline ends a line of the script; the bodies of its here-documents follow.
func (r *stepReader) newline() {
	for _, end := range r.ends {
		r.hereText(end)
	}
	r.ends, r.owner = nil, 0
	if r.depth == 0 {
		r.flush("", r.line+1)
		return
	}
	text := strings.TrimSpace(r.text.String())
	if text != "" && !endsWithAny(text, ";", "do", "then", "else", "{", "(", "&&", "||", "|") {
		r.text.WriteByte(';')
	}
	r.text.WriteByte(' ')
	r.start = true
}

func endsWithAny(text string, ends ...string) bool {
	for _, end := range ends {
		if strings.HasSuffix(text, end) {
			return true
		}
	}
	return false
}

// hereText reads the lines of a here-document.
func (r *stepReader) hereText(end string) {
	from, lines, first := r.at, 0, ""
	for r.at < len(r.script) {
		line, _, _ := strings.Cut(r.script[r.at:], "\n")
		if strings.TrimSpace(line) == end {
			break
		}
		r.at = min(len(r.script), r.at+len(line)+1)
		if lines++; first == "" {
			first = strings.TrimSpace(line)
		}
	}
	body := r.script[from:r.at]
	r.at = min(len(r.script), r.at+len(end)+1)

	short := " " + compress.Clip(strings.Join(strings.Fields(first), " "), hereDocText)
	if lines > 1 && !strings.HasSuffix(short, "…") {
		short += " …"
	}
	if r.owner > 0 && r.owner <= len(r.steps) {
		owner := &r.steps[r.owner-1]
		owner.Text, owner.Body = owner.Text+short, owner.Body+body
		return
	}
	r.here += short
	r.body += body
}

// separate ends a step at an operator; next is the number of the next command line.
func (r *stepReader) separate(operator string, next int) {
	if r.depth > 0 {
		r.write(operator)
		r.start = true
		return
	}
	r.at += len(operator)
	r.flush(operator, next)
}

// keyword reads a word at the beginning of a command.
func (r *stepReader) keyword(rest string) {
	n := 0
	for n < len(rest) && strings.IndexByte(" \t\n;|&<>()'\"\\$`", rest[n]) < 0 {
		n++
	}
	word := rest[:n]
	if r.flat && groupWords[word] {
		r.at += n
		return
	}
	r.write(word)
	switch word {
	case "for", "while", "until", "if", "case", "select":
		if !r.flat {
			r.depth++
		}
	case "done", "fi", "esac":
		r.depth = max(0, r.depth-1)
	case "do", "then", "else", "elif", "time":
		r.start = true
	}
}

// groupWords are words of loops and conditions before their commands.
var groupWords = compress.WordSet("while until if elif do then else done fi esac time")

// flush appends the step that was read; op is the operator behind it, next the number of the next
// command line.
func (r *stepReader) flush(op string, next int) {
	text := strings.Join(strings.Fields(r.text.String()), " ")
	step := Step{Text: text + r.here, Dir: r.dir, Line: r.line, Before: r.op, After: op, Inline: r.body != "" || len(r.ends) > 0, Body: r.body}
	r.text.Reset()
	r.here, r.body = "", ""
	r.line, r.start = next, true
	if text == "" {
		return
	}
	r.op = op

	if inner, ok := strings.CutPrefix(text, "("); ok && strings.HasSuffix(inner, ")") {
		r.nested(inner[:len(inner)-1], step.Line)
		return
	}
	step.Head, step.Commands = commandsOf(text)
	if len(step.Commands) == 0 {
		return
	}
	first := step.Commands[0]
	if inner := ShellScript(first); inner != "" && len(step.Commands) == 1 {
		r.nested(inner, step.Line)
		return
	}
	if groups[first[0]] {
		if r.flat {
			return
		}
		step.Group, step.Commands = true, commandsWithin(text)
		if len(step.Commands) == 0 {
			return
		}
	}

	r.steps = append(r.steps, step)
	if len(r.ends) > 0 && r.owner == 0 {
		r.owner = len(r.steps)
	}
	if first[0] == "cd" || first[0] == "pushd" {
		r.dir = joinDir(r.dir, first[1:])
	}
}

// groups are words that begin a loop, a condition, or a group.
var groups = compress.WordSet("for while until if case select {")

// commandsWithin returns the words of all commands in a group.
func commandsWithin(text string) (commands [][]string) {
	inner := stepReader{script: strings.Trim(text, "{}"), flat: true, start: true}
	inner.read()
	for _, s := range inner.steps {
		commands = append(commands, s.Commands...)
	}
	return commands
}

// nested appends the steps of a script within the script. They belong to the command line that runs
// it, and their directory does not outlast it.
func (r *stepReader) nested(script string, line int) {
	inner := stepReader{script: script, dir: r.dir, start: true}
	inner.read()
	for _, s := range inner.steps {
		s.Line = line
		r.steps = append(r.steps, s)
	}
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

// commandsOf returns the words of the commands in a pipeline, and its text up to the first pipe.
func commandsOf(text string) (head string, commands [][]string) {
	whole := text
	head = text
	var words []string
	end := func() {
		for len(words) > 0 && isAssignment(words[0]) {
			words = words[1:]
		}
		if len(words) > 0 {
			words = Unwrapped(words)
			words[0] = words[0][strings.LastIndexByte(words[0], '/')+1:]
			commands = append(commands, words)
		}
		words = nil
	}
	for text = strings.TrimLeft(text, " !"); text != ""; text = strings.TrimLeft(text, " ") {
		if text[0] == '|' {
			if end(); head == whole {
				head = strings.TrimSpace(whole[:len(whole)-len(text)])
			}
			text = strings.TrimLeft(text, "|&")
			continue
		}
		var word string
		word, text = cutWord(text)
		words = append(words, word)
	}
	end()
	return head, commands
}

// cutWord cuts the first word off a text, without its quotes.
func cutWord(text string) (word, rest string) {
	var b strings.Builder
	i := 0
	for i < len(text) && text[i] != ' ' && (text[i] != '|' || i == 0) {
		switch c := text[i]; {
		case c == '\'' || c == '"':
			n := quotedLen(text[i:])
			b.WriteString(strings.Trim(text[i:i+n], string(c)))
			i += n
		case c == '\\' && i+1 < len(text) && strings.IndexByte(` '"\$`, text[i+1]) >= 0:
			b.WriteByte(text[i+1])
			i += 2
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), text[i:]
}

// isAssignment reports whether a word sets a variable: NAME=value.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == ""
}
