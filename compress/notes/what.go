package notes

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// maxNamed is how many commands of a script are named.
const maxNamed = 3

// filing are commands that only put files in their places, or show them to somebody.
var filing = compress.WordSet("cp mv rm rmdir ln chown kill pkill killall code open xdg-open create edit insert submit goto scroll_up scroll_down set_cursors search_file search_dir find_file file")

// recording are commands that only write down what is there, unless they fail for reasons of their own.
var recording = []string{"git add", "git status", "git diff", "git log", "git show", "git branch", "git config", "git init", "git remote", "git fetch"}

// What returns what a script is for, in words that stay the same when it is run again: the program with its
// subcommand, what it works on and which of that alone, without wrappers, directories and options; "" of a
// call that runs no script, or one that only shows what is there or prepares something else.
func (d Action) What() string {
	if d.reads {
		return ""
	}
	var names []string
	for _, a := range d.acts {
		if strings.HasPrefix(a.name, "\x00") || preparing[a.name] || filing[a.name] || slices.Contains(recording, a.name) {
			continue
		}
		name := a.name
		for _, t := range a.targets {
			if makers[programOf(name)] && t == "default" {
				continue
			}
			if name += " " + t; len(name) > 120 {
				break
			}
		}
		if a.narrow != "" {
			name += " [" + a.narrow + "]"
		}
		if !slices.Contains(names, name) && len(names) < maxNamed {
			names = append(names, name)
		}
	}
	return strings.Join(names, " && ")
}

// Checks reports whether a script builds, lints or tests something.
func (d Action) Checks() bool {
	return slices.ContainsFunc(d.acts, func(a act) bool { return a.kind != actOther })
}

// Shown reports whether the exit status of the script is that of what it is for, and not that of a filter behind
// it, or of what comes after it.
func (d Action) Shown() bool {
	return slices.ContainsFunc(d.acts, func(a act) bool { return !a.spared && a.decides || strings.HasPrefix(a.name, "\x00") })
}
