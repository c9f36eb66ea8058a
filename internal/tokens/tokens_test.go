package tokens

import (
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	tiktoken "github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
)

var encodings = []string{"cl100k_base", "o200k_base"}

// The reference is tiktoken-go itself, with the loader that knows no network.
var reference = map[string]func() *tiktoken.Tiktoken{}

func init() {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	for _, e := range encodings {
		reference[e] = sync.OnceValue(func() *tiktoken.Tiktoken {
			k, err := tiktoken.GetEncoding(e)
			if err != nil {
				panic(err)
			}
			return k
		})
	}
}

func counter(t testing.TB, name string) *Counter {
	t.Helper()
	c, err := For(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// same fails unless both encodings count text as tiktoken-go does.
func same(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) {
	t.Helper()
	for _, e := range encodings {
		c, err := For(e)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if got, want := c.Count(text), len(reference[e]().EncodeOrdinary(text)); got != want {
			t.Fatalf("%s of %.300q (%d bytes): %d tokens, tiktoken-go says %d", e, text, len(text), got, want)
		}
	}
}

// The figures of OpenAI's cookbook, "How to count tokens with tiktoken".
func TestKnownVectors(t *testing.T) {
	for _, v := range []struct {
		text          string
		cl100k, o200k int
	}{
		{"", 0, 0},
		{"tiktoken is great!", 6, 6},
		{"antidisestablishmentarianism", 6, 6},
		{"2 + 2 = 4", 7, 7},
		{"お誕生日おめでとう", 9, 8},
	} {
		if n := counter(t, "cl100k_base").Count(v.text); n != v.cl100k {
			t.Errorf("cl100k_base of %q: %d, want %d", v.text, n, v.cl100k)
		}
		if n := counter(t, "").Count(v.text); n != v.o200k {
			t.Errorf("o200k_base of %q: %d, want %d", v.text, n, v.o200k)
		}
	}
}

func TestSpecialTokensAreText(t *testing.T) {
	for _, text := range []string{"<|endoftext|>", "a<|endofprompt|>b", "<|fim_prefix|><|im_start|>"} {
		same(t, text)
		if n := counter(t, "").Count(text); n < 3 {
			t.Errorf("%q counts as %d tokens: taken for a special token", text, n)
		}
	}
}

func TestEachBadByteCountsAsReplacement(t *testing.T) {
	for _, text := range []string{"\xff", "\xff\xfe\xfd", "ab\xc3", "\xe4\xbd", "\xed\xa0\x80x", "\xf4\x90\x80\x80"} {
		same(t, text)
	}
}

// Every assigned character, in every kind of place: alone, doubled, between and beside
// letters, after blanks, as a contraction.
func TestEveryCharacter(t *testing.T) {
	var b strings.Builder
	flush := func() {
		same(t, b.String())
		b.Reset()
	}
	for r := rune(0); r <= 0x323AF; r++ {
		if !utf8.ValidRune(r) || r >= 0x3400 && r < 0x9FF0 && r%64 != 0 || r >= 0xAC00 && r < 0xD7A0 && r%64 != 0 ||
			r >= 0xE000 && r < 0xF8FF && r%512 != 0 || r > 0x1FFFF && r%512 != 0 {
			continue // of the large uniform blocks, samples
		}
		c := string(r)
		b.WriteString("x" + c + "yA" + c + "Bc " + c + c + "\n" + c + "1'" + c + "e ")
		if b.Len() > 1<<16 {
			flush()
		}
	}
	flush()
}

// pieces are what the expressions and the merges tell apart.
var pieces = []string{"a", "b", "A", "Z", "é", "É", "ß", "漢", "の", "ʰ", "ǅ", "\u0301", "\u0903", "1", "٣", "Ⅷ", "½", " ", "  ", "\t", "\n", "\r", "\r\n",
	"\u00a0", "\u0085", "\u2028", "\u3000", "'", "'s", "'S", "'re", "'Ll", "'VE", "ſ", "K", "/", "//", "=", "==", "#", "# ", "`", "```", "{\"", "\":", "_", "-",
	".", ",", "(", ")", "\x00", "\x7f", "🙂", "🏳️‍🌈", "\ufffd", "\xff", "the", " the", "Function", "camelCase", "<|endoftext|>", "aaaaaaaa", "    "}

func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "pieces") {
			b.WriteString(strings.Repeat(p, rapid.SampledFrom([]int{1, 1, 1, 1, 2, 3, 40}).Draw(t, "times")))
		}
		return b.String()
	})
}

func TestEqualsTiktokenOnAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			same(t, texts().Draw(t, "text"))
			same(t, rapid.String().Draw(t, "text"))
		}
	})
}

