package toolcall

import (
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// replacers are the programs that, given a directory or a pattern, change or remove every file in it.
var replacers = compress.WordSet(`rm mv truncate shred rename sed perl Remove-Item Move-Item Rename-Item del git-mv git-rm
	git-checkout git-restore`)

// TreeUses returns the directories and patterns whose files a script may replace, move, or remove, each
// with its command line. The path of the whole working tree is "." or ends with "/.".
func TreeUses(tool, arguments string) (list []FileUse) {
	script, ok := Script(tool, arguments)
	if !ok {
		return nil
	}
	steps := Steps(script)
	for i := range steps {
		s := &steps[i]
		line := CommandLine(slices.DeleteFunc(slices.Clone(steps), func(other Step) bool { return other.Line != s.Line }))
		for _, words := range s.Commands {
			for _, p := range treesOf(words) {
				isTree := p == "."
				if path.IsAbs(s.Dir) && !path.IsAbs(p) && !strings.HasPrefix(p, "~") {
					p = path.Join(s.Dir, p)
				}
				if p = path.Clean(p); isTree && p != "." {
					p += "/."
				}
				if len(list) < maxScriptFiles {
					list = append(list, FileUse{Path: p, Act: Changes, Size: -1, Line: line})
				}
			}
		}
	}
	return list
}

// treesOf returns the operands of a command that may be directories or patterns.
func treesOf(words []string) (list []string) {
	program, operands := words[0], words[1:]
	if program == "git" && len(words) > 1 {
		if changesTree(words[1], words[2:]) {
			return []string{"."}
		}
		program, operands = "git-"+words[1], words[2:]
	}
	isStream := program == "sed" || program == "perl"
	if !replacers[program] || isStream && actOf(words) != Changes {
		return nil
	}
	for _, w := range operands {
		if w != "" && !strings.HasPrefix(w, "-") && !strings.ContainsAny(w, "$`{}=<>|\n ") {
			list = append(list, w)
		}
	}
	return list
}

// changesTree reports whether a command of git may change any file of the working tree.
func changesTree(command string, words []string) bool {
	has := func(options ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(options, w) })
	}
	switch command {
	case "reset":
		return has("--hard", "--merge", "--keep")
	case "stash":
		return !has("list", "show", "drop")
	case "checkout", "restore", "switch":
		return !has("-b", "-B", "-c", "-C", "--staged") && (has(".") || !has("--") && !slices.ContainsFunc(words, isPath))
	case "clean", "revert":
		return true
	}
	return false
}
