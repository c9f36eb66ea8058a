package toolcall

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// wrappers are programs that run the command in their arguments, behind options, variables and numbers.
var wrappers = compress.WordSet("sudo doas time nice nohup env exec command builtin stdbuf setsid timeout npx bunx pnpx uvx xargs")

// Unwrapped returns a command without the wrappers before it.
func Unwrapped(words []string) []string {
	for len(words) > 1 {
		program := words[0][strings.LastIndexByte(words[0], '/')+1:]
		if !wrappers[program] {
			break
		}
		rest := words[1:]
		for len(rest) > 0 && (strings.HasPrefix(rest[0], "-") || strings.Contains(rest[0], "=") || strings.Trim(rest[0], "0123456789.smhd") == "") {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			break
		}
		words = rest
	}
	return words
}

// ShellScript returns the script that a shell has as an argument, bash -lc '…'; "" for another
// command.
func ShellScript(words []string) string {
	switch words[0] {
	case "sh", "bash", "zsh", "dash":
		for i := 1; i+1 < len(words) && strings.HasPrefix(words[i], "-"); i++ {
			if strings.HasSuffix(words[i], "c") && !strings.HasPrefix(words[i], "--") {
				return words[i+1]
			}
		}
	case "eval":
		return strings.Join(words[1:], " ")
	}
	return ""
}
