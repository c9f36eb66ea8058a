package compress

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// newCorpus returns the corpus of one index over docs.
func newCorpus(docs []string) *Corpus { return JoinIndexes(NewIndex(docs)) }

// terms returns what eachTerm makes of text, as the words of a list that hash to it.
func sameTerms(a, b string) bool {
	var x, y []termID
	eachTerm(a, func(t termID) { x = append(x, t) })
	eachTerm(b, func(t termID) { y = append(y, t) })
	return slices.Equal(x, y)
}

func TestTerms(t *testing.T) {
	id := func(words ...string) (ids []termID) {
		for _, w := range words {
			ids = append(ids, hash([]byte(w)))
		}
		return ids
	}
	for text, want := range map[string][]termID{
		"":                          nil,
		"a I x 7 the and of":        nil,
		"Retry, retries; RETRYING!": id("retri", "retri", "retri"),
		"refreshToken":              id("refresh", "token", "refreshtoken"),
		"refresh_token":             id("refresh", "token", "refreshtoken"),
		"--refresh-token--":         id("refresh", "token", "refreshtoken"),
		"HTTPServer2":               id("http", "server2", "httpserver2"),
		"auth/refresh.go":           id("auth", "refresh", "go", "authrefreshgo"),
		"c.refreshToken()":          id("refresh", "token", "refreshtoken", "crefreshtoken"),
		"std::vector":               id("std", "vector", "stdvector"),
		"end. Next":                 id("end", "next"),
		"user's don't users’ it's":  id("user", "user"),
		"sha256 E1234 v1.26":        id("sha256", "e1234", "v1", "26", "v126"),
		"Größe CAFÉ":                id("größe", "café"),
		"naïveWay":                  id("naïve", "way", "naïveway"),
		"Москва":                    id("москва"),
		"東京都":                       id("東京", "京都"),
		"東":                         id("東"),
		"使用Redis缓存":                 id("使用", "redis", "缓存", "使用redis缓存"),
		"ไทย":                       id("ไท", "ทย"),
		"\xff\xfeword\xff":          id("word"),
		"... /// ___":               nil,
		"__init__":                  id("init"),
		strings.Repeat("x", 200):    nil,
	} {
		var got []termID
		eachTerm(text, func(t termID) { got = append(got, t) })
		if !slices.Equal(got, want) {
			t.Errorf("%q: %d terms, want %d: %x %x", text, len(got), len(want), got, want)
		}
	}
	for _, c := range [][2]string{{"parseJSONFile", "parse-json_file"}, {"The Cats", "cat"}} {
		if !sameTerms(c[0], c[1]) {
			t.Errorf("%q and %q differ", c[0], c[1])
		}
	}
}

func TestStem(t *testing.T) {
	for _, words := range []string{
		"retry retries retried retrying", "refresh refreshes refreshed refreshing", "cache caches cached caching", "configure configures configured configuring configuration configurations",
		"migrate migrates migrated migration migrations migrating", "validate validation validating", "stop stops stopped stopping", "file files filed", "policy policies", "box boxes",
		"class classes", "delete deleted deletion deleting", "key keys", "embedding embedded", "process processes processed processing", "test tests tested testing", "rotate rotates rotation rotated",
	} {
		forms := strings.Fields(words)
		for _, w := range forms {
			if got, want := Stem([]byte(w)), Stem([]byte(forms[0])); string(got) != string(want) {
				t.Errorf("%s gives %s, %s gives %s", w, got, forms[0], want)
			}
		}
	}
	for _, pair := range []string{"string strong", "thing thin", "status stat", "form format", "need knee", "speed spe", "ring re", "access acces", "analysis analys", "test tess", "bus bu", "größen größe"} {
		a, b, _ := strings.Cut(pair, " ")
		if string(Stem([]byte(a))) == string(Stem([]byte(b))) {
			t.Errorf("%s and %s are one", a, b)
		}
	}
}

// A score by the book: the formula over words, no index.
func bookScore(docs [][]string, query []string, doc int) (score float64) {
	total := 0
	for _, d := range docs {
		total += len(d)
	}
	mean := float64(total) / float64(len(docs))
	for _, q := range query {
		df, tf := 0, 0
		for i, d := range docs {
			if slices.Contains(d, q) {
				df++
			}
			for _, w := range d {
				if i == doc && w == q {
					tf++
				}
			}
		}
		idf := math.Log(1 + (float64(len(docs)-df)+0.5)/(float64(df)+0.5))
		score += idf * float64(tf) * 1.9 / (float64(tf) + 0.9*(0.6+0.4*float64(len(docs[doc]))/mean))
	}
	return score
}

var letters = []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}

