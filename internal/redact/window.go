package redact

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A rule looks only where one of its keywords stands: as far around it as the longest match can reach. Where there is no
// longest one it looks as far as these say, and farther when a match ends there.
const (
	farBack         = 1 << 10
	farForward      = 8 << 10
	assignedForward = 600
	keyForward      = 32 << 10 // of a private key, whose end comes late
)

// Most rules of the library are of this shape: a name with the keyword, an operator, the secret.
const (
	assigned  = `(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`
	nameFirst = `(?i)[\w.-]{0,50}?`
)

// maxName is how much of the name around it belongs to a keyword of such a rule.
const maxName = 50

// reach is how far around its keywords a rule has to look.
type reach struct {
	back, forward int
	assigned      bool // an operator must follow the keyword, and the secret is on its line or on the next
}

// compile returns the expression of a rule, and how far it reaches. A name in front of the keyword is no part of the expression, which
// would be tried at each letter of it; wholeMatch adds it.
func compile(source string, gate bool) (re *regexp.Regexp, w reach) {
	w.assigned = gate
	if rest, ok := strings.CutPrefix(source, nameFirst); ok {
		w.assigned = gate || strings.Contains(rest, assigned) || strings.Contains(rest, operator)
		source = "(?i)" + rest
	}
	re = regexp.MustCompile(source)
	longest := -1
	if tree, err := syntax.Parse(source, syntax.Perl); err == nil {
		longest = longestMatch(tree)
	}
	w.back, w.forward = farBack, farForward
	if longest >= 0 {
		w.back, w.forward = longest+utf8.UTFMax, longest+utf8.UTFMax
	}
	if strings.Contains(source, "BEGIN") {
		w.back, w.forward = 64, keyForward
	}
	if w.assigned {
		w.back, w.forward = min(w.back, 80), min(w.forward, assignedForward)
	}
	return re, w
}

// wholeMatch adds to a match the name that it is the end of.
func (r *rule) wholeMatch(text string, from int) int {
	if !r.name && !strings.HasPrefix(r.source, nameFirst) {
		return from
	}
	least := max(0, from-maxName)
	for from > least && inName(text[from-1]) {
		from--
	}
	return from
}

func inName(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '.' || c == '-'
}

// around is the window of a keyword.
func (w *reach) around(text string, from, to int) window {
	end := min(len(text), to+w.forward)
	if near := to + 48; w.assigned && near < end { // blanks belong to the operator, not to the secret
		if n := strings.IndexByte(text[near:end], '\n'); n >= 0 {
			end = near + n + 1
		}
	}
	return window{max(0, from-w.back), end}
}

// longestMatch is how many bytes a match has at most; -1: there is no bound, or a very large one.
func longestMatch(re *syntax.Regexp) int {
	sum := func(of func(n int) int, subs ...*syntax.Regexp) int {
		total := 0
		for _, sub := range subs {
			n := longestMatch(sub)
			if n < 0 {
				return -1
			}
			if total = of(n) + total; total > farForward {
				return -1
			}
		}
		return total
	}
	same := func(n int) int { return n }
	switch re.Op {
	case syntax.OpLiteral:
		return utf8.UTFMax * len(re.Rune)
	case syntax.OpCharClass:
		if n := len(re.Rune); n > 0 && re.Rune[n-1] < utf8.RuneSelf {
			return 1
		}
		return utf8.UTFMax
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax
	case syntax.OpCapture, syntax.OpQuest, syntax.OpConcat:
		return sum(same, re.Sub...)
	case syntax.OpAlternate:
		most := 0
		for _, sub := range re.Sub {
			n := longestMatch(sub)
			if n < 0 {
				return -1
			}
			most = max(most, n)
		}
		return most
	case syntax.OpRepeat:
		if re.Max < 0 {
			return -1
		}
		return sum(func(n int) int { return n * re.Max }, re.Sub...)
	case syntax.OpStar, syntax.OpPlus:
		return -1
	}
	return 0 // an assertion
}

// operatorFollows reports whether an operator can belong to the keyword that ends at a place.
func operatorFollows(text string, end int) bool {
	for _, c := range []byte(text[end:min(len(text), end+64)]) {
		switch {
		case strings.IndexByte("=>:|,?", c) >= 0:
			return true
		case c == ' ', c == '\'', c == '"', c == '`', c == '\\', c >= '\t' && c <= '\r', inName(c), c >= utf8.RuneSelf:
		default:
			return false
		}
	}
	return false
}

// window is a part of a text.
type window struct{ from, to int }

// addWindow adds a window behind those that begin no later; windows that touch become one.
func addWindow(list []window, w window) []window {
	if n := len(list); n > 0 && w.from <= list[n-1].to {
		list[n-1].to = max(list[n-1].to, w.to)
		list[n-1].from = min(list[n-1].from, w.from)
		for n > 1 && list[n-2].to >= list[n-1].from {
			list[n-2].to, list[n-2].from = max(list[n-2].to, list[n-1].to), min(list[n-2].from, list[n-1].from)
			list, n = list[:n-1], n-1
		}
		return list
	}
	return append(list, w)
}

// matches returns the submatches of re in a window of text as they are in the text. A match that ends where the window does may be
// more, or less, than one of the whole text: then the window grows.
func matches(re *regexp.Regexp, text string, w window) [][]int {
	for grow := farForward; ; grow *= 2 {
		found := re.FindAllStringSubmatchIndex(text[w.from:w.to], -1)
		touches := slices.ContainsFunc(found, func(m []int) bool {
			return m[0] == 0 && w.from > 0 || w.from+m[1] == w.to && w.to < len(text)
		})
		if !touches {
			for _, m := range found {
				for i := range m {
					if m[i] >= 0 {
						m[i] += w.from
					}
				}
			}
			return found
		}
		w = window{max(0, w.from-grow), min(len(text), w.to+grow)}
	}
}
