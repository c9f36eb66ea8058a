package ctxabi

// Weight estimates how many tokens b has, from its bytes alone and without a
// tokeniser, at about a nanosecond a byte. It errs upwards: see TestWeight for
// how far. Boundaries of the journal move by it, so that they depend on
// nothing but history; what is served is counted exactly.
func Weight(b string) int {
	// Quarter tokens: a word costs one token per six letters begun, digits one
	// per three, punctuation and line ends one each, other scripts 2/3 a byte.
	q, run := 0, 0
	var prev byte
	for i := 0; i < len(b); i++ {
		c := b[i]
		class := weightClass[c]
		if class != prev {
			run = 0
		}
		prev = class
		switch class {
		case 'a':
			if run%6 == 0 {
				q += 4
			}
		case '0':
			if run%3 == 0 {
				q += 4
			}
		case '.':
			q += 3
		case '\n':
			if run == 0 {
				q += 3
			}
		case ' ':
			if run == 1 {
				q += 2
			}
		default:
			q += 2
		}
		run++
	}
	return (q + 3) / 4
}

var weightClass = func() (t [256]byte) {
	for i := range t {
		switch c := byte(i); {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_':
			t[i] = 'a'
		case c >= '0' && c <= '9':
			t[i] = '0'
		case c == '\n' || c == '\r':
			t[i] = '\n'
		case c == ' ' || c == '\t':
			t[i] = ' '
		case c < 0x80:
			t[i] = '.'
		default:
			t[i] = 'u'
		}
	}
	return t
}()
