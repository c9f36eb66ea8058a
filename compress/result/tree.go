package result

import (
	"container/heap"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// tree is a JSON value whose leaves are selected by what they add for their tokens.
type tree struct {
	r       *result
	nodes   []treeNode      // node 0 is the root
	leaves  []string        // shown text of each leaf, by node; "" for objects and lists
	chars   int             // bytes of a string that are shown
	covered map[uint64]bool // features of the selected leaves
}

type treeNode struct {
	value  gjson.Result
	key    string // raw; "" in a list
	place  int    // index in its list
	kids   []int
	parent int
	rank   int
	listed bool // the node is in an item of a list
	all    int  // items or fields, including those that are not among kids
	shown  bool
	weight int // of the node without its kids
}

// Limits of a tree. Of longer lists and larger objects, a sample is read.
const (
	maxNodes  = 20000
	maxItems  = 400
	leafChars = 160 // bytes of a string while other leaves are not shown
)

// json shows a response as JSON: the leaves that add the most, up to the limit. Remaining tokens go
// to long strings.
func (r *result) json() (best string, ok bool) {
	root := gjson.Parse(r.text)
	if !root.IsObject() && !root.IsArray() || !isJSON(r.text) {
		return "", false
	}
	t := &tree{r: r, chars: leafChars}
	t.add(root, treeNode{parent: -1, rank: rankPlain}, 0)

	// Tokens of parts do not add up to the tokens of the whole, so the room is searched.
	const steps = 32
	try := func(step int) bool {
		t.choose(r.limit.Tokens * step / (steps / 2))
		out, fits := t.write()
		if fits {
			best = out
		}
		return fits
	}
	room := sort.Search(steps, func(i int) bool { return !try(i + 1) })
	if room == 0 {
		return "", false
	}

	t.choose(r.limit.Tokens * room / (steps / 2))
	sort.Search(2*steps, func(i int) bool { // with more of long strings
		t.chars = leafChars + r.limit.Tokens*8*(i+1)/(2*steps)
		out, fits := t.write()
		if fits {
			best = out
		}
		return !fits
	})
	return best, true
}

// add appends a node for v and the nodes below it, and returns its index.
func (t *tree) add(v gjson.Result, n treeNode, depth int) int {
	at := len(t.nodes)
	n.value = v
	if n.parent >= 0 {
		up := &t.nodes[n.parent]
		n.listed = up.listed || up.value.IsArray()
	}
	t.nodes = append(t.nodes, n)
	if depth >= maxJSONDepth || at > maxNodes {
		return at
	}

	var kids []int
	all := 0
	switch {
	case v.IsArray():
		items := v.Array()
		all = len(items)
		step := all/maxItems + 1
		for i, item := range items {
			if i%step > 0 && i < all-1 || len(t.nodes) > maxNodes {
				continue
			}
			kid := treeNode{parent: at, place: i, rank: n.rank}
			switch {
			case isHit(item) && i >= bestHits:
				kid.rank = rankEmpty
			case isHit(item), item.IsObject() && reportsError(item.Raw):
				kid.rank = rankFirst
			}
			kids = append(kids, t.add(item, kid, depth+1))
		}
	case v.IsObject():
		v.ForEach(func(k, value gjson.Result) bool {
			if all++; len(kids) >= maxItems || len(t.nodes) > maxNodes {
				return true
			}
			rank := fieldRank(k.String(), value)
			switch {
			case n.rank == rankFirst && rank < rankLong:
				rank = rankFirst
			case n.rank == rankEmpty:
				rank = rankEmpty
			}
			kids = append(kids, t.add(value, treeNode{parent: at, key: k.Raw, rank: rank}, depth+1))
			return true
		})
	}
	t.nodes[at].kids, t.nodes[at].all = kids, all
	return at
}

// leafText returns a value; of a string longer than chars bytes, its head and its tail.
func leafText(v gjson.Result, chars int) string {
	if v.Type != gjson.String || len(v.Str) <= chars {
		return v.Raw
	}
	head := compress.Clip(v.Str, chars*2/3)
	tail := len(v.Str) - chars/3
	for tail < len(v.Str) && !utf8.RuneStart(v.Str[tail]) {
		tail++
	}
	omitted := tail - (len(head) - len("…"))
	if short := quote(fmt.Sprintf("%s [%d bytes left out] …%s", head, omitted, v.Str[tail:])); len(short) < len(v.Raw) {
		return short
	}
	return v.Raw
}

// ownWorth is added to a field of ownFields that is in no list: it says what the response is about.
const ownWorth = 0.4

var ownFields = compress.WordSet(`"kind" "name" "state" "error"`)

// choose selects leaves whose weights add up to room.
func (t *tree) choose(room int) {
	t.covered = map[uint64]bool{}
	eachFeature(t.r.about.Args, t.cover) // the reader has them in the call
	t.leaves = make([]string, len(t.nodes))
	var h gains
	for i := range t.nodes {
		n := &t.nodes[i]
		n.shown = false
		if len(n.kids) > 0 {
			continue
		}
		if !n.value.IsArray() && !n.value.IsObject() {
			t.leaves[i] = leafText(n.value, leafChars)
		}
		h = append(h, gained{i, t.gain(i)})
	}

	heap.Init(&h)
	for misses := 0; h.Len() > 0 && room > 0 && misses < maxMisses; {
		i := h.next(t.gain).line
		if cost := t.cost(i); cost > room {
			misses++
			continue
		} else {
			room -= cost
		}
		if t.show(i) > 1 { // its siblings have become cheaper
			for k := range h {
				if t.nodes[h[k].line].parent == t.nodes[i].parent {
					h[k].gain = t.gain(h[k].line)
				}
			}
			heap.Init(&h)
		}
	}
}

// show selects node i and the nodes around it, and returns how many nodes that adds.
func (t *tree) show(i int) (added int) {
	eachFeature(t.leaves[i], t.cover)
	for ; i >= 0 && !t.nodes[i].shown; i = t.nodes[i].parent {
		t.nodes[i].shown = true
		eachFeature(t.nodes[i].key, t.cover)
		added++
	}
	return added
}

func (t *tree) cover(feature uint64, _ float64) { t.covered[feature] = true }

// cost returns the weight of node i and of the nodes around it that are not selected yet.
func (t *tree) cost(i int) (sum int) {
	for ; i >= 0 && !t.nodes[i].shown; i = t.nodes[i].parent {
		n := &t.nodes[i]
		if n.weight == 0 {
			n.weight = ctxabi.Weight(n.key+`:[],`) + ctxabi.Weight(t.leaves[i])
		}
		sum += n.weight
		if p := n.parent; p >= 0 && !t.nodes[p].shown && len(t.nodes[p].kids) > 1 {
			sum += 3 // a mark for its siblings
		}
	}
	return sum
}

// gain returns what node i adds per token.
func (t *tree) gain(i int) float64 {
	n := &t.nodes[i]
	sum := 0.02
	eachFeature(t.leaves[i], func(f uint64, w float64) {
		if !t.covered[f] {
			sum += w
		}
	})
	eachFeature(n.key, func(f uint64, w float64) {
		if !t.covered[f] {
			sum += 0.3 * w
		}
	})
	if !n.listed && ownFields[n.key] && t.leaves[i] != "" {
		sum += ownWorth
	}
	switch n.rank {
	case rankFirst:
		sum = sum*4 + 0.5
	case rankKey:
		sum *= 1.7
	case rankEmpty:
		sum *= 0.3
	}
	return sum / float64(t.cost(i))
}

// write returns the selected nodes with a note on what is omitted, and whether they fit the limit.
func (t *tree) write() (out string, fits bool) {
	var b strings.Builder
	left := quote(compress.LeftOut(0, t.r.bytes, t.r.path))
	t.writeNode(&b, 0, left)
	omitted := t.r.bytes - b.Len() + len(left)
	if b.Len() > t.r.bytes {
		return "", false
	}
	out = strings.Replace(b.String(), left, quote(compress.LeftOut(0, omitted, t.r.path)), 1)
	return out, t.r.limit.Holds(out)
}

// writeNode writes node i. note, if not "", becomes its last item or field.
func (t *tree) writeNode(b *strings.Builder, i int, note string) {
	n := &t.nodes[i]
	list := n.value.IsArray()
	if !list && !n.value.IsObject() {
		b.WriteString(leafText(n.value, t.chars))
		return
	}
	sep := "{"
	if list {
		sep = "["
	}
	put := func(s string) {
		b.WriteString(sep + s)
		sep = ","
	}
	skipped := func(count int) {
		if count > 0 {
			put(fmt.Sprintf(`"… %d more"`, count))
		}
	}
	shown, next := 0, 0
	for _, k := range n.kids {
		kid := &t.nodes[k]
		if !kid.shown {
			continue
		}
		shown++
		if list {
			skipped(kid.place - next)
			next = kid.place + 1
			put("")
		} else {
			put(kid.key + ":")
		}
		t.writeNode(b, k, "")
	}
	switch {
	case list:
		skipped(n.all - next)
	case n.all > shown:
		put(fmt.Sprintf(`"…":%d`, n.all-shown))
	}
	if note != "" && !list {
		note = `"[left out]":` + note
	}
	if note != "" {
		put(note)
	}
	if sep != "," {
		b.WriteString(sep)
	}
	if list {
		b.WriteByte(']')
	} else {
		b.WriteByte('}')
	}
}
