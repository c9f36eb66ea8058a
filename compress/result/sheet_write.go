package result

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
)

// fill shows what lies between shown lines as far as the room goes, the shortest gaps first.
func (s *sheet) fill() {
	for size := 1; size <= 4; size++ {
		for i := 0; i < len(s.lines); i++ {
			if s.shown[i] || i > 0 && !s.shown[i-1] {
				continue
			}
			n := 1
			for n <= size && i+n < len(s.lines) && !s.shown[i+n] {
				n++
			}
			if n != size || i+n >= len(s.lines) {
				continue
			}
			cost := -gapCost
			for k := range n {
				cost += s.cost(i + k)
			}
			for k := 0; cost <= s.left && k < n; k++ {
				s.show(i + k)
			}
		}
	}
}

// again returns the line for n others like the one before it.
func again(n int) string { return fmt.Sprintf("[and %d more like it]\n", n) }

const (
	fillRounds  = 4  // at most, in which a sheet is filled up
	fullFrom    = 33 // the part of the limit that may stay free
	beginFrom   = 20 // likewise, where else a line would have to be shown in part
	restMisses  = 24 // lines that are tried though they do not fit
	leastOfLine = 24 // bytes of a line that is shown in part
)

// write returns what is shown, behind before, and the note for what is not; ok is false if no
// line is shown. It shows further lines until the limit is reached, and fewer where it is exceeded.
func (s *sheet) write(before string) (short string, ok bool) {
	if s.left*fullFrom >= s.r.limit.Tokens && len(s.order) > 0 {
		s.grow()
	}
	for round, filled := 0, false; ; round++ {
		short, ok = s.text(before)
		s.left = s.r.limit.Tokens - s.r.limit.of(short)
		switch {
		case s.left < 0 && len(s.order) > 1:
			filled = true
			for s.left < 0 && len(s.order) > 1 {
				s.hide()
			}
			if round < 2*fillRounds && s.left*beginFrom >= s.r.limit.Tokens {
				s.left -= round // what did not fit is to take less than before
				s.begin()
			}
		case !ok || filled || round >= fillRounds || s.left*fullFrom < s.r.limit.Tokens || !s.grow():
			return short, ok
		}
	}
}

// hide takes back the line that was shown last.
func (s *sheet) hide() {
	i := s.order[len(s.order)-1]
	s.order = s.order[:len(s.order)-1]
	s.shown[i] = false
	if n, ok := s.parts[i]; ok {
		delete(s.parts, i)
		s.left += s.r.limit.of(s.lines[i][:n])
	} else {
		s.left += s.cost(i)
	}
}

// grow shows more lines: those that the last cover had no room for, what lies between shown lines, any
// others that are not blank and stand nowhere before, and at last the beginning of one that does not
// fit. It reports whether there was one.
func (s *sheet) grow() bool {
	n := len(s.order)
	for _, g := range s.waiting {
		if s.left < gapCost {
			break
		}
		s.show(g.line)
	}
	s.fill()
	s.rest()
	if s.left*beginFrom >= s.r.limit.Tokens {
		s.begin()
	}
	return len(s.order) > n
}

// rest shows lines from the first on that were not worth it before, where there is room.
func (s *sheet) rest() {
	seen := map[uint64]bool{}
	for _, i := range s.order {
		seen[compress.Hash(strings.TrimSpace(s.lines[i]))] = true
	}
	for i, misses := 0, 0; i < len(s.lines) && s.left > gapCost && misses < restMisses; i++ {
		trimmed := strings.TrimSpace(s.lines[i])
		if s.shown[i] || trimmed == "" || s.repeats(i) {
			continue
		}
		if h := compress.Hash(trimmed); !seen[h] {
			seen[h] = true
			if !s.show(i) {
				misses++
			}
		}
	}
}

// begin shows the beginning of a line that does not fit: of one that waits, else of the first.
func (s *sheet) begin() {
	at := -1
	for _, g := range s.waiting {
		if !s.shown[g.line] && !s.repeats(g.line) && len(s.lines[g.line]) > leastOfLine {
			at = g.line
			break
		}
	}
	for i := 0; i < len(s.lines) && at < 0; i++ {
		if !s.shown[i] && !s.repeats(i) && len(s.lines[i]) > leastOfLine {
			at = i
		}
	}
	room := s.left - 2*gapCost
	if at < 0 || room < 4 {
		return
	}
	line := s.lines[at]
	most, least := len(line)-1, 0
	for least < most { // the longest beginning within the room
		n := (least + most + 1) / 2
		if s.r.limit.of(strings.ToValidUTF8(line[:n], "")) <= room {
			least = n
		} else {
			most = n - 1
		}
	}
	for least > 0 && !utf8.RuneStart(line[least]) {
		least--
	}
	if end := strings.LastIndexAny(line[:least], " \t,;>})]&"); end > least*3/4 {
		least = end + 1
	}
	if strings.TrimSpace(line[:least]) == "" {
		return
	}
	if s.parts == nil {
		s.parts = map[int]int{}
	}
	s.parts[at], s.shown[at] = least, true
	s.order = append(s.order, at)
	s.left = 0
}

// text returns what is shown, as write does.
func (s *sheet) text(before string) (short string, ok bool) {
	if s.noted != nil {
		s.noted()
	}
	var b strings.Builder
	b.WriteString(before)
	lines, bytes := 0, 0
	open := "" // the mark of a code fence that is open
	for i, line := range s.lines {
		if !s.shown[i] {
			if i == 0 || s.shown[i-1] {
				if b.Len() > 0 && !strings.HasSuffix(b.String()[b.Len()-1:], "\n") {
					b.WriteByte('\n')
				}
				b.WriteString(gap)
			}
			continue
		}
		ok = true
		part, cut := s.parts[i]
		if cut {
			line = line[:part]
		}
		b.WriteString(line)
		bytes += len(line)
		if i == 0 || !s.glued[i-1] {
			open = compress.FenceAfter(open, strings.TrimSpace(line))
		}
		if s.glued[i] && s.shown[i+1] && !cut {
			continue
		}
		b.WriteByte('\n')
		switch {
		case cut && i+1 < len(s.lines) && s.shown[i+1]:
			b.WriteString(gap)
		case !s.glued[i] && !cut:
			bytes++
			lines++
		}
		if s.more[i] > 0 {
			b.WriteString(again(s.more[i]))
		}
	}
	if open != "" {
		b.WriteString(open + "\n")
	}
	total := strings.Count(s.r.text, "\n")
	if !strings.HasSuffix(s.r.text, "\n") {
		total++
	}
	b.WriteString(compress.LeftOut(max(0, total-lines), max(0, s.r.bytes-bytes), s.r.path))
	return b.String(), ok
}
