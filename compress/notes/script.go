package notes

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ctxfs/ctxfs/compress/toolcall"
)

// Bounds of [Commands].
const (
	scriptRead  = 16 << 10 // bytes of a script; a longer one is cut at a line
	maxCommands = 64
	scriptDepth = 3 // scripts in scripts: bash -c '…'
)

// Command is a simple command of a shell script.
type Command struct {
	Words []string // the program without its directory, and its arguments, without quotes; "" stands for what is known only when it runs

	Decides bool // the exit status of the script may be this one's
	Spared  bool // whether it succeeded does not show: it stands before "||", in a condition or in the background, or its output goes into another
}

// Commands returns the simple commands that a script in the language of bash runs, in their
// order, without wrappers such as sudo, timeout and bash -c, and without those of functions. For
// a text that is no shell script it returns the commands up to where that shows, or nothing.
func Commands(script string) []Command {
	return commandsIn(script, scriptDepth)
}

func commandsIn(script string, depth int) []Command {
	if len(script) > scriptRead {
		script = script[:scriptRead]
		if i := strings.LastIndexByte(script, '\n'); i > 0 {
			script = script[:i]
		}
	}
	w := scriptWalk{depth: depth}
	var stmts []*syntax.Stmt
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(strings.ToValidUTF8(script, ""))) {
		if err != nil || len(stmts) == maxCommands {
			break
		}
		stmts = append(stmts, s)
	}
	w.stmts(stmts, true, false)
	return w.out
}

// scriptWalk goes through statements in their order.
type scriptWalk struct {
	out   []Command
	depth int
}

func (w *scriptWalk) stmts(list []*syntax.Stmt, decides, spared bool) {
	for i, s := range list {
		w.stmt(s, decides && i == len(list)-1, spared)
	}
}

func (w *scriptWalk) stmt(s *syntax.Stmt, decides, spared bool) {
	if s == nil || len(w.out) >= maxCommands {
		return
	}
	if s.Background || s.Coprocess || s.Negated {
		decides, spared = decides && s.Negated, true
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		w.call(c, decides, spared)
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.AndStmt:
			w.stmt(c.X, decides, spared)
			w.stmt(c.Y, decides, spared)
		case syntax.OrStmt:
			w.stmt(c.X, false, true)
			w.stmt(c.Y, decides, true)
		default:
			w.stmt(c.X, false, spared)
			w.stmt(c.Y, decides, spared)
		}
	case *syntax.Block:
		w.stmts(c.Stmts, decides, spared)
	case *syntax.Subshell:
		w.stmts(c.Stmts, decides, spared)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			w.stmts(c.Cond, false, true)
			w.stmts(c.Then, decides, true)
		}
	case *syntax.WhileClause:
		w.stmts(c.Cond, false, true)
		w.stmts(c.Do, decides, spared)
	case *syntax.ForClause:
		w.stmts(c.Do, decides, spared)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			w.stmts(item.Stmts, decides, true)
		}
	case *syntax.TimeClause:
		w.stmt(c.Stmt, decides, spared)
	}
}

func (w *scriptWalk) call(c *syntax.CallExpr, decides, spared bool) {
	words := make([]string, 0, len(c.Args))
	for _, a := range c.Args {
		text, _ := wordText(a.Parts)
		words = append(words, text)
	}
	if words = toolcall.Unwrapped(words); len(words) == 0 || words[0] == "" {
		return
	}
	words[0] = words[0][strings.LastIndexByte(words[0], '/')+1:]
	if inner := toolcall.ShellScript(words); inner != "" && w.depth > 0 {
		for _, c := range commandsIn(inner, w.depth-1) {
			if len(w.out) < maxCommands {
				c.Decides, c.Spared = c.Decides && decides, c.Spared || spared
				w.out = append(w.out, c)
			}
		}
		return
	}
	w.out = append(w.out, Command{words, decides, spared})
}

// wordText returns the text of a word. ok is false if a part of it is known only when it runs;
// the text is then "".
func wordText(parts []syntax.WordPart) (text string, ok bool) {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped(p.Value))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			inner, ok := wordText(p.Parts)
			if !ok {
				return "", false
			}
			b.WriteString(inner)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescaped returns a word without the backslashes that quote.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
