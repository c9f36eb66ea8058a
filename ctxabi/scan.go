package ctxabi

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// scanObject reads the JSON object that is all of line and calls field with
// each of its keys (still quoted) and values, in order. It gives "" or what is
// wrong in words. It is strict: ok means that encoding/json takes line, too.
//
// One pass that checks the syntax and finds the fields costs a fifth of
// checking with a library first and looking the fields up after, and it is on
// the path of every append.
func scanObject(line []byte, field func(key, value []byte)) (problem string) {
	s := scanner{b: line, maxDepth: MaxDepth}
	s.blanks()
	if s.peek() != '{' {
		return "is not a JSON object"
	}
	if !s.object(1, field) {
		if s.tooDeep {
			return "is nested too deep"
		}
		return "is not valid JSON"
	}
	if s.blanks(); s.i < len(line) {
		return "has text after its JSON object"
	}
	return ""
}

type scanner struct {
	b        []byte
	i        int
	maxDepth int
	tooDeep  bool
	spaced   bool // there were blanks
}

// peek returns 0 at the end, which no token begins with.
func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) blanks() {
	for s.i < len(s.b) && isBlank(s.b[s.i]) {
		s.i++
		s.spaced = true
	}
}

// isBlank: JSON knows four blanks; a newline ends a record before it comes here.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func (s *scanner) value(depth int) bool {
	switch c := s.peek(); {
	case c == '"':
		return s.str()
	case c == '{':
		return s.object(depth, nil)
	case c == '[':
		return s.array(depth, nil)
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *scanner) object(depth int, field func(key, value []byte)) bool {
	if depth > s.maxDepth {
		s.tooDeep = true
		return false
	}
	s.i++
	if s.blanks(); s.peek() == '}' {
		s.i++
		return true
	}
	for {
		key := s.i
		if s.peek() != '"' || !s.str() {
			return false
		}
		keyEnd := s.i
		if s.blanks(); s.peek() != ':' {
			return false
		}
		s.i++
		s.blanks()
		val := s.i
		if !s.value(depth + 1) {
			return false
		}
		if field != nil {
			field(s.b[key:keyEnd], s.b[val:s.i])
		}
		s.blanks()
		switch s.peek() {
		case ',':
			s.i++
			s.blanks()
		case '}':
			s.i++
			return true
		default:
			return false
		}
	}
}

func (s *scanner) array(depth int, element func(value []byte)) bool {
	if depth > s.maxDepth {
		s.tooDeep = true
		return false
	}
	s.i++
	if s.blanks(); s.peek() == ']' {
		s.i++
		return true
	}
	for {
		val := s.i
		if !s.value(depth + 1) {
			return false
		}
		if element != nil {
			element(s.b[val:s.i])
		}
		s.blanks()
		switch s.peek() {
		case ',':
			s.i++
			s.blanks()
		case ']':
			s.i++
			return true
		default:
			return false
		}
	}
}

// eachField calls field with each key (still quoted) and value of a valid object.
func eachField(object []byte, field func(key, value []byte)) {
	s := scanner{b: object, maxDepth: MaxDepth}
	s.object(1, field)
}

// eachElement calls element with each value of a valid list.
func eachElement(list []byte, element func(value []byte)) {
	s := scanner{b: list, maxDepth: MaxDepth}
	s.array(1, element)
}

func (s *scanner) word(w string) bool {
	if !bytes.HasPrefix(s.b[s.i:], []byte(w)) {
		return false
	}
	s.i += len(w)
	return true
}

// plain is how many bytes at the beginning of b stand for themselves in a
// string: all but quotes, backslashes and control characters. It looks at
// eight bytes at a time, because most bytes of a log are such.
func plain(b []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; len(b)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^'"'*ones, x^'\\'*ones
		// The lowest bit that is set here belongs to the first byte that is below 0x20, or is zero in quote or slash.
		if found := ((x-0x20*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

func (s *scanner) str() bool {
	b, i := s.b, s.i+1
	for {
		i += plain(b[i:])
		if i >= len(b) || b[i] < 0x20 {
			return false
		}
		if b[i] == '"' {
			s.i = i + 1
			return true
		}
		if i+1 >= len(b) {
			return false
		}
		switch b[i+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i += 2
		case 'u':
			if len(b)-i < 6 || !isHex(b[i+2]) || !isHex(b[i+3]) || !isHex(b[i+4]) || !isHex(b[i+5]) {
				return false
			}
			i += 6
		default:
			return false
		}
	}
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func (s *scanner) number() bool {
	if s.peek() == '-' {
		s.i++
	}
	if s.peek() == '0' {
		s.i++
	} else if !s.digits() {
		return false
	}
	if s.peek() == '.' {
		s.i++
		if !s.digits() {
			return false
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.i++
		if c := s.peek(); c == '+' || c == '-' {
			s.i++
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > start
}

// appendUnquoted appends the text of a valid JSON string, lone surrogates as U+FFFD.
func appendUnquoted(text, raw []byte) []byte {
	s := raw[1 : len(raw)-1]
	text = slices.Grow(text, len(s))
	for i := bytes.IndexByte(s, '\\'); i >= 0; i = bytes.IndexByte(s, '\\') {
		text = append(text, s[:i]...)
		c := s[i+1]
		s = s[i+2:]
		if c != 'u' {
			text = append(text, unescaped[c])
			continue
		}
		r := hex4(s)
		s = s[4:]
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
				pair = utf16.DecodeRune(r, hex4(s[2:]))
			}
			if r = pair; r != utf8.RuneError {
				s = s[6:]
			}
		}
		text = utf8.AppendRune(text, r)
	}
	return append(text, s...)
}

var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hex4 reads the four hex digits that s begins with.
func hex4(s []byte) (r rune) {
	for _, c := range s[:4] {
		r = r<<4 | rune(c&0xf)
		if c >= 'A' {
			r += 9
		}
	}
	return r
}
