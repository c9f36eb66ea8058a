package toolcall

import "github.com/ctxfs/ctxfs/compress"

// What a tool does to a file.
const (
	Reads   = "read"
	Changes = "changed"
	Writes  = "written"
	Removes = "removed"
)

// fileVerbs are the words of names of tools that do something to a file, the first set that has a word
// of the name counts.
var fileVerbs = []struct {
	act   string
	words map[string]bool
}{
	{Changes, compress.WordSet("replace")}, // search_replace
	{"", compress.WordSet("search grep glob list find ls")},
	{Removes, compress.WordSet("delete remove unlink deletefile removefile")},
	{Changes, compress.WordSet("edit editor multiedit editfile patch applypatch insert update append modify")},
	{Writes, compress.WordSet("write create save writefile createfile savefile")},
	{Reads, compress.WordSet("read view open cat load readfile viewfile openfile")},
}

// FileAct returns what a tool does to a file, by the words of its name; "" if they do not say so.
func FileAct(tool string) string {
	words := compress.NameWords(compress.BareName(tool))
	for _, verbs := range fileVerbs {
		for _, w := range words {
			if verbs.words[w] {
				return verbs.act
			}
		}
	}
	return ""
}
