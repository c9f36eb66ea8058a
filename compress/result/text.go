package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// Shares of the free tokens.
const (
	headShare    = 0.13
	tailShare    = 0.07
	outlineShare = 0.25
	nameShare    = 0.8 // names of what failed
	messageShare = 0.8 // messages of failures
)

// bestHits is the number of search results that are shown before others.
const bestHits = 5

// maxSummaries is the number of summary lines that a log shows.
const maxSummaries = 6

// lines shows the first and the last lines of a text, and of the others those with the most new
// identifiers. Before these it shows: of a log, the lines about failures; of a search, the titles
// and addresses of the first results; of any other text, its outline and the lines that the call
// asked for.
func (r *result) lines(kind Kind, before string) (string, bool) {
	s, ok := r.newSheet(r.text)
	if !ok {
		return "", false
	}
	s.left -= r.limit.of(before)
	var weight func(i int) float64

	switch kind {
	case KindSearch:
		starts := s.hits()
		before = fmt.Sprintf("[%d results]\n", len(starts))
		s.left -= r.limit.of(before)
		weight = s.showHits(starts)
	case KindLog:
		classes := s.classes()
		s.countAlike(classes)
		s.showAll(0, min(2, len(s.lines)), headShare)
		s.showAll(len(s.lines), 0, tailShare)
		weight = s.failures(classes)
	default:
		s.showAll(0, len(s.lines), headShare)
		weight = s.asked()
		s.showAll(len(s.lines), 0, tailShare)
		s.cover(s.outline(), outlineShare, weight)
	}
	s.cover(s.all(), 1, weight)
	return s.write(before)
}

// outline returns the headings and definitions of a text, and the files of a diff.
func (s *sheet) outline() (outline []int) {
	fence := false
	for i, line := range s.lines {
		if compress.FenceMark(strings.TrimSpace(line)) != "" {
			fence = !fence
		}
		if compress.InOutline(line, fence) || strings.HasPrefix(line, "diff --git ") {
			outline = append(outline, i)
		}
	}
	return outline
}

// aroundAsked is the number of lines before and after a line that the call names.
const aroundAsked = 6

// asked returns the weights of lines: those near a line number of the call weigh most.
func (s *sheet) asked() func(i int) float64 {
	isDigit := func(c rune) bool { return '0' <= c && c <= '9' }
	numbers := strings.FieldsFunc(s.r.about.Args[:min(len(s.r.about.Args), 400)], func(c rune) bool { return !isDigit(c) })
	weights := map[int]float64{}
	for i, line := range s.lines {
		number, _, _ := strings.Cut(strings.NewReplacer("\t", " ", ":", " ", "|", " ", "\u2192", " ").Replace(strings.TrimSpace(line)), " ")
		if len(number) < 2 || !slices.Contains(numbers, number) {
			continue
		}
		for k := max(0, i-aroundAsked); k <= min(len(s.lines)-1, i+aroundAsked); k++ {
			weights[k] = 3
		}
		weights[i] = 5
	}
	return func(i int) float64 { return max(1, weights[i]) }
}

// showHits shows the first line and the address of the first results of a search. Their other lines
// weigh more than the lines of the other results.
func (s *sheet) showHits(starts []int) func(i int) float64 {
	end := len(s.lines)
	if len(starts) > bestHits {
		end = starts[bestHits]
	}
	for _, from := range starts[:min(len(starts), bestHits)] {
		s.show(from)
		for i := from + 1; i < min(end, from+4); i++ {
			if strings.Contains(s.lines[i], "://") {
				s.show(i)
			}
		}
	}
	return func(i int) float64 {
		if i < end {
			return 8
		}
		return 1
	}
}

// failures shows the end of a log, the names of failures, and their messages. Of the other lines,
// lines after a message weigh more, and progress and passing tests less.
func (s *sheet) failures(classes []class) func(i int) float64 {
	lines := map[class][]int{}
	for i, c := range classes {
		if !s.alike[i] {
			lines[c] = append(lines[c], i)
		}
	}
	summaries := lines[classSummary]
	for k := len(summaries) - 1; k >= max(0, len(summaries)-maxSummaries); k-- {
		if s.novelty(summaries[k]) > 0 {
			s.show(summaries[k])
		}
	}
	rank := func(i int) float64 { return 1 + 2*float64(messageRank(s.lines[i])) }
	s.cover(lines[className], nameShare, nil)
	s.cover(lines[classMessage], messageShare, rank)
	s.cover(lines[classDetail], messageShare, nil)
	return func(i int) float64 {
		near := max(i, 1)
		switch {
		case compress.IsNoise(strings.TrimSpace(s.lines[i])):
			return 0.2
		case classes[i] == classWarning:
			return 2
		case classes[near-1] >= classMessage && classes[near-1] < classSummary:
			return 3
		}
		return 1
	}
}
