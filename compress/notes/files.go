package notes

import (
	"encoding/json"
	pathpkg "path"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// shellTool is the Tool of findings from the script of a shell.
const shellTool = "shell"

// What happened to a file: the State of a finding.
const (
	fileRead    = toolcall.Reads
	fileChanged = toolcall.Changes
	fileWritten = toolcall.Writes
	fileRemoved = toolcall.Removes
)

// fileCall returns the files that a call of a tool reads or changes.
func fileCall(c Call) (out []Finding) {
	for _, use := range toolcall.FileUses(c.Name, c.Arguments) {
		tool, state := c.Name, use.Act
		if state == toolcall.Undoes {
			state = fileChanged
		}
		if use.Line != "" {
			tool = shellTool
		}
		if len(out) < maxFiles {
			out = append(out, Finding{Kind: FoundFile, Path: use.Path, State: state, Tool: tool})
		}
	}
	return out
}

// maxFiles is the largest number of calls of a record, and of files of a call, that are noted.
const maxFiles = 16

// isFileName reports whether a string may be a file's name: no pattern, no option, no variable
// of a shell.
func isFileName(p string) bool {
	return p != "" && p != "-" && p != "." && p != ".." && p != "/" && len(p) < 256 &&
		!strings.ContainsAny(p, "*?$`|&;<>(){}\"'\n\t\\=, ") && !strings.HasPrefix(p, "-") &&
		!strings.HasPrefix(p, "/dev/") && !strings.HasSuffix(p, "/") && strings.ToValidUTF8(p, "") == p
}

// artifactEvent returns the file that an agent made for others, by an event about it.
func artifactEvent(record string) []Finding {
	var args map[string]any
	if json.Unmarshal([]byte(record), &args) != nil {
		return nil
	}
	for _, key := range compress.PathKeys {
		if p, ok := args[key].(string); ok && isFileName(p) {
			return []Finding{{Kind: FoundFile, Path: pathpkg.Clean(p), State: fileWritten, Tool: ctxabi.RefArtifact}}
		}
	}
	return nil
}
