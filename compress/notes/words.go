package notes

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
)

// noteWord is one word of a sentence, or a mark that parts clauses.
type noteWord struct {
	text     string // in lower case, with ' for any apostrophe; of code ` alone
	raw      string // as it stands
	to       int    // where it ends in the sentence
	sets     uint64 // the phrase sets that have a phrase which begins with it
	mark     bool   // one of , : ; ( ) or a dash
	capital  bool
	valuable bool // code, an identifier, a number or a quoted string
	doubt    bool // what its clause says up to it is no statement
	report   bool // reported speech
}

// maxWords is how many words of a sentence are looked at.
const maxWords = 120

// splitWords returns the words of a sentence, at most maxWords, in the room of words. What stands
// in backticks, or in quotation marks, is one word.
func splitWords(s string, words []noteWord) []noteWord {
	words = words[:0]
	for at := 0; at < len(s) && len(words) < maxWords; {
		var w noteWord
		if w, at = wordAt(s, at); w.text != "" {
			words = append(words, w)
		}
	}
	return words
}

// wordAt returns the word or mark of s that begins at a byte, and where it ends; a word without
// text where none begins.
func wordAt(s string, at int) (w noteWord, end int) {
	switch c := s[at]; c {
	case ' ', '*':
		return w, at + 1
	case '`':
		if n := strings.IndexByte(s[at+1:], c); n >= 0 {
			end = at + n + 2
			return noteWord{text: "`", raw: s[at:end], to: end, valuable: n > 0}, end
		}
		return w, at + 1
	case '"':
		if n := strings.IndexByte(s[at+1:], c); n > 0 && n < 80 {
			end = at + n + 2
			return noteWord{text: "\"", raw: s[at:end], to: end, valuable: true}, end
		}
		return w, at + 1
	case ',', ':', ';', '(', ')':
		return noteWord{text: s[at : at+1], raw: s[at : at+1], to: at + 1, mark: true}, at + 1
	}
	end = wordEnd(s, at)
	raw := strings.TrimRight(s[at:end], ".!?…")
	switch raw {
	case "":
		return w, end
	case "-", "–", "—", "->", "=":
		return noteWord{text: raw, raw: raw, to: end, mark: raw != "="}, end
	}
	w = noteWord{text: lowerWord(raw), raw: raw, to: at + len(raw)}
	first, _ := utf8.DecodeRuneInString(raw)
	w.capital = unicode.IsUpper(first)
	w.sets = firstWords()[w.text]
	w.valuable = w.sets == 0 && (compress.KindOfWord(compress.TrimWord(raw)) == compress.IdentifierWord || strings.ContainsAny(raw, "0123456789"))
	return w, end
}

// wordEnd returns where the word of s that begins at a byte ends: at a blank, a quotation or a
// mark that something follows.
func wordEnd(s string, at int) int {
	for ; at < len(s); at++ {
		switch s[at] {
		case ' ', '`', '"', '*', '(', ')':
			return at
		case ',', ':', ';':
			if at+1 == len(s) || s[at+1] == ' ' || s[at+1] == '*' || s[at+1] == '`' {
				return at
			}
		}
	}
	return at
}

// lowerWord returns a word in lower case with plain apostrophes.
func lowerWord(w string) string {
	w = strings.ToLower(w)
	if strings.Contains(w, "’") {
		w = strings.ReplaceAll(w, "’", "'")
	}
	return w
}

// phrases are runs of words that mean the same to a rule, by their first word. In a phrase ~
// stands for any word, and a|b for either.
type phrases struct {
	name string
	bit  uint64
	of   map[string][][][]string // by the first word, of each further word its alternatives; made with firstWords
	not  map[string][][][]string // exceptions
}

// phraseSets are all sets, by the numbers of their bits.
var phraseSets []*phrases

// firstWords returns the bits of the sets that have phrases which begin with a word.
var firstWords = sync.OnceValue(func() map[string]uint64 {
	first := map[string]uint64{}
	for _, p := range phraseSets {
		p.of, p.not = map[string][][][]string{}, map[string][][][]string{}
		for _, phrase := range listOf(p.name) {
			phrase, isException := strings.CutPrefix(phrase, exception)
			into, words := p.of, alternatives(phrase)
			if isException {
				into = p.not
			}
			for _, w := range words[0] {
				into[w] = append(into[w], words[1:])
				first[w] |= p.bit
			}
		}
	}
	return first
})

// phraseSet returns the set of that name in phrasesFile. It is for variables of the package alone.
func phraseSet(name string) *phrases {
	if len(phraseSets) == 64 {
		panic("notes: a bit for each phrase set, and there are 64")
	}
	p := &phrases{name: name, bit: 1 << len(phraseSets)}
	phraseSets = append(phraseSets, p)
	return p
}

// at returns how many words the longest phrase of the set takes at word i; 0 without one, and for
// an exception.
func (p *phrases) at(words []noteWord, i int) (n int) {
	if p.excepts(words, i) {
		return 0
	}
	return p.longest(p.of, words, i)
}

// excepts reports whether an exception of the set begins at word i.
func (p *phrases) excepts(words []noteWord, i int) bool { return p.longest(p.not, words, i) > 0 }

func (p *phrases) longest(of map[string][][][]string, words []noteWord, i int) (n int) {
	if i < 0 || i >= len(words) || words[i].sets&p.bit == 0 {
		return 0
	}
	for _, rest := range of[words[i].text] {
		if len(rest) >= n && (len(rest) == 0 || phraseAt(rest, words, i+1) > 0) {
			n = len(rest) + 1
		}
	}
	return n
}

// in returns where the first phrase of the set stands, and how many words it takes; -1 without
// one.
func (p *phrases) in(words []noteWord) (at, n int) {
	for i := range words {
		if n := p.at(words, i); n > 0 {
			return i, n
		}
	}
	return -1, 0
}

// has reports whether a phrase of the set stands somewhere among words.
func (p *phrases) has(words []noteWord) bool { at, _ := p.in(words); return at >= 0 }

// isNumber reports whether a word is digits and what stands between and around them.
func isNumber(w string) bool {
	for _, c := range w {
		if !(c >= '0' && c <= '9' || c == '.' || c == ',' || c == '%' || c == '$' || c == '€') {
			return false
		}
	}
	return true
}

// isOneOf reports whether a word is one of some.
func isOneOf(word string, of ...string) bool { return slices.Contains(of, word) }

// ItemKey returns what two items share that are the same, written another way: the words in
// lower case.
func ItemKey(text string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !compress.InWord(r) || r == '.' || r == ':' || r == '-' }), " "))
}
