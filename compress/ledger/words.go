package ledger

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// unknown stands in a word for what is known only when the script runs.
const unknown = "\x00"

// maxFields is how many words one word may become.
const maxFields = 64

// arg is a word of a command after expansion.
type arg struct {
	text string // of a pattern its source, in which a backslash quotes
	glob bool
}

// plain reports whether the text is what the command gets.
func (a arg) plain() bool { return !a.glob && !strings.Contains(a.text, unknown) }

// fields returns the words that a word of a script becomes.
func (r *run) fields(word *syntax.Word) (out []arg) {
	if word == nil {
		return nil
	}
	r.substitutions(word)
	if braced := *word; syntax.SplitBraces(&braced) {
		for w, err := range expand.BracesSeq(nil, &braced) {
			if err != nil || len(out) == maxFields {
				return []arg{{text: unknown}}
			}
			out = append(out, r.field(w))
		}
		return out
	}
	return []arg{r.field(word)}
}

// field returns what a word without braces becomes.
func (r *run) field(word *syntax.Word) arg {
	var b, pattern strings.Builder
	glob := false
	for i, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			v := p.Value
			if i == 0 && strings.HasPrefix(v, "~") {
				if v != "~" && !strings.HasPrefix(v, "~/") || v == "~" && len(word.Parts) > 1 {
					return arg{text: unknown}
				}
			}
			b.WriteString(unescaped(v))
			pattern.WriteString(v)
			glob = glob || hasMeta(v)
		case *syntax.ExtGlob:
			b.WriteString(unknown)
			pattern.WriteString(unknown)
		default:
			text := r.part(p, false)
			if i == 0 && strings.HasPrefix(text, "~") {
				return arg{text: unknown}
			}
			b.WriteString(text)
			pattern.WriteString(quoteMeta(text))
		}
	}
	if glob {
		return arg{pattern.String(), true}
	}
	return arg{text: b.String()}
}

// part returns the text of a part of a word; [unknown] for one that is known only when it runs.
func (r *run) part(p syntax.WordPart, quoted bool) string {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			return unescapedIn(p.Value, "$`\"\\\n")
		}
		return unescaped(p.Value)
	case *syntax.SglQuoted:
		if p.Dollar && strings.Contains(p.Value, `\`) {
			return unknown
		}
		return p.Value
	case *syntax.DblQuoted:
		var b strings.Builder
		for _, inner := range p.Parts {
			b.WriteString(r.part(inner, true))
		}
		return b.String()
	case *syntax.ParamExp:
		return r.parameter(p, quoted)
	case *syntax.CmdSubst:
		if printsDir(p) && r.dir.known && rooted(r.dir.path) && (quoted || !splits(r.dir.path)) {
			return r.dir.path
		}
	}
	return unknown
}

// parameter returns the value of ${name}; [unknown] for one that is not known, or becomes several words.
func (r *run) parameter(p *syntax.ParamExp, quoted bool) string {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil || p.Names != 0 {
		return unknown
	}
	v, ok := r.variable(p.Param.Value)
	if !ok || !quoted && (r.oddWords || splits(v)) {
		return unknown
	}
	return v
}

// splits reports whether a value does not stay one word where it is not quoted.
func splits(v string) bool { return v == "" || strings.ContainsAny(v, " \t\n*?[\\") }

// printsDir reports whether a substitution is $(pwd).
func printsDir(p *syntax.CmdSubst) bool {
	if len(p.Stmts) != 1 || len(p.Stmts[0].Redirs) > 0 {
		return false
	}
	c, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) == 1 && c.Args[0].Lit() == "pwd"
}

// variable returns the value of a variable that the script has set.
func (r *run) variable(name string) (string, bool) {
	if name == "PWD" && r.dir.known && rooted(r.dir.path) {
		return r.dir.path, true
	}
	v, ok := r.vars[name]
	return v, ok && !strings.Contains(v, unknown)
}

// substitutions runs the scripts in a word.
func (r *run) substitutions(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.inner(n.Stmts, io{hidden: r.io.hidden, out: toPipe})
			return false
		case *syntax.ProcSubst:
			r.unsurely(func() { r.inner(n.Stmts, io{hidden: true, out: toPipe}) })
			return false
		}
		return true
	})
}

// literal returns the text of a here-document; ok is false if it is known only when the script runs.
func (r *run) literal(redir *syntax.Redirect) (string, bool) {
	if redir.Hdoc == nil {
		return "", redir.Hdoc == nil
	}
	quoted := slices.ContainsFunc(redir.Word.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return !ok || strings.Contains(lit.Value, `\`)
	})
	var b strings.Builder
	for _, p := range redir.Hdoc.Parts {
		switch lit, ok := p.(*syntax.Lit); {
		case ok && quoted:
			b.WriteString(lit.Value)
		case ok:
			b.WriteString(unescapedIn(lit.Value, "$`\\"))
		default:
			r.substitutions(p)
			b.WriteString(r.part(p, true))
		}
	}
	text := b.String()
	if redir.Op == syntax.DashHdoc {
		lines := strings.SplitAfter(text, "\n")
		for i, l := range lines {
			lines[i] = strings.TrimLeft(l, "\t")
		}
		text = strings.Join(lines, "")
	}
	return text, !strings.Contains(text, unknown)
}

