package notes

import (
	_ "embed"
	"github.com/ctxfs/ctxfs/compress"
	"strings"
	"sync"
)

// phrasesFile holds the phrases that rules look for; its head explains the form.
//
//go:embed phrases.txt
var phrasesFile string

// phraseLists returns the sets of phrasesFile by their names.
var phraseLists = sync.OnceValue(func() map[string][]string { return readLists(phrasesFile) })

// exception marks the phrases of a set that do not count.
const exception = "!"

// readLists returns the sets of a file of phrases, of each its phrases with single blanks. The
// file is a part of the program: readLists panics where it is none.
func readLists(file string) map[string][]string {
	lists := map[string][]string{}
	name, prefix := "", ""
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '[' && line[len(line)-1] == ']':
			name, prefix = line[1:len(line)-1], ""
			if lists[name] != nil {
				panic("notes: two sets of phrases " + name)
			}
			lists[name] = []string{}
			continue
		case name == "":
			panic("notes: phrases before the first set: " + line)
		case line == exception:
			prefix = exception
			continue
		}
		for phrase := range strings.SplitSeq(line, ",") {
			if words := strings.Fields(phrase); len(words) > 0 {
				lists[name] = append(lists[name], prefix+strings.Join(words, " "))
			}
		}
	}
	return lists
}

// listOf returns the phrases of a set of phrasesFile; it panics if there is none.
func listOf(name string) []string {
	list := phraseLists()[name]
	if len(list) == 0 {
		panic("notes: no phrases " + name)
	}
	return list
}

// wordList is a set of phrasesFile whose phrases are single words.
type wordList func() map[string]bool

// has reports whether a word is one of the list.
func (l wordList) has(word string) bool { return l()[word] }

// wordSet returns the set of that name in phrasesFile.
func wordSet(name string) wordList {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for _, w := range listOf(name) {
			set[w] = true
		}
		return set
	})
}

// stemSet returns the stems of the set of that name in phrasesFile.
func stemSet(name string) wordList {
	words := wordSet(name)
	return sync.OnceValue(func() map[string]bool {
		stems := map[string]bool{}
		for w := range words() {
			stems[string(compress.Stem([]byte(w)))] = true
		}
		return stems
	})
}

// textSet returns a function that returns the phrases of the set of that name in phrasesFile.
func textSet(name string) func() []string {
	return sync.OnceValue(func() []string { return listOf(name) })
}
