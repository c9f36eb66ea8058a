package history

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// register is what was seen of a setting.
type register struct {
	writes []Write
	sights []Sight
	finals map[string]string // the value at the end, by host
}

// never is later than all moments.
const never = time.Duration(math.MaxInt64)

// value is what is known of one value of a register.
type value struct {
	id     string
	began  time.Duration
	known  time.Duration // when somebody knew first that it was stored
	stored bool
	// On each host: the end of the first look at it, or its acknowledgement; and the beginning of the last look.
	first, last map[string]time.Duration
}

// check returns what is wrong with a register.
func (r *register) check(name string) []Problem {
	p := &problems{object: name}
	if len(r.finals) == 0 {
		p.add("differs", "nobody has looked at what is there at the end")
		return p.list
	}
	hosts := slices.Sorted(maps.Keys(r.finals))
	final := r.finals[hosts[0]]
	for _, h := range hosts[1:] {
		if r.finals[h] != final {
			p.add("differs", "%s has the value %q at the end and %s %q", hosts[0], final, h, r.finals[h])
		}
	}
	values, index := r.values(p)
	end, ok := index[final]
	if !ok {
		p.add("foreign", "the value at the end, %q, was refused, or nobody wrote it", final)
		end = -1
	}
	cycles(p, values, end)
	return p.list
}

// values returns all values that were stored, or may have been.
func (r *register) values(p *problems) ([]value, map[string]int) {
	values := []value{{began: -1, known: -1, stored: false, first: map[string]time.Duration{}, last: map[string]time.Duration{}}}
	index, refused := map[string]int{"": 0}, map[string]bool{}
	for _, w := range r.writes {
		if w.Result == Refused {
			refused[w.ID] = true
			continue
		}
		v := value{id: w.ID, began: w.Began, known: never, first: map[string]time.Duration{}, last: map[string]time.Duration{}}
		if w.Result == Stored {
			v.stored, v.known, v.first[w.Host] = true, w.Ended, w.Ended
		}
		index[w.ID] = len(values)
		values = append(values, v)
	}
	for _, s := range r.sights {
		i, ok := index[s.ID]
		switch {
		case refused[s.ID]:
			p.add("refused", "%s showed %q at %v, which was refused", s.Host, s.ID, s.Ended)
			continue
		case !ok:
			p.add("foreign", "%s showed %q at %v, which nobody wrote", s.Host, s.ID, s.Ended)
			continue
		case values[i].began > s.Ended:
			p.add("early", "%s showed %q at %v, which was sent at %v", s.Host, s.ID, s.Ended, values[i].began)
		}
		v := &values[i]
		v.known = min(v.known, s.Ended)
		if first, ok := v.first[s.Host]; !ok || s.Ended < first {
			v.first[s.Host] = s.Ended
		}
		if last, ok := v.last[s.Host]; !ok || s.Began > last {
			v.last[s.Host] = s.Began
		}
	}
	return values, index
}

// before returns why a stands before b in every order that agrees with what was seen, "" if it need not.
func before(a, b *value) string {
	if a.known < b.began {
		return fmt.Sprintf("%q was known at %v, when %q was not sent yet (%v)", a.id, a.known, b.id, b.began)
	}
	for host, first := range a.first {
		if last, ok := b.last[host]; ok && first < last {
			return fmt.Sprintf("%s had %q at %v and showed %q at %v", host, a.id, first, b.id, last)
		}
	}
	return ""
}

// cycles adds each group of values of which every one would have to stand before every other. All that were
// stored have to stand before the value at the end, unless end is -1.
func cycles(p *problems, values []value, end int) {
	edge := func(a, b int) bool {
		return a != b && (b == end && (a == 0 || values[a].stored) || before(&values[a], &values[b]) != "")
	}
	// Tarjan's components, without recursion over long chains.
	n := len(values)
	index, low, on := make([]int, n), make([]int, n), make([]bool, n)
	var stack, path []int
	next := make([]int, n)
	count := 0
	for root := range n {
		if index[root] != 0 {
			continue
		}
		path = append(path[:0], root)
		for len(path) > 0 {
			v := path[len(path)-1]
			if index[v] == 0 {
				count++
				index[v], low[v], on[v] = count, count, true
				stack = append(stack, v)
			}
			down := false
			for ; next[v] < n; next[v]++ {
				w := next[v]
				if !edge(v, w) {
					continue
				}
				if index[w] == 0 {
					path, down = append(path, w), true
					break
				}
				if on[w] {
					low[v] = min(low[v], index[w])
				}
			}
			if down {
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				low[path[len(path)-1]] = min(low[path[len(path)-1]], low[v])
			}
			if low[v] != index[v] {
				continue
			}
			var group []int
			for {
				w := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				on[w] = false
				group = append(group, w)
				if w == v {
					break
				}
			}
			if len(group) > 1 {
				p.add("cycle", "%s", cycle(values, group, end))
			}
		}
	}
}

// cycle returns why values cannot stand in any order.
func cycle(values []value, group []int, end int) string {
	var why []string
	for _, a := range group {
		for _, b := range group {
			if a == b || len(why) > 5 {
				continue
			}
			if s := before(&values[a], &values[b]); s != "" {
				why = append(why, s)
			}
		}
	}
	if slices.Contains(group, end) {
		why = append(why, fmt.Sprintf("%q is there at the end", values[end].id))
	}
	return fmt.Sprintf("%d values have no order: %s", len(group), strings.Join(why, "; "))
}
