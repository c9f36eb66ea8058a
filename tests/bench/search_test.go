package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// searchWords are what records of this group are made of: few that stand in many, many that stand in few.
type searchWords struct {
	rng  *rand.Rand
	zipf *rand.Zipf
}

func (s searchWords) record(n int) string {
	var b strings.Builder
	for range 20 + s.rng.IntN(40) {
		b.WriteString(word(int(s.zipf.Uint64())) + " ")
	}
	if n%2000 == 17 {
		fmt.Fprintf(&b, "incident%dx", n)
	}
	return harness.Message([]string{"user", "assistant"}[n%2], b.String())
}

// word is the k-th most frequent one.
func word(k int) string {
	const syllables = "bacodifugahejilomunapareseti"
	w := "w"
	for k++; k > 0; k /= 14 {
		w += syllables[k%14*2 : k%14*2+2]
	}
	return w
}

// benchSearch measures context/search against grep on the same log in the same run: ten queries of words that stand in at least
// one of a hundred records, ten of rare ones, ten of several.
func benchSearch(t *testing.T, z sizes, tab *table) {
	store := t.TempDir()
	ref := ctxabi.Ref{UID: harness.Self(), Agent: "bench", Session: "search"}
	rng := rand.New(rand.NewPCG(7, 8))
	words := searchWords{rng, rand.NewZipf(rng, 1.07, 8, 200_000)}
	size := buildSearch(t, store, ref, words, z.records)
	m := harness.Start(t, harness.Options{Store: store})
	defer func() {
		if m.PID() != 0 {
			m.Stop()
		}
	}()
	dir := filepath.Join(m.Dir, ref.Path())
	look := func(query string) (answer string) {
		b, err := os.ReadFile(filepath.Join(dir, ctxabi.SearchDir, query))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	cpu := cpuClock(m.PID())
	first := elapsed(func() { look(word(5000)) })
	tab.absolute(fmt.Sprintf("first search of %d records, %.3g MB, no index", z.records, float64(size)/1e6), "ns", first, 3e9)
	build := first + elapsed(func() {
		for strings.HasPrefix(look(word(5000)+"?n=1"), "# incomplete") { // each waits two seconds
		}
	})
	tab.absolute(fmt.Sprintf("... until all is indexed (%.3g MB/s)", float64(size)/1e6/(build/1e9)), "ns", build, 0)
	spent := cpuClock(m.PID()) - cpu
	tab.absolute(fmt.Sprintf("... in time of the processor, the questions meanwhile included (%.3g MB/s)", float64(size)/1e6/(spent/1e9)), "ns", spent, 0)
	tab.reach("indexing", float64(size)/1e6/(spent/1e9))
	benchFTS5(t, z, tab, filepath.Join(store, ref.Path(), ctxabi.MessagesFile), float64(size))
	peak := harness.UsageOf(t, m.PID()).Peak
	tab.absolute("... the daemon's peak of memory", "bytes", peak, 0)
	index := 0.0
	segments, _ := filepath.Glob(filepath.Join(store, ref.Owner(), ctxabi.InternalDir, "search", "*"))
	for _, name := range segments {
		if fi, err := os.Stat(name); err == nil {
			index += float64(fi.Size())
		}
	}
	tab.absolute(fmt.Sprintf("size of the index: %d files, %.3g %% of the log", len(segments), 100*index/float64(size)), "bytes", index, 0)

	var queries, patterns []string
	add := func(words ...string) {
		queries = append(queries, strings.Join(words, " "))
		patterns = append(patterns, words[0])
	}
	for i := range 10 {
		add(word(3 * i))
		add(fmt.Sprintf("incident%dx", 2000*rng.IntN(z.records/2000)+17))
		add(word(40+i), word(2000+100*i), fmt.Sprintf("incident%dx", 2000*rng.IntN(z.records/2000)+17))
	}
	log := filepath.Join(store, ref.Path(), ctxabi.MessagesFile)
	var ours, greps []float64
	common := 0
	for range z.rounds {
		for i, q := range queries {
			next := fmt.Sprintf("%s?tokens=%d", q, 1900+rng.IntN(100)) // no answer that is kept
			ours = append(ours, elapsed(func() { look(next) }))
			var counted []byte
			greps = append(greps, elapsed(func() {
				var err error
				if counted, err = exec.Command("grep", "-c", patterns[i], log).Output(); err != nil {
					t.Fatalf("grep %s: %v", patterns[i], err)
				}
			}))
			n := 0
			if fmt.Sscan(string(counted), &n); n*100 >= z.records {
				common++
			}
			if !strings.Contains(look(q), patterns[i]) && i%3 == 1 {
				t.Errorf("%q finds nothing, grep %d", q, n)
			}
		}
	}
	if common < 10*z.rounds {
		t.Errorf("only %d of %d queries are of a word that stands in one of a hundred records", common, len(ours))
	}
	for _, p := range []float64{50, 95} {
		tab.ratio(fmt.Sprintf("search %d records, p%g of %d queries; native: grep -c", z.records, p, len(queries)),
			map[string]float64{ctxfs: percentile(ours, p), native: percentile(greps, p)}, native, 0.05)
	}
	tab.floor("many-search", median(ours))
	var fresh []float64
	f, err := os.OpenFile(filepath.Join(dir, ctxabi.MessagesFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if _, err := f.WriteString(harness.Message("user", fmt.Sprintf("brandnew%dx is here", i))); err != nil {
			t.Fatal(err)
		}
		fresh = append(fresh, elapsed(func() {
			if a := look(fmt.Sprintf("brandnew%dx", i)); !strings.Contains(a, "is here") {
				t.Errorf("what was appended a moment ago is not found: %s", a)
			}
		}))
	}
	tab.absolute("search after one append", "ns", median(fresh), 0)
	f.Close()
	m.Restart()
	tab.absolute("first search after a start, index present", "ns", elapsed(func() { look(word(4000)) }), 0)
	resident := harness.UsageOf(t, m.PID()).Resident
	tab.absolute("... the daemon's memory after it", "bytes", resident, 0)
	m.Stop()
}

// benchFTS5 has SQLite index the same log, by words alone, and notes it as the floor of indexing.
func benchFTS5(t *testing.T, z sizes, tab *table, log string, size float64) {
	for _, p := range sqliteSites(t, z, "NORMAL") {
		if p.name != mattn { // the translated one takes minutes
			continue
		}
		spent := p.run(t, "fts5", p.log(t, "fts5"), log)[0]
		rate := size / 1e6 / (spent / 1e9)
		tab.Rows = append(tab.Rows, row{Work: "SQLite FTS5 (detail=none) indexes the same, of one processor", Unit: "MB/s", Figure: map[string]float64{mattn: rate}})
		tab.floor("indexing", rate)
	}
}

// buildSearch makes the session and gives the bytes of its log.
func buildSearch(t *testing.T, dir string, ref ctxabi.Ref, words searchWords, n int) (size int64) {
	t.Helper()
	st, err := session.Open(dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := st.Create(ref, disk.Owner{UID: ref.UID, GID: ref.UID, Mode: 0o700})
	for i := 0; i < n && err == nil; {
		var data []byte
		for range min(100, n-i) {
			data = append(data, words.record(i)...)
			i++
		}
		size, err = x.Messages().Append(context.Background(), log.Batch{Data: data})
	}
	if err == nil {
		_, err = x.Messages().Index() // or the first search would be measured with it
	}
	if err == nil {
		err = st.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return size
}
