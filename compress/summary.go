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
