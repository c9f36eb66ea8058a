package aider

import (
	"bytes"
	"path"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// Format is .aider.chat.history.md, the Markdown to which Aider appends its chats. It is only read.
//
//	# aider chat started at 2026-11-22 10:00:00
//	> what Aider says
//	#### what the user says
//	what the model says
var Format = &adapter.Format{
	Name:   formatName,
	Title:  "Aider chat history (Markdown; only read)",
	Notes:  []string{"chat", "output"},
	Sniff:  sniff,
	Import: importHistory,
}

const (
	formatName = "aider"
	started    = "# aider chat started at "
)

// isModeLine reports whether the first line of a file is a mode line of Emacs ("-*-") or Vim.
func isModeLine(line string) bool {
	return strings.Contains(line, "-*-") || strings.Contains(line, "vim:")
}

func sniff(name string, head []byte) int {
	begin := bytes.TrimLeft(head, " \t\r\n")
	if first, rest, more := bytes.Cut(begin, []byte("\n")); more && isModeLine(string(first)) {
		begin = bytes.TrimLeft(rest, " \t\r\n")
	}
	switch {
	case bytes.HasPrefix(begin, []byte(started)):
		return 100
	case (bytes.HasPrefix(begin, []byte(">")) || bytes.HasPrefix(begin, []byte("#### "))) &&
		bytes.Contains(begin, []byte("\n"+started)): // cut in front
		return 95
	case path.Base(name) == ".aider.chat.history.md":
		return 90
	}
	return 0
}
