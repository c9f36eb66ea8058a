package bench

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/tables.golden.md anew")

// fixed is a table of made-up figures: goals met, missed with and without a floor, at least and at most, and unmeasured ones.
func fixed() *table {
	t := &table{Machine: "2 × processor, Linux 6", Full: true, Whole: true, Rounds: 5, Load: 0.2, Before: "0123abc"}
	s := samples{native: {2000, 2100, 1900}, loopback: {100e3, 110e3, 120e3}, before: {60e3, 62e3, 61e3}, ctxfs: {50e3, 49e3, 54e3}}
	t.reachRatio("append-loopback", t.compare("append", "ns", s, 50, loopback))
	t.reachRatio("append-sqlite", t.compare("no SQLite here", "ns", s, 50, mattn))
	t.compare("p99, of no other place", "ns", samples{ctxfs: {1e6, 3e9}}, 99, "")
	t.ratio("with a goal", map[string]float64{native: 100, ctxfs: 250}, native, 2)
	t.absolute("memory", "bytes", 55.5e6, 100e6)
	t.absolute("a small file", "bytes", 311, 0)
	t.share("part", 0.25)
	t.reach("append-cpu", 41e3)
	t.was("append-cpu", 47e3)
	t.floor("append-cpu", 20e3)
	t.reach("torn", 0)
	t.floor("many-search", 4e6) // without a figure
	t.reach("indexing", 16.7)
	t.reach("idle-cpu", 0.0025)
	t.floor("idle-cpu", 0.00001)
	t.reach("disk", 120)
	t.Lengths = []float64{1e2, 1e3, 1e4, 1e5, 1e6}
	t.Growth = []grown{{"first pack", "ns", []float64{1.0e8, 1.01e8, 1.1e8, 2e8, 1.1e9}}, {"append", "ns", []float64{5e4, 5.1e4, 4.9e4, 5e4, 5e4}}, {"memory", "bytes", []float64{20e6, 20e6, 21e6, 24e6, 60e6}}}
	t.Peers = []peer{{"append", ctxfs, 36e3, 277e3, 1, 0, 0}, {"prompt", "another store", 121e6, 208e6, 25, 24, 26.5}}
	return t
}

// The tables are made from figures alone, the same each time, and a document takes them between its marks.
func TestTables(t *testing.T) {
	text := "before\n"
	for _, name := range []string{"goals", "growth", "places", "peers"} {
		text += "<!-- make bench: " + name + " -->\nold " + name + "\n<!-- end of " + name + " -->\nbehind " + name + "\n"
	}
	got, err := fixed().document(text)
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/tables.golden.md"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the document is not that of %s (-args -update writes it):\n%s", file, got)
	}
	if again, err := fixed().document(got); err != nil || again != got {
		t.Errorf("written once more it changes: %v\n%s", err, again)
	}
	part := fixed()
	part.Whole = false
	if again, err := part.document(got); err != nil || again != got {
		t.Errorf("a run of some groups changes what it did not measure: %v\n%s", err, again)
	}
	if n := strings.Count(part.goalTable(), "not measured"); n > 0 {
		t.Errorf("a run of some groups shows %d goals of others", n)
	}
	if _, err := fixed().document(strings.Replace(text, "<!-- end of peers -->", "", 1)); err == nil {
		t.Error("a document without a mark is taken")
	}
}

// The document that make bench fills has the marks.
func TestNumbersHasTheMarks(t *testing.T) {
	text, err := os.ReadFile("../../docs/numbers.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fixed().document(string(text)); err != nil {
		t.Error(err)
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		y               []float64
		constant, slope float64
	}{
		{[]float64{110, 200, 1100}, 100, 1},
		{[]float64{100, 100, 100}, 100, 0},
		{[]float64{20, 200, 2000}, 0, 2},
		{[]float64{30, 20, 10}, 14, 0}, // falls: a constant
	} {
		constant, slope := fit([]float64{10, 100, 1000}, c.y)
		if d := constant - c.constant; d > 1 || d < -1 || slope < c.slope-0.01 || slope > c.slope+0.01 {
			t.Errorf("%v: %.1f + %.3f n, want %.1f + %.3f n", c.y, constant, slope, c.constant, c.slope)
		}
	}
}

func TestInterval(t *testing.T) {
	a := []float64{20, 22, 21, 19, 23}
	b := []float64{10, 11, 10.5, 9.5, 11.5}
	if low, high := interval(a, b, 50); low != 2 || high != 2 { // of each round the same ratio
		t.Errorf("rounds that go together: [%g, %g], want 2", low, high)
	}
	low, high := interval(a, []float64{10, 11, 10.5, 9.5}, 50)
	if low >= 2 || high <= 2 || low < 1.5 || high > 2.6 {
		t.Errorf("rounds that do not: [%g, %g]", low, high)
	}
	if low, high := interval(a[:1], b[:1], 50); low != 0 || high != 0 {
		t.Errorf("of one round: [%g, %g]", low, high)
	}
}
