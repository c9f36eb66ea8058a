package result

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// Numbers of lines that repeat a pattern.
const (
	alikeFrom    = 6  // lines of one make from which on they are counted
	constantFrom = 8  // likewise, from which on a rare number makes a line unusual
	constantOf   = 80 // percent of the lines that have the usual number
	maxNumbers   = 12 // of one line that are compared
)

// markAlike marks the lines that only repeat a pattern, so that they are counted and not shown: of a
// make with alikeFrom lines or more all but the first and the last one, of progress bars all but the
// last one. makes has the first line of the make of each line, or -1. A line stays unmarked if one of
// its numbers differs from the one that nearly all lines of its make have; unusual has those lines.
func (s *sheet) markAlike(makes []int) (unusual []int) {
	members := map[int][]int{}
	for i, first := range makes {
		if first >= 0 {
			members[first] = append(members[first], i)
		}
	}
	s.alike = make([]bool, len(s.lines))
	for _, list := range members {
		if len(list) < alikeFrom {
			continue
		}
		i := list[0]
		for _, k := range list[1:] {
			s.alike[k] = k != list[len(list)-1] || s.lines[k] == s.lines[i]
		}
		if compress.IsProgress(s.lines[i]) {
			s.alike[i] = true
			continue
		}
		for _, k := range s.unusual(list) {
			if s.alike[k] {
				s.alike[k] = false
				unusual = append(unusual, k)
			}
		}
	}
	slices.Sort(unusual)
	return unusual
}

// unusual returns the lines of one make with a number that differs from the usual one at its place.
func (s *sheet) unusual(list []int) (out []int) {
	if len(list) < constantFrom {
		return nil
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
		differs := false
		eachNumber(s.lines[i], func(k int, number string) { differs = differs || usual[k] != "" && usual[k] != number })
		if differs {
			out = append(out, i)
		}
	}
	return out
}

// eachNumber calls do with the first maxNumbers numbers of a line and their places.
func eachNumber(line string, do func(k int, number string)) {
	k := 0
	for at := 0; at < len(line) && k < maxNumbers; at++ {
		if line[at] < '0' || line[at] > '9' {
			continue
		}
		end := at
		for end < len(line) && line[end] >= '0' && line[end] <= '9' {
			end++
		}
		do(k, line[at:end])
		k, at = k+1, end
	}
}

// progressLabel returns what a progress bar names before its first number.
func progressLabel(line string) string {
	return line[:strings.IndexFunc(line, func(c rune) bool { return c >= '0' && c <= '9' })]
}

// Repeats reports whether a log consists of lines of few patterns for more than half: it is shorter
// and says as much if they are counted.
func Repeats(text string, kind Kind) bool {
	if kind != KindLog {
		return false
	}
	seen := map[uint64]int{}
	bytes := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && classify(line) == classNone {
			if seen[makeOf(line)]++; seen[makeOf(line)] >= alikeFrom {
				bytes += len(line) + 1
			}
		}
	}
	return bytes*2 > len(text)
}
