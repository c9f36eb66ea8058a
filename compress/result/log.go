package result

import (
	"math"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// Of lines of one make about failures this many are looked at; of others the first.
const (
	manyNames    = 120
	manyMessages = 12
)

// log shows the first lines, every line about a failure with what stands around it, how it ended
// and the last lines. Lines that differ in digits only are shown once, with a count.
func (r *result) log() (string, bool) {
	s, ok := r.newSheet(r.text)
	if !ok {
		return "", false
	}
	n := len(s.lines)
	classes := make([]class, n)
	leader := make([]int, n) // the first line of its make
	first := map[uint64]int{}
	members := map[int]int{}
	exact := map[uint64]int{}
	byClass := map[class][]int{}
	var plain []int
	for i, line := range s.lines {
		h := compress.Hash(line)
		same, seen := exact[h]
		m := makeOf(line)
		lead, known := first[m]
		if !known {
			lead = i
			first[m], classes[i] = i, classify(line)
		}
		leader[i] = lead
		if strings.TrimSpace(line) == "" {
			leader[i] = i
			continue
		}
		members[lead]++
		classes[i] = classes[lead]
		if seen {
			leader[i] = same
			continue
		}
		exact[h] = i
		most := 1
		switch classes[i] {
		case className, classSummary:
			most = manyNames
		case classMessage, classTrace, classDetail:
			most = manyMessages
		}
		if members[lead] <= most {
			if classes[i] == classNone {
				plain = append(plain, i)
			} else {
				byClass[classes[i]] = append(byClass[classes[i]], i)
			}
		}
	}

	makes := make([]int, n)
	for i := range makes {
		explains := i > 0 && classes[i-1] > classWarning && classes[i-1] != classSummary // a failure
		if makes[i] = -1; strings.TrimSpace(s.lines[i]) != "" && classes[i] <= classWarning && !s.glued[i] && !explains {
			makes[i] = rootOf(leader, i)
		}
	}
	plain = append(plain, s.markAlike(makes)...)

	notes := 2 * r.limit.of(again(n))
	s.left -= notes
	failed := len(byClass[className])+len(byClass[classMessage]) > 0
	ends := 0.12
	if !failed {
		ends = 0.3
	}
	s.showAll(0, min(n, 2), 0.1)
	s.last(ends, leader)
	summaries := byClass[classSummary]
	for k := len(summaries) - 1; k >= 0 && k >= len(summaries)-6; k-- {
		if s.novelty(summaries[k]) > 0 {
			s.show(summaries[k])
		}
	}
	before := s.failures(classes)
	s.failed(byClass[classMessage], 0.8)
	s.failed(byClass[classDetail], 0.6)
	if failed {
		s.around(classes)
		s.cover(byClass[classTrace], 0.6, nil)
	}
	s.cover(byClass[classWarning], 0.5, nil)
	s.cover(append(append([]int{}, byClass[classMessage]...), byClass[className]...), 1, nil)
	s.cover(plain, 1, s.apart(plain))
	s.fill()

	s.noted = func() { s.left = s.count(leader, members, s.left+notes); notes = 0 }
	return s.write(before)
}

// apart returns what lines are worth: the more of them begin with the same two words, the less.
// What a program does stands in a series of lines, what it found in lines of their own.
func (s *sheet) apart(lines []int) func(i int) float64 {
	openings, counts := make([]string, len(s.lines)), map[string]int{}
	for _, i := range lines {
		openings[i] = opening(s.lines[i])
		counts[openings[i]]++
	}
	return func(i int) float64 {
		return 1 / math.Sqrt(float64(max(1, counts[openings[i]])))
	}
}

// opening returns a line up to its second blank.
func opening(line string) string {
	line = strings.TrimSpace(line)
	end := strings.IndexByte(line, ' ') + 1
	if n := strings.IndexByte(line[end:], ' '); n >= 0 {
		return line[:end+n]
	}
	return line
}

// count notes for each make how many of its lines are not shown, where there is room for that, and
// returns what is left of the room.
func (s *sheet) count(leader []int, members map[int]int, room int) int {
	shown, last := map[int]int{}, map[int]int{}
	root := func(i int) int { return rootOf(leader, i) }
	for i := range s.lines {
		if s.more[i] > 0 {
			room += s.r.limit.of(again(s.more[i]))
			s.more[i] = 0
		}
		if s.shown[i] {
			shown[root(i)]++
			last[root(i)] = i
		}
	}
	for i := range s.lines {
		if !s.shown[i] || last[root(i)] != i || s.glued[i] {
			continue
		}
		if more := members[root(i)] - shown[root(i)]; more > 0 {
			if cost := s.r.limit.of(again(more)); cost <= room {
				room -= cost
				s.more[i] = more
			}
		}
	}
	return room
}

// rootOf returns the first line of the make of line i.
func rootOf(leader []int, i int) int {
	for leader[i] != i {
		i = leader[i]
	}
	return i
}

// last shows the last lines, of each make only one.
func (s *sheet) last(share float64, leader []int) {
	floor := s.left - int(float64(s.left)*share)
	seen := map[int]bool{}
	for i, tries := len(s.lines)-1, 0; i >= 0 && tries < 200; i, tries = i-1, tries+1 {
		if strings.TrimSpace(s.lines[i]) == "" || seen[leader[i]] || s.repeats(i) {
			continue
		}
		seen[leader[i]] = true
		if s.left-s.cost(i) < floor || !s.show(i) {
			return
		}
	}
}

// failed shows lines about failures in their order, if they say something new.
func (s *sheet) failed(lines []int, share float64) {
	floor := s.left - int(float64(s.left)*share)
	for _, i := range lines {
		if s.left-s.cost(i) >= floor && s.novelty(i) > 0.34 {
			s.show(i)
		}
	}
}

// around shows what stands beside the lines about failures: what follows first, then what is
// before.
func (s *sheet) around(classes []class) {
	var told []int
	for i := range s.lines {
		if s.shown[i] && (classes[i] == classMessage || classes[i] == className) {
			told = append(told, i)
		}
	}
	for _, step := range []int{1, -1, 2} {
		for _, i := range told {
			if k := i + step; k >= 0 && k < len(s.lines) && strings.TrimSpace(s.lines[k]) != "" && classes[k] != classWarning && s.novelty(k) > 0.2 {
				s.show(k)
			}
		}
	}
}
