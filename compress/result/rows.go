package result

import (
	"fmt"
	"strings"
)

// table shows the header, the rows about something wrong or that differ from the others, the
// first and last rows and of the others those that say the most, and counts the rows.
func (r *result) table() (string, bool) {
	s, ok := r.newSheet(r.text)
	if !ok {
		return "", false
	}
	n := len(s.lines)
	count := fmt.Sprintf("[a table of %d rows]\n", n-1)
	s.left -= r.limit.of(count)
	s.showAll(0, min(2, n), 0.4)
	rows := s.all()
	// A row stands out by a word that few rows have in a column where most rows share theirs.
	words := map[string]int{}
	for _, i := range rows {
		for w := range strings.FieldsFuncSeq(s.lines[i], isSeparator) {
			if len(w) < 32 && strings.IndexFunc(w, func(c rune) bool { return c >= '0' && c <= '9' }) < 0 {
				words[w]++
			}
		}
	}
	var odd, wrong []int
	for _, i := range rows {
		switch {
		case classify(s.lines[i]) >= classMessage:
			wrong = append(wrong, i)
		case len(rows) > 8:
			for w := range strings.FieldsFuncSeq(s.lines[i], isSeparator) {
				if k := words[w]; k > 0 && k*20 <= len(rows) && len(words)*2 < len(rows) {
					odd = append(odd, i)
					break
				}
			}
		}
	}
	s.cover(wrong, 0.5, nil)
	s.cover(odd, 0.4, nil)
	s.show(2)
	s.show(n - 1)
	s.cover(rows, 1, nil)
	s.fill()
	return s.write(count)
}

func isSeparator(c rune) bool { return strings.ContainsRune(" \t,|;", c) }

// matches shows where something was found: how many lines in which files, a line of each file,
// then the others that say the most.
func (r *result) matches() (string, bool) {
	s, ok := r.newSheet(r.text)
	if !ok {
		return "", false
	}
	lines := map[string][]int{}
	var files []string
	for i, line := range s.lines {
		if file, _ := matchOf(line); file != "" {
			if lines[file] == nil {
				files = append(files, file)
			}
			lines[file] = append(lines[file], i)
		}
	}
	before := ""
	if len(files) > 1 {
		before = fmt.Sprintf("[%d lines in %d files]\n", len(s.lines), len(files))
		s.left -= r.limit.of(before)
		var one []int
		for _, file := range files {
			one = append(one, lines[file][0])
		}
		s.cover(one, 0.5, nil)
	} else {
		s.showAll(0, min(len(s.lines), 2), 0.2)
	}
	s.cover(s.all(), 1, nil)
	s.fill()
	return s.write(before)
}

// diff shows the files and hunks, and of what was changed the lines that say the most, each file
// having its turn.
func (r *result) diff() (string, bool) {
	s, ok := r.newSheet(r.text)
	if !ok {
		return "", false
	}
	var files, hunks, changed []int
	git := strings.Contains(r.text, "diff --git ")
	added, removed := 0, 0
	for i, line := range s.lines {
		switch {
		case i > 0 && s.glued[i-1]:
		case strings.HasPrefix(line, "diff --git "), !git && strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "Binary files "), strings.HasPrefix(line, "rename to "),
			strings.HasPrefix(line, "new file mode"), strings.HasPrefix(line, "deleted file mode"), strings.HasPrefix(line, "commit "):
			files = append(files, i)
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "index "):
		case strings.HasPrefix(line, "@@ "):
			hunks = append(hunks, i)
		case strings.HasPrefix(line, "+"):
			added++
			if len(strings.TrimSpace(line)) > 2 {
				changed = append(changed, i)
			}
		case strings.HasPrefix(line, "-"):
			removed++
			if len(strings.TrimSpace(line)) > 2 {
				changed = append(changed, i)
			}
		}
	}
	before := fmt.Sprintf("[%d hunks, %d lines added, %d removed]\n", len(hunks), added, removed)
	s.left -= r.limit.of(before)
	s.inTurn(files, 0.5)
	s.inTurn(hunks, 0.35)
	s.cover(changed, 1, nil)
	s.cover(s.all(), 1, nil)
	s.fill()
	return s.write(before)
}
