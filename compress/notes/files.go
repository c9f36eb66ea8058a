package notes

import (
	pathpkg "path"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// FileUse is what a call of a tool does with the one file that it names.
type FileUse = string

// The uses of a file.
const (
	NoFile      FileUse = "" // it names none, or several
	FileReads           = toolcall.Reads
	FileChanges         = toolcall.Changes // it changes a part of the file
	FileWrites          = toolcall.Writes  // it replaces the content of the file
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
