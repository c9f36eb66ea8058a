package compress

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Finder finds out which texts cannot have any of some terms, without making terms of them. It is
// safe for concurrent use.
type Finder struct {
	heads  [headBits / 64]uint64 // a bit for each hash of the first three bytes of a term
	beyond bool                  // a term has characters beyond ASCII
}

const (
	headBits   = 1 << 13
	headMask   = 1<<18 - 1 // three bytes, six bits each
	notInTerms = 0         // of headByte: what ends a term
	beyond     = 37        // a byte of a character beyond ASCII
	joining    = 38        // what a term may leave out
	upperCase  = 1 << 6    // a term may begin here, whatever stands in front
)

// headByte is what a byte is in the head of a term: 1 to 36 for letters and digits. A letter is the
// same in either case, and i and y are one, since [Stem] makes one of the other.
var headByte = func() (all [256]uint8) {
	for c := range all {
		switch c := uint8(c); {
		case c >= utf8.RuneSelf:
			all[c] = beyond
		case joins(rune(c)):
			all[c] = joining
		case c == 'i':
			all[c] = 'y' - 'a' + 1
		case c == 'I':
			all[c] = 'y' - 'a' + 1 | upperCase
		case 'a' <= c && c <= 'z':
			all[c] = c - 'a' + 1
		case 'A' <= c && c <= 'Z':
			all[c] = c - 'A' + 1 | upperCase
		case '0' <= c && c <= '9':
			all[c] = c - '0' + 27
		}
	}
	return all
}()

func headHash(head uint32) uint32 { return head * 0x9E3779B1 >> (32 - 13) }

// NewFinder returns a finder of the terms of some texts.
func NewFinder(texts ...string) *Finder {
	f := &Finder{}
	mark := func(head uint32) {
		h := headHash(head)
		f.heads[h/64] |= 1 << (h % 64)
	}
	r := termReader{buf: make([]byte, 0, maxWhole), bytes: func(term []byte) {
		head := uint32(0)
		for _, c := range term[:min(len(term), 3)] {
			head = head<<6 | uint32(headByte[c])
		}
		f.beyond = f.beyond || bytes.ContainsFunc(term, func(c rune) bool { return c >= utf8.RuneSelf })
		if len(term) > 2 {
			mark(head)
			return
		}
		for next := range uint32(joining) { // Stem leaves two letters of some words that have more
			mark(head<<6 | next)
		}
	}}
	for _, text := range texts {
		r.read(text)
	}
	return f
}

// Lacks reports whether a text has none of the terms. It may return false for one that has none.
func (f *Finder) Lacks(text string) bool {
	head := uint32(0)                     // the last three bytes, but for what joins
	begins, first := uint32(0), uint32(1) // a bit for each of them, and for the next: a term may begin there
	ascii := true
	for i := 0; i <= len(text); i++ {
		c := uint8(notInTerms)
		if i < len(text) {
			c = headByte[text[i]]
		}
		if c == joining {
			first = 1
			continue
		}
		head = (head<<6 | uint32(c&^upperCase)) & headMask
		begins = begins<<1 | first | uint32(c/upperCase)
		if h := headHash(head); f.heads[h/64]>>(h%64)&1 != 0 && begins&4 != 0 {
			return false
		}
		first = 0
		switch c {
		case beyond:
			if f.beyond {
				return false
			}
			ascii, first = false, 1
		case notInTerms:
			first = 1
		}
	}
	// The two characters beyond ASCII whose lower case is a letter of ASCII.
	return ascii || !strings.Contains(text, "\u212a") && !strings.Contains(text, "\u0130")
}

// Terms calls emit with the terms of a text, as [Terms] does, but for some that the finder has not. It
// returns the number of all terms. It is faster than [Terms] the fewer it emits.
func (f *Finder) Terms(text string, emit func(term uint64)) (n int) {
	r := termReader{emit: func(t termID) { emit(uint64(t)) }, buf: make([]byte, 0, maxWhole), finder: f}
	r.read(text)
	return r.count
}

// mayHave reports whether the term of a word or identifier may be one of the finder's.
func (f *Finder) mayHave(word string) bool {
	head, n := uint32(0), 0
	for i := 0; i < len(word) && n < 3; i++ {
		switch c := headByte[word[i]]; c {
		case joining:
		case beyond:
			return true
		default:
			head, n = head<<6|uint32(c&^upperCase), n+1
		}
	}
	h := headHash(head << (6 * (3 - n)))
	return f.heads[h/64]>>(h%64)&1 != 0
}
