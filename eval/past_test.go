package eval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// pastOf adds texts as the records of a history.
func pastOf(texts ...string) *past {
	p := newPast(newReader())
	for i, text := range texts {
		p.add(fmt.Sprintf("## %d tool\n%s\n", i+1, text))
	}
	return p
}

func TestQualityByHand(t *testing.T) {
	old := "the ledger stands in data/ledger.db since Monday\n"
	texts := []string{old}
	for range 18 {
		texts = append(texts, "nothing new under this sun")
	}
	texts = append(texts, "error in auth/refresh.go:88 while reading token4711 again") // the newest of 20
	p := pastOf(texts...)
	need := p.needs([]string{
		"Open auth/refresh.go and data/ledger.db, then unseen.go.",
		`{"path":"data/ledger.db"} error in auth/refresh.go:88 while reading unknown things`,
	})
	var ids []string
	for _, id := range need.ids {
		ids = append(ids, p.r.name(id))
	}
	if got := strings.Join(ids, " "); got != "auth/refresh.go data/ledger.db auth/refresh.go:88" {
		t.Fatalf("needed are %s", got)
	}
	// "error", "while" and "reading" were seen in one record each; "error in … while reading" is the only run.
	if len(need.words) != 3 || len(need.grams) != 1 {
		t.Fatalf("%d words and %d runs are needed", len(need.words), len(need.grams))
	}
	first, last := "## 1 tool\n"+old, "## 20 tool\n"+texts[19]+"\n"
	for _, c := range []struct {
		name, pack string
		want       Quality
	}{
		{"all", first + last, Quality{Share{3, 3}, Share{3, 3}, Share{1, 1}, Share{3, 3}, Share{1, 1}}},
		{"nothing", "", Quality{Share{0, 3}, Share{0, 3}, Share{0, 1}, Share{0, 3}, Share{0, 1}}},
		{"the newest", last, Quality{Share{2, 3}, Share{2, 3}, Share{0, 1}, Share{3, 3}, Share{1, 1}}},
		{"the first", first, Quality{Share{1, 3}, Share{1, 3}, Share{1, 1}, Share{0, 3}, Share{0, 1}}},
		{"key lines", "[1] " + old, Quality{Share{1, 3}, Share{1, 3}, Share{1, 1}, Share{0, 3}, Share{0, 1}}},
		{"a fold", "## 20 tool (folded) error in auth/refresh.go:88 while reading token4711 · context/line/20.txt", Quality{Share{2, 3}, Share{2, 3}, Share{0, 1}, Share{3, 3}, Share{1, 1}}},
		{"words alone", "auth/refresh.go:88 data/ledger.db", Quality{Share{3, 3}, Share{0, 3}, Share{0, 1}, Share{0, 3}, Share{0, 1}}},
		{"half a line", "reading token4711, error in auth/refresh.go:88", Quality{Share{2, 3}, Share{2, 3}, Share{0, 1}, Share{2, 3}, Share{0, 1}}},
	} {
		if got := p.judge(need, c.pack); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// identifiers and sentences for random histories. Two in seven words of a sentence are identifiers.
func sentence(t *rapid.T) string {
	word := rapid.SampledFrom(strings.Fields("open closed reading ledger token refresh monday garden window people simple always"))
	id := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("src/%c%d.go", 'a'+rune(rapid.IntRange(0, 25).Draw(t, "letter")), rapid.IntRange(0, 9).Draw(t, "digit"))
	})
	w := rapid.SliceOfNDistinct(word, 5, 5, rapid.ID).Draw(t, "words")
	return fmt.Sprintf("%s %s %s %s %s %s %s", w[0], id.Draw(t, "id"), w[1], w[2], id.Draw(t, "id"), w[3], w[4])
}

func TestAllIsOneNothingIsZeroAndAListOfWordsEarnsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var texts []string
		for range rapid.IntRange(5, 40).Draw(t, "records") {
			var lines []string
			for range rapid.IntRange(1, 4).Draw(t, "lines") {
				lines = append(lines, sentence(t))
			}
			texts = append(texts, strings.Join(lines, "\n"))
		}
		p := pastOf(texts...)
		need := p.needs([]string{sentence(t), texts[rapid.IntRange(0, len(texts)-1).Draw(t, "again")]})
		if len(need.ids) == 0 || len(need.grams) == 0 {
			t.Fatal("the agent repeats a record, and nothing is needed")
		}
		var all strings.Builder
		for i, text := range texts {
			fmt.Fprintf(&all, "## %d tool\n%s\n", i+1, text)
		}
		for name, s := range p.judge(need, all.String()).shares() {
			if s.Kept != s.Of {
				t.Fatalf("%s of all is %+v", name, s)
			}
		}
		for name, s := range p.judge(need, "").shares() {
			if s.Kept != 0 {
				t.Fatalf("%s of nothing is %+v", name, s)
			}
		}
		var list []string
		for w, n := range p.r.numbers {
			if p.r.kinds[n] == identifier {
				list = append(list, w)
			}
		}
		slices.Sort(list)
		for _, between := range []string{" ", "\n", ", "} {
			q := p.judge(need, "# Context Block: key lines\n"+strings.Join(list, between))
			if q.FRC.Kept != q.FRC.Of || q.FRCctx.Kept != 0 || q.F5G.Kept != 0 {
				t.Fatalf("a bare list of words, parted by %q: %+v", between, q)
			}
		}
	})
}

func (q Quality) shares() map[string]Share {
	return map[string]Share{"FRC": q.FRC, "FRCctx": q.FRCctx, "FarCtx": q.FarCtx, "FWC": q.FWC, "F5G": q.F5G}
}

func TestMeans(t *testing.T) {
	var m Mean
	if m.text() != "–" {
		t.Error(m.text())
	}
	m.addShare(Share{1, 2})
	m.addShare(Share{})
	m.addShare(Share{3, 3})
	if m != (Mean{0.75, 2}) {
		t.Errorf("%+v", m)
	}
}
