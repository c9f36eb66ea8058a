package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Numbers of the checks of a summary.
const (
	checkedValues = 64       // of a summary that are looked up
	checkedText   = 64 << 10 // bytes of a text whose values or words are looked up
)

// summaryValue matches what the checks look up: URLs, mail addresses, paths, names with dots, ids
// and numbers, and hashes.
var summaryValue = lazy.Regexp("(?i)" + strings.Join([]string{
	`https?://[^\s<>"'` + "`" + `)\]]+`,
	`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`,
	`(?:[\w.@~-]*/)+[\w.@-]*\w`,
	`\b[\w-]+(?:\.[\w-]+)+\b`,
	`\b[a-z]*[_-]?[0-9][0-9a-z]*(?:[_,-][0-9a-z]+)*\b`,
	`\b[0-9a-f]{7,64}\b`,
}, "|"))

// inlineCode matches code in backquotes, which is a command if it has more than one word.
var inlineCode = lazy.Regexp("`([^`\n]{3,200})`")

// A Value is an exact value of a summary: a path, URL, hash, id, number, host, command, or
// recipient.
type Value struct {
	Text    string
	Outside bool // it is a URL, a host, a command, or a recipient: where it comes from matters
}

// Values returns the exact values of a summary, in their order, each once.
func Values(text string) (values []Value) {
	text = text[:min(len(text), checkedText)]
	add := func(s string, outside bool) {
		s = strings.TrimRight(s, ".,;:")
		for _, v := range values { // a part of another one says no more
			if strings.Contains(v.Text, s) {
				return
			}
		}
		if s != "" && len(values) < checkedValues {
			values = append(values, Value{s, outside})
		}
	}
	for _, m := range inlineCode().FindAllStringSubmatch(text, -1) {
		if code := strings.TrimSpace(m[1]); strings.ContainsAny(code, " \t") {
			add(code, true)
		}
	}

	for _, s := range summaryValue().FindAllString(text, -1) {
		switch {
		case strings.Contains(s, "://"), strings.Contains(s, "@") && !strings.Contains(s, "/"):
			add(s, true)
		case strings.Contains(s, "/"):
			add(s, false)
		case strings.Contains(s, "."):
			if isHost(s) || digitsIn(s) >= 3 {
				add(s, isHost(s))
			}
		case digitsIn(s) >= 3 || len(s) >= 8 && digitsIn(s) > 0:
			add(s, false)
		}
	}
	return values
}

// In reports whether a text contains the value, as it is or as a number without separators of
// thousands.
func (v Value) In(text string) bool {
	if strings.Contains(text, v.Text) {
		return true
	}
	plain := strings.ReplaceAll(v.Text, ",", "")
	return plain != v.Text && strings.Contains(text, plain)
}

// isHost reports whether a name with dots looks like a host: an address, or three parts or more of
// which the last has no digit.
func isHost(s string) bool {
	parts := strings.Split(s, ".")
	if strings.IndexFunc(s, unicode.IsLetter) < 0 {
		return len(parts) == 4
	}
	return len(parts) >= 3 && digitsIn(parts[len(parts)-1]) == 0
}

func digitsIn(s string) (n int) {
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n
}

// Words returns the words of a text in lower case, as [compress.EachWord] finds them, without ASCII
// words that have fewer than three characters and no digit.
func Words(text string) map[string]bool {
	words := map[string]bool{}
	compress.EachWord(strings.ToLower(text[:min(len(text), checkedText)]), func(w string, _ compress.WordKind) {
		if len(w) >= 3 || w[0] >= utf8.RuneSelf || digitsIn(w) > 0 {
			words[w] = true
		}
	})
	return words
}
