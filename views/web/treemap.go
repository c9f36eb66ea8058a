package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/internal/figures"
	"github.com/ctxfs/ctxfs/views/overview"
)

// tile is a rectangle of a treemap, in the units of its picture.
type tile struct {
	Name, Class, Section string
	To                   string // id of what it stands for
	Tokens, Count        int
	X, Y, W, H           float64
	Label, Numbers       string // what fits in it
}

// treemap lays out tiles in a rectangle: sections as columns or rows beside each other, and in each its tiles, all of
// an area in proportion to their tokens. The largest of a section comes first.
func treemap(tiles []tile, width, height float64) (out []tile) {
	type group struct {
		name  string
		tiles []tile
		sum   int
	}
	var groups []*group
	for _, x := range sectionNames {
		g := &group{name: x.phase}
		for _, t := range tiles {
			if t.Section == x.phase && t.Tokens > 0 {
				g.tiles = append(g.tiles, t)
				g.sum += t.Tokens
			}
		}
		if g.sum > 0 {
			slices.SortStableFunc(g.tiles, func(a, b tile) int { return cmp.Compare(b.Tokens, a.Tokens) })
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(b.sum, a.sum) })
	areas := make([]float64, len(groups))
	for i, g := range groups {
		areas[i] = float64(g.sum)
	}
	for i, r := range squarify(areas, rect{0, 0, width, height}) {
		inner := make([]float64, len(groups[i].tiles))
		for k, t := range groups[i].tiles {
			inner[k] = float64(t.Tokens)
		}
		for k, b := range squarify(inner, r) {
			t := groups[i].tiles[k]
			t.X, t.Y, t.W, t.H = b.x, b.y, b.w, b.h
			t.Label, t.Numbers = labels(t)
			out = append(out, t)
		}
	}
	return out
}

// labels returns what fits in a tile: its name cut to its width, and its tokens.
func labels(t tile) (name, numbers string) {
	const letter, line = 12.5, 28.0 // of a picture that is 1000 wide
	n := int((t.W - 20) / letter)
	if t.H < line+8 || n < 3 {
		return "", ""
	}
	if name = overview.Visible(t.Name); len([]rune(name)) > n {
		name = string([]rune(name)[:n-1]) + "…"
	}
	if text := figures.Thousands(t.Tokens) + " tokens"; t.H > 2*line+10 && len(text) <= n {
		numbers = text
	} else if text := overview.Short(t.Tokens); t.H > 2*line+10 && len(text) <= n {
		numbers = text
	}
	return name, numbers
}

type rect struct{ x, y, w, h float64 }

// squarify divides a rectangle into parts whose areas are in proportion to areas, which are sorted, the largest
// first, and as near to squares as rows of them can be (Bruls, Huizing, van Wijk).
func squarify(areas []float64, r rect) (out []rect) {
	sum := 0.0
	for _, a := range areas {
		sum += a
	}
	for len(areas) > 0 && sum > 0 {
		scale := r.w * r.h / sum
		side := min(r.w, r.h)
		n, row := 0, 0.0
		for n < len(areas) && (n == 0 || worst(areas[:n+1], row+areas[n], scale, side) <= worst(areas[:n], row, scale, side)) {
			row += areas[n]
			n++
		}
		across := row * scale / max(side, 1e-9)
		at := 0.0
		for _, a := range areas[:n] {
			length := a / row * side
			if r.w >= r.h {
				out = append(out, rect{r.x, r.y + at, across, length})
			} else {
				out = append(out, rect{r.x + at, r.y, length, across})
			}
			at += length
		}
		if r.w >= r.h {
			r.x, r.w = r.x+across, r.w-across
		} else {
			r.y, r.h = r.y+across, r.h-across
		}
		areas, sum = areas[n:], sum-row
	}
	return out
}

// worst is the largest ratio of the sides of a row of areas along a side.
func worst(row []float64, sum, scale, side float64) float64 {
	across := sum * scale / side
	most := 0.0
	for _, a := range row {
		length := a * scale / across
		most = max(most, across/length, length/across)
	}
	return most
}

// spark returns the points of a polyline through values from 0 to most.
func spark(values []int, most, width, height int) string {
	if len(values) == 1 {
		values = append(values, values[0])
	}
	var b strings.Builder
	for i, v := range values {
		x := float64(i) * float64(width) / float64(len(values)-1)
		y := float64(height) - 1 - float64(v)/float64(max(1, most))*float64(height-2)
		fmt.Fprintf(&b, "%.1f,%.1f ", x, y)
	}
	return strings.TrimSpace(b.String())
}
