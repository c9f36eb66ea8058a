package toolcall

import "strings"

// What a tool does to a file.
const (
	Reads   = "read"
	Changes = "changed"
	Writes  = "written"
	Removes = "removed"
)

// FileAct returns what a tool does to a file, by the words of its name; "" where that is not
// to be seen.
func FileAct(name string) string {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(name, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("search", "grep", "glob", "list", "find", "ls"):
		return ""
	case has("delete", "remove", "unlink"):
		return Removes
	case has("edit", "replace", "patch", "insert", "update", "append", "modify"):
		return Changes
	case has("write", "create", "save"):
		return Writes
	case has("read", "view", "open", "cat", "load"):
		return Reads
	}
	return ""
}
