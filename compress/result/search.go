package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// search shows of the best five results their titles, addresses and as much of what they say as there is room for.
// The best are those that share the most words with what was asked; the source's order decides between equals.
func (r *result) search() (string, bool) {
	s, ok := r.newSheet(r.text)
	if !ok {
		return "", false
	}
	type found struct {
		from, to int
		score    float64
	}
	var hits []found
	for i := range s.lines {
		if i == 0 || s.beginsHit(i) {
			hits = append(hits, found{from: i})
		}
		hits[len(hits)-1].to = i + 1
	}
	if len(hits) > 1 && !strings.Contains(strings.Join(s.lines[:hits[0].to], "\n"), "://") { // what stands before the first one
		hits = hits[1:]
	}
	asked := map[uint64]bool{}
	compress.Terms(r.about.Args, func(t uint64) { asked[t] = true })
	for k := range hits {
		h := &hits[k]
		seen := map[uint64]bool{}
		for i := h.from; i < h.to; i++ {
			worth := 1.0
			if i == h.from {
				worth = 2
			}
			compress.Terms(s.lines[i], func(t uint64) {
				if asked[t] && !seen[t] {
					seen[t] = true
					h.score += worth
				}
			})
		}
		h.score -= float64(k) * 0.1
	}
	before := fmt.Sprintf("[%d results]\n", len(hits))
	if len(hits) > bestHits {
		before = fmt.Sprintf("[the best %d of %d results]\n", bestHits, len(hits))
	}
	s.left -= r.limit.of(before)
	best := slices.Clone(hits)
	slices.SortStableFunc(best, func(a, b found) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.from - b.from
	})
	best = best[:min(len(best), bestHits)]
	for _, h := range best {
		s.show(h.from)
		for i := h.from; i < min(h.to, h.from+4); i++ {
			if strings.Contains(s.lines[i], "://") {
				s.show(i)
			}
		}
	}
	for k, h := range best {
		var body []int
		for i := h.from; i < h.to; i++ {
			if strings.TrimSpace(s.lines[i]) != "" {
				body = append(body, i)
			}
		}
		floor := s.left - s.left/(len(best)-k)
		for _, i := range body {
			if s.left-s.cost(i) < floor || !s.show(i) {
				break
			}
		}
	}
	var rest []int
	for _, h := range best {
		for i := h.from; i < h.to; i++ {
			rest = append(rest, i)
		}
	}
	s.cover(rest, 1, nil)
	return s.write(before)
}

// bestHits is how many search results are shown.
const bestHits = 5

// beginsHit says whether line i begins a search result: a number, a title, or the first line of a paragraph that has an address.
func (s *sheet) beginsHit(i int) bool {
	if s.glued[i-1] {
		return false
	}
	line := strings.TrimSpace(s.lines[i])
	low := strings.ToLower(strings.TrimLeft(line, "-*# "))
	if strings.HasPrefix(low, "title:") {
		return true
	}
	n := 0
	for n < len(line) && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	if n > 0 && n < 4 && n+1 < len(line) && (line[n] == '.' || line[n] == ')' || line[n] == ':') && line[n+1] == ' ' {
		return true
	}
	if line == "" || strings.TrimSpace(s.lines[i-1]) != "" {
		return false
	}
	for k := i; k < min(len(s.lines), i+3) && strings.TrimSpace(s.lines[k]) != ""; k++ {
		if strings.Contains(s.lines[k], "://") && (k > i || strings.HasPrefix(line, "#") || strings.Contains(line, "](http") || strings.HasPrefix(low, "http")) {
			return true
		}
	}
	return false
}
