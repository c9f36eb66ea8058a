package result

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
)

// preparing are commands that only prepare others.
var preparing = compress.WordSet("cd pushd export set source .")

// toolOf returns the plain name of the tool, and the first command of its script that prints
// something. The command of a shell tool without a script is its name; other tools have none.
func toolOf(about Hint) (tool, command string) {
	bare := compress.BareName(about.Tool)
	tool = strings.ReplaceAll(compress.PlainName(bare), " ", "")
	script, _ := toolcall.Script(bare, about.Args)
	kind := compress.KindOf(about.Tool)
	if kind == compress.CodeTool {
		script = ""
	}
	for _, step := range toolcall.Steps(script) {
		for _, words := range step.Commands {
			if !preparing[words[0]] {
				return tool, words[0]
			}
		}
	}
	if kind == compress.ShellTool {
		command = tool
	}
	return tool, command
}

// isSearchTool reports whether a tool of this plain name searches the web or a knowledge base.
func isSearchTool(tool string) bool {
	return anyOf([]string{"search", "google", "bing", "tavily"}, tool, strings.Contains)
}
