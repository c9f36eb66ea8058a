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
	moved  // to another path
	undone // the last edit, or the call that wrote it
)

var actionNames = [...]string{"named", "written", "edited", "deleted", "moved", "edit undone"}

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
	name := compress.BareName(tool)
	if slices.Contains(compress.NameWords(name), "patch") || strings.Contains(name, "applypatch") {
		if list := patched(arguments); list != nil {
			return list
		}
	}
	args := gjson.Parse(arguments)
	if !args.IsObject() || args.Get("dry_run").Bool() || args.Get("dryRun").Bool() {
		return nil
	}
	switch args.Get("command").Str { // a tool for all edits
	case "create", "write":
		name = "write"
	case "undo_edit":
		return []change{{argument(args, compress.PathKeys), undone, -1, ""}}
	case "str_replace", "insert", "edit":
		name = "edit"
	case "delete":
		name = "delete"
	case "view", "read", "rename":
		return nil
	}

	words := compress.NameWords(name)
	isDirectory := slices.Contains(words, "directory")
	if slices.Contains(words, "move") || slices.Contains(words, "rename") {
		from, to := argument(args, slices.Concat(sourceKeys, compress.PathKeys)), argument(args, targetKeys)
		if isName(from) && isName(to) && (isDirectory || slices.Contains(words, "file") || strings.ContainsAny(from, "/.")) {
			return []change{{from, moved, -1, to}}
		}
		return nil
	}
	file := argument(args, compress.PathKeys)
	if !isName(file) {
		return nil
	}
	switch act := toolcall.FileAct(name); {
	case act == toolcall.Writes && (args.Get("append").Bool() || args.Get("mode").Str == "append" || args.Get("mode").Str == "a"):
		return []change{{file, edited, -1, ""}}
	case act == toolcall.Writes:
		c := change{path: file, action: written, size: -1}
		for _, key := range contentKeys {
			if v := args.Get(key); v.Type == gjson.String {
				c.size = len(v.Str)
				break
			}
		}
		return []change{c}
	case act == toolcall.Changes:
		return []change{{file, edited, -1, ""}}
	case act == toolcall.Removes || isDirectory && slices.Contains(words, "delete"):
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

// patched returns the changes of a patch in the format of apply_patch, or of a script that applies one;
// nil for other texts, which may contain a patch as content.
func patched(text string) (list []change) {
	before, _, ok := strings.Cut(text, "*** Begin Patch")
	if !ok || strings.Trim(before, " \r\n\"'") != "" && !strings.Contains(before, "apply_patch") && !strings.HasPrefix(text, "{") {
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

// refusal matches first lines of results of tools that changed nothing.
var refusal = lazy.Regexp(`(?i)^\W*(?:tool_use_error|error|failed|failure|traceback|e[a-z]{3,8}: |errno|no (?:replacement|changes?|match(?:es)?)\b|string (?:to replace|not found)|old_str|the (?:text|string) to replace|refus|invalid|your proposed edit has introduced)|` +
	`\b(?:fail(?:ed|s)? to|verification failed|denied|can(?:not|'t)|could(?: not|n't)|unable to|not found|not (?:be )?(?:changed|applied|written|saved)|did not (?:match|appear)|does(?: not|n't) exist|already exists|no such (?:file|directory)|no space left|read-only file system|(?:0|zero) (?:replacements?|occurrences?|matches))\b`)

// succeeded reports whether the result of a call of a file tool says nothing of a failure; file is the
// path that it may contain.
func succeeded(r *toolcall.Result, file string) bool {
	if s := toolcall.StatusOf(*r); r.Failed || s == toolcall.Failed || s == toolcall.NotRun || s == toolcall.Stopped {
		return false
	}
	text := strings.TrimSpace(toolcall.Body(r.Text))
	if answer := gjson.Parse(text); answer.IsObject() {
		no := func(name string) bool { v := answer.Get(name); return v.Type == gjson.False || v.Str == "error" }
		if failure := answer.Get("error"); failure.IsObject() || failure.Str != "" || failure.Bool() {
			return false
		}
		return !no("success") && !no("ok") && !no("status")
	}
	first, _, _ := strings.Cut(text, "\n")
	if file != "" {
		first = strings.ReplaceAll(first, file, "")
	}
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
