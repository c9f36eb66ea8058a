package toolcall

import (
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// Effects of a call on a file.
const (
	Reads   = "read"
	Changes = "changed"
	Writes  = "written"
	Removes = "removed"
	Undoes  = "undone" // it takes back its last change
)

// FileUse is the effect of a call on one file.
type FileUse struct {
	Path string
	Act  string
	To   string // the new path of a moved file; Act is Removes
	Size int    // bytes of the written content; -1 if the call does not have all of it
	Line string // the command line that names the file, of a script
}

// maxScriptFiles is the number of files of one script.
const maxScriptFiles = 16

// FileUses returns the files that a call names, each with the last use of it. A script that runs
// apply_patch counts as a call of that tool.
func FileUses(tool, arguments string) []FileUse {
	script, isScript := Script(tool, arguments)
	patch := arguments
	if isScript {
		patch = script
	}
	if isScript || strings.Contains(strings.ToLower(tool), "patch") {
		if list := patchedFiles(patch); list != nil {
			return list
		}
	}
	if isScript {
		return scriptFiles(script)
	}
	return toolFiles(tool, gjson.Parse(arguments))
}

// Arguments of tools that move or write a file.
var (
	sourceKeys  = []string{"source", "source_path", "src", "from", "old_path", "oldPath"}
	targetKeys  = []string{"destination", "destination_path", "dest", "dst", "to", "new_path", "newPath"}
	contentKeys = []string{"content", "contents", "file_text", "text", "code", "new_source", "data"}
)

// editorCommands are the values of the argument command of a tool for all edits.
var editorCommands = map[string]compress.ToolKind{
	"create": compress.WritingTool, "write": compress.WritingTool, "delete": compress.RemovingTool,
	"str_replace": compress.EditingTool, "insert": compress.EditingTool, "edit": compress.EditingTool,
	"undo_edit": compress.EditingTool, "view": compress.ReadingTool, "read": compress.ReadingTool,
}

// toolFiles returns the file that a call of a tool with a path works on.
func toolFiles(tool string, args gjson.Result) []FileUse {
	kind := compress.KindOf(tool)
	if command, ok := editorCommands[args.Get("command").Str]; ok {
		kind = command
	}
	if args.Get("dry_run").Bool() || args.Get("dryRun").Bool() {
		return nil
	}
	use := FileUse{Path: textOf(args, compress.PathKeys), Size: -1}
	mode := args.Get("mode").Str
	switch kind {
	case compress.ReadingTool:
		use.Act = Reads
	case compress.EditingTool:
		if use.Act = Changes; tool == "undo_edit" || args.Get("command").Str == "undo_edit" {
			use.Act = Undoes
		}
	case compress.RemovingTool:
		use.Act = Removes
	case compress.MovingTool:
		use.Path, use.Act, use.To = textOf(args, append(sourceKeys, compress.PathKeys...)), Removes, textOf(args, targetKeys)
		if !isFileName(use.To) {
			return nil
		}
	case compress.WritingTool:
		if use.Act = Writes; args.Get("append").Bool() || mode == "append" || mode == "a" {
			use.Act = Changes
		} else if content := argument(args, contentKeys); content.Exists() {
			use.Size = len(content.Str)
		}
	default:
		return nil
	}
	if !isFileName(use.Path) {
		return nil
	}
	use.Path = path.Clean(use.Path)
	return []FileUse{use}
}

// argument returns the first of the named arguments that is a text.
func argument(args gjson.Result, names []string) gjson.Result {
	for _, name := range names {
		if v := args.Get(name); v.Type == gjson.String {
			return v
		}
	}
	return gjson.Result{}
}

func textOf(args gjson.Result, names []string) string { return argument(args, names).Str }

// patchActs maps the lines of a patch that name a file.
var patchActs = []struct{ mark, act string }{
	{"*** Update File: ", Changes}, {"*** Add File: ", Writes}, {"*** Delete File: ", Removes},
}

// patchedFiles returns the files of a patch in the apply_patch format. text is the patch, a script
// that runs apply_patch, or JSON arguments. In any other text, a patch is content, and patchedFiles
// returns nil.
func patchedFiles(text string) (list []FileUse) {
	before, _, ok := strings.Cut(text, "*** Begin Patch")
	isPatch := strings.Trim(before, " \r\n\"'") == "" || strings.Contains(before, "apply_patch") ||
		strings.HasPrefix(text, "{")
	if !ok || !isPatch {
		return nil
	}
	for line := range strings.Lines(strings.ReplaceAll(text, `\n`, "\n")) {
		line = strings.Trim(line, " \r\n\"'")
		for _, p := range patchActs {
			if file, ok := strings.CutPrefix(line, p.mark); ok && isFileName(file) {
				list = append(list, FileUse{Path: path.Clean(file), Act: p.act, Size: -1})
			}
		}
		if to, ok := strings.CutPrefix(line, "*** Move to: "); ok && len(list) > 0 {
			moved := &list[len(list)-1]
			moved.Act, moved.To = Removes, path.Clean(to)
		}
	}
	return list
}

// fileCommands are the programs whose operands are files. A program that is not listed names only
// the files to which its output goes.
var fileCommands = map[string]string{
	"cat": Reads, "head": Reads, "tail": Reads, "nl": Reads, "less": Reads, "more": Reads, "bat": Reads, "sed": Reads,
	"open": Reads, "Get-Content": Reads,
	"touch": Writes, "tee": Writes, "create": Writes, "Out-File": Writes, "Set-Content": Writes, "New-Item": Writes,
	"cp": Changes, "mv": Changes, "ln": Changes, "chmod": Changes, "chown": Changes, "truncate": Changes, "dd": Changes,
	"unzip": Changes, "tar": Changes, "zip": Changes, "gzip": Changes, "gunzip": Changes, "patch": Changes,
	"Add-Content": Changes, "Copy-Item": Changes, "Move-Item": Changes, "Rename-Item": Changes, "git mv": Changes,
	"git checkout": Changes, "git restore": Changes, "git apply": Changes,
	"rm": Removes, "rmdir": Removes, "shred": Removes, "git rm": Removes, "Remove-Item": Removes, "del": Removes,
}

// copies are the programs that change only their last operand.
var copies = map[string]bool{"cp": true, "ln": true, "Copy-Item": true}

// scriptFiles returns the files that the commands of a script name. A path is joined to the
// directory that the script changes to.
func scriptFiles(script string) (list []FileUse) {
	steps := Steps(script)
	for i := range steps {
		line := slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Line != steps[i].Line })
		for _, words := range steps[i].Commands {
			for _, use := range commandFiles(words) {
				if dir := steps[i].Dir; path.IsAbs(dir) && !path.IsAbs(use.Path) && !strings.HasPrefix(use.Path, "~") {
					use.Path = path.Join(dir, use.Path)
				}
				use.Path, use.Size, use.Line = path.Clean(use.Path), -1, CommandLine(line)
				list = slices.DeleteFunc(list, func(old FileUse) bool { return old.Path == use.Path && old.Act != Reads })
				if len(list) < maxScriptFiles {
					list = append(list, use)
				}
			}
		}
	}
	return list
}

