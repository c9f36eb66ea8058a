package web

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ctxfs/ctxfs/views/inspect"
)

func TestNumbersHaveUnits(t *testing.T) {
	for got, want := range map[string]string{size(0): "0 B", size(1536): "1.5 KiB", size(16 << 20): "16 MiB"} {
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
