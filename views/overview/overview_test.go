package overview

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/ctxfs/ctxfs/internal/figures"
	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(suite.Wrap(m)) }

func TestVisibleTextTurnsAndHidesNothing(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":        "plain\ttext\n",
		"crlf\r\n":             "crlf\n",
		"\x1b[31m":             "⟨U+001B⟩[31m",
		"a\u202Eb\u2066c":      "a⟨U+202E⟩b⟨U+2066⟩c",
		"\u061C\uFEFF\x7f\x00": "⟨U+061C⟩⟨U+FEFF⟩⟨U+007F⟩⟨U+0000⟩",
		"👩\u200d💻 שלום":        "👩\u200d💻 שלום",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestNumbersHaveUnits(t *testing.T) {
	for got, want := range map[string]string{
		Short(999): "999", Short(1000): "1k", Short(1250): "1.2k", Short(9949): "9.9k", Short(9950): "10k", Short(1_234_567): "1.2M",
		figures.Thousands(-1234567): "−1,234,567", figures.Thousands(0): "0", figures.Count(1, "token"): "1 token", figures.Count(2000, "token"): "2,000 tokens",
		Percent(0.001): "< 1 %", Percent(0): "0 %", Percent(1): "100 %",
		Ago(time.Unix(100, 0), time.Unix(40, 0)): "1 min ago", Ago(time.Unix(100, 0), time.Time{}): "never",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestHeadsAndTailsOfFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("äöü\nsecond\nthird\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit := range 20 {
		c, err := ReadHead(name, limit)
		if err != nil || !utf8.ValidString(c.Text) || strings.Contains(c.Text, "\uFFFD") || c.Cut != (limit < 20 && c.Size > int64(limit)) {
			t.Errorf("%d: %+v, %v", limit, c, err)
		}
	}
	lines, err := ReadTail(name, 8)
	if err != nil || len(lines) != 1 || string(lines[0]) != "third" {
		t.Errorf("%q, %v", lines, err)
	}
	if lines, err := ReadTail(name+"x", 8); err != nil || lines != nil {
		t.Errorf("of no file: %q, %v", lines, err)
	}
	if _, err := ReadHead(name+"x", 8); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestTheRoleOfALongRecord(t *testing.T) {
	for text, want := range map[string]string{
		`{"content":"x","role":"user"`:                                  "user",
		`{"meta":{"role":"tool"},"a":[{"role":"x"}],"role":"assistant`:  "unknown",
		`{"meta":{"role":"tool"},"a":[{"role":"x"}],"role":"assistant"`: "assistant",
		`{"content":"\"role\":\"user\"`:                                 "unknown",
		`{"role":5,"x":"role"`:                                          "unknown",
		``:                                                              "unknown",
	} {
		if got := roleOf(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestTheRoleAtTheEndOfARecord(t *testing.T) {
	for text, want := range map[string]string{
		`{"content":"` + strings.Repeat("x", 9000) + `","role":"user"}`:                        "user",
		`{"content":"` + strings.Repeat("x", 9000) + `\"role\":\"tool\"","role": "assistant"}`: "assistant",
		`{"role":"user","content":"` + strings.Repeat("x", 9000) + `\"role\":\"tool\""}`:       "unknown",
		`"role":"tool"`: "tool",
	} {
		name := filepath.Join(t.TempDir(), "1")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := lastRole(name, int64(len(text))); got != want {
			t.Errorf("…%s: %q, want %q", text[max(0, len(text)-60):], got, want)
		}
	}
	if got := lastRole(filepath.Join(t.TempDir(), "none"), 5); got != "unknown" {
		t.Errorf("of no file: %q", got)
	}
}

// The watcher tells each stream of a change, and drops one that does not read.
func TestTheWatcherTellsOfChanges(t *testing.T) {
	var size atomic.Int64
	w := newWatcher(func() []string { return nil }, func() []Entry { return nil }, func(string, Depth, Glance) (Glance, bool) {
		return Glance{messages: size.Load(), lines: [2]int{int(size.Load()), 0}}, true
	})
	w.Show("s", AsRow)
	a, b := w.Join(), w.Join()
	w.look()
	size.Store(7)
	w.look()
	w.look()
	for _, c := range []chan Notice{a, b} {
		if got, want := <-c, (Notice{Session: "s", Messages: 7, What: Records}); got != want {
			t.Errorf("told %+v", got)
		}
		if len(c) != 0 {
			t.Errorf("told more than once: %+v", <-c)
		}
	}
	for i := range int64(slowNotices + 2) {
		size.Store(100 + i)
		w.look()
		select {
		case <-b:
		default:
			t.Fatal("a stream that reads was not told")
		}
	}
	n := 0
	for range a {
		n++
	}
	if n != slowNotices {
		t.Errorf("a stream that does not read had %d notices", n)
	}
	w.Leave(a)
	w.Leave(b)
	for range maxStreams {
		if w.Join() == nil {
			t.Fatal("too few streams")
		}
	}
	if w.Join() != nil {
		t.Error("too many streams")
	}
	for i := range maxWatched + 10 {
		w.Show(strings.Repeat("x", i), AsRow)
	}
	if len(w.refs) != maxWatched || len(w.seen) > maxWatched {
		t.Errorf("%d sessions are watched, %d known", len(w.refs), len(w.seen))
	}
}

func TestSparkline(t *testing.T) {
	for _, c := range []struct {
		values []float64
		most   float64
		width  int
		want   string
	}{
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, 8, 20, "▁▂▃▄▅▆▇██"},
		{[]float64{8, 8, 0, 0}, 8, 2, "█▁"},
		{[]float64{0, 8, 4}, 8, 1, "▅"},
		{[]float64{0, 0}, 0, 9, "▁▁"},
		{[]float64{-3, 99}, 8, 9, "▁█"},
		{[]float64{1}, 1, 0, ""},
		{nil, 1, 9, ""},
	} {
		if got := Sparkline(c.values, c.most, c.width); got != c.want {
			t.Errorf("%v of %g in %d columns: %q, not %q", c.values, c.most, c.width, got, c.want)
		}
	}
}

// A list differs where a session came, went or changed that is not watched anyway.
func TestListsDiffer(t *testing.T) {
	at := func(ref string, second int64) Entry { return Entry{ref, time.Unix(second, 0)} }
	before := []Entry{at("a", 9), at("b", 8), at("w", 7), at("c", 6)}
	for _, c := range []struct {
		now  []Entry
		want bool
	}{
		{before, false},
		{[]Entry{at("w", 20), at("a", 9), at("b", 8), at("c", 6)}, false},
		{[]Entry{at("a", 9), at("b", 8), at("c", 6), at("w", 1)}, false},
		{[]Entry{at("c", 20), at("a", 9), at("b", 8), at("w", 7)}, true},
		{[]Entry{at("a", 9), at("b", 8), at("w", 7)}, true},
		{[]Entry{at("a", 9), at("b", 8), at("w", 7), at("d", 6)}, true},
		{append([]Entry{at("n", 30)}, before...), true},
	} {
		var now []Entry
		w := newWatcher(nil, func() []Entry { return now }, func(string, Depth, Glance) (Glance, bool) { return Glance{}, true })
		w.Show("w", AsRow)
		told := w.Join()
		now = before
		w.List()
		now = c.now
		w.List()
		if got := len(told) == 1 && (<-told).What == Sessions; got != c.want {
			t.Errorf("%v after %v: %v", c.now, before, got)
		}
	}
}
