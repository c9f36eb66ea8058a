package compress

import (
	"strings"
	"unicode"
)

// Names of tools, as [PlainName] writes them.
var (
	fileTools  = WordSet("read open view cat readfile viewfile openfile getfile getfilecontents fileread readtextfile readfiles readnotebook")
	matchTools = WordSet("grep rg ripgrep search searchfiles grepsearch codesearch searchcode searchdir searchfile findtext")
	listTools  = WordSet("ls list listfiles listdir listdirectory directorytree glob find findfiles tree findfile")
	shellTools = WordSet("bash shell sh exec execute run runcommand runtests test terminal executebash runterminalcmd python ipython runcode executecommand localshell build make command")
	codeTools  = WordSet("executecode codeinterpreter codeexecution runpython executepython pythonrepl pythontool runjavascript runjs jupyter notebookexecute runcell executecell")
)

// IsFileTool reports whether a tool of this plain name reads a file.
func IsFileTool(name string) bool { return fileTools[name] }

// IsMatchTool reports whether a tool of this plain name searches the lines of files.
func IsMatchTool(name string) bool { return matchTools[name] }

// IsListTool reports whether a tool of this plain name lists files.
func IsListTool(name string) bool { return listTools[name] }

// IsShellTool reports whether a tool of this plain name runs a command.
func IsShellTool(name string) bool { return shellTools[name] }

// IsCodeTool reports whether a tool of this plain name runs a program that stands in its arguments.
func IsCodeTool(name string) bool { return codeTools[name] }

// IsListKeeper reports whether a tool of this name maintains a task list: TodoWrite, update_plan.
func IsListKeeper(name string) bool {
	name = PlainName(name)
	return strings.Contains(name, "todo") || strings.HasSuffix(name, "updateplan")
}

// PathKeys are the arguments in which tools take the file that they work on.
var PathKeys = []string{"path", "file_path", "filePath", "filepath", "filename", "file", "target_file", "notebook_path", "absolute_path", "relative_path", "AbsolutePath", "TargetFile", "uri"}

// PlainName returns the name of a tool in lower case and without what joins its words.
func PlainName(tool string) string {
	return strings.ToLower(withoutJoins.Replace(tool))
}

// subAgents are words of the names of tools that hand a task to another agent.
var subAgents = map[string]bool{"task": true, "agent": true, "subagent": true, "delegate": true, "subtask": true}

// IsSubAgent reports whether a tool of this name hands a task to another agent: Task,
// dispatch_agent, delegateTask. Tools that keep a list of tasks (task_create, update_task) do
// not.
func IsSubAgent(name string) bool {
	sub := false
	for _, w := range NameWords(name) {
		switch w {
		case "create", "update", "list", "get", "stop", "delete", "add", "complete":
			return false
		}
		sub = sub || subAgents[w]
	}
	return sub
}

// BareName removes the prefixes of servers and packages from the name of a tool:
// mcp__server__tool and functions.tool become tool.
func BareName(tool string) string {
	tool = tool[strings.LastIndexAny(tool, ".:/")+1:]
	if i := strings.LastIndex(tool, "__"); i >= 0 {
		tool = tool[i+2:]
	}
	return tool
}

// NameWords splits the name of a tool or a field at case changes and at all characters that are not
// letters. The words are in lower case: update_ticket and updateTicket give "update" and "ticket".
func NameWords(name string) []string {
	var b strings.Builder
	small := false
	for _, c := range name {
		if small && unicode.IsUpper(c) {
			b.WriteByte(' ')
		}
		small = unicode.IsLower(c)
		b.WriteRune(unicode.ToLower(c))
	}
	return strings.FieldsFunc(b.String(), func(c rune) bool { return !unicode.IsLetter(c) })
}

var withoutJoins = strings.NewReplacer("_", "", "-", "")