// commandFiles returns the operands of a command that are files, and the files that its output is
// redirected to.
func commandFiles(words []string) (list []FileUse) {
	program := words[0] == "sed" || words[0] == "perl" // the next operand is a program
	act, target := actOf(words), len(words)            // the last operand of a copy
	if copies[words[0]] {
		target = lastOperand(words)
	}
	for i, word := range words[1:] {
		act, output := act, ""
		if target < len(words) && i+1 < target {
			act = Reads
		}
		for _, mark := range []string{">>", ">", "&>"} {
			if target, ok := strings.CutPrefix(word, mark); ok && output == "" {
				word, output = target, mark
			} else if words[i] == mark {
				output = mark
			}
		}
		switch {
		case output == ">>" && isPath(word):
			list = append(list, FileUse{Path: word, Act: Changes})
		case output != "" && isPath(word):
			list = append(list, FileUse{Path: word, Act: Writes})
		case program && !strings.HasPrefix(word, "-"):
			program = false
		case act != "" && isPath(word):
			list = append(list, FileUse{Path: word, Act: act})
		}
		program = program || word == "-e" || word == "--expression"
	}
	return list
}

// actOf returns the effect of a command on its operands; "" if they are not files.
func actOf(words []string) string {
	isStream := words[0] == "sed" || words[0] == "perl"
	switch {
	case words[0] == "git" && len(words) > 1:
		return fileCommands["git "+words[1]]
	case isStream && slices.ContainsFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "-i") || w == "-pi" || w == "--in-place"
	}):
		return Changes
	}
	return fileCommands[words[0]]
}

// lastOperand returns the index of the last word that is no redirection.
func lastOperand(words []string) int {
	last := len(words) - 1
	for last > 0 && (strings.Contains(words[last], ">") || strings.Contains(words[last-1], ">")) {
		last--
	}
	return last
}

// isFileName reports whether a text may be the name of one file.
func isFileName(p string) bool {
	return p != "" && len(p) < 256 && !strings.ContainsAny(p, "*?$`|<>\"\n\t") && strings.ToValidUTF8(p, "") == p &&
		path.Base(p) != "." && path.Base(p) != ".."
}

// isPath reports whether a word of a command has an extension, or begins with a directory, and is
// nothing else that has one: an option, a URL, a pattern, a number, or a version.
func isPath(word string) bool {
	if !isFileName(word) || strings.HasPrefix(word, "-") || strings.ContainsAny(word, "={}()[]!;&@%^,\\' :") ||
		strings.HasPrefix(word, "/dev/") || strings.Contains(word, "...") ||
		strings.Trim(word, "0123456789./") == "" {
		return false
	}
	ext := strings.TrimPrefix(path.Ext(word), ".")
	isWord := strings.IndexFunc(ext, func(c rune) bool { return !isAlphanumeric(c) }) < 0
	if isWord && len(ext) <= 10 && strings.Trim(ext, "0123456789") != "" {
		return true
	}
	before, _, ok := strings.Cut(word, "/")
	return ok && (before == "" || before == "." || before == ".." || before == "~")
}
