package result

import (
	"sort"
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
	if r.bytes <= largeJSON { // each level would go through all of it
		level := 0
		if best, level = r.level(root, left); best != "" && (level == 0 || level == 1 && r.full(best)) {
			return best, true
		}
	}
	if out, ok := r.tree(root); ok && (said(out) > said(best) || !r.full(best) && r.full(out)) {
		best = out
	}
	return best, best != ""
}

// full reports whether a text uses nearly all of the limit.
func (r *result) full(text string) bool { return r.limit.of(text)*20 >= r.limit.Tokens*19 }

// level returns a response at the most generous of jsonLevels that fits, or between that one and the
// one before it, and the number of that level; "" if none fits.
func (r *result) level(root gjson.Result, left string) (best string, level int) {
	for level = range jsonLevels[:2] {
		if out, ok := r.atLevel(root, jsonLevels[level], left); ok {
			best = out
			break
		}
	}
	if best == "" {
		level = 2 + sort.Search(len(jsonLevels)-2, func(i int) bool {
			out, ok := r.atLevel(root, jsonLevels[2+i], left)
			if ok {
				best = out
			}
			return ok
		})
	}
	if best == "" || level == 0 || r.full(best) {
		return best, level
	}
	from, to := jsonLevels[level], jsonLevels[level-1]
	for least, most := 0, levelSteps-1; least < most; {
		step := (least + most + 1) / 2
		if out, ok := r.atLevel(root, from.towards(to, step, r.limit.Tokens), left); ok {
			best, least = out, step
		} else {
			most = step - 1
		}
	}
	return best, level
}

// atLevel returns a response at a level, and whether it fits.
func (r *result) atLevel(root gjson.Result, level jsonLevel, left string) (out string, ok bool) {
	w := jsonWriter{jsonLevel: level, most: r.limit.Tokens * 12}
	if root.IsObject() {
		w.object(root, 0, left)
	} else {
		w.array(root, 0, left)
	}
	if w.full {
		return "", false
	}
	out = w.String()
	if len(out) > r.bytes { // what is left out are bytes of the text; there may be none but blanks
		return "", false
	}
	// The note says how much shorter the text is; the number has no more digits than the one it stands for.
	out = strings.Replace(out, quote(left), quote(compress.LeftOut(0, r.bytes-len(out)+len(quote(left)), r.path)), 1)
	return out, r.limit.Holds(out)
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

// levelSteps is how many levels there are from one of jsonLevels to the next.
const levelSteps = 8

// towards returns the level that lies so many steps from l to the more generous one, where no part of a
// response is larger than so many tokens.
func (l jsonLevel) towards(to jsonLevel, step, tokens int) jsonLevel {
	between := func(from, to int) int { return from + (min(to, max(from, 8*tokens))-from)*step/levelSteps }
	return jsonLevel{between(l.items, to.items), between(l.chars, to.chars), between(l.fields, to.fields), between(l.deep, to.deep)}
}

var jsonLevels = []jsonLevel{
	{1 << 30, 1 << 30, 1 << 30, deepest}, {1 << 30, 400, 1 << 30, deepest}, {1 << 30, 160, 1 << 30, 8},
	{60, 160, 80, 8}, {40, 120, 60, 8}, {28, 120, 40, 7}, {20, 120, 40, 7}, {15, 100, 30, 6}, {12, 100, 30, 6}, {10, 80, 24, 6}, {8, 80, 24, 6},
	{7, 80, 20, 5}, {6, 60, 20, 5}, {5, 60, 16, 5}, {4, 60, 14, 4}, {4, 40, 10, 4}, {3, 40, 8, 4}, {3, 32, 6, 3}, {2, 32, 6, 3}, {2, 24, 5, 2}, {2, 24, 4, 2}, {2, 16, 3, 1},
}
