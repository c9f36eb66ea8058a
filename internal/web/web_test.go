package web

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/internal/inspect"
)

func TestVisibleTextTurnsAndHidesNothing(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":        "plain\ttext\n",
		"crlf\r\n":             "crlf\n",
		"\x1b[31m":             "⟨U+001B⟩[31m",
		"a\u202Eb\u2066c":      "a⟨U+202E⟩b⟨U+2066⟩c",
		"\u061C\uFEFF\x7f\x00": "⟨U+061C⟩⟨U+FEFF⟩⟨U+007F⟩⟨U+0000⟩",
		"👩\u200d💻 שלום":        "👩\u200d💻 שלום",
	} {
		if got := visible(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestNumbersHaveUnits(t *testing.T) {
	for got, want := range map[string]string{
		short(999): "999", short(1000): "1k", short(1250): "1.2k", short(9949): "9.9k", short(9950): "10k", short(1_234_567): "1.2M",
		thousands(-1234567): "−1,234,567", thousands(0): "0", count(1, "token"): "1 token", count(2000, "token"): "2,000 tokens",
		size(0): "0 B", size(1536): "1.5 KiB", size(16 << 20): "16 MiB", percent(0.001): "< 1 %", percent(0): "0 %", percent(1): "100 %",
		ago(time.Unix(100, 0), time.Unix(40, 0)): "1 min ago", ago(time.Unix(100, 0), time.Time{}): "never",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestATreemapFillsItsRectangle(t *testing.T) {
	var tiles []tile
	for i, n := range []int{500, 300, 120, 40, 0, 7, 3, 1} {
		tiles = append(tiles, tile{Name: string(rune('a' + i)), Section: sectionNames[i%4].phase, Tokens: n})
	}
	const w, h = 1000.0, 620.0
	area, sum := 0.0, 0
	out := treemap(tiles, w, h)
	if len(out) != 7 {
		t.Fatalf("%d tiles", len(out))
	}
	for _, x := range out {
		if x.X < -1e-6 || x.Y < -1e-6 || x.X+x.W > w+1e-6 || x.Y+x.H > h+1e-6 || x.W <= 0 || x.H <= 0 {
			t.Errorf("%s lies at %v %v %v %v", x.Name, x.X, x.Y, x.W, x.H)
		}
		if want := float64(x.Tokens) / 971 * w * h; math.Abs(x.W*x.H-want) > 1e-3*want {
			t.Errorf("%s has an area of %v, want %v", x.Name, x.W*x.H, want)
		}
		area, sum = area+x.W*x.H, sum+x.Tokens
	}
	if math.Abs(area-w*h) > 1 || sum != 971 {
		t.Errorf("%v of %v, %d tokens", area, w*h, sum)
	}
	if got := treemap(nil, w, h); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestHeadsAndTailsOfFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("äöü\nsecond\nthird\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit := range 20 {
		c, err := readHead(name, limit)
		if err != nil || !utf8.ValidString(c.Text) || strings.Contains(c.Text, "\uFFFD") || c.Cut != (limit < 20 && c.Size > int64(limit)) {
			t.Errorf("%d: %+v, %v", limit, c, err)
		}
	}
	lines, err := readTail(name, 8)
	if err != nil || len(lines) != 1 || string(lines[0]) != "third" {
		t.Errorf("%q, %v", lines, err)
	}
	if lines, err := readTail(name+"x", 8); err != nil || lines != nil {
		t.Errorf("of no file: %q, %v", lines, err)
	}
	if _, err := readHead(name+"x", 8); !errors.Is(err, fs.ErrNotExist) {
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

func TestSideBySide(t *testing.T) {
	lines, cut := sideBySide("diff a b\n--- a\n+++ b\n@@ -1,3 +1,3 @@\n same\n-old\n-older\n+new\n more\n")
	want := []line{{Gap: true}, {Left: "same", Right: "same"}, {Left: "old", Right: "new", LeftClass: "gone", RightClass: "come"}, {Left: "older", LeftClass: "gone"}, {Left: "more", Right: "more"}}
	if cut || len(lines) != len(want) {
		t.Fatalf("%+v", lines)
	}
	for i := range want {
		if lines[i] != want[i] {
			t.Errorf("%d: %+v, want %+v", i, lines[i], want[i])
		}
	}
	if lines, cut := sideBySide("@@\n" + strings.Repeat("+x\n", maxRows+10)); !cut || len(lines) > maxRows+2 {
		t.Errorf("%d lines, %v", len(lines), cut)
	}
}

// A preview ends the one before it; what stands now is made one after the other.
func TestAPreviewEndsTheOneBefore(t *testing.T) {
	var open atomic.Int32
	l := looks{open: func(context.Context, string, int) (*Look, error) {
		open.Add(1)
		return &Look{History: inspect.NewHistory(nil), Close: func() error { open.Add(-1); return nil }}, nil
	}}
	began, ended := make(chan struct{}), make(chan error)
	go func() {
		ended <- l.previewed(t.Context(), "a", 0, func(ctx context.Context, _ *Look) error {
			close(began)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	<-began
	if err := l.previewed(t.Context(), "a", 5000, func(context.Context, *Look) error { return nil }); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, errSuperseded) {
		t.Errorf("the one before ended with %v", err)
	}
	if err := l.current(t.Context(), "a", func(context.Context, *Look) error { return nil }); err != nil {
		t.Error(err)
	}
	if n := open.Load(); n != 2 {
		t.Errorf("%d looks are open, want one a lane", n)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.current(gone, "a", func(context.Context, *Look) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("for who has gone: %v", err)
	}
	if err := l.close(); err != nil || open.Load() != 0 {
		t.Errorf("%v, %d open", err, open.Load())
	}
}

// The watcher tells each stream of a change, and drops one that does not read.
func TestTheWatcherTellsOfChanges(t *testing.T) {
	var size atomic.Int64
	w := newWatcher(func() []string { return nil }, func(string) (glance, bool) {
		return glance{messages: size.Load(), lines: [2]int{int(size.Load()), 0}}, true
	})
	w.shown("s")
	a, b := w.join(), w.join()
	w.look()
	size.Store(7)
	w.look()
	w.look()
	for _, c := range []chan []byte{a, b} {
		if got := string(<-c); !strings.Contains(got, `"messages":7`) || !strings.Contains(got, `"records"`) {
			t.Errorf("told %s", got)
		}
		if len(c) != 0 {
			t.Errorf("told more than once: %s", <-c)
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
	w.leave(a)
	w.leave(b)
	for range maxStreams {
		if w.join() == nil {
			t.Fatal("too few streams")
		}
	}
	if w.join() != nil {
		t.Error("too many streams")
	}
	for i := range maxWatched + 10 {
		w.shown(strings.Repeat("x", i))
	}
	if len(w.refs) != maxWatched || len(w.seen) > maxWatched {
		t.Errorf("%d sessions are watched, %d known", len(w.refs), len(w.seen))
	}
}

func TestAssetsAreSmall(t *testing.T) {
	const most = 400 << 10
	sum := int64(0)
	for _, files := range []fs.FS{assets, templates} {
		err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				fi, _ := d.Info()
				sum += fi.Size()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if sum > most || sum < 10<<10 {
		t.Errorf("the assets have %d bytes, and may have %d", sum, most)
	}
	if parseViews().Lookup("page") == nil {
		t.Error("there is no page")
	}
}
