package result

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// decodeStart decodes the first bytes of base64.
func decodeStart(text string) string {
	body := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimSpace(text)[:64])
	data, err := base64.RawStdEncoding.DecodeString(body[:64])
	if err != nil {
		return ""
	}
	return string(data)
}

// table shows the header, the rows that tell of something wrong or differ from the others, the first and last rows
// and of the others those that say the most, and counts the rows.
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

// matches shows where something was found: how many lines in which files, a line of each file, then the others that say the most.
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

// diff shows the files and hunks, and of what was changed the lines that say the most, each file having its turn.
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

// inTurn shows lines in their order, or where they do not fit every so many of them.
func (s *sheet) inTurn(lines []int, share float64) {
	total := 0
	for _, i := range lines {
		total += s.cost(i) + 3
	}
	room := int(float64(s.left) * share)
	step := 1
	if total > room {
		step = total/max(1, room) + 1
	}
	floor := s.left - room
	for k := 0; k < len(lines); k += step {
		if s.left-s.cost(lines[k]) >= floor {
			s.show(lines[k])
		}
	}
}

// Forms of the lines of a listing.
type entry uint8

const (
	noEntry   entry = iota
	pathEntry       // a path
	longEntry       // of ls -l
	dirEntry        // "src/core:", below which the entries of a directory stand
	sumEntry        // "total 48"
)

// entryOf finds what a line of a listing is.
func entryOf(line string) entry {
	s := strings.TrimSpace(line)
	switch {
	case s == "" || len(s) > 400:
		return noEntry
	case strings.HasPrefix(s, "total ") && len(s) < 20 && len(strings.Fields(s)) == 2:
		return sumEntry
	case len(s) > 10 && strings.IndexByte("-dlbcps", s[0]) >= 0 && strings.Trim(s[1:10], "rwxsStT-") == "" && len(strings.Fields(s)) >= 5:
		return longEntry
	case strings.HasSuffix(s, ":") && strings.ContainsAny(s, "./") && !strings.Contains(s, " "):
		return dirEntry
	}
	s = strings.TrimLeft(s, "│├└─┬ |`+-")
	if fields := strings.Fields(s); len(fields) == 2 && len(fields[0]) < 8 && strings.ContainsAny(fields[1], "./") { // du, git status --short
		s = fields[1]
	}
	if s == "" || strings.ContainsAny(s, " \t(){}<>=;,\"'") || strings.Contains(s, "://") {
		return noEntry
	}
	return pathEntry
}

// listing says which directories hold how many entries, and shows entries of each.
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

// upTo is the beginning of a path, at most depth directories deep.
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