func TestRankIsBM25(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 12), 1, 8).Draw(t, "docs")
		query := rapid.SliceOfNDistinct(rapid.SampledFrom(letters), 0, 4, rapid.ID).Draw(t, "query")
		var texts []string
		for _, d := range docs {
			texts = append(texts, strings.Join(d, " "))
		}
		whole := newCorpus(texts).Rank(strings.Join(query, " ") + " " + strings.Join(query, " "))
		byDoc := map[int]float64{}
		for i, h := range whole {
			byDoc[h.Doc] = h.Score
			if i > 0 && (whole[i-1].Score < h.Score || whole[i-1].Score == h.Score && whole[i-1].Doc > h.Doc) {
				t.Fatalf("not in order: %v", whole)
			}
		}
		for i := range docs {
			if want := bookScore(docs, query, i); math.Abs(byDoc[i]-want) > 1e-5*(1+want) {
				t.Fatalf("document %d: %v, want %v", i, byDoc[i], want)
			}
		}
		// The same documents in other indexes have the same bits.
		cut := rapid.IntRange(0, len(texts)).Draw(t, "cut")
		if parts := JoinIndexes(NewIndex(texts[:cut]), NewIndex(nil), NewIndex(texts[cut:])).Rank(strings.Join(query, " ")); !slices.Equal(parts, whole) {
			t.Fatalf("in two indexes: %v, in one: %v", parts, whole)
		}
		// And so they have in another order.
		order := rapid.Permutation(rangeOf(len(texts))).Draw(t, "order")
		moved := make([]string, len(texts))
		for i, k := range order {
			moved[i] = texts[k]
		}
		for _, h := range newCorpus(moved).Rank(strings.Join(query, " ")) {
			if byDoc[order[h.Doc]] != h.Score {
				t.Fatalf("%q scores %v, in another order %v", moved[h.Doc], byDoc[order[h.Doc]], h.Score)
			}
		}
	})
}

// What an index knows of the query before changes no hit, whatever other queries and corpora come between.
func TestRankingAgainIsRankingForTheFirstTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.SampledFrom(letters), 0, 7)
		var texts []string
		var indexes []*Index
		for range rapid.IntRange(1, 5).Draw(t, "files") {
			texts = append(texts, strings.Join(some.Draw(t, "text"), " "))
			indexes = append(indexes, NewIndex(texts[len(texts)-1:]))
		}
		for range rapid.IntRange(1, 5).Draw(t, "rankings") {
			k := rapid.IntRange(0, len(texts)-1).Draw(t, "changed")
			texts[k] = strings.Join(some.Draw(t, "other text"), " ")
			indexes[k] = NewIndex(texts[k : k+1])
			query := strings.Join(some.Draw(t, "query"), " ")
			for range 2 {
				got, want := JoinIndexes(indexes...).Rank(query), newCorpus(texts).Rank(query)
				if !slices.Equal(got, want) {
					t.Fatalf("%q in %q: %v, for the first time %v", query, texts, got, want)
				}
			}
		}
	})
}

func rangeOf(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestRankFindsNothing(t *testing.T) {
	for _, c := range []*Corpus{newCorpus(nil), newCorpus([]string{""}), newCorpus([]string{"alpha"}), JoinIndexes()} {
		for _, q := range []string{"", "the of a", "omega"} {
			if hits := c.Rank(q); len(hits) != 0 {
				t.Errorf("%q: %v", q, hits)
			}
		}
	}
}

// What a term is worth may not vanish where each document has it: there may be no better one.
func TestATermOfAllDocumentsStillHits(t *testing.T) {
	hits := newCorpus([]string{"deploy", "deploy anywhere", "deploy"}).Rank("deploys")
	if len(hits) != 3 || hits[0].Doc != 0 || hits[1].Doc != 2 {
		t.Errorf("%v", hits)
	}
}

func FuzzRank(f *testing.F) {
	f.Add("refreshToken 東京都 user's", "東京")
	if data, err := os.ReadFile("../docs/abi.md"); err == nil {
		f.Add(string(data), "append only")
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		c := newCorpus([]string{text, query})
		n := 0
		eachTerm(query, func(termID) { n++ })
		hits := c.Rank(query)
		if found := slices.ContainsFunc(hits, func(h Hit) bool { return h.Doc == 1 }); found != (n > 0) {
			t.Errorf("a text of %d terms finds itself: %v", n, found)
		}
	})
}

// words is made-up prose, the same for the same seed.
func words(seed uint64, bytes int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < bytes {
		fmt.Fprintf(&b, "word%d", int(math.Abs(r.NormFloat64())*400))
		b.WriteString([]string{" ", " ", " ", "_", ". ", "\n", "\n\n"}[r.IntN(7)])
	}
	return b.String()
}

func BenchmarkIndex200Files(b *testing.B) {
	var files [][]string
	for i := range uint64(200) {
		var ps []string
		for _, p := range Paragraphs(words(i, 4096)) {
			ps = append(ps, p.Text)
		}
		files = append(files, ps)
	}
	var all []*Index
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			all = all[:0]
			for _, f := range files {
				all = append(all, NewIndex(f))
			}
		}
	})
	size := 0
	for _, x := range all {
		size += x.Size()
	}
	b.Run("rank", func(b *testing.B) {
		query := words(7, 500)
		for b.Loop() {
			JoinIndexes(all...).Rank(query)
		}
		b.ReportMetric(float64(size)/(200*4096), "B/byte")
	})
}