func FuzzCount(f *testing.F) {
	for _, p := range pieces {
		f.Add(p + "x" + p)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 512 { // tiktoken-go is quadratic
			same(t, text)
		}
	})
}

// What ends in a newline and what begins with '#' do not join: a pack's count is the
// sum of the counts of its blocks.
func TestCountsOfBlocksAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts().Draw(t, "a")+"\n", "#"+texts().Draw(t, "b")
		for _, e := range encodings {
			c, _ := For(e)
			whole := c.Count(a + b)
			if sum := c.Count(a) + c.Count(b); sum != whole {
				t.Fatalf("%s: %q + %q: %d, the whole %d", e, a, b, sum, whole)
			}
			if sum := c.CountParts(a + b); sum != whole {
				t.Fatalf("%s: %q + %q by parts: %d, the whole %d", e, a, b, sum, whole)
			}
		}
	})
}

// hostile returns n bytes, about, of what makes naive tokenisers quadratic.
func hostile(n int) map[string]string {
	rng := rand.New(rand.NewPCG(1, 2))
	raw := make([]byte, n*3/4)
	letters, bases := make([]byte, n), make([]byte, n)
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	for i := range letters {
		letters[i] = "abcdefghijklmnopqrstuvwxyz"[rng.IntN(26)]
		bases[i] = "ACGT"[rng.IntN(4)]
	}
	b64 := base64.StdEncoding.EncodeToString(raw)
	return map[string]string{
		"a": strings.Repeat("a", n), "A": strings.Repeat("A", n), "blanks": strings.Repeat(" ", n), "equals": strings.Repeat("=", n),
		"han": strings.Repeat("漢", n/3), "newlines": strings.Repeat("\n", n), "newline blank": strings.Repeat("\n ", n/2), "marks": strings.Repeat("\u0301", n/2), "base64": b64,
		"base64 letters": strings.NewReplacer("+", "", "/", "", "0", "", "1", "", "2", "", "3", "", "4", "", "5", "", "6", "", "7", "", "8", "", "9", "").Replace(b64),
		"letters":        string(letters), "dna": string(bases), "ab": strings.Repeat("ab", n/2), "ªA": strings.Repeat("ªA", n/3),
		"capital then blank": strings.Repeat("A ", n/2), "hangul": strings.Repeat("가힣", n/6), "emoji": strings.Repeat("🙂", n/4), "bad": strings.Repeat("\xff", n),
		"slashes": strings.Repeat("/", n), "quotes": strings.Repeat("'", n), "digits": strings.Repeat("7", n), "nul": strings.Repeat("\x00", n),
	}
}

func TestEqualsTiktokenOnLongRuns(t *testing.T) {
	for name, text := range hostile(6000) {
		t.Run(name, func(t *testing.T) { same(t, text) })
	}
}

// A long piece gives the same count whatever the size of the windows it is cut into,
// windows shorter than a token included.
func TestWindowsDoNotChangeTheCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text") + "x"
		if !utf8.ValidString(text) {
			text = replaceInvalid(text)
		}
		text = strings.Repeat(text, rapid.IntRange(1, 5).Draw(t, "repeats"))
		for _, e := range encodings {
			c, _ := For(e)
			whole := len(new(merger).encode(c.ranks, text))
			for _, size := range []int{8, 16, 64, 200} {
				if n := c.ranks.countLong(text, size); n != whole {
					t.Fatalf("%s: windows of %d give %d, the whole %d: %q", e, size, n, whole, text)
				}
			}
			if len(text) <= shortPiece {
				if n := c.ranks.countShort(text); n != whole {
					t.Fatalf("%s: scanning gives %d, the heap %d: %q", e, n, whole, text)
				}
			}
		}
	})
}

