package files

import (
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
)

// Bounds of a command line.
const (
	maxCommand = 160 // bytes of a command line in the prompt
	maxBefore  = 60  // bytes of each command that decides whether the named command runs
	maxPaths   = 12  // paths per script
)

// handlers lists the programs that create, change, move, or delete their operands. Commands of
// other programs name only the targets of their output redirections; the section runs reports
// their results.
var handlers = compress.WordSet(`cp mv rm rmdir ln chmod chown touch mkdir install truncate shred tee dd unzip tar zip gzip gunzip patch rename
	New-Item Remove-Item Copy-Item Move-Item Rename-Item Set-Content Add-Content Out-File del copy move ren`)

// replacers lists the handlers that, given a directory or a pattern, change every file in it.
var replacers = compress.WordSet(`rm mv truncate shred rename sed perl git Remove-Item Move-Item Rename-Item
	del move ren`)

// gitHandlers lists the subcommands of git that take files as operands.
var gitHandlers = compress.WordSet("mv rm checkout restore apply clean")

// mention is a path that a command line names.
type mention struct {
	path string
	dir  string // the directory that a relative path belongs to, as [toolcall.Step] has it
	text string // the command line, as written

	below bool // applies to all known files that the path contains or matches
	known bool // creates no entry; updates known files only
	tree  bool // applies to all known files of the working tree
}

// mentions returns the paths that the steps of a script name, each with its last command line.
func mentions(script string, succeeded bool) (list []mention) {
	steps := toolcall.Steps(script)
	for i := range steps {
		s := &steps[i]
		text := lineOf(steps, i, succeeded)
		for _, words := range s.Commands {
			for _, m := range pathsIn(words, s.Group) {
				m.dir, m.text = s.Dir, text
				list = slices.DeleteFunc(list, func(old mention) bool { return old.path == m.path && old.dir == m.dir })
				if len(list) < maxPaths {
					list = append(list, m)
				}
			}
		}
	}
	return list
}

// lineOf returns the text of steps[i] with the earlier commands of its line that decide where it
// runs (cd) or whether it runs (the left side of ||, and of && unless the script succeeded). The
// text is clipped to maxCommand bytes.
func lineOf(steps []toolcall.Step, i int, succeeded bool) string {
	text := steps[i].Text
	if steps[i].After == "&" {
		text += " &"
	}
	for k := i - 1; k >= 0 && steps[k].Line == steps[i].Line; k-- {
		switch operator := steps[k+1].Before; {
		case steps[k].Commands[0][0] == "cd":
			text = steps[k].Text + " && " + text
		case operator == "||" || operator == "&&" && !succeeded:
			text = compress.Clip(steps[k].Text, maxBefore) + " " + operator + " " + text
		}
	}
	return compress.Clip(text, maxCommand)
}

// pathsIn returns the paths among the words of a command: operands of handlers and targets of
// output redirections. If the command is part of a group, it may not have run, so its mentions
// update known files only.
func pathsIn(words []string, group bool) (list []mention) {
	if changesTree(words) {
		return []mention{{tree: true, known: true}}
	}
	handles := handlesFiles(words)
	script := words[0] == "sed" || words[0] == "perl" // the next operand is a program, not a file
	for i, word := range words[1:] {
		if script && !strings.HasPrefix(word, "-") {
			script = false
			continue
		}
		script = script || word == "-e" || word == "--expression"
		word, output := redirected(word, words[i])
		m := mention{path: path.Clean(word), below: replacers[words[0]], known: group || !isPath(word)}
		switch {
		case !handles && !output, strings.HasPrefix(word, "-"), strings.ContainsAny(word, "$`{}= "):
		case !m.known, m.below && (i > 0 || words[0] != "git"), group:
			list = append(list, m)
		}
	}
	return list
}

// handlesFiles reports whether a command changes its operands. sed and perl do only with -i.
func handlesFiles(words []string) bool {
	switch words[0] {
	case "git":
		return len(words) > 1 && gitHandlers[words[1]]
	case "sed", "perl":
		return slices.ContainsFunc(words, func(w string) bool {
			return strings.HasPrefix(w, "-i") || w == "-pi" || w == "--in-place"
		})
	}
	return handlers[words[0]]
}

// redirected strips a leading output redirection from a word. output is true if the word is the
// target of a redirection, either its own or a preceding word such as ">".
func redirected(word, before string) (target string, output bool) {
	for _, mark := range []string{">>", "1>", "&>", ">"} {
		if target, ok := strings.CutPrefix(word, mark); ok && target != "" {
			return target, true
		}
	}
	return word, before == ">" || before == ">>" || before == "&>"
}

// changesTree reports whether a git command may revert any file of the working tree.
func changesTree(words []string) bool {
	if words[0] != "git" || len(words) < 2 {
		return false
	}
	rest := words[2:]
	has := func(options ...string) bool {
		return slices.ContainsFunc(rest, func(w string) bool { return slices.Contains(options, w) })
	}
	switch words[1] {
	case "reset":
		return has("--hard", "--merge", "--keep")
	case "stash":
		return !has("list", "show", "drop")
	case "checkout", "restore", "switch":
		return !has("-b", "-B", "-c", "-C", "--staged") &&
			(has(".") || !has("--") && !slices.ContainsFunc(rest, isPath))
	case "clean", "revert":
		return true
	}
	return false
}

// isPath reports whether a word has a slash or an extension, and is nothing else that has one: an
// option, a URL, a pattern, a number, a version, or a host.
func isPath(word string) bool {
	if !isName(word) || strings.HasPrefix(word, "-") || strings.ContainsAny(word, "={}()[]!;&@%^,\\' :") || strings.HasPrefix(word, "/dev/") || strings.HasSuffix(word, "/") || strings.Contains(word, "...") {
		return false
	}
	base := path.Base(word)
	if strings.Trim(word, "0123456789./") == "" {
		return false
	}
	ext := strings.TrimPrefix(path.Ext(base), ".")
	if ext != "" && len(ext) <= 10 && isAlphanumeric(ext) && strings.Trim(ext, "0123456789") != "" {
		return !strings.HasPrefix(word, "s/")
	}
	return strings.Contains(word, "/") && !strings.HasPrefix(word, "s/") && (strings.HasPrefix(word, "/") || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") || strings.HasPrefix(word, "~/"))
}

func isAlphanumeric(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}
