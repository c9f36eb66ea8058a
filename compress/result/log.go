package result

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// Numbers of lines that repeat a pattern.
const (
	alikeFrom    = 6  // lines of one pattern from which they are counted
	constantFrom = 8  // likewise, from which a rare number makes a line unusual
	constantOf   = 80 // percent of the lines that have the usual number
	maxNumbers   = 12 // numbers of a line that are compared
	maxMessages  = 12 // messages of one pattern that are not counted
)

// classes returns the class of each line.
func (s *sheet) classes() []class {
	classes := make([]class, len(s.lines))
	known := map[uint64]class{}
	for i, line := range s.lines {
		pattern := patternOf(line)
		c, ok := known[pattern]
		if !ok {
			c = classify(line)
			known[pattern] = c
		}
		if i > 0 && c < classMessage && strings.Contains(s.lines[i-1], " panicked at ") {
			c = classMessage // Rust prints the message below the place
		}
		classes[i] = c
	}
	return classes
}

// countAlike marks the lines that repeat a pattern, to be counted instead of shown: of alikeFrom
// lines or more, all but the first and the last; of progress bars, all but the last; of messages,
// all but the first maxMessages. It marks no names of failures, no line after a failure, and no
// line in which a number differs from nearly all others.
func (s *sheet) countAlike(classes []class) {
	s.like = make([]int, len(s.lines))
	members, first := map[int][]int{}, map[uint64]int{}
	for i, line := range s.lines {
		s.like[i] = -1
		explains := i > 0 && classes[i-1] > classWarning && classes[i-1] != classSummary && !compress.IsNoise(line)
		if strings.TrimSpace(line) == "" || s.glued[i] || classes[i] >= className || explains && classes[i] <= classWarning {
			continue
		}
		pattern := patternOf(line)
		if _, ok := first[pattern]; !ok {
			first[pattern] = i
		}
		s.like[i] = first[pattern]
		members[s.like[i]] = append(members[s.like[i]], i)
	}

	for at, list := range members {
		keep := 1
		if classes[at] > classWarning {
			keep = maxMessages
		}
		if len(list) < max(alikeFrom, keep+1) {
			for _, i := range list {
				s.like[i] = -1
			}
			continue
		}
		last := list[len(list)-1]
		for k, i := range list {
			s.alike[i] = k >= keep && (i != last || s.lines[i] == s.lines[at])
		}
		if compress.IsProgress(s.lines[at]) {
			s.alike[at], s.alike[last] = true, false
		} else {
			s.keepUnusual(list)
		}
	}
}

// keepUnusual unmarks the lines of one pattern with a number that differs from the usual one at its
// place.
func (s *sheet) keepUnusual(list []int) {
	if len(list) < constantFrom {
		return
	}
	var counts [maxNumbers]map[string]int
	for _, i := range list {
		eachNumber(s.lines[i], func(k int, number string) {
			if counts[k] == nil {
				counts[k] = map[string]int{}
			}
			counts[k][number]++
		})
	}
	var usual [maxNumbers]string
	for k := range counts {
		for number, n := range counts[k] {
			if n*100 >= len(list)*constantOf {
				usual[k] = number
			}
		}
	}
	for _, i := range list {
		eachNumber(s.lines[i], func(k int, number string) {
			if usual[k] != "" && usual[k] != number {
				s.alike[i] = false
			}
		})
	}
}

// eachNumber calls do with the first maxNumbers numbers of a line and their places.
func eachNumber(line string, do func(k int, number string)) {
	isDigit := func(c rune) bool { return '0' <= c && c <= '9' }
	for k := 0; k < maxNumbers; k++ {
		at := strings.IndexFunc(line, isDigit)
		if at < 0 {
			return
		}
		rest := strings.TrimLeftFunc(line[at:], isDigit)
		do(k, line[at:len(line)-len(rest)])
		line = rest
	}
}

// counts returns, for the last shown line of each pattern, the number of lines of the pattern that
// are not shown.
func (s *sheet) counts() map[int]int {
	hidden, last := map[int]int{}, map[int]int{}
	for i, at := range s.like {
		switch {
		case at < 0:
		case s.shown[i]:
			last[at] = i
		default:
			hidden[at]++
		}
	}
	more := map[int]int{}
	for at, i := range last {
		more[i] = hidden[at]
	}
	return more
}

// Repeats reports whether more than half of a log consists of lines that are counted.
func Repeats(text string, kind Kind) bool {
	if kind != KindLog {
		return false
	}
	seen := map[uint64]int{}
	bytes := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && classify(line) == classNone {
			pattern := patternOf(line)
			if seen[pattern]++; seen[pattern] >= alikeFrom {
				bytes += len(line) + 1
			}
		}
	}
	return bytes*2 > len(text)
}
