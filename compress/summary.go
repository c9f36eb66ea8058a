package compress

import "strings"

// Sentence returns the first sentence of a text in at most n bytes, without the marks of a
// heading or a list item.
func Sentence(text string, n int) string {
	first := ""
	EachLine(text, func(_ int, line string) {
		if first != "" || strings.HasPrefix(line, "```") {
			return
		}
		first = strings.TrimSpace(strings.TrimLeft(line, "#>*- "))
	})
	for at := 0; at+1 < len(first); at++ {
		if (first[at] == '.' || first[at] == '!' || first[at] == '?') && first[at+1] == ' ' && at > 20 {
			first = first[:at+1]
			break
		}
	}
	return Clip(first, n)
}

// decides are words with which people and models say what is to be, and why.
var decides = []string{"decided", "instead", "because", "root cause", "the issue is", "the problem is", "fixed", "must not", "never ", "always ", "from now on", "we will use", "i'll use", "let's use", "turns out", "confirmed"}

// Decision returns, in at most n bytes, the first sentence of a text with a word for a decision
// or a conclusion; "" if there is none.
func Decision(text string, n int) (found string) {
	EachLine(text, func(_ int, line string) {
		if found != "" || len(line) > 4096 {
			return
		}
		for len(line) > 0 && found == "" {
			sentence := line
			if i := strings.IndexAny(line, ".!?"); i >= 0 {
				for i+1 < len(line) && line[i+1] != ' ' {
					j := strings.IndexAny(line[i+1:], ".!?")
					if j < 0 {
						i = len(line) - 1
						break
					}
					i += 1 + j
				}
				sentence, line = line[:i+1], line[i+1:]
			} else {
				line = ""
			}
			lower := strings.ToLower(sentence)
			for _, word := range decides {
				if strings.Contains(lower, word) {
					found = Clip(strings.TrimSpace(strings.TrimLeft(sentence, "#>*- ")), n)
					break
				}
			}
		}
	})
	return found
}
