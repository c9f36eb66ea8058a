package result

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// toolOf returns the tool's plain name, and for one that runs commands the first that shows
// something.
func toolOf(about Hint) (tool, command string) {
	tool = strings.ReplaceAll(compress.PlainName(compress.BareName(about.Tool)), " ", "")
	if !compress.IsShellTool(tool) && (compress.IsCodeTool(tool) || !gjson.Valid(about.Args) || gjson.Get(about.Args, "command").Type != gjson.String || slices.ContainsFunc(compress.PathKeys, func(key string) bool { return gjson.Get(about.Args, key).Exists() })) {
		return tool, ""
	}
	if command, ok := firstCommand(commandOf(about.Args)); ok {
		return tool, command
	}
	return tool, tool
}

// firstCommand returns the program that a command line runs first, but for those that only prepare
// it; ok is false if there is none.
func firstCommand(line string) (command string, ok bool) {
	for _, part := range strings.FieldsFunc(line, func(c rune) bool { return c == ';' || c == '&' || c == '|' || c == '\n' }) {
		words := strings.Fields(part)
		for len(words) > 0 && (strings.Contains(words[0], "=") || words[0] == "sudo" || words[0] == "time" || words[0] == "timeout" || words[0][0] >= '0' && words[0][0] <= '9') {
			words = words[1:]
		}
		if len(words) == 0 || words[0] == "cd" || words[0] == "export" || words[0] == "set" || words[0] == "source" {
			continue
		}
		command = strings.Trim(words[0], `"'`)
		command = command[strings.LastIndexByte(command, '/')+1:]
		if command == "git" && len(words) > 1 && words[1] == "grep" {
			command = "grep"
		}
		return command, true
	}
	return "", false
}

// runsCode reports whether a call runs a program that stands in its arguments, by their names
// and by words of the tool's.
func runsCode(tool, args string) bool {
	code := gjson.Valid(args) && (gjson.Get(args, "code").Type == gjson.String || gjson.Get(args, "source_code").Type == gjson.String)
	for _, word := range []string{"run", "exec", "interpret", "python", "code", "repl", "eval", "notebook", "sandbox", "jupyter", "shell", "terminal", "command"} {
		if code && strings.Contains(tool, word) {
			return true
		}
	}
	return compress.IsCodeTool(tool)
}

// commandOf returns the command line in a call's arguments.
func commandOf(args string) string {
	if len(args) > 1<<16 {
		args = args[:1<<16]
	}
	if !gjson.Valid(args) {
		return args
	}
	for _, key := range []string{"command", "cmd", "script", "code", "input"} {
		switch v := gjson.Get(args, key); {
		case v.IsArray(): // ["bash", "-lc", "go test ./..."]
			if words := v.Array(); len(words) > 0 {
				return words[len(words)-1].String()
			}
		case v.Type == gjson.String:
			return v.String()
		}
	}
	return ""
}

// isSearchTool reports whether a tool of this plain name searches the web or a knowledge base.
func isSearchTool(tool string) bool {
	return strings.Contains(tool, "search") || strings.Contains(tool, "google") || strings.Contains(tool, "bing") || strings.Contains(tool, "tavily")
}
