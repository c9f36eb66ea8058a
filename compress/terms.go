package compress

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// termID stands for a term: its 64-bit FNV-1a hash, so that an index holds no
// strings. Two terms that share one cost a wrong hit among billions.
type termID uint64

// maxWhole is the longest identifier, in bytes, that is a term as a whole.
const maxWhole = 128

// eachTerm calls emit with the terms of text in its order, again and again where they are
// repeated.
//
// Words are runs of letters, marks and digits of any script, in lower case, without stop words
// and single ASCII characters, English ones stemmed ([Stem]). An identifier (words joined by any
// of _-./:@#, or with a capital inside) has as terms its parts, each piece of it between any of
// ./:@# and itself, the latter two without what joins them: refresh_token, refresh-token and
// refreshToken have the same three terms. Scripts written without spaces, and Hangul, have
// overlapping pairs of characters.
func eachTerm(text string, emit func(termID)) {
	r := termReader{emit: emit, buf: make([]byte, 0, maxWhole)}
	r.read(text)
}

func (r *termReader) read(text string) {
	for at := 0; at < len(text); {
		c, size := runeAt(text, at)
		if !wordRune(c) {
			at += size
			continue
		}
		from, end := at, at+size // end is behind the last character of a word
		simple := c < utf8.RuneSelf
		for at = end; at < len(text); {
			c, size := runeAt(text, at)
			if wordRune(c) {
				simple = simple && end == at && ('a' <= c && c <= 'z' || '0' <= c && c <= '9')
				end = at + size
			} else if !joins(c) {
				break
			}
			at += size
		}
		if simple || end-from == 1 {
			r.word(text[from:end])
		} else {
			r.chunk(text[from:end])
		}
		at = end + apostrophe(text[end:])
	}
}

// runeAt is utf8.DecodeRuneInString, fast for ASCII.
func runeAt(s string, at int) (rune, int) {
	if c := s[at]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(s[at:])
}

// TermsVersion changes when the terms of some text do. An index on disk that was made with
// another one is of no use.
const TermsVersion = 1

// Terms calls emit with the terms of text in its order, again where one is repeated, as an
// [Index] counts them: 64-bit hashes of words, of identifiers and their parts, and of pairs of
// characters in scripts without spaces. English words are stemmed ([Stem]); stop words are left
// out.
func Terms(text string, emit func(term uint64)) {
	eachTerm(text, func(t termID) { emit(uint64(t)) })
}

// Words is [Terms] without those of identifiers as wholes. Each of its terms stands in any text
// that holds the words of this one verbatim, whatever they are joined to there.
func Words(text string, emit func(term uint64)) {
	r := termReader{emit: func(t termID) { emit(uint64(t)) }, buf: make([]byte, 0, maxWhole), words: true}
	r.read(text)
}

// termReader makes terms of chunks.
type termReader struct {
	emit  func(termID)
	buf   []byte
	words bool // without wholes
}

// chunk emits the terms of one word or identifier.
func (r *termReader) chunk(s string) {
	pieces, parts, from := 0, 0, 0
	for at := 0; at <= len(s); at++ {
		if at < len(s) && !(s[at] < utf8.RuneSelf && separates(s[at])) {
			continue
		}
		if from < at {
			n := r.parts(s[from:at])
			if n > 1 {
				r.whole(s[from:at])
			}
			parts += n
			pieces++
		}
		from = at + 1
	}
	if pieces > 1 && parts > 1 {
		r.whole(s)
	}
}

// parts emits the words of a piece, which _, - and capitals part, and returns their number.
func (r *termReader) parts(s string) (n int) {
	from := 0
	var last rune // the character before; 0 at the beginning of a part
	part := func(to int) {
		if from < to {
			r.word(s[from:to])
			n++
		}
		from, last = to, 0
	}
	for at := 0; at < len(s); {
		c, size := runeAt(s, at)
		switch {
		case joins(c):
			part(at)
			from = at + size
			at += size
			continue
		case last == 0:
		case spaceless(c) != spaceless(last) && !unicode.IsMark(c):
			part(at)
		case unicode.IsUpper(c) && !unicode.IsUpper(last):
			part(at)
		case unicode.IsUpper(c) && unicode.IsUpper(last) && at+size < len(s):
			if next, _ := runeAt(s, at+size); unicode.IsLower(next) { // the S of HTTPServer
				part(at)
			}
		}
		last = c
		at += size
	}
	part(len(s))
	return n
}

