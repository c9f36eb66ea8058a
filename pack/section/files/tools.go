package files

import (
	"path"
	"slices"
	"strconv"
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
	moved
	undone // the tool reverted its last edit or write
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
	case "undo_edit", "delete":
		name = args.Get("command").Str
	case "str_replace", "insert", "edit":
		name = "edit"
	case "view", "read", "rename":
		return nil
	}

	words := compress.NameWords(name)
	if slices.Contains(words, "move") || slices.Contains(words, "rename") {
		from, to := argument(args, slices.Concat(sourceKeys, compress.PathKeys)), argument(args, targetKeys)
		isFile := slices.Contains(words, "file") || slices.Contains(words, "directory") ||
			strings.ContainsAny(from, "/.")
		if isName(from) && isName(to) && isFile {
			return []change{{from, moved, -1, to}}
		}
		return nil
	}
	if c := changeBy(name, words, args); isName(c.path) && c.action != named {
		return []change{c}
	}
	return nil
}

// changeBy returns the change that a call of a single-file tool makes. If the call changes nothing,
// the action of the result is named.
func changeBy(tool string, words []string, args gjson.Result) change {
	c := change{path: argument(args, compress.PathKeys), size: -1}
	mode := args.Get("mode").Str
	switch act := toolcall.FileAct(tool); {
	case tool == "undo_edit":
		c.action = undone
	case act == toolcall.Changes, act == toolcall.Writes &&
		(args.Get("append").Bool() || mode == "append" || mode == "a"):
		c.action = edited
	case act == toolcall.Writes:
		c.action = written
		for _, key := range contentKeys {
			if v := args.Get(key); v.Type == gjson.String {
				c.size = len(v.Str)
				break
			}
		}
	case act == toolcall.Removes || slices.Contains(words, "directory") && slices.Contains(words, "delete"):
		c.action = deleted
	}

	return c
}

// bytesIn matches a number of bytes in the result of a tool.
var bytesIn = lazy.Regexp(`\b([0-9]{1,12}) bytes\b`)

// statedBytes returns the only number of bytes that a result states.
func statedBytes(result string) (n int, ok bool) {
	found := bytesIn().FindAllStringSubmatch(result, 2)
	if len(found) != 1 {
		return 0, false
	}
	n, err := strconv.Atoi(found[0][1])
	return n, err == nil
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

// patched parses a patch in the format of apply_patch. It returns nil if text contains none.
func patched(text string) (list []change) {
	actions := map[string]action{toolcall.Changes: edited, toolcall.Writes: written, toolcall.Removes: deleted}
	for _, f := range toolcall.PatchedFiles(text) {
		c := change{f.Path, actions[f.Act], -1, ""}
		if isName(f.To) {
			c.action, c.to = moved, f.To
		}
		if isName(f.Path) {
			list = append(list, c)
		}
	}
	return list
}

// refusal matches the first line of a result if the tool reports that it changed nothing.
var refusal = lazy.Regexp(`(?i)^\W*(?:tool_use_error|error|failed|failure|traceback|e[a-z]{3,8}: |errno|` +
	`no (?:replacement|changes?|match(?:es)?)\b|string (?:to replace|not found)|old_str|` +
	`the (?:text|string) to replace|refus|invalid|your proposed edit has introduced)|` +
	`\b(?:fail(?:ed|s)? to|verification failed|denied|can(?:not|'t)|could(?: not|n't)|unable to|not found|` +
	`not (?:be )?(?:changed|applied|written|saved)|did not (?:match|appear)|does(?: not|n't) exist|` +
	`already exists|no such (?:file|directory)|no space left|read-only file system|` +
	`(?:0|zero) (?:replacements?|occurrences?|matches))\b`)

// succeeded reports whether the result of a file tool contains no sign of a failure. It ignores the
// path file in the text, since a path may contain words such as "error".
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

// editedBy returns the file that an edit command of SWE-agent's shell changed. It returns "" for
// other scripts and for refused edits.
func editedBy(script, output string) string {
	if !strings.HasPrefix(script, "edit ") || !strings.Contains(script, "end_of_edit") || refusal().MatchString(output[:min(len(output), 300)]) {
		return ""
	}
	if m := openFile().FindStringSubmatch(output); m != nil {
		return m[1]
	}
	return ""
}
