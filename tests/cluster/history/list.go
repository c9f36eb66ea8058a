package history

import (
	"maps"
	"slices"
	"time"
)

// list is what was seen of a log.
type list struct {
	writes []Write
	looks  []Look
	finals map[string][]string // the keys at the end, by host
}

// place is where a part of a write stands, or where the whole of it begins.
type place struct{ write, part int }

// check returns what is wrong with a list.
func (l *list) check(name string) []Problem {
	p := &problems{object: name}
	if len(l.finals) == 0 {
		p.add("differs", "nobody has looked at what is there at the end")
		return p.list
	}
	hosts := slices.Sorted(maps.Keys(l.finals))
	for _, h := range hosts[1:] {
		if !slices.Equal(l.finals[h], l.finals[hosts[0]]) {
			p.add("differs", "%s has %d records at the end and %s %d, or others", hosts[0], len(l.finals[hosts[0]]), h, len(l.finals[h]))
		}
	}
	keys := l.finals[hosts[0]]
	at := l.places(p, keys)
	l.membership(p, keys, at)
	first := l.order(p, keys, at)
	l.reads(p, keys, at, first)
	return p.list
}

// places returns which part of which write each record is, {-1, 0} of one that nobody wrote.
func (l *list) places(p *problems, keys []string) []place {
	known := map[string]place{}
	for i := range l.writes {
		for part := range l.writes[i].parts() {
			known[Key(l.writes[i].ID, part)] = place{i, part}
		}
	}
	at := make([]place, len(keys))
	for i, key := range keys {
		x, ok := known[key]
		if !ok {
			x = place{-1, 0}
			p.add("foreign", "nobody wrote the record %s at %d", key, i)
		}
		at[i] = x
	}
	return at
}

// membership looks whether each part is there as often as it has to be, and beside the others.
func (l *list) membership(p *problems, keys []string, at []place) {
	seen := map[place]int{} // where
	there := make([]int, len(l.writes))
	for i, x := range at {
		if x.write < 0 {
			continue
		}
		if first, twice := seen[x]; twice {
			p.add("doubled", "the record %s stands at %d and at %d", keys[i], first, i)
			continue
		}
		seen[x] = i
		there[x.write]++
		if x.part > 0 && (i == 0 || at[i-1] != place{x.write, x.part - 1}) {
			p.add("torn", "the record %s at %d does not stand behind the one before it", keys[i], i)
		}
	}
	for i := range l.writes {
		w, n := &l.writes[i], there[i]
		switch {
		case w.Result == Stored && n < w.parts():
			p.add("lost", "%s acknowledged the %d records of %s at %v, and %d of them are there", w.Host, w.parts(), w.ID, w.Ended, n)
		case w.Result == Refused && n > 0:
			p.add("refused", "%s refused the write %s at %v, and %d records of it are there", w.Host, w.ID, w.Ended, n)
		case n > 0 && n < w.parts():
			p.add("torn", "%d of the %d records of %s are there", n, w.parts(), w.ID)
		}
	}
}

// order looks whether what was acknowledged before another write began stands before it. It returns where the
// last part of each write that is there stands first.
func (l *list) order(p *problems, keys []string, at []place) map[int]int {
	last := map[int]int{}
	earliest, of := time.Duration(-1), 0 // the first acknowledgement among the records further down
	for i := len(at) - 1; i >= 0; i-- {
		if at[i].write < 0 {
			continue
		}
		w := &l.writes[at[i].write]
		if earliest >= 0 && earliest < w.Began {
			p.add("order", "%s was acknowledged at %v, before %s was sent at %v, and stands behind it", keys[of], earliest, keys[i], w.Began)
		}
		if w.Result == Stored && (earliest < 0 || w.Ended < earliest) {
			earliest, of = w.Ended, i
		}
		if at[i].part == w.parts()-1 {
			last[at[i].write] = i
		}
	}
	return last
}

// reads looks at what hosts showed meanwhile.
func (l *list) reads(p *problems, keys []string, at []place, last map[int]int) {
	sums := make([]Prefix, len(keys)+1)
	began := make([]time.Duration, len(keys)+1) // when the latest of the first n records was sent
	for i, key := range keys {
		sums[i+1], began[i+1] = sums[i], began[i]
		sums[i+1].Add(key)
		if w := at[i].write; w >= 0 {
			began[i+1] = max(began[i], l.writes[w].Began)
		}
	}
	for _, r := range l.looks {
		switch {
		case r.Len > len(keys):
			p.add("prefix", "%s showed %d records at %v, and %d are there at the end", r.Host, r.Len, r.Ended, len(keys))
		case sums[r.Len] != r.Prefix:
			p.add("prefix", "%s showed %d records at %v that are others than those at the end", r.Host, r.Len, r.Ended)
		case began[r.Len] > r.Ended:
			p.add("early", "%s showed %d records at %v, one of which was sent at %v", r.Host, r.Len, r.Ended, began[r.Len])
		}
	}
	l.progress(p, last)
}

// known is how many records a host showed or had acknowledged at a moment, at least.
type known struct {
	when time.Duration
	len  int
	own  bool
}

// progress looks whether hosts ever showed less than they had shown or acknowledged before.
func (l *list) progress(p *problems, last map[int]int) {
	facts, looks := map[string][]known{}, map[string][]Look{}
	for _, r := range l.looks {
		facts[r.Host] = append(facts[r.Host], known{r.Ended, r.Len, false})
		looks[r.Host] = append(looks[r.Host], r)
	}
	for i := range l.writes {
		if pos, ok := last[i]; ok && l.writes[i].Result == Stored {
			w := &l.writes[i]
			facts[w.Host] = append(facts[w.Host], known{w.Ended, pos + 1, true})
		}
	}
	for _, host := range slices.Sorted(maps.Keys(looks)) {
		list, facts := looks[host], facts[host]
		slices.SortFunc(list, func(a, b Look) int { return int(a.Began - b.Began) })
		slices.SortFunc(facts, func(a, b known) int { return int(a.when - b.when) })
		most, next := known{}, 0
		for _, r := range list {
			for ; next < len(facts) && facts[next].when < r.Began; next++ {
				if facts[next].len > most.len {
					most = facts[next]
				}
			}
			switch {
			case r.Len >= most.len:
			case most.own:
				p.add("own", "%s acknowledged record %d at %v, and showed %d records at %v", host, most.len, most.when, r.Len, r.Began)
			default:
				p.add("backwards", "%s showed %d records at %v, and %d at %v", host, most.len, most.when, r.Len, r.Began)
			}
		}
	}
}
