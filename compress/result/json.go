package result

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// json shows the shape of a response with its fields, as JSON. Lists of objects with the same
// fields become columns and rows, which loses nothing; long strings lose their ends. What still
// does not fit is shown by columns and rows that are left, or leaf by leaf, whichever says more.
func (r *result) json() (string, bool) {
	root := gjson.Parse(r.text)
	if !root.IsObject() && !root.IsArray() || !isJSON(r.text) {
		return "", false
	}
	left := compress.LeftOut(0, r.bytes, r.path)
	best := ""
	levels := jsonLevels
	if r.bytes > largeJSON { // each level would go through all of it
		levels = nil
	}
	for i, level := range levels {
		w := jsonWriter{jsonLevel: level, most: r.limit.Tokens * 12}
		if r.limit.Chars > 0 {
			w.most = min(w.most, r.limit.Chars*4)
		}
		if root.IsObject() {
			w.object(root, 0, left)
		} else {
			w.array(root, 0, left)
		}
		if w.full {
			continue
		}
		out := w.String()
		if len(out) > r.bytes { // what is left out are bytes of the text; there may be none but blanks
			continue
		}
		// The note says how much shorter the text is; the number has no more digits than the one it stands for.
		out = strings.Replace(out, quote(left), quote(compress.LeftOut(0, r.bytes-len(out)+len(quote(left)), r.path)), 1)
		if !r.limit.holds(out) {
			continue
		}
		if i < 2 {
			return out, true
		}
		best = out
		break
	}
	if out, ok := r.tree(root); ok && said(out) > said(best) {
		best = out
	}
	return best, best != ""
}

// largeJSON is the number of bytes from which on a response is only shown leaf by leaf.
const largeJSON = 1 << 18

// said returns how much a text says.
func said(text string) float64 {
	sum, seen := 0.0, map[uint64]bool{}
	eachFeature(text, func(f uint64, w float64) {
		if !seen[f] {
			seen[f] = true
			sum += w
		}
	})
	return sum
}

// jsonLevel is how much is shown.
type jsonLevel struct {
	items, chars, fields, deep int
}

var jsonLevels = []jsonLevel{
	{1 << 30, 1 << 30, 1 << 30, deepest}, {1 << 30, 400, 1 << 30, deepest}, {1 << 30, 160, 1 << 30, 8},
	{60, 160, 80, 8}, {40, 120, 60, 8}, {28, 120, 40, 7}, {20, 120, 40, 7}, {15, 100, 30, 6}, {12, 100, 30, 6}, {10, 80, 24, 6}, {8, 80, 24, 6},
	{7, 80, 20, 5}, {6, 60, 20, 5}, {5, 60, 16, 5}, {4, 60, 14, 4}, {4, 40, 10, 4}, {3, 40, 8, 4}, {3, 32, 6, 3}, {2, 32, 6, 3}, {2, 24, 5, 2}, {2, 24, 4, 2}, {2, 16, 3, 1},
}
