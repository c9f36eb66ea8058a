package result

import (
	"fmt"
	"maps"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// write writes what is shown of node i; left, if not "", becomes its last item or field.
func (t *tree) write(b *strings.Builder, i int, left string) {
	n := &t.nodes[i]
	list := n.value.IsArray()
	if !list && !n.value.IsObject() {
		b.WriteString(t.leaf(i))
		return
	}
	open, end := "{", "}"
	if list {
		open, end = "[", "]"
	}
	b.WriteString(open)
	first := true
	comma := func() {
		if !first {
			b.WriteByte(',')
		}
		first = false
	}
	skipped, shown := 0, 0
	flush := func() {
		if skipped > 0 {
			comma()
			fmt.Fprintf(b, `"… %d more"`, skipped)
			skipped = 0
		}
	}
	for k, kid := range n.kids {
		if list {
			skipped += n.skips[k]
		}
		if !t.nodes[kid].shown {
			skipped++
			continue
		}
		shown++
		if list {
			flush()
		}
		comma()
		if !list {
			b.WriteString(t.nodes[kid].key + ":")
		}
		t.write(b, kid, "")
	}
	if missing := n.all - shown; missing > 0 {
		if list {
			skipped = 0
			inner := 0 // of these, those that are marked between
			last := -1
			for k, kid := range n.kids {
				if t.nodes[kid].shown {
					last = k
				}
			}
			for k := 0; k <= last; k++ {
				inner += n.skips[k]
				if !t.nodes[n.kids[k]].shown {
					inner++
				}
			}
			skipped = missing - inner
			flush()
		} else {
			comma()
			fmt.Fprintf(b, `"…":%d`, missing)
		}
	}
	if left != "" {
		comma()
		if !list {
			b.WriteString(`"[left out]":`)
		}
		b.WriteString(quote(left))
	}
	b.WriteString(end)
}

// treeRounds is how often a tree is written at most until it fills its limit.
const treeRounds = 12

// tree shows a response by its leaves.
func (r *result) tree(root gjson.Result) (best string, ok bool) {
	left := compress.LeftOut(0, r.bytes, r.path)
	t := &tree{r: r}
	t.add(root, "", -1, 1, 0)
	t.begin()
	t.choose(r.limit.Tokens - r.limit.of(quote(left)) - 8)
	var before map[int]int // longer, when there was still room
	more := r.limit.Tokens // by which leaves were lengthened last
	for range treeRounds {
		out, free := t.written(left)
		switch {
		case free < 0 && before != nil:
			if t.longer, more = maps.Clone(before), more/2; more < 4 {
				return best, true
			}
			t.lengthen(more)
			continue
		case free < 0:
			if !t.hide(-free) {
				return best, best != ""
			}
			continue
		}
		best = out
		if free*fullFrom < r.limit.Tokens {
			break
		}
		if before == nil && t.choose(free) {
			continue
		}
		before, more = maps.Clone(t.longer), min(more, free)
		if before == nil {
			before = map[int]int{}
		}
		if !t.lengthen(more) {
			break
		}
	}
	return best, best != ""
}

// written returns what is shown, with the note in the place of left, and the tokens that are free then.
func (t *tree) written(left string) (out string, free int) {
	var b strings.Builder
	t.write(&b, 0, left)
	out = b.String()
	over := len(out) - t.r.bytes // what is left out are bytes of the text
	if over <= 0 {
		out = strings.Replace(out, quote(left), quote(compress.LeftOut(0, len(quote(left))-over, t.r.path)), 1)
	}
	if free = t.r.limit.Tokens - t.r.limit.of(out); over > 0 {
		free = min(free, -1-over/4)
	}
	return out, free
}
