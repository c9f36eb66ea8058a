package mock

import (
	"regexp"
	"slices"
	"strings"
)

// Step is one answer of the model.
type Step struct {
	Think string // what it thinks first; "": nothing
	Text  string // what it says; "" with no calls: "Noted."
	Calls []Call
	Fail  []int // the statuses that the first requests of this step get instead
}

// Call is a call of a tool.
type Call struct {
	// Tool is the name of a tool of the server ctxfs, which programs put "_" or a namespace before (append of mcp__ctxfs__append). The
	// names shell, read and agent stand for what the program calls its own.
	Tool string
	Args map[string]any
}

// Script is what the model answers to what a user said, in order. What follows it is "Noted.".
type Script []Step

// Turn is one message of a conversation, as each of the APIs has it.
type Turn struct {
	Role string // system, user or assistant
	Text string
	Done bool // a user's turn that has results of tools
}

// server is what programs call the MCP server whose tools scripts name.
const server = "ctxfs"

// inSpace stands between the namespace and the name of a tool of OpenAI's Responses.
const inSpace = "\x00"

// mark is how a user's words choose a script.
var mark = regexp.MustCompile(`\[\[play ([a-z-]+)\]\]`)

// context is what Gemini CLI puts in front of the user's words for a hook.
var context = regexp.MustCompile(`(?s)<hook_context>.*?</hook_context>`)

// next returns the name of the script that the conversation plays and the number of the step that follows; "" where the
// user chose none.
func next(turns []Turn) (name string, step int) {
	for _, t := range turns {
		if t.Role == "user" {
			if m := mark.FindAllStringSubmatch(context.ReplaceAllString(t.Text, ""), -1); m != nil {
				name, step = m[len(m)-1][1], 0
			} else if !t.Done && t.Text != "" && !strings.HasPrefix(strings.TrimSpace(t.Text), "<") {
				name, step = "", 0 // the user has gone on
			}
		}
		if t.Role == "assistant" {
			step++
		}
	}
	return name, step
}

// own are the names that programs have for the tools that scripts name by what they do, with the arguments that these take.
var own = map[string]map[string]func(map[string]any) map[string]any{
	"shell": {
		"Bash":              func(a map[string]any) map[string]any { return with(a, "description", "Run it") },
		"bash":              func(a map[string]any) map[string]any { return with(a, "description", "Run it") },
		"run_shell_command": func(a map[string]any) map[string]any { return with(a, "description", "Run it") },
		"exec_command":      func(a map[string]any) map[string]any { return map[string]any{"cmd": a["command"]} },
		"shell_command":     func(a map[string]any) map[string]any { return a },
		"shell": func(a map[string]any) map[string]any {
			return map[string]any{"command": []any{"bash", "-lc", a["command"]}}
		},
	},
	"read": {
		"Read":         func(a map[string]any) map[string]any { return map[string]any{"file_path": a["path"]} },
		"read_file":    func(a map[string]any) map[string]any { return map[string]any{"file_path": a["path"]} },
		"read":         func(a map[string]any) map[string]any { return map[string]any{"filePath": a["path"], "path": a["path"]} },
		"exec_command": func(a map[string]any) map[string]any { return map[string]any{"cmd": "cat " + a["path"].(string)} },
		"shell_command": func(a map[string]any) map[string]any {
			return map[string]any{"command": "cat " + a["path"].(string)}
		},
	},
	"agent": {
		"Agent": func(a map[string]any) map[string]any { return with(a, "subagent_type", "general-purpose") },
		"Task":  func(a map[string]any) map[string]any { return with(a, "subagent_type", "general-purpose") },
		"task":  func(a map[string]any) map[string]any { return with(a, "subagent_type", "general") },
	},
}

func with(args map[string]any, name string, value any) map[string]any {
	all := map[string]any{name: value}
	for k, v := range args {
		all[k] = v
	}
	return all
}

// named returns the name that a program offers a tool under, and the arguments it takes; the name as it is where it offers none.
func (c Call) named(tools []string) (string, map[string]any) {
	for _, tool := range tools {
		if args, ok := own[c.Tool][tool]; ok {
			return tool, args(c.Args)
		}
	}
	for _, tool := range tools {
		if strings.Contains(tool, server) && (strings.HasSuffix(tool, "_"+c.Tool) || strings.HasSuffix(tool, inSpace+c.Tool)) {
			return tool, c.Args
		}
	}
	if slices.Contains(tools, "ToolSearch") { // Claude Code names the tools of servers in a text, and offers them when they were searched
		return "mcp__" + server + "__" + c.Tool, c.Args
	}
	return c.Tool, c.Args
}