// word emits the term of one part.
func (r *termReader) word(s string) {
	if first, _ := runeAt(s, 0); spaceless(first) {
		r.pairs(s)
		return
	}
	if len(s) == 1 || len(s) > maxWhole {
		return
	}
	if r.lower(s); !stopWords[string(r.buf)] {
		r.emit(hash(Stem(r.buf)))
	}
}

// whole emits the term of an identifier.
func (r *termReader) whole(s string) {
	if r.words || len(s) > maxWhole {
		return
	}
	r.lower(s)
	n := 0
	for _, c := range r.buf {
		if c >= utf8.RuneSelf || !joins(rune(c)) {
			r.buf[n] = c
			n++
		}
	}
	r.emit(hash(Stem(r.buf[:n])))
}

// pairs reads the character pairs of a run as terms.
func (r *termReader) pairs(s string) {
	eachPair(s, func(pair string) { r.emit(hash(pair)) })
}

// eachPair calls emit with each pair of adjacent characters in s, or with s if it has only one
// character. Combining marks belong to the preceding character.
func eachPair(s string, emit func(pair string)) {
	first, second, n := 0, 0, 0 // where the last two characters begin
	for at, c := range s {
		if unicode.IsMark(c) && at > 0 {
			continue
		}
		if n >= 2 {
			emit(s[first:at])
		}
		first, second = second, at
		n++
	}
	emit(s[first:])
}

// lower puts s in lower case into the buffer.
func (r *termReader) lower(s string) {
	buf := append(r.buf[:0], s...)
	for i, c := range buf {
		if c >= utf8.RuneSelf {
			buf = buf[:i]
			for _, c := range s[i:] {
				buf = utf8.AppendRune(buf, unicode.ToLower(c))
			}
			break
		}
		if 'A' <= c && c <= 'Z' {
			buf[i] = c + 'a' - 'A'
		}
	}
	r.buf = buf
}

// Hash returns the 64-bit FNV-1a hash of a string.
func Hash(s string) uint64 { return uint64(hash(s)) }

// hash returns the FNV-1a hash of a term.
func hash[T string | []byte](term T) termID {
	h := uint64(14695981039346656037)
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	return termID(h)
}

func wordRune(c rune) bool {
	if c < utf8.RuneSelf {
		return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
	}
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c))
}

// joins reports whether c may stand inside an identifier.
func joins(c rune) bool { return c == '_' || c == '-' || c < utf8.RuneSelf && separates(byte(c)) }

// separates reports whether c parts the pieces of an identifier, which count as wholes
// themselves.
func separates(c byte) bool {
	return c == '.' || c == '/' || c == ':' || c == '@' || c == '#'
}

// spaceless reports whether c is of a script whose words are not parted, or whose words carry
// much grammar.
func spaceless(c rune) bool {
	return c >= 0x0e00 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// apostrophe returns the length of an ending like 's at the beginning of s; 0 for another
// beginning (n't is none).
func apostrophe(s string) int {
	rest, ok := strings.CutPrefix(s, "'")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "’"); !ok {
			return 0
		}
	}
	n := 0
	for n < len(rest) && ('a' <= rest[n] && rest[n] <= 'z') {
		n++
	}
	if n == 0 || n > 2 || n < len(rest) && rest[n] >= utf8.RuneSelf {
		return 0
	}
	return len(s) - len(rest) + n
}

// IsStopWord reports whether a word in lower case is one of the commonest English ones, which
// are no terms.
func IsStopWord(word string) bool { return stopWords[word] }

var stopWords = WordSet(`about above after again all also am an and any are as at be because been before being below between both but by
		can cannot could did do does doesn doing don down during each either else for from further had has have having he her here hers him his how
		if in into is isn it its itself just let may me might more most must my myself neither no nor not now of off on once only or other our ours
		out over own please same shall she should so some such than that the their theirs them then there these they this those through to too
		under until up upon us very was we well were what when where whether which while who whom whose why will with within without would yes yet you your yours`)

// WordSet returns the set of the words in a text that blanks part.
func WordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
