package adapter

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A JSON string may hold half a surrogate pair ("\ud800"), for which Go's strings have no form. In a key it stands as the three bytes
// that UTF-8 would have for it, so that two such keys are two and are written as they were read.

// halves is what a JSON string means, halves included.
func halves(quoted []byte) string {
	var text []byte
	inside := quoted[1 : len(quoted)-1]
	whole := func(piece []byte) {
		var s string
		json.Unmarshal([]byte(`"`+string(piece)+`"`), &s)
		text = append(text, s...)
	}
	from := 0
	for i := 0; i < len(inside); {
		switch r := escape(inside, i); {
		case inside[i] != '\\':
			i++
		case inside[i+1] != 'u':
			i += 2
		case !utf16.IsSurrogate(r):
			i += 6
		case utf16.DecodeRune(r, escape(inside, i+6)) != utf8.RuneError:
			i += 12
		default:
			whole(inside[from:i])
			text = append(text, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
			i += 6
			from = i
		}
	}
	whole(inside[from:])
	return string(text)
}

// escape is the \uXXXX at i of valid JSON, 0 where there is none.
func escape(inside []byte, i int) rune {
	if len(inside) < i+6 || inside[i] != '\\' || inside[i+1] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(inside[i+2:i+6]), 16, 16)
	return rune(n)
}

// appendHalves appends a text as a JSON string, halves as the escapes that they were.
func appendHalves(b []byte, text string) []byte {
	if utf8.ValidString(text) {
		return append(b, encoded(text)...)
	}
	whole := func(piece string) {
		quoted := encoded(piece)
		b = append(b, quoted[1:len(quoted)-1]...)
	}
	b = append(b, '"')
	from := 0
	for i := 0; i+2 < len(text); {
		if text[i] != 0xed || text[i+1]&0xe0 != 0xa0 || text[i+2]&0xc0 != 0x80 {
			i++
			continue
		}
		whole(text[from:i])
		b = fmt.Appendf(b, `\u%04x`, 0xd000|int(text[i+1]&0x3f)<<6|int(text[i+2]&0x3f))
		i += 3
		from = i
	}
	whole(text[from:])
	return append(b, '"')
}
