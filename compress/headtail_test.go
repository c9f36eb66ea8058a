package compress

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
)

const path = "context/line/97.txt"

// floor is the limit from which a shortened text always stays within it: the note and a little.
const floor = 40

func TestHeadTailGolden(t *testing.T) {
	var log strings.Builder
	for i := range 200 {
		fmt.Fprintf(&log, "%03d building module number %d\n", i, i)
	}
	for _, c := range []struct {
		name, text, want string
		limit            int
		cut              bool
	}{
		{"fits", "one\ntwo\n", "one\ntwo\n", 40, false},
		{"empty", "", "", 0, false},
		{"log", log.String(), "" +
			"000 building module number 0\n001 building module number 1\n" +
			"002 building module number 2\n003 building module number 3\n" +
			"[192 lines, 5850 bytes left out, all of it in context/line/97.txt]\n" +
			"196 building module number 196\n197 building module number 197\n198 building module number 198\n199 building module number 199\n", 80, true},
		{"one long line", strings.Repeat("word ", 2000), "" +
			strings.Repeat("word ", 8) + "\n" +
			"[9919 bytes left out, all of it in context/line/97.txt]\n" +
			strings.Repeat(" word", 8) + " ", 40, true},
		{"no room", log.String(), "[200 lines, 6090 bytes left out, all of it in context/line/97.txt]", 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, cut := HeadTail(c.text, c.limit, path)
			if got != c.want || cut != c.cut {
				t.Errorf("got %v\n%s\nwant %v\n%s", cut, got, c.cut, c.want)
			}
		})
	}
}

func TestHeadGolden(t *testing.T) {
	got, cut := Head("alpha\nbeta\ngamma\n"+strings.Repeat("delta and more of it\n", 50), 40, path)
	want := "alpha\nbeta\ngamma\ndelta and more of it\n[49 lines, 1029 bytes left out, all of it in context/line/97.txt]"
	if got != want || !cut {
		t.Errorf("got %v\n%s\nwant\n%s", cut, got, want)
	}
}

// What follows a fence that is cut would be taken for code.
func TestHeadClosesAFenceThatIsCut(t *testing.T) {
	code := strings.Repeat("delta and more of it\n", 50)
	for text, want := range map[string]string{
		"alpha\n```go\n" + code + "```\nomega\n":       "alpha\n```go\ndelta and more of it\n```\n[51 lines, 1039 bytes left out, all of it in context/line/97.txt]",
		"alpha\n~~~~\n```\n" + code + "~~~~\n":         "alpha\n~~~~\n```\n~~~~\n[51 lines, 1055 bytes left out, all of it in context/line/97.txt]",
		"alpha\n```\nx\n```\n" + code + "```\n" + code: "alpha\n```\nx\n```\n[101 lines, 2104 bytes left out, all of it in context/line/97.txt]",
	} {
		if got, cut := Head(text, 36, path); got != want || !cut {
			t.Errorf("got %v\n%s\nwant\n%s", cut, got, want)
		}
	}
}

func texts() *rapid.Generator[string] {
	line := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-z ]{0,80}`),
		rapid.SampledFrom([]string{"```", "```go", "~~~~", "  ```", "~~~"}),
		rapid.StringOfN(rapid.RuneFrom([]rune("你好😀é`# \t")), 0, 300, -1),
		rapid.Map(rapid.IntRange(0, 3000), func(n int) string { return strings.Repeat("x", n) }),
	)
	return rapid.Map(rapid.SliceOfN(line, 0, 40), func(l []string) string { return strings.Join(l, "\n") })
}

