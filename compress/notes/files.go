package notes

import (
	"encoding/json"
	pathpkg "path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// FileUse is what a call of a tool does with the one file that it names.
type FileUse = string

// The uses of a file.
const (
	NoFile      FileUse = "" // it names none, or several
	FileReads           = toolcall.Reads
	FileChanges         = toolcall.Changes // it changes a part of the file
	FileWrites          = toolcall.Writes  // it writes the file anew
	FileRemoves         = toolcall.Removes
)

// maxFiles is the largest number of calls of a record, and of files of a call, that are noted.
const maxFiles = 16

// shellTool is the Tool of findings from the script of a shell.
const shellTool = "shell"

// FileOf returns the file that a call of a tool works on, and how. A shell's commands do not count.
func FileOf(c Call) (path string, use FileUse) {
	found := fileCall(c)
	if len(found) != 1 || found[0].Tool == shellTool {
		return "", NoFile
	}
	return found[0].Path, found[0].State
}

// fileCall returns the files that a call of a tool reads or changes.
func fileCall(c Call) (out []Finding) {
	_, isScript := toolcall.Script(c.Name, c.Arguments)
	for _, use := range toolcall.FileUses(c.Name, c.Arguments) {
		found := Finding{Kind: FoundFile, Path: use.Path, State: use.Act, Tool: c.Name}
		if found.State == toolcall.Undoes {
			found.State = toolcall.Changes
		}
		if isScript {
			found.Tool = shellTool
		}
		if len(out) < maxFiles {
			out = append(out, found)
		}
	}
	return out
}

// pathIn returns the path among the fields of an event.
func pathIn(args map[string]any) string {
	for _, key := range compress.PathKeys {
		if p, ok := args[key].(string); ok && isFileName(p) {
			return p
		}
	}
	return ""
}

// isFileName reports whether a string may be a file's name: no pattern, option, or shell variable.
func isFileName(p string) bool {
	return p != "" && p != "-" && p != "." && p != ".." && p != "/" && len(p) < 256 &&
		!strings.ContainsAny(p, "*?$`|&;<>(){}\"'\n\t\\=, ") && !strings.HasPrefix(p, "-") &&
		!strings.HasPrefix(p, "/dev/") && !strings.HasSuffix(p, "/") && strings.ToValidUTF8(p, "") == p
}

// artifact returns the file that an agent made for others, by the fields of an event about it.
func artifact(args map[string]any) []Finding {
	if p := pathIn(args); p != "" {
		return []Finding{{Kind: FoundFile, Path: pathpkg.Clean(p), State: toolcall.Writes, Tool: ctxabi.RefArtifact}}
	}
	return nil
}

// documentTypes are the extensions of documents. contentKeys are arguments with the content of a
// file.
var (
	documentTypes = compress.WordSet(".md .markdown .txt .rst .adoc .org")
	contentKeys   = []string{"content", "contents", "file_text", "text"}
)

// Document returns the text that a call writes into a document, by a tool or by a here-document of
// a shell; "" for other calls. The agent's documents are its own words.
func Document(c Call) (text string) {
	if script, ok := toolcall.Script(c.Name, c.Arguments); ok {
		return hereDocuments(script)
	}
	if path, use := FileOf(c); use != FileWrites || !documentTypes[pathpkg.Ext(path)] {
		return ""
	}
	var args map[string]any
	if json.Unmarshal([]byte(c.Arguments), &args) == nil {
		for _, key := range contentKeys {
			if s, ok := args[key].(string); ok {
				return s
			}
		}
	}
	return ""
}

var hereDocument = lazy.Regexp(`(?m)^.*<<-?[ \t]*['"\\]?(\w+).*\n`)

// hereDocuments returns the here-documents of a script whose command lines name a document.
func hereDocuments(script string) (text string) {
	for at := hereDocument().FindStringSubmatchIndex(script); at != nil; at = hereDocument().FindStringSubmatchIndex(script) {
		line, mark := script[at[0]:at[1]], script[at[2]:at[3]]
		var body string
		body, script, _ = strings.Cut(script[at[1]:], "\n"+mark)
		if slices.ContainsFunc(strings.Fields(line), func(w string) bool { return documentTypes[pathpkg.Ext(strings.Trim(w, `'";`))] }) {
			text += body + "\n\n"
		}
	}
	return text
}
