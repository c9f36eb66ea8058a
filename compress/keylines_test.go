package compress

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func weightOf(lines []KeyLine, _ int) (n int) {
	for _, l := range lines {
		n += ctxabi.Weight(l.Text) + 3
	}
	return n
}

func textsOf(lines []KeyLine) (out []string) {
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return out
}

func TestKeyLines(t *testing.T) {
	var v Vocabulary
	sources := []Source{
		{Digest: v.Digest("nothing to see here\nauth/refresh.go:88: func (c *Client) refresh() error\n"), Age: 30, Tool: true},
		{Digest: v.Digest("I will change auth/refresh.go and RetryMax."), Age: 20},
		{Digest: v.Digest("  auth/refresh.go:88: func (c *Client) refresh() error  \nold_name = 4711\n"), Age: 10, Tool: true},
		{Digest: v.Digest("look at token_cache.go"), Age: 0, Shown: true},
		{Digest: v.Digest("token_cache.go is fine"), Age: 1},
	}
	for _, c := range []struct {
		name    string
		covered []string
		room    int
		want    []string
	}{
		{"no room", nil, 0, nil},
		{"one", nil, 15, []string{"token_cache.go is fine"}},
		{"all that is not said twice", nil, 1000, []string{
			"nothing to see here", "I will change auth/refresh.go and RetryMax.", "auth/refresh.go:88: func (c *Client) refresh() error", "old_name = 4711", "token_cache.go is fine"}},
		{"covered", []string{"auth/refresh.go RetryMax auth/refresh.go:88 func Client refresh error will change nothing here", "old_name 4711 fine"}, 15, []string{"token_cache.go is fine"}},
		{"no near-duplicate of covered text", []string{"auth/refresh.go RetryMax will change", "old_name = 4711"}, 1000,
			[]string{
				"nothing to see here",
				"auth/refresh.go:88: func (c *Client) refresh() error",
				"token_cache.go is fine",
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := textsOf(v.KeyLines(sources, c.covered, c.room, weightOf)); !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestKeyLinesProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v Vocabulary
		var sources []Source
		for i := range rapid.IntRange(0, 8).Draw(t, "n") {
			sources = append(sources, Source{Digest: v.Digest(texts().Draw(t, "text")), Age: 8 - i, Tool: rapid.Bool().Draw(t, "tool"), Shown: rapid.IntRange(0, 4).Draw(t, "shown") == 0})
		}
		room := rapid.IntRange(0, 300).Draw(t, "room")
		lines := v.KeyLines(sources, []string{texts().Draw(t, "covered")}, room, weightOf)
		used := 0
		for i, l := range lines {
			used += weightOf([]KeyLine{l}, 0)
			switch {
			case sources[l.Source].Shown:
				t.Fatalf("%q is shown anyway", l.Text)
			case !strings.Contains(sources[l.Source].Digest.Text(), l.Text):
				t.Fatalf("%q is no line of its source", l.Text)
			case strings.ContainsAny(l.Text, "\n\r\v\f\u0085\u2028\u2029") || l.Text == "":
				t.Fatalf("%q is not one line", l.Text)
			case i > 0 && (lines[i-1].Source > l.Source || lines[i-1].Source == l.Source && lines[i-1].Line >= l.Line):
				t.Fatalf("not in order: %+v", lines)
			}
		}
		if used > room {
			t.Fatalf("%d tokens in a room of %d", used, room)
		}
		if again := v.KeyLines(sources, nil, room, weightOf); !slices.Equal(again, v.KeyLines(sources, nil, room, weightOf)) {
			t.Fatal("not the same the second time")
		}
	})
}

func TestIdentifiers(t *testing.T) {
	for text, want := range map[string][]string{
		"see ./auth/refresh.go:88, it's (fine).":         {"auth/refresh.go:88", "auth/refresh.go"},
		"refreshToken RETRY_MAX v1.26 sha256 plain word": {"refreshToken", "RETRY_MAX", "v1.26", "sha256"},
		"12 123 a1 --flag user@example.com #1234":        {"123", "user@example.com", "1234"},
		`"a\nfoo_bar\tbaz.go"`:                           {"foo_bar", "baz.go"},
		strings.Repeat("x_", 200):                        nil,
		"Größe naïveWay":                                 {"naïveWay"},
	} {
		var got []string
		EachWord(text, func(w string, kind WordKind) {
			if kind == IdentifierWord {
				got = append(got, w)
			}
		})
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Lines say no payload, and all of a text that is none.
func TestEachLine(t *testing.T) {
	var got []string
	EachLine("a b\r\n\n  c\\nd \u2028e\\\\nf\n"+strings.Repeat("QUJD", 300)+"\nlast", func(_ int, l string) { got = append(got, l) })
	if want := []string{"a b", "c", "d", `e\\nf`, "last"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzEachLine(f *testing.F) {
	f.Add("a\nb\\nc\r\n" + strings.Repeat("long line, ", 200))
	f.Add("\\")
	f.Add(strings.Repeat("é", 900) + "\u2029")
	f.Fuzz(func(t *testing.T, text string) {
		last := -1
		EachLine(text, func(n int, line string) {
			if n <= last || line == "" || len(line) > longLine || strings.ContainsAny(line, "\n\r\v\f\u2028\u2029") || !strings.Contains(text, line) {
				t.Fatalf("line %d after %d: %q", n, last, line)
			}
			last = n
		})
	})
}

func TestFold(t *testing.T) {
	log := "=== RUN TestOne\n" + strings.Repeat("ok line of a log\n", 50) + "auth/refresh_test.go:41: got 3, want 4\n--- FAIL: TestRefreshExpired (0.01s)\n212 passed, 1 failed\n"
	for _, c := range []struct {
		name, text string
		limit      int
		want       string
	}{
		{"short", "created a.txt\n", 30, "created a.txt"},
		{"empty", "\n \n", 30, ""},
		{"verdicts first", log, 24, "--- FAIL: TestRefreshExpired (0.01s) | 212 passed, 1 failed"},
		{"and what they are about", log, 60, "=== RUN TestOne | ok line of a log | auth/refresh_test.go:41: got 3, want 4 | --- FAIL: TestRefreshExpired (0.01s) | 212 passed, 1 failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Fold(c.text, c.limit)
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	if !TellsFailure("3 tests failed") || TellsFailure("212 passed") || TellsFailure("successfully built") {
		t.Error("failures are not told from successes")
	}
}

func TestFoldProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, limit := texts().Draw(t, "text"), rapid.IntRange(4, 80).Draw(t, "limit")
		folded := Fold(text, limit)
		if w := ctxabi.Weight(folded); w > limit*2 {
			t.Fatalf("%d tokens at a limit of %d: %q", w, limit, folded)
		}
		line, cut := ClipTokens(text, limit)
		for _, s := range []string{folded, line} {
			if strings.ContainsAny(s, "\n\r\v\f\u0085\u2028\u2029") {
				t.Fatalf("%q is not one line", s)
			}
		}
		if !cut && len(line) > len(text) {
			t.Fatalf("%q became %q", text, line)
		}
	})
}

func TestSentences(t *testing.T) {
	for _, c := range [][2]string{
		{"# Plan\n", "Plan"},
		{"Make the token refresh retry. Then test it.\nAnd more.", "Make the token refresh retry."},
		{"It fails. The cause is the cache in auth.go. Done.", "It fails. The cause is the cache in auth.go."},
		{"", ""},
		{"- We decided to keep sqlite.", "We decided to keep sqlite."},
	} {
		if got := Sentence(c[0], 200); got != c[1] {
			t.Errorf("%q: first sentence %q, want %q", c[0], got, c[1])
		}
	}
	if got := Clip("naïve and long", 5); got != "naïv…" {
		t.Errorf("got %q", got)
	}
}

func TestKindOfWord(t *testing.T) {
	for w, kind := range map[string]WordKind{"ab-c": OtherWord, "abc": OtherWord, "abca": PlainWord, "ab.c": IdentifierWord, "012": IdentifierWord, "aBca": IdentifierWord} {
		if KindOfWord(w) != kind {
			t.Errorf("%q is %d, want %d", w, KindOfWord(w), kind)
		}
	}
}

// Lines beside a chosen one come with it, as long as they gain enough, and before what gains less elsewhere.
func TestKeyLinesInRuns(t *testing.T) {
	var v Vocabulary
	code := `package cache

func (c *LRUCache) Evict(maxEntries int) error {
	oldest := c.backing.Back()
	}
	c.evictionCount++
	return ErrNothingEvicted
}

this line has plain words alone and they are of little use
`
	sources := []Source{{Digest: v.Digest(code), Age: 3, Tool: true}, {Digest: v.Digest("go on"), Age: 0}}
	got := textsOf(v.KeyLines(sources, nil, 45, weightOf))
	want := []string{"func (c *LRUCache) Evict(maxEntries int) error {", "oldest := c.backing.Back()", "c.evictionCount++", "return ErrNothingEvicted"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// What is gone is not chosen, and a line that stands in several records is taken from the last one in which it holds.
func TestKeyLinesOfWhatIsGone(t *testing.T) {
	var v Vocabulary
	old := v.Digest("timeoutSeconds = 30 here\nretryLimit = 5 there")
	gone := map[int32]bool{old.Numbers()[0]: true}
	sources := []Source{{Digest: old, Age: 9, Gone: func(n int32) bool { return gone[n] }}, {Digest: v.Digest("   2→retryLimit = 5 there"), Age: 2}}
	got := v.KeyLines(sources, nil, 1000, weightOf)
	if len(got) != 1 || got[0].Source != 1 || got[0].Text != "2→retryLimit = 5 there" {
		t.Errorf("%+v", got)
	}
}

// What is counted up from line to line earns nothing.
func TestKeyLinesWithoutCounters(t *testing.T) {
	var v Vocabulary
	var log strings.Builder
	for i := range 12 {
		log.WriteString("worker 4" + strconv.Itoa(100+i) + " is at 0x7f" + strconv.Itoa(3000+7*i) + "\n")
	}
	sources := []Source{{Digest: v.Digest(log.String()), Tool: true}, {Digest: v.Digest("see store_index.go of it"), Age: 5, Tool: true}}
	if got := textsOf(v.KeyLines(sources, nil, 14, weightOf)); !slices.Equal(got, []string{"see store_index.go of it"}) {
		t.Errorf("%q", got)
	}
}
