package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Limits of Values and Words.
const (
	maxValues     = 64       // values per text
	maxCheckBytes = 64 << 10 // prefix of a text that is read
)

// summaryValue matches candidates for values. In order: URLs, mail addresses, paths, dotted names,
// numbers and ids, hashes.
var summaryValue = lazy.Regexp("(?i)" + strings.Join([]string{
	`https?://[^\s<>"'` + "`" + `)\]]+`,
	`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`,
	`(?:[\w.@~-]*/)+[\w.@-]*\w`,
	`\b[\w-]+(?:\.[\w-]+)+\b`,
	`\b[a-z]*[_-]?[0-9][0-9a-z]*(?:[_,-][0-9a-z]+)*\b`,
	`\b[0-9a-f]{7,64}\b`,
}, "|"))

// inlineCode matches the code spans of a line.
var inlineCode = lazy.Regexp("`[^`\n]{3,200}`")

// Value is a literal in a summary that the summarized messages must contain as well: a path, URL,
// hash, id, number, host, command, or mail address.
type Value struct {
	Text    string
	Outside bool // a URL, host, command, or mail address, which an injected text may have introduced
}

// Values returns up to 64 distinct values from the first 64 KiB of a summary: commands first, then
// the others in order. It skips values that are part of an earlier one.
func Values(text string) (values []Value) {
	text = text[:min(len(text), maxCheckBytes)]
	add := func(s string, outside bool) {
		s = strings.TrimRight(s, ".,;:")
		for _, v := range values {
			if strings.Contains(v.Text, s) {
				return
			}
		}
		if s != "" && len(values) < maxValues {
			values = append(values, Value{s, outside})
		}
	}
	for _, code := range inlineCode().FindAllString(text, -1) {
		if code = strings.TrimSpace(strings.Trim(code, "`")); strings.ContainsAny(code, " \t") && !strings.Contains(code, "…") {
			add(code, true)
		}
	}

	for _, s := range summaryValue().FindAllString(text, -1) {
		switch {
		case strings.Contains(s, "://"), strings.Contains(s, "@") && !strings.Contains(s, "/"):
			add(s, true)
		case strings.Contains(s, "/"):
			if isPath(s) {
				add(s, false)
			}
		case strings.Contains(s, "."):
			if isHost(s) || digitsIn(s) >= 3 {
				add(s, isHost(s))
			}
		case len(s) == len("2006-01-02") && strings.Count(s, "-") == 2: // a date
		case digitsIn(s) >= 3 || len(s) >= 8 && digitsIn(s) > 1:
			add(s, false)
		}
	}
	return values
}

// In reports whether text contains the value, with or without its commas.
func (v Value) In(text string) bool {
	if strings.Contains(text, v.Text) {
		return true
	}
	plain := strings.ReplaceAll(v.Text, ",", "")
	return plain != v.Text && strings.Contains(text, plain)
}

// isPath reports whether a text with a slash is a path and no choice of words, such as on/off, and
// no path of the session's own files.
func isPath(s string) bool {
	last := s[strings.LastIndexByte(s, '/')+1:]
	return !strings.HasPrefix(s, ctxabi.ContextDir+"/") &&
		(strings.ContainsRune("/.~", rune(s[0])) || strings.Count(s, "/") > 1 || strings.Contains(last, "."))
}

// isHost reports whether a dotted name is an IPv4 address or a host name of at least three
// labels. A host name has no digit in its last label.
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
	compress.EachWord(strings.ToLower(text[:min(len(text), maxCheckBytes)]), func(w string, _ compress.WordKind) {
		if len(w) >= 3 || w[0] >= utf8.RuneSelf || digitsIn(w) > 0 {
			words[w] = true
		}
	})
	return words
}
