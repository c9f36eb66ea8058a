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
	maxCommand = 160 // bytes that a line shows
	maxPaths   = 12  // paths of one command line
)

// handlers are programs whose operands are files that they create, change, move, or delete. All others
// name only the files to which their output goes: what they do belongs to the section of runs.
var handlers = compress.WordSet(`cp mv rm rmdir ln chmod chown touch mkdir install truncate shred tee dd unzip tar zip gzip gunzip patch rename
	New-Item Remove-Item Copy-Item Move-Item Rename-Item Set-Content Add-Content Out-File del copy move ren`)

// gitHandlers lists the subcommands of git that take files as operands.
var gitHandlers = compress.WordSet("mv rm checkout restore apply clean")

// mention is a path that a command line names.
type mention struct {
	path string
	dir  string // the directory that a relative path belongs to, as [toolcall.Step] has it
	text string // the command line, as written
}

// mentions returns the paths that the steps of a script name, each with its last command line.
func mentions(script string) (list []mention) {
	steps := toolcall.Steps(script)
	for i := range steps {
		s := &steps[i]
		if s.Group {
			continue // it is not known which of its commands ran
		}
		text := s.Text
		for k := i - 1; k >= 0 && steps[k].Line == s.Line && steps[k].Commands[0][0] == "cd"; k-- {
			text = steps[k].Text + " && " + text
		}
		for _, words := range s.Commands {
			for _, p := range pathsIn(words) {
				list = slices.DeleteFunc(list, func(m mention) bool { return m.path == p && m.dir == s.Dir })
				if len(list) < maxPaths {
					list = append(list, mention{p, s.Dir, compress.Clip(text, maxCommand)})
				}
			}
		}
	}
	return list
}

// pathsIn returns the paths among the words of a command: operands of handlers, and targets of
// redirections of the output.
func pathsIn(words []string) (list []string) {
	handles := handlers[words[0]] || words[0] == "git" && len(words) > 1 && gitHandlers[words[1]] ||
		(words[0] == "sed" || words[0] == "perl") && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-i") || w == "-pi" || w == "--in-place" })
	for i, word := range words[1:] {
		output := words[i] == ">" || words[i] == ">>" || words[i] == "&>"
		for _, mark := range []string{">>", "1>", "&>", ">"} {
			if target, ok := strings.CutPrefix(word, mark); ok && target != "" {
				word, output = target, true
				break
			}
		}
		if (handles || output) && isPath(word) {
			list = append(list, path.Clean(word))
		}
	}
	return list
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
