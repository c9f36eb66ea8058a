package result

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// search shows of the best five results their titles, addresses and as much of what they say as
// there is room for. The best are those that share the most words with what was asked; the order of
// the source decides between equals.
func (r *result) search() (string, bool) {
	s, ok := r.newSheet(r.text)
	if !ok {
		return "", false
	}
	hits := s.hits()
	s.scoreHits(hits, r.about.Args)
	before := fmt.Sprintf("[%d results]\n", len(hits))
	if len(hits) > bestHits {
		before = fmt.Sprintf("[the best %d of %d results]\n", bestHits, len(hits))
	}
	s.left -= r.limit.of(before)
	best := slices.Clone(hits)
	slices.SortStableFunc(best, func(a, b lineHit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), a.from-b.from)
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
		floor := s.left - s.left/(len(best)-k)
		for i := h.from; i < h.to; i++ {
			if strings.TrimSpace(s.lines[i]) != "" && (s.left-s.cost(i) < floor || !s.show(i)) {
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

// lineHit is the lines of one search result.
type lineHit struct {
	from, to int // to is the line behind the last one
	score    float64
}

// hits returns the search results of the sheet, without what stands before the first one.
func (s *sheet) hits() (hits []lineHit) {
	for i := range s.lines {
		if i == 0 || s.beginsHit(i) {
			hits = append(hits, lineHit{from: i})
		}
		hits[len(hits)-1].to = i + 1
	}
	if len(hits) > 1 && !strings.Contains(strings.Join(s.lines[:hits[0].to], "\n"), "://") {
		hits = hits[1:]
	}
	return hits
}

// scoreHits scores results by the words that they share with what was asked, those of their first
// lines for two, and a tenth less for each result before them.
func (s *sheet) scoreHits(hits []lineHit, asked string) {
	terms := map[uint64]bool{}
	compress.Terms(asked, func(t uint64) { terms[t] = true })
	for k := range hits {
		h := &hits[k]
		seen := map[uint64]bool{}
		for i := h.from; i < h.to; i++ {
			worth := 1.0
			if i == h.from {
				worth = 2
			}
			compress.Terms(s.lines[i], func(t uint64) {
				if terms[t] && !seen[t] {
					seen[t] = true
					h.score += worth
				}
			})
		}
		h.score -= float64(k) * 0.1
	}
}
