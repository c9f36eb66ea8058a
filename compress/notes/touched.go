package notes

import "github.com/ctxfs/ctxfs/compress/toolcall"

// FileUse is what a call of a tool does with the one file that it names.
type FileUse uint8

// The uses of a file.
const (
	NoFile      FileUse = iota // it names none, or several
	FileReads                  // it reads the file, or a part of it
	FileChanges                // it changes a part of the file
	FileWrites                 // it writes the file anew
	FileRemoves                // it removes the file
)

// FileOf returns the file that a call of a tool works on, and how. A shell's commands do not count.
func FileOf(c Call) (path string, use FileUse) {
	if _, ok := toolcall.Script(c.Name, c.Arguments); ok {
		return "", NoFile
	}
	uses := toolcall.FileUses(c.Name, c.Arguments)
	if len(uses) != 1 {
		return "", NoFile
	}
	use = map[string]FileUse{toolcall.Reads: FileReads, toolcall.Writes: FileWrites,
		toolcall.Changes: FileChanges, toolcall.Undoes: FileChanges, toolcall.Removes: FileRemoves}[uses[0].Act]
	return uses[0].Path, use
}
