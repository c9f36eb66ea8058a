package compress

import (
	"encoding/binary"
	"sync"
)

// wordMemo remembers the terms of the short words that were met last: most words of a text stand in
// the one before, too. It changes no term.
type wordMemo [1 << memoBits]struct {
	a, b uint64 // the word, filled up with zeros
	term termID
	is   uint8 // memoTerm, memoNone; 0: free
}

const (
	memoBits = 12
	memoLen  = 16 // bytes of the longest word

	memoTerm = 1 // the word has a term
	memoNone = 2 // it has none
)

// memos are those that nobody uses at the moment.
var memos = sync.Pool{New: func() any { return new(wordMemo) }}

// plain emits the term of a word of ASCII letters and digits, as word does.
func (r *termReader) plain(s string) {
	if r.memo == nil || len(s) > memoLen || !r.remembered(s) {
		r.word(s)
	}
}

// remembered emits the term of a word of at most memoLen bytes, as word does without a memo; it reports false, and emits none, where a
// character of the word is not of ASCII.
func (r *termReader) remembered(s string) bool {
	var k [memoLen]byte
	copy(k[:], s)
	a, b := binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:])
	if (a|b)&0x8080808080808080 != 0 {
		return false
	}
	at := &r.memo[(a^(b<<29|b>>35))*0x9e3779b97f4a7c15>>(64-memoBits)]
	if at.is != 0 && at.a == a && at.b == b {
		if at.is == memoTerm {
			r.emit(at.term)
		}
		return true
	}
	emit, is, last := r.emit, uint8(memoNone), termID(0)
	if len(s) > 1 {
		r.lower(s)
		if !r.stops() {
			is, last = memoTerm, hash(Stem(r.buf))
			emit(last)
		}
	}
	at.a, at.b, at.term, at.is = a, b, last, is
	return true
}

// classes of bytes.
const (
	apart   = iota // no part of a word or of an identifier
	small          // a lower-case letter or a digit
	capital        // an upper-case letter
	other          // joins words, or is of a longer character
)

// class is that of each byte.
var class = func() (all [256]uint8) {
	for i := range all {
		switch c := byte(i); {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			all[i] = small
		case 'A' <= c && c <= 'Z':
			all[i] = capital
		case c >= 0x80 || joins(rune(c)):
			all[i] = other
		}
	}
	return all
}()

// plainWord returns the end of the word that begins at a byte of a text, if it is one that stands
// alone: small letters and digits, behind a capital perhaps; else 0.
func plainWord(text string, from int) (end int) {
	if c := class[text[from]]; c != small && c != capital {
		return 0
	}
	for end = from + 1; end < len(text) && class[text[end]] == small; end++ {
	}
	if end < len(text) && class[text[end]] != apart {
		return 0
	}
	return end
}