// The largest record there can be, of the worst kinds. This hangs for hours when
// joining is quadratic.
func TestLargestRecordsEnd(t *testing.T) {
	c := counter(t, "")
	if n, want := c.Count(strings.Repeat("a", ctxabi.MaxRecord)), ctxabi.MaxRecord/8; n != want {
		t.Errorf("16 MiB of a: %d tokens, want %d", n, want)
	}
	for name, text := range hostile(suite.Pick(t, 1<<16, 1<<18)) {
		if n := c.Count(text); n < len(text)/200 {
			t.Errorf("%s: %d tokens of %d bytes", name, n, len(text))
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"": "o200k_base", "o200k_base": "o200k_base", "cl100k_base": "cl100k_base",
		"gpt-4o": "o200k_base", "gpt-4o-2024-05-13": "o200k_base", "gpt-4o-mini": "o200k_base", "gpt-4": "cl100k_base", "gpt-4-0314": "cl100k_base",
		"gpt-4.1": "o200k_base", "gpt-4.1-mini": "o200k_base", "gpt-5": "o200k_base", "gpt-5.1-codex": "o200k_base", "o1": "o200k_base", "o3-mini": "o200k_base",
		"o4-mini": "o200k_base", "gpt-oss-120b": "o200k_base", "chatgpt-4o-latest": "o200k_base", "gpt-3.5-turbo": "cl100k_base", "gpt-3.5-turbo-0301": "cl100k_base",
		"gpt-35-turbo": "cl100k_base", "ft:gpt-4o:acme": "o200k_base", "ft:gpt-3.5-turbo:acme": "cl100k_base", "text-embedding-3-small": "cl100k_base",
	} {
		if c, err := For(name); err != nil || c.Encoding() != want {
			t.Errorf("For(%q) = %v, %v, want %s", name, c, err, want)
		}
	}
	for _, name := range []string{"gpt", "gpt-4oo", "o2", "claude-opus", "ft:", "o200k", "O200K_BASE", "p50k_base", "gpt-40"} {
		_, err := For(name)
		if !errors.Is(err, ctxabi.ErrMalformed) {
			t.Errorf("For(%q): %v, want ErrMalformed", name, err)
		} else if s := err.Error(); !strings.Contains(s, "o200k_base") || !strings.Contains(s, "gpt-4o") {
			t.Errorf("For(%q) does not say what is accepted: %s", name, s)
		}
	}
}

// Where tiktoken-go knows a model and the encoding is one of ours, we agree.
func TestModelsAgreeWithTiktoken(t *testing.T) {
	n := 0
	for _, table := range []map[string]string{tiktoken.MODEL_TO_ENCODING, tiktoken.MODEL_PREFIX_TO_ENCODING} {
		for model, encoding := range table {
			if counters[encoding] == nil {
				continue // the encodings of models that are gone
			}
			n++
			if got, err := resolve(model); err != nil || got != encoding {
				t.Errorf("%s: %q, %v; tiktoken-go says %s", model, got, err, encoding)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d models compared", n)
	}
}

func TestCountersAreShared(t *testing.T) {
	if counter(t, "gpt-4o") != counter(t, "") {
		t.Error("two counters of one encoding")
	}
}

func TestConcurrentCounts(t *testing.T) {
	var wg sync.WaitGroup
	text := strings.Repeat("func main() { fmt.Println(\"hello\") }\n", 20) + strings.Repeat("x", 3*window)
	want := counter(t, "").Count(text)
	for i := range 8 {
		wg.Go(func() {
			c, err := For([]string{"", "gpt-4o"}[i%2])
			if err != nil {
				t.Error(err)
				return
			}
			for range 5 {
				if n, m := c.Count(text), c.CountCached(text); n != want || m != want {
					t.Errorf("%d and %d, want %d", n, m, want)
				}
			}
		})
	}
	wg.Wait()
}

// Real sessions, line by line, when the data is there.
func TestEqualsTiktokenOnRealSessions(t *testing.T) {
	most := suite.Pick(t, 1<<18, 2<<20) // bytes that are compared
	dir := os.Getenv("CTXFS_TESTDATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	files, _ := filepath.Glob(filepath.Join(dir, "sessions", "*.jsonl"))
	if len(files) == 0 {
		files, _ = filepath.Glob(filepath.Join(dir, "sessions", "*", "*.jsonl"))
	}
	if len(files) == 0 {
		t.Skip("no sessions in CTXFS_TESTDATA (or ../shared/data)")
	}
	total := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if len(line) > 20_000 {
				line = line[:20_000]
			}
			if total += len(line); total > most {
				return
			}
			same(t, line)
		}
	}
}

func BenchmarkCount(b *testing.B) {
	src, err := os.ReadFile("tokens_test.go")
	if err != nil {
		b.Fatal(err)
	}
	inputs := hostile(1 << 20)
	inputs["source code"] = strings.Repeat(string(src), 10)
	for _, e := range encodings {
		for name, text := range inputs {
			b.Run(e+"/"+strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
				c := counter(b, e)
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					c.Count(text)
				}
			})
		}
	}
}

func BenchmarkCountTiktoken(b *testing.B) {
	src, err := os.ReadFile("tokens_test.go")
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range encodings {
		b.Run(e, func(b *testing.B) {
			k := reference[e]()
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				k.EncodeOrdinary(string(src))
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, e := range encodings {
		b.Run(e, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := loadRanks(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
