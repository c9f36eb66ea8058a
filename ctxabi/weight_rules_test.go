package ctxabi

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// weightByTheRules returns what Weight means, byte by byte, without its table.
func weightByTheRules(s string) int {
	// In quarters of a token. A word costs one token per eight letters begun
	// and one for each unusual pair of letters in it, digits one per three,
	// punctuation and line ends most of one each, other scripts by their lead byte.
	q, run := 0, 0
	var prev, before byte // the byte before and the one before that
	class := classNone
	for i := 0; i < len(s); i++ {
		c := s[i]
		was := class
		class = byteClass[c]
		if class != was {
			run = 0
		}
		switch class {
		case classLetter:
			if prev >= 'a' && c < 'a' {
				run = 0 // camelCase
			}
			q += letterByTheRules(run, before, prev, c)
		case classDigit:
			if run%3 == 0 {
				q += 4
			}
			if was == classSpace {
				q += 2 // a blank never joins the digits that follow it
			}
		case classPunct:
			switch {
			case c == '_':
				q++
			case prev == c:
				q++
			default:
				q += 3
			}
		case classControl:
			q += 4
		case classNewline:
			if run%16 == 0 {
				q += 4
			}
		case classSpace:
			if run == 1 || run%64 == 63 || c == '\t' && run%16 == 15 {
				q += 2
			}
		case classLead:
			q += leadCost(c, (s + "\x00")[i+1])
		case classTrail: // paid for by its lead byte
		}
		run++
		prev, before = c, prev
	}
	return (q + 3) / 4
}

// letterByTheRules returns what the letter c costs behind run letters of its word, which end in before and prev.
func letterByTheRules(run int, before, prev, c byte) int {
	switch {
	case run == 0: // a word begins
		return 4
	case prev == c && before == c:
		return 2
	case !usualPair(prev, c), run%8 == 0:
		return 4
	}
	return 0
}

func TestWeightFollowsItsRules(t *testing.T) {
	for _, s := range []string{"", "a", "\x00", "\x00\x00a", "aaa", "aaaaAAAA", "qqq",
		strings.Repeat("in", 1000), strings.Repeat("e", 1000), strings.Repeat("7", 1000), strings.Repeat(" ", 1000), strings.Repeat("\t", 1000), strings.Repeat("\n", 1000),
		strings.Repeat(" ", 383) + "1", strings.Repeat("1", 384) + "1", strings.Repeat("in", 192) + "n1", "xxqqqx", "internationalisation", "camelCaseHTTPServer",
		strings.Repeat("q", 20), strings.Repeat("in", 20), strings.Repeat("7", 20), " 1 22  333   4444", strings.Repeat(" ", 200), strings.Repeat("\t", 200),
		" \t \t", strings.Repeat("\n", 50), "\r\n\r\n", "__init__", "-----", "== = ==", "日本語テキスト", "naïve café", "\xff\xfe\x80", "🙂🙂", "ab\u0301c"} {
		if got, want := Weight(s), weightByTheRules(s); got != want {
			t.Errorf("Weight(%q) is %d, by the rules %d", s, got, want)
		}
	}
	alphabet := rapid.SampledFrom([]string{"a", "b", "q", "A", "Q", "x", "the", "in", "1", "22", " ", "  ", "\t", "\n", "_", "-", "(", "\x01", "é", "日", "🙂", "\xff", "\x80",
		strings.Repeat("i", 190), strings.Repeat("1", 190), strings.Repeat(" ", 190), strings.Repeat("\t", 190), strings.Repeat("\n", 190)})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(alphabet, 0, 60).Draw(t, "parts"), "")
		if got, want := Weight(s), weightByTheRules(s); got != want {
			t.Fatalf("Weight(%q) is %d, by the rules %d", s, got, want)
		}
	})
}

func FuzzWeightFollowsItsRules(f *testing.F) {
	f.Add("func (c *Client) refresh(ctx context.Context) error {\n\treturn nil // 1234 bytes\n}\n")
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := Weight(s), weightByTheRules(s); got != want {
			t.Errorf("Weight(%q) is %d, by the rules %d", s, got, want)
		}
	})
}

func BenchmarkWeightByTable(b *testing.B) {
	s := strings.Repeat("func (c *Client) refresh(ctx context.Context) error {\n\treturn c.retry(3, 1024) // as often as config.go says\n}\n", 100)
	for name, weigh := range map[string]func(string) int{"table": Weight[string], "rules": weightByTheRules} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				weigh(s)
			}
		})
	}
}