// unescaped returns a word without the backslashes that quote.
func unescaped(s string) string { return unescapedIn(s, "") }

// unescapedIn removes the backslashes before the characters of set; of all if it is empty. A backslash
// removes a newline, too.
func unescapedIn(s, set string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (set == "" || strings.IndexByte(set, s[i+1]) >= 0 || s[i+1] == '\n') {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// hasMeta reports whether a word has a character of patterns that is not quoted.
func hasMeta(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// quoteMeta returns a text as a pattern that matches it alone.
func quoteMeta(s string) string {
	if !strings.ContainsAny(s, `*?[\`) {
		return s
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(s)
}

// cwd is a directory that a shell is in.
type cwd struct {
	path  string // "" where the session began
	known bool
}

// resolve returns the path that a word names.
func (r *run) resolve(text string) string {
	if rooted(text) {
		return clean(text)
	}
	return r.canonical(path.Join(r.dir.path, text))
}

// matcher returns what matches the paths that a word may name; exact is false if it matches others, too.
func (r *run) matcher(a arg) (re *regexp.Regexp, exact bool) {
	text := a.text
	if !a.glob {
		text = quoteMeta(text)
	}
	head := "^"
	exact = a.glob && !strings.Contains(text, unknown) && !r.oddWords
	switch {
	case strings.HasPrefix(text, unknown):
	case rooted(text):
	case r.dir.known:
		text = quoteMeta(r.canonical(r.dir.path)) + "/" + text
		if strings.HasPrefix(text, "/") && r.canonical(r.dir.path) == "" {
			text = text[1:]
		}
	default:
		head, exact = "^(?:.*/)?", false
	}
	source, plain := translate(path.Clean(text))
	re, err := regexp.Compile(head + source + "$")
	if err != nil {
		return regexp.MustCompile(""), false
	}
	return re, exact && plain && !strings.Contains(text, "..")
}

// translate returns a pattern as a regular expression; plain is false if that matches more.
func translate(pattern string) (re string, plain bool) {
	var b strings.Builder
	plain = true
	for i, start := 0, true; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == 0:
			b.WriteString(".*")
		case c == '*' && start:
			b.WriteString("(?:[^/.][^/]*)?")
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?' && start:
			b.WriteString("[^/.]")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[':
			end := strings.IndexByte(pattern[i+1:], ']')
			if end < 1 {
				b.WriteString(".*")
				return b.String(), false
			}
			b.WriteString("[^/]")
			plain = false
			i += end + 1
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		case c >= 0x80:
			b.WriteByte(c)
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
		start = c == '/'
	}
	return b.String(), plain
}
