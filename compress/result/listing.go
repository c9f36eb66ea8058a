package result

import (
	"fmt"
	"slices"
	"strings"
)

// listing shows which directories hold how many entries, and entries of each.
func (r *result) listing() (string, bool) {
	s, ok := r.newSheet(r.text)
	if !ok {
		return "", false
	}
	type group struct {
		name    string
		entries int
		header  int // its line, -1: it has none
	}
	groups := map[string]*group{}
	var order []*group
	current := ""
	of := func(name string, header int) *group {
		g := groups[name]
		if g == nil {
			g = &group{name: name, header: header}
			groups[name] = g
			order = append(order, g)
		}
		return g
	}
	entries := 0
	var shownAs []int
	for i, line := range s.lines {
		switch entryOf(line) {
		case dirEntry:
			current = strings.TrimSuffix(strings.TrimSpace(line), ":")
			of(current, i)
			continue
		case sumEntry, noEntry:
			continue
		case longEntry:
			of(current, -1).entries++
		case pathEntry:
			name := strings.TrimLeft(strings.TrimSpace(line), "│├└─┬ |`+")
			if f := strings.Fields(name); len(f) == 2 {
				name = f[1]
			}
			if at := strings.LastIndexByte(strings.TrimSuffix(name, "/"), '/'); at >= 0 {
				of(name[:at+1], -1).entries++
			} else {
				of(current, -1).entries++
			}
		}
		entries++
		shownAs = append(shownAs, i)
	}
	if len(order) == 0 {
		return "", false
	}
	before := fmt.Sprintf("[%d entries in %d directories]\n", entries, len(order))
	s.left -= r.limit.of(before)
	if len(order) > 1 {
		// The directories with the most entries, by the part of their names that leaves few enough of them.
		sums := map[string]int{}
		depth := 8
		for ; depth > 0; depth-- {
			clear(sums)
			for _, g := range order {
				if g.header < 0 {
					sums[upTo(g.name, depth)] += g.entries
				}
			}
			if len(sums) <= 4+s.left/40 {
				break
			}
		}
		names := make([]string, 0, len(sums))
		for name := range sums {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int {
			if sums[a] != sums[b] {
				return sums[b] - sums[a]
			}
			return strings.Compare(a, b)
		})
		room := s.left * 3 / 10
		for _, name := range names {
			if name == "" {
				continue
			}
			line := fmt.Sprintf("[%s %d entries]\n", name, sums[name])
			if cost := r.limit.of(line); cost <= room {
				room -= cost
				s.left -= cost
				before += line
			}
		}
	}
	// Headers of directories with how much they hold.
	var headers []int
	for _, g := range order {
		if g.header >= 0 {
			headers = append(headers, g.header)
		}
	}
	s.inTurn(headers, 0.35)
	s.showAll(0, min(2, len(s.lines)), 0.1)
	s.cover(shownAs, 1, nil)
	s.fill()
	return s.write(before)
}

// upTo returns the beginning of a path, at most depth directories deep.
func upTo(name string, depth int) string {
	for at := 0; at < len(name); at++ {
		if name[at] == '/' && at > 0 {
			if depth--; depth == 0 {
				return name[:at+1]
			}
		}
	}
	return name
}
