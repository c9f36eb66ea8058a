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

// fileVerbs maps words of tool names to acts; FileAct uses the first row that matches. If needs is
// set, the word must be the whole name, or the name must also contain one of fileWords. With one of
// partWords instead, the act is Changes.
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

// Words for files and for parts of a file.
var (
	fileWords = compress.WordSet("file files notebook deletefile removefile createfile savefile")
	partWords = compress.WordSet("line lines text content contents block section range cell cells code")
)

// FileAct derives the act of a tool on a file from the words of its name. It returns "" if the name
// implies no act.
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
