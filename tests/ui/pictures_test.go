package ui

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// pictures are the views that README shows, each in both themes, as docs/ui-VIEW-THEME.png.
var pictures = []string{"pack", "time"}

// pictureBudget is the budget of the session in the pictures, in tokens: what make run mounts with.
const pictureBudget = "16000\n"

// The pictures of README show what the pages show of the bundled example. CTXFS_PICTURES=1 takes them anew: make
// pictures. A picture carries what its page said when it was taken, so another font fails nothing, and another word,
// number, area or colour does.
func TestPicturesShowThePages(t *testing.T) {
	suite.Matrix(t, needsBrowser)
	m := harness.Start(t, harness.Options{})
	s := example(t, m, "refresh")
	s.Write("context/budget", pictureBudget)
	s.Write("context/todo.md", bundled(t, "todo.md"))
	s.Write("../../system_prompt.md", bundled(t, "system_prompt.md"))
	b := browse(t, serve(t, m))
	b.do(chromedp.EmulateViewport(1120, 700, chromedp.EmulateScale(1.5)), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScrollbarsHidden, emulation.SetScrollbarsHiddenParams{Hidden: true})
		return err
	}))
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		for _, name := range pictures {
			b.open(viewPath(name, s))
			for _, v := range views {
				if v.name == name {
					b.await(v.shows)
				}
			}
			b.await(settled + ` && document.querySelector("[data-live]").textContent === "live"`)
			said := eval[string](b, pageSays)
			for _, bad := range []string{os.TempDir(), m.Dir} {
				if strings.Contains(said, bad) {
					t.Errorf("%s names %s, which is of this run alone", name, bad)
				}
			}
			said = "looks " + looks(t) + "\n" + said
			shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			b.quiet()
			b.picture(filepath.Join(harness.Root(), "docs", fmt.Sprintf("ui-%s-%s.png", name, theme)), shot, said)
		}
	}
}

// pageSays is a script that returns a line for each text and each shape of a page, without the widths of letters.
const pageSays = `(() => { const lines = [];
	const walk = (n) => {
		if (n.nodeType === 3) { const text = n.data.replace(/\s+/g, " ").trim(); if (text) lines.push(text); return; }
		if (n.nodeType !== 1 || n.matches("dialog, noscript, script")) return;
		const d = n.dataset, shape = [n.getAttribute("d"), d.x, d.y, d.w, d.h].filter(x => x).join(" ");
		if (shape) lines.push(n.tagName.toLowerCase() + " " + n.getAttribute("class") + " " + shape);
		n.childNodes.forEach(walk);
	};
	walk(document.body);
	return lines.join("\n") + "\n"; })()`

// looks returns the digest of what the colours and the places of a page are made of.
func looks(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(harness.Root(), "views/web/assets/app.css"))
	if err != nil {
		t.Fatal(err)
	}
	return digest(b)
}

// picture compares the picture in a file with a shot of the page and with what the page says; with CTXFS_PICTURES=1 it
// writes the file first.
func (b *tab) picture(file string, shot []byte, said string) {
	b.t.Helper()
	seen := decode(b.t, shot)
	if os.Getenv("CTXFS_PICTURES") == "1" {
		if err := os.WriteFile(file, withNote(b.t, fewColours(seen), said), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	taken, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatalf("%v; make pictures takes it", err)
	}
	if len(taken) > 200<<10 {
		b.t.Errorf("%s has %d bytes", file, len(taken))
	}
	if err := compare(taken, seen, said); err != nil {
		b.t.Errorf("%s: %v; make pictures takes it anew", file, err)
		b.shot("failed-" + filepath.Base(strings.TrimSuffix(file, ".png")))
	}
}

// compare returns how a picture differs from the page: in what the page said when it was taken, in its pixels since
// then, or in its colours over areas so large that other letters do not matter.
func compare(taken []byte, seen image.Image, said string) error {
	was, pixels, err := note(taken)
	if err != nil {
		return err
	}
	old, err := png.Decode(bytes.NewReader(taken))
	if err != nil {
		return err
	}
	if got := digest(rgba(old).Pix); got != pixels {
		return fmt.Errorf("its pixels were changed since it was taken")
	}
	if was != said {
		a, c := strings.Split(was, "\n"), strings.Split(said, "\n")
		for i := range min(len(a), len(c)) {
			if a[i] != c[i] {
				return fmt.Errorf("it was taken of a page that says %.200q where this one says %.200q", a[i], c[i])
			}
		}
		return fmt.Errorf("it was taken of a page with %d lines, and this one has %d", len(a), len(c))
	}
	if old.Bounds() != seen.Bounds() {
		return fmt.Errorf("it has %v, and the page %v", old.Bounds(), seen.Bounds())
	}
	if far := distance(old, seen); far > mostDistance {
		return fmt.Errorf("its areas differ by %.1f of 255 from those of the page", far)
	}
	return nil
}

// mostDistance is how far the colours of areas may be from each other, of 255. The two views are 26 apart and the
// two themes 200; the same page with serifs everywhere is 3 away.
const mostDistance = 10

// distance returns the mean difference of the colours of areas of 40 × 40 pixels.
func distance(a, b image.Image) float64 {
	const side = 40
	x, y := rgba(a), rgba(b)
	sum, n := 0.0, 0
	for top := 0; top < x.Rect.Dy(); top += side {
		for left := 0; left < x.Rect.Dx(); left += side {
			r := image.Rect(left, top, left+side, top+side).Intersect(x.Rect)
			for c := range 3 {
				sum += max(mean(x, r, c)-mean(y, r, c), mean(y, r, c)-mean(x, r, c))
				n++
			}
		}
	}
	return sum / float64(n)
}

// mean returns the mean of one of the three colours in a rectangle.
func mean(m *image.RGBA, r image.Rectangle, c int) float64 {
	sum := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			sum += int(m.Pix[m.PixOffset(x, y)+c])
		}
	}
	return float64(sum) / float64(r.Dx()*r.Dy())
}

func rgba(m image.Image) *image.RGBA {
	if x, ok := m.(*image.RGBA); ok {
		return x
	}
	x := image.NewRGBA(m.Bounds())
	draw.Draw(x, x.Rect, m, m.Bounds().Min, draw.Src)
	return x
}

func decode(t testing.TB, b []byte) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A picture that was changed, that is of another page, or whose page says something else is not taken for the page.
func TestAStalePictureIsFound(t *testing.T) {
	paint := func(c color.Color) image.Image {
		m := image.NewRGBA(image.Rect(0, 0, 80, 80))
		draw.Draw(m, m.Rect, image.NewUniform(c), image.Point{}, draw.Src)
		return m
	}
	light, grey, dark := paint(color.White), paint(color.Gray{250}), paint(color.Black)
	const said = "Budget\n6,000 tokens\n"
	taken := withNote(t, light, said)
	other, err := withPixelsOf(taken, dark)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what  string
		taken []byte
		seen  image.Image
		said  string
		wrong string
	}{
		{"the page", taken, light, said, ""},
		{"the page in another font", taken, grey, said, ""},
		{"another theme", taken, dark, said, "areas differ"},
		{"another size", taken, image.NewRGBA(image.Rect(0, 0, 80, 40)), said, "it has"},
		{"another number", taken, light, "Budget\n8,000 tokens\n", `"6,000 tokens" where this one says "8,000 tokens"`},
		{"a line more", taken, light, said + "live\n", `"" where this one says "live"`},
		{"a picture that was edited", other, dark, said, "changed since"},
		{"a picture from elsewhere", encode(t, light), light, said, "carries no"},
	} {
		err := compare(c.taken, c.seen, c.said)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}
