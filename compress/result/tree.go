package result

import (
	"container/heap"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// tree is a JSON value of which the leaves are chosen that say the most for what they take.
type tree struct {
	r       *result
	nodes   []treeNode
	leaves  []string        // by node: what is shown of a leaf; "" of others
	longer  map[int]int     // code points that are shown of a leaf, where they are more than leafChars
	covered map[uint64]bool // features that are shown
	waiting gains           // leaves that are not shown
	order   []step          // what was shown one after the other
}

// step is a leaf with what it is in: nodes that are shown since it is.
type step struct {
	nodes []int
	cost  int // in tokens
}

type treeNode struct {
	value  gjson.Result
	key    string // raw, "" in a list
	kids   []int
	parent int
	rank   int
	listed bool // it is, or is in, an item of a list
	all    int  // items or fields, those that are not among kids included
	shown  bool
	costs  [2]int // tokens of it without its kids, and what that weighs; 0: not known yet
	skips  []int  // of a list: how many items stand between the kid and the one before it that are not kids
}

// Bounds of a tree: of longer lists and larger objects a part is looked at.
const (
	treeNodes = 20000
	treeItems = 400
)

// add adds a value below the node parent, and returns its number. rank is how much it says, less
// for more; depth counts the levels above it.
func (t *tree) add(v gjson.Result, key string, parent, rank, depth int) int {
	at := len(t.nodes)
	t.nodes = append(t.nodes, treeNode{value: v, key: key, parent: parent, rank: rank, listed: parent >= 0 && (t.nodes[parent].listed || t.nodes[parent].value.IsArray())})
	if depth >= deepest || at > treeNodes {
		return at
	}
	var kids, skips []int
	all := 0
	switch {
	case v.IsArray():
		var items []gjson.Result
		v.ForEach(func(_, item gjson.Result) bool {
			items = append(items, item)
			return true
		})
		all = len(items)
		show := sampled(items, treeItems)
		skipped := 0
		for i, item := range items {
			if show != nil && !show[i] {
				skipped++
				continue
			}
			if len(t.nodes) > treeNodes {
				break
			}
			boost := rank
			if tellsOfError(item.Raw) && item.IsObject() {
				boost = -1
			}
			if isHit(item) {
				if boost = -1; i >= bestHits {
					boost = 3
				}
			}
			kids = append(kids, t.add(item, "", at, boost, depth+1))
			skips = append(skips, skipped)
			skipped = 0
		}
	case v.IsObject():
		v.ForEach(func(k, value gjson.Result) bool {
			all++
			if len(kids) < treeItems && len(t.nodes) <= treeNodes {
				next := fieldRank(k.String(), value)
				if rank < 0 && next < 2 {
					next = -1
				}
				if rank == 3 { // of an object that says little
					next = 3
				}
				kids = append(kids, t.add(value, k.Raw, at, next, depth+1))
			}
			return true
		})
	}
	t.nodes[at].kids, t.nodes[at].skips, t.nodes[at].all = kids, skips, all
	return at
}

// isHit reports whether an item is a search result.
func isHit(item gjson.Result) bool {
	return item.IsObject() && item.Get("title").Exists() && (item.Get("url").Exists() || item.Get("link").Exists())
}

// leafChars is how much of a string is shown, in code points, while there are others to show.
const leafChars = 160

// text returns what node i takes without its kids.
func (t *tree) text(i int) string {
	n := &t.nodes[i]
	head := n.key
	if head != "" {
		head += ":"
	}
	switch {
	case n.value.IsArray():
		return head + "[],"
	case n.value.IsObject():
		return head + "{},"
	}
	return head + t.leaf(i) + ","
}

// leaf returns what is shown of leaf i.
func (t *tree) leaf(i int) string { return leafText(t.nodes[i].value, max(leafChars, t.longer[i])) }

// leafText returns a value of which at most chars code points of a string are shown: its beginning, and
// where they are more than leafChars its end, too.
func leafText(v gjson.Result, chars int) string {
	if v.Type != gjson.String || len(v.Raw) <= chars+2 {
		return v.Raw
	}
	s := v.String()
	if chars > leafChars && utf8.RuneCountInString(s) > chars {
		head := s[:runesIn(s, chars*2/3)]
		tail := []rune(s[len(head):])
		end := string(tail[len(tail)-chars/3:])
		return quote(fmt.Sprintf("%s… [%d bytes left out] …%s", head, len(s)-len(head)-len(end), end))
	}
	head := []rune(s[:min(len(s), 4*chars)])
	shown := string(head[:min(len(head), chars)])
	if len(shown) == len(s) {
		return v.Raw
	}
	if at := strings.LastIndexAny(shown, " \n,;"); at > len(shown)/2 {
		shown = shown[:at]
	}
	return quote(fmt.Sprintf("%s… [%d bytes more]", shown, len(s)-len(shown)))
}

// runesIn returns how many bytes the first n code points of s are.
func runesIn(s string, n int) int {
	for at := range s {
		if n == 0 {
			return at
		}
		n--
	}
	return len(s)
}

// ownWorth is what the leaf of one of ownFields that is in no list is worth beside what it says.
const ownWorth = 0.4

var ownFields = compress.WordSet(`"kind" "name" "namespace" "state" "error" "message" "reason"`)

// begin weighs the leaves, with none shown.
func (t *tree) begin() {
	t.covered = map[uint64]bool{}
	eachFeature(t.r.about.Args, t.cover) // the reader has them in the call
	t.leaves = make([]string, len(t.nodes))
	t.waiting, t.order = nil, nil
	for i := range t.nodes {
		n := &t.nodes[i]
		n.shown = false
		if len(n.kids) == 0 {
			if !n.value.IsArray() && !n.value.IsObject() {
				t.leaves[i] = t.leaf(i)
			}
			t.waiting = append(t.waiting, gained{i, t.gain(i)})
		}
	}
}

// choose shows leaves within so many tokens, and reports whether there was one.
func (t *tree) choose(room int) (some bool) {
	h := t.waiting
	var missed gains
	heap.Init(&h)
	for misses := 0; h.Len() > 0 && room > 0 && misses < 64; {
		i := h[0].line
		// Gains fall as features are covered, and rise as what is around a leaf is shown: then it comes up a little late.
		if g := t.gain(i); g < h[0].gain*0.999 {
			h[0].gain = g
			heap.Fix(&h, 0)
			continue
		}
		best := heap.Pop(&h).(gained)
		c := t.cost(i)
		if c > room {
			missed = append(missed, best)
			misses++
			continue
		}
		room -= c
		some = true
		if t.show(i, c) > 1 { // what stands beside it has become cheaper
			for k := range h {
				if p := t.nodes[h[k].line].parent; p >= 0 && p == t.nodes[i].parent {
					h[k].gain = t.gain(h[k].line)
				}
			}
			heap.Init(&h)
		}
	}
	t.waiting = append(h, missed...)
	return some
}

// lengthen shows more of the leaves whose ends are not shown, by about so many tokens together, and
// reports whether there was one.
func (t *tree) lengthen(room int) bool {
	var cut []int
	for i := range t.nodes {
		if v := t.nodes[i].value; t.nodes[i].shown && v.Type == gjson.String && len(v.Raw) > max(leafChars, t.longer[i])+2 {
			cut = append(cut, i)
		}
	}
	if len(cut) == 0 {
		return false
	}
	if t.longer == nil {
		t.longer = map[int]int{}
	}
	for _, i := range cut[:min(len(cut), max(1, room/4))] {
		t.longer[i] = max(leafChars, t.longer[i]) + max(4, room*3/len(cut))
	}
	return true
}

// show shows node i with what it is in, which takes so many tokens, and returns how many nodes that are
// new.
func (t *tree) show(i, cost int) (fresh int) {
	eachFeature(t.leaves[i], t.cover)
	var nodes []int
	for ; i >= 0 && !t.nodes[i].shown; i = t.nodes[i].parent {
		t.nodes[i].shown = true
		eachFeature(t.nodes[i].key, t.cover)
		nodes = append(nodes, i)
	}
	t.order = append(t.order, step{nodes, cost})
	return len(nodes)
}

// hide takes back the last steps, of at least so many tokens. It reports whether one is left.
func (t *tree) hide(tokens int) bool {
	for tokens > 0 && len(t.order) > 1 {
		last := t.order[len(t.order)-1]
		t.order = t.order[:len(t.order)-1]
		for _, i := range last.nodes {
			t.nodes[i].shown = false
		}
		tokens -= max(1, last.cost)
	}
	return tokens <= 0
}

func (t *tree) cover(feature uint64, _ float64) { t.covered[feature] = true }

// cost returns the tokens that it takes to show node i, with what it is in.
func (t *tree) cost(i int) int { return t.sum(i, 0, t.r.limit.of) }

// sum adds up what of takes node i for, and all that it is in that is not shown.
func (t *tree) sum(i, kind int, of func(string) int) (sum int) {
	for ; i >= 0 && !t.nodes[i].shown; i = t.nodes[i].parent {
		n := &t.nodes[i]
		if n.costs[kind] == 0 {
			n.costs[kind] = of(t.text(i))
		}
		sum += n.costs[kind]
		if p := n.parent; p >= 0 && !t.nodes[p].shown && len(t.nodes[p].kids) > 1 {
			sum += 3 // a mark of what is left out of it
		}
	}
	return sum
}

// gain returns what node i says that is not shown yet, for what it takes.
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
	if !n.listed && t.leaves[i] != "" && ownFields[n.key] { // what a response says of itself, once
		sum += ownWorth
	}
	switch n.rank {
	case -1:
		sum = sum*4 + 0.5
	case 0:
		sum *= 1.7
	case 3:
		sum *= 0.3
	}
	return sum / float64(t.sum(i, 1, ctxabi.Weight[string]))
}
