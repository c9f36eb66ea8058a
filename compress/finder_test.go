package compress

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// What a Finder calls a text without the terms has none of them, whatever stands around them.
func TestFinderMissesNothing(t *testing.T) {
	src, err := os.ReadFile("relevance_test.go")
	if err != nil {
		t.Fatal(err)
	}
	words := append(strings.Fields(string(src)), "flies", "Flying", "axes", "AX", "adding", "ad", "tried", "Boxes", "ches", "refresh_token", "refreshToken", "RefreshToken",
		"HTTPServer", "x-y", "a.b", "X_Y_Z", "cmd/ctxfs/main.go:12", "\u212aelvin", "kelvin", "\u0130stanbul", "istanbul", "\u023ab", "\u2c65B", "été", "ÉTÉ",
		"東京都", "한국어", "don't", "server's", "9th", "v1.2.3", "caf\u00e9s", "ca\xfffe", "日本x", "xé", "—dash", "the", "I", "12", "if")
	rng := rand.New(rand.NewPCG(1, 2))
	some := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(words[rng.IntN(len(words))])
			b.WriteString([]string{" ", " ", " ", "", "-", "_", ".", "'", "\n", "\"", "—", "X"}[rng.IntN(12)])
		}
		return b.String()
	}
	lacking, having := 0, 0
	for range 20_000 {
		query, text := some(1+rng.IntN(3)), some(1+rng.IntN(12))
		wanted := map[uint64]bool{}
		Terms(query, func(term uint64) { wanted[term] = true })
		has := false
		Terms(text, func(term uint64) { has = has || wanted[term] })
		sameAsTerms(t, query, text, wanted)
		if NewFinder(query).Lacks(text) {
			lacking++
			if has {
				t.Fatalf("%q in %q", query, text)
			}
		} else if has {
			having++
		}
	}
	if lacking < 5000 || having < 1000 {
		t.Errorf("%d texts without, %d with the terms", lacking, having)
	}
}

// sameAsTerms checks that a query's finder emits those of its terms that a text has, and counts all.
func sameAsTerms(t *testing.T, query, text string, wanted map[uint64]bool) {
	t.Helper()
	var want, got []uint64
	all := 0
	Terms(text, func(term uint64) {
		if all++; wanted[term] {
			want = append(want, term)
		}
	})
	n := NewFinder(query).Terms(text, func(term uint64) {
		if wanted[term] {
			got = append(got, term)
		}
	})
	if n != all || !slices.Equal(got, want) {
		t.Fatalf("%q in %q: %d terms, want %d; %x, want %x", query, text, n, all, got, want)
	}
}

// Any two texts: each term of one that stands in the other is found.
func FuzzFinder(f *testing.F) {
	f.Add("the flies of refresh_token", "a Fly-by RefreshToken")
	f.Add("\u212aelvin adding", "kelvin ad")
	f.Fuzz(func(t *testing.T, query, text string) {
		wanted := map[uint64]bool{}
		Terms(query, func(term uint64) { wanted[term] = true })
		sameAsTerms(t, query, text, wanted)
		if !NewFinder(query).Lacks(text) {
			return
		}
		Terms(text, func(term uint64) {
			if wanted[term] {
				t.Errorf("%q in %q", query, text)
			}
		})
	})
}
