package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Snippet is the paragraph that tells an agent of its own memory, for its
// system prompt. dir is the directory of its session, as the agent sees it.
// Paths below it are named relative to it, and exist.
func Snippet(dir string) string {
	var w strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	line("Your memory is files in %s:", dir)
	line("- messages.jsonl: all that was said. Only `>>` works, one JSON object a line: {\"role\",\"content\"}. Nothing in it is ever lost or changed.")
	line("- context/pack.md: your prompt. What it shortens or leaves out is whole in context/line/<n>; as text in context/line/<n>.txt.")
	line("- `cat 'context/search/<words>'` finds anything; \"quote\" paths.")
	line("- Yours to write: context/todo.md (- [ ] step), context/facts.jsonl ({\"id\",\"text\"}), context/decisions.jsonl ({\"id\",\"decision\"}). `>>` adds to what was found for you, `>` replaces it.")
	line("- A file in context/pinned/ is in every prompt, word for word: rules, and what must never be forgotten.")
	if home, ok := homeOf(dir); ok {
		if fi, err := os.Stat(filepath.Join(home, "memory")); err == nil && fi.IsDir() {
			line("- ../../memory/: your notes for all sessions.")
		}
		line("- `cat '../../search/<words>'` finds it in all your sessions.")
	}
	line("- Refused? `tail -n 1 context/errors.jsonl` says why.")
	return w.String()
}

// Ask enables requests for summaries in the prompts of the session in dir and of all other sessions
// of its agent. Recipes with summary_request "on" or "off" are not affected. Call it for an agent
// that can deliver summaries. Ask ignores errors.
func Ask(dir string) {
	os.ReadFile(filepath.Join(dir, ctxabi.AskFile)) // opening the file enables requests
}
