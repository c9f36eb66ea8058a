package files

import (
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// action is what a structured tool did to a file.
type action uint8

const (
	named   action = iota // only a command names it
	written               // the tool wrote all of it
	edited
	deleted
	moved // to another path
)

var actionNames = [...]string{"named", "written", "edited", "deleted", "moved"}

// change is what one call does to one file.
type change struct {
	path   string
	action action
	size   int    // bytes of the new content; -1 if the call does not contain all of it
	to     string // of a moved file
}

// sourceKeys and targetKeys are arguments of tools that move a file.
var (
	sourceKeys = []string{"source", "source_path", "src", "from", "old_path", "oldPath"}
	targetKeys = []string{"destination", "destination_path", "dest", "dst", "to", "new_path", "newPath"}
)

// contentKeys are arguments with the whole content of a file.
var contentKeys = []string{"content", "contents", "file_text", "text", "code", "new_source", "data"}

// changesOf returns what a call of a tool that is not a shell does to files.
func changesOf(tool, arguments string) []change {
	if list := patched(arguments); list != nil {
		return list
	}
	args := gjson.Parse(arguments)
	if !args.IsObject() {
		return nil
	}
	name := compress.BareName(tool)
	switch args.Get("command").Str { // a tool for all edits
	case "create", "write":
		name = "write"
	case "str_replace", "insert", "edit", "undo_edit":
		name = "edit"
	case "delete":
		name = "delete"
	case "view", "read", "rename":
		return nil
	}

	if words := compress.NameWords(name); slices.Contains(words, "move") || slices.Contains(words, "rename") {
		from, to := argument(args, slices.Concat(sourceKeys, compress.PathKeys)), argument(args, targetKeys)
		if isName(from) && isName(to) && (slices.Contains(words, "file") || strings.ContainsAny(from, "/.")) {
			return []change{{from, moved, -1, to}}
		}
		return nil
	}
	file := argument(args, compress.PathKeys)
	if !isName(file) {
		return nil
	}
	switch toolcall.FileAct(name) {
	case toolcall.Writes:
		c := change{path: file, action: written, size: -1}
		for _, key := range contentKeys {
			if v := args.Get(key); v.Type == gjson.String {
				c.size = len(v.Str)
				break
			}
		}
		return []change{c}
	case toolcall.Changes:
		return []change{{file, edited, -1, ""}}
	case toolcall.Removes:
		return []change{{file, deleted, -1, ""}}
	}
	return nil
}

// argument returns the first text among the arguments with these names.
func argument(args gjson.Result, names []string) string {
	for _, name := range names {
		if v := args.Get(name); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return ""
}

// isName reports whether a text may be the name of one file.
func isName(p string) bool {
	return p != "" && len(p) < 256 && !strings.ContainsAny(p, "*?$`|<>\"\n\t") && strings.ToValidUTF8(p, "") == p && path.Base(p) != "." && path.Base(p) != ".."
}

// patchMarks begin the lines of a patch that name a file.
var patchMarks = []struct {
	text   string
	action action
}{{"*** Update File: ", edited}, {"*** Add File: ", written}, {"*** Delete File: ", deleted}}

// patched returns the changes of a patch in the format of apply_patch; nil if text contains none.
func patched(text string) (list []change) {
	if !strings.Contains(text, "*** Begin Patch") {
		return nil
	}
	text = strings.ReplaceAll(text, `\n`, "\n")
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \r\n\"'")
		for _, mark := range patchMarks {
			if file, ok := strings.CutPrefix(line, mark.text); ok && isName(file) {
				list = append(list, change{file, mark.action, -1, ""})
			}
		}
		if to, ok := strings.CutPrefix(line, "*** Move to: "); ok && isName(to) && len(list) > 0 {
			list[len(list)-1].action, list[len(list)-1].to = moved, to
		}
	}
	return list
}

// refusal matches results of edit tools that changed nothing.
var refusal = lazy.Regexp(`(?i)^\W*(?:error|failed|failure|cannot|could not|unable|invalid|no (?:replacement|changes?|match(?:es)?|such file)\b|string (?:to replace|not found)|old_str|the (?:text|string) to replace|permission denied|refus|your proposed edit has introduced)|\b(?:was not (?:found|changed|applied)|not applied|did not (?:match|appear)|does not exist|edit was not applied)\b`)

// succeeded reports whether the result of a call of a file tool says nothing of a failure.
func succeeded(r *toolcall.Result) bool {
	if s := toolcall.StatusOf(*r); r.Failed || s == toolcall.Failed || s == toolcall.NotRun || s == toolcall.Stopped {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(toolcall.Body(r.Text)), "\n")
	return !refusal().MatchString(first[:min(len(first), 300)])
}

// openFile matches the header that the shell of SWE-agent prints above the file that it edited.
var openFile = lazy.Regexp(`(?m)^\[File: (/[^\n]+?) \(\d+ lines total\)\]$`)

// editedBy returns the file that an edit command of SWE-agent's shell changed; "" for other scripts and
// for an edit that was refused.
func editedBy(script, output string) string {
	if !strings.HasPrefix(script, "edit ") || !strings.Contains(script, "end_of_edit") || refusal().MatchString(output[:min(len(output), 300)]) {
		return ""
	}
	if m := openFile().FindStringSubmatch(output); m != nil {
		return m[1]
	}
	return ""
}
