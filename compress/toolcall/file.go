package toolcall

import (
	"slices"

	"github.com/ctxfs/ctxfs/compress"
)

// What a tool does to a file.
const (
	Reads   = "read"
	Changes = "changed"
	Writes  = "written"
	Removes = "removed"
)

// fileVerbs are words of names of tools that do something to a file; the first row with a word of a
// name counts. The words of a row with needs count only alone, or beside a word for a file.
var fileVerbs = []struct {
	act   string
	needs bool
	words map[string]bool
}{
	{Changes, false, compress.WordSet("replace")}, // search_replace
	{"", false, compress.WordSet("search grep glob list find ls directory dir folder")},
	{Removes, true, compress.WordSet("delete remove unlink deletefile removefile")},
	{Changes, false, compress.WordSet("edit editor multiedit editfile patch applypatch")},
	{Changes, true, compress.WordSet("insert update append modify")},
	{Writes, false, compress.WordSet("write writefile")},
	{Writes, true, compress.WordSet("create save createfile savefile")},
	{Reads, false, compress.WordSet("read view open cat load readfile viewfile openfile")},
}

// Words for files, and for parts of one.
var (
	fileWords = compress.WordSet("file files notebook deletefile removefile createfile savefile")
	partWords = compress.WordSet("line lines text content contents block section range cell cells code")
)

// FileAct returns the act of a tool on a file, by the words of its name; "" if they do not say so.
func FileAct(tool string) string {
	words := compress.NameWords(compress.BareName(tool))
	has := func(set map[string]bool) bool {
		return slices.ContainsFunc(words, func(w string) bool { return set[w] })
	}
	for _, verbs := range fileVerbs {
		switch {
		case !has(verbs.words):
		case verbs.needs && len(words) > 1 && has(partWords) && !has(fileWords):
			return Changes
		case verbs.needs && len(words) > 1 && !has(fileWords):
			return ""
		default:
			return verbs.act
		}
	}
	return ""
}