func TestHeadTailProperties(t *testing.T) {
	for name, shorten := range map[string]func(string, int, string) (string, bool){"HeadTail": HeadTail, "Head": Head} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			text := texts().Draw(t, "text")
			limit := rapid.IntRange(0, 2000).Draw(t, "limit")
			short, cut := shorten(text, limit, path)
			switch {
			case !cut && short != text:
				t.Fatal("changed without saying so")
			case cut != (ctxabi.Weight(text) > limit):
				t.Fatalf("cut is %v at weight %d and limit %d", cut, ctxabi.Weight(text), limit)
			case cut && !strings.Contains(short, "left out, all of it in "+path+"]"):
				t.Fatalf("no path in %q", short)
			case cut && limit >= floor && ctxabi.Weight(short) > limit:
				t.Fatalf("weight %d above %d", ctxabi.Weight(short), limit)
			case utf8.ValidString(text) && !utf8.ValidString(short):
				t.Fatalf("cut inside a character: %q", short)
			}
			if cut {
				head, tail, _ := strings.Cut(short, "["+noteOf(short))
				tail = strings.TrimPrefix(tail, "\n")
				head = strings.TrimSuffix(head, "\n")
				if name == "Head" {
					if openFence(head) != "" {
						t.Fatalf("a fence is left open: %q", short)
					}
					if before := strings.LastIndexByte(head, '\n'); !strings.HasPrefix(text, head) && FenceMark(head[before+1:]) != "" {
						head = head[:max(0, before)] // it was closed
					}
					if !strings.HasPrefix(text, head) {
						head = strings.TrimSuffix(head, "…") // it was cut inside a line
					}
				}
				if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
					t.Fatalf("not the head and tail of the text: %q", short)
				}
			}
			if again, _ := shorten(text, limit, path); again != short {
				t.Fatal("another result the second time")
			}
		}))
	}
}

// noteOf finds the note after its opening bracket.
func noteOf(short string) string {
	end := strings.LastIndex(short, "left out, all of it in "+path+"]")
	begin := strings.LastIndexByte(short[:end], '[') + 1
	return short[begin : end+len("left out, all of it in "+path+"]")]
}

// A 16 MiB record must not cost more than its shown part and a scan for line ends.
func BenchmarkHeadTailLarge(b *testing.B) {
	text := strings.Repeat("some line of a very long log file\n", 1<<19)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		HeadTail(text, 3000, path)
	}
}

// A text with a long run of blanks was shortened to little else, at the cost of all tokens.
func TestLongBlanksAreLeftOut(t *testing.T) {
	for _, blank := range []string{" ", "\n", "\t", "\r\n", " \n"} {
		run := strings.Repeat(blank, 1<<20/len(blank))
		text := "begin" + run + "end"
		short, cut := HeadTail(text, 8000, "x")
		if !cut || !strings.HasPrefix(short, "begin\n[") || !strings.HasSuffix(short, " left out, all of it in x]\nend") || len(short) > 200 {
			t.Errorf("%q: %.100q has %d bytes", blank, short, len(short))
		}
		if short, cut := Head(text, 8000, "x"); !cut || !strings.HasPrefix(short, "begin\n[") || len(short) > 200 {
			t.Errorf("the head with %q: %.100q has %d bytes", blank, short, len(short))
		}
		if short, _ := HeadTail(run, 8000, "x"); len(strings.TrimSpace(short)) != len(short) || len(short) > 200 {
			t.Errorf("nothing but %q: %.100q has %d bytes", blank, short, len(short))
		}
		two := "begin" + run + "middle" + run + "end"
		if short, _ := HeadTail(two, 8000, "x"); !strings.HasPrefix(short, "begin") || !strings.HasSuffix(short, "end") || len(short) > 200 {
			t.Errorf("two runs of %q: %.100q has %d bytes", blank, short, len(short))
		}
	}
	code := strings.Repeat(strings.Repeat(" ", 200)+"deeply.indented()\n", 2000)
	if short, _ := HeadTail(code, 1000, "x"); !strings.HasPrefix(short, strings.Repeat(" ", 200)+"deeply") || strings.Count(short, "deeply") < 10 {
		t.Errorf("indented code becomes %.300q", short)
	}
}
