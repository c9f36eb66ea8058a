package compress

import (
	"slices"
	"strings"
	"unicode"
)

// ToolKind is the kind of a tool by its name.
type ToolKind uint8

// Kinds of tools.
const (
	ActingTool   ToolKind = iota // changes something outside of the workspace, or is not known
	MakingTool                   // makes something new outside of the workspace with each call
	QueryTool                    // reads something outside of the workspace, or changes nothing
	ShellTool                    // runs a command
	CodeTool                     // runs a program in its arguments
	MatchTool                    // searches the lines of files
	ListTool                     // lists files
	ReadingTool                  // reads a file
	EditingTool                  // changes a part of a file
	WritingTool                  // writes a whole file
	RemovingTool                 // removes a file
	MovingTool                   // moves a file
)

// toolNames has the kinds of common names, as [PlainName] writes them.
var toolNames = kindsOf(map[ToolKind]string{
	ReadingTool: "read open view cat readfile viewfile openfile getfile getfilecontents fileread readtextfile readfiles readnotebook",
	MatchTool:   "grep rg ripgrep search searchfiles grepsearch codesearch searchcode searchdir searchfile findtext",
	ListTool:    "ls list listfiles listdir listdirectory directorytree glob find findfiles tree findfile",
	ShellTool: "bash shell sh exec execute run runcommand runtests test terminal executebash runterminalcmd python " +
		"ipython runcode executecommand localshell build make command",
	CodeTool: "executecode codeinterpreter codeexecution runpython executepython pythonrepl pythontool " +
		"runjavascript runjs jupyter notebookexecute runcell executecell",
	EditingTool:  "editfile applypatch",
	WritingTool:  "writefile createfile savefile",
	RemovingTool: "deletefile removefile",
})

func kindsOf(names map[ToolKind]string) map[string]ToolKind {
	kinds := map[string]ToolKind{}
	for kind, list := range names {
		for name := range strings.FieldsSeq(list) {
			kinds[name] = kind
		}
	}
	return kinds
}

// Words for files, for what has a path, and for parts of a file.
var (
	fileWords = WordSet("file files notebook")
	pathWords = WordSet("file files notebook directory dir folder")
	partWords = WordSet("line lines text content contents block section range cell cells code")
)

// fileRules derive the kind of a file tool from a word of its name, in this order. If of is not nil,
// a longer name must also contain one of its words. A tool that searches is no file tool.
var fileRules = []struct {
	kind      ToolKind
	words, of map[string]bool
}{
	{EditingTool, WordSet("replace"), nil}, // search_replace
	{QueryTool, WordSet("search grep glob list find ls"), nil},
	{MovingTool, WordSet("move rename"), pathWords},
	{RemovingTool, WordSet("delete remove unlink"), pathWords},
	{EditingTool, WordSet("edit editor multiedit patch"), nil},
	{EditingTool, WordSet("insert update append modify"), fileWords},
	{WritingTool, WordSet("write"), nil},
	{WritingTool, WordSet("create save"), fileWords},
	{ReadingTool, WordSet("read view open cat load"), nil},
}

// toolVerbs derive the kind of another tool from the first two words of its name.
var toolVerbs = kindsOf(map[ToolKind]string{
	CodeTool:   "sandbox interpreter repl python jupyter",
	MakingTool: `add book charge create insert issue make new order pay place post refund register reserve schedule send start`,
	ActingTool: `approve archive assign block cancel change close complete confirm delete edit enable disable exchange modify
		move reject release remove rename reply return set submit transfer update upgrade`,
	QueryTool: `search grep glob list find ls get fetch query lookup show calculate compute think thinking thought thoughts
		reason plan describe count browse ask retrieve web status info help select inspect watch wait sleep recall remember
		todo todos task tasks screenshot snapshot estimate compare summarize translate measure scan sample poll ping trace
		profile benchmark analyze analyse skill finish respond scroll goto reflect check`,
})

// KindOf returns the kind of a tool, from its name with or without the prefix of a server.
func KindOf(tool string) ToolKind {
	bare := BareName(tool)
	if kind, ok := toolNames[PlainName(bare)]; ok {
		return kind
	}
	words := NameWords(bare)
	if len(words) == 0 {
		return QueryTool
	}
	has := func(set map[string]bool) bool {
		return slices.ContainsFunc(words, func(w string) bool { return set[w] })
	}
	for _, r := range fileRules {
		if !has(r.words) {
			continue
		}
		switch {
		case r.kind == QueryTool:
		case r.of == nil, len(words) == 1, has(r.of):
			return r.kind
		case has(partWords): // delete_lines
			return EditingTool
		}
		break
	}
	for _, w := range words[:min(2, len(words))] {
		if kind, ok := toolVerbs[w]; ok {
			return kind
		}
	}
	return ActingTool
}

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
