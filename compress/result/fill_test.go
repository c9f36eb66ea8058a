package result

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/internal/tokens"
)

// fresh draws texts of which no line says what another one said: what tools give, by the name of their
// form.
func fresh() map[string]func(t *rapid.T, lines int) string {
	word := rapid.StringMatching(`[a-z]{2,9}`)
	words := func(t *rapid.T, most int) string {
		return strings.Join(rapid.SliceOfN(word, 1, most).Draw(t, "words"), " ")
	}
	each := func(line func(t *rapid.T, i int) string) func(t *rapid.T, n int) string {
		return func(t *rapid.T, n int) string {
			var b strings.Builder
			for i := range n {
				b.WriteString(line(t, i) + "\n")
			}
			return b.String()
		}
	}
	list := func(line func(t *rapid.T, i int) string) func(t *rapid.T, n int) string {
		return func(t *rapid.T, n int) string {
			return "[" + strings.ReplaceAll(strings.TrimSuffix(each(line)(t, n), "\n"), "\n", ",") + "]"
		}
	}
	return map[string]func(t *rapid.T, n int) string{
		"prose": each(func(t *rapid.T, i int) string { return words(t, 30) + fmt.Sprint(" ", i) }),
		"log": each(func(t *rapid.T, i int) string {
			return fmt.Sprintf("2025-06-03T09:%02d:%02dZ INFO %s job_%d", i/60, i%60, words(t, 8), i)
		}),
		"failures": each(func(t *rapid.T, i int) string {
			return fmt.Sprintf("--- FAIL: Test_%s_%d (0.00s)\n    a_test.go:%d: %s", word.Draw(t, "name"), i, i, words(t, 9))
		}),
		"file": each(func(t *rapid.T, i int) string {
			return fmt.Sprintf("func %s%d() { return %s(%d) }", word.Draw(t, "name"), i, word.Draw(t, "call"), i)
		}),
		"csv": each(func(t *rapid.T, i int) string {
			return fmt.Sprintf("ord_%d,%s,%s,%d", i, word.Draw(t, "a"), word.Draw(t, "b"), i*37)
		}),
		"grep": each(func(t *rapid.T, i int) string {
			return fmt.Sprintf("src/%s_%d.go:%d:%s", word.Draw(t, "file"), i/3, i, words(t, 6))
		}),
		"listing": each(func(t *rapid.T, i int) string {
			return fmt.Sprintf("./%s/%s_%d.txt", word.Draw(t, "dir"), word.Draw(t, "file"), i)
		}),
		"long line": func(t *rapid.T, n int) string {
			return strings.ReplaceAll(each(func(t *rapid.T, i int) string { return words(t, 12) + fmt.Sprint(" ", i) })(t, n), "\n", " ")
		},
		"rows": list(func(t *rapid.T, i int) string {
			return fmt.Sprintf(`{"id":%d,"name":%q,"note":%q}`, i, word.Draw(t, "name"), words(t, 6))
		}),
		"values": list(func(t *rapid.T, i int) string { return fmt.Sprintf("%q", words(t, 12)+fmt.Sprint(" ", i)) }),
		"one string": func(t *rapid.T, n int) string {
			return `{"status":"ok","output":` + quote(each(func(t *rapid.T, i int) string { return words(t, 12) + fmt.Sprint(" ", i) })(t, n)) + `}`
		},
		"hits": func(t *rapid.T, n int) string {
			return `{"results":` + list(func(t *rapid.T, i int) string {
				return fmt.Sprintf(`{"title":%q,"url":"https://example.com/%d","content":%q}`, words(t, 6), i, words(t, 40))
			})(t, n) + "}"
		},
	}
}

// What is larger than its limit is shown as far as the limit goes, and no further.
func TestShortenedTextFillsItsLimit(t *testing.T) {
	counter, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	for form, text := range fresh() {
		t.Run(form, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				text := text(t, rapid.IntRange(5, 250).Draw(t, "lines"))
				limit := Limit{Tokens: rapid.IntRange(400, 1500).Draw(t, "tokens")}
				if rapid.Bool().Draw(t, "exactly") {
					limit.Count = counter.Count
				}
				about := Hint{Tool: rapid.SampledFrom([]string{"", "bash", "read_file"}).Draw(t, "tool")}
				whole := limit.of(text)
				kind := Recognise(text, about)
				short, used, cut := Shorten(text, kind, about, limit, path)
				n := limit.of(short)
				switch {
				case cut != (whole > limit.Tokens):
					t.Fatalf("cut: %v, of %d tokens where the limit is %d", cut, whole, limit.Tokens)
				case n > limit.Tokens:
					t.Fatalf("%d tokens where the limit is %d", n, limit.Tokens)
				case cut && n*20 < limit.Tokens*17 && whole > limit.Tokens*13/10:
					t.Fatalf("%s, shortened as %s: %d tokens of %d where the limit is %d:\n%s", kind, used, n, whole, limit.Tokens, short)
				}
			})
		})
	}
}
