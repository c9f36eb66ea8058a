package result

import (
	"fmt"
	"slices"
	"strings"
)

// failure is one of what failed in a run.
type failure struct {
	name     string
	names    []int // lines that name it, in their order
	messages []int // lines that say what went wrong, the most telling ones first

	best, short int // of names: the first that says what went wrong, too (-1: none does), and the shortest
}

// Shares of what may be shown of a log for the names of all failures, and for what went wrong in each.
const (
	nameShare    = 0.75
	messageShare = 0.85
)

// failures shows the name of everything that failed, then of each the line that says the most about
// what went wrong, then the next one of each as long as there is room. Where the lines with the names
// take too much, before is a line of our own with the names.
func (s *sheet) failures(classes []class) (before string) {
	all := s.failuresIn(classes)
	room := int(float64(s.left) * nameShare)
	telling, shortest := 0, 0
	for _, f := range all {
		if f.best = slices.IndexFunc(f.names, s.tells); f.best >= 0 {
			f.best = f.names[f.best]
			telling += s.cost(f.best) + gapCost
		}
		f.short = slices.MinFunc(f.names, func(a, b int) int { return s.weight(a) - s.weight(b) })
		shortest += s.cost(f.short) + gapCost
	}
	if len(all) > 3 && shortest > room {
		before = s.listed(all, room)
	}
	for _, f := range all {
		i := f.short
		if f.best >= 0 && telling <= room {
			i = f.best
		}
		if before == "" && !slices.ContainsFunc(f.names, func(i int) bool { return s.shown[i] }) && !s.show(i) {
			break
		}
	}
	floor := s.left - int(float64(s.left)*messageShare)
	for k, some := 0, true; some; k++ {
		some = false
		for _, f := range all {
			at := k
			if slices.ContainsFunc(f.names, func(i int) bool { return s.shown[i] && s.tells(i) }) {
				at-- // what went wrong stands beside the name
			}
			if at < 0 {
				some = true
			} else if at < len(f.messages) {
				some = true
				if i := f.messages[at]; s.left-s.cost(i) >= floor && (at == 0 || s.novelty(i) > 0.34) {
					s.show(i)
				}
			}
		}
	}
	return before
}

// listed returns a line with the names of failures, as far as so many tokens go.
func (s *sheet) listed(all []*failure, room int) string {
	var b strings.Builder
	b.WriteString("[failed: ")
	left := room - s.r.limit.of(fmt.Sprintf("[failed: … and %d more]\n", len(all)))
	for k, f := range all {
		name := strings.TrimSpace(f.name)
		if k > 0 {
			name = ", " + name
		}
		if left -= s.r.limit.of(name); left < 0 {
			fmt.Fprintf(&b, "… and %d more", len(all)-k)
			break
		}
		b.WriteString(name)
	}
	b.WriteString("]\n")
	s.left -= s.r.limit.of(b.String())
	return b.String()
}

// tells reports whether line i says what failed and why: "FAILED a_test.py::test_b - KeyError: 'c'".
func (s *sheet) tells(i int) bool {
	return strings.Contains(s.lines[i], " - ") && strings.Contains(s.lines[i], "::")
}

// failuresIn returns what failed, in the order in which it is named first.
func (s *sheet) failuresIn(classes []class) (all []*failure) {
	byName := map[string]*failure{}
	said := map[string][]int{} // what went wrong, by the name above it
	shown := map[string]bool{}
	current := ""
	for i, line := range s.lines {
		switch c := classes[i]; {
		case c == className:
			current = failureName(line)
			f := byName[current]
			if f == nil {
				f = &failure{name: current}
				byName[current], all = f, append(all, f)
			}
			f.names = append(f.names, i)
		case strings.HasPrefix(line, "=== RUN ") || strings.HasPrefix(line, "=== NAME "):
			current = failureName(line)
		case (c == classMessage || c == classDetail || c == classTrace && saysValue(line)) && current != "" && !shown[current+line]:
			shown[current+line] = true
			if i+1 < len(s.lines) && classes[i] == classMessage && panicsAbove(line) && !shown[current+s.lines[i+1]] {
				shown[current+s.lines[i+1]] = true
				said[current] = append(said[current], i+1)
			}
			said[current] = append(said[current], i)
		}
	}
	for name, f := range byName {
		f.messages = said[name]
		slices.SortStableFunc(f.messages, func(a, b int) int { return s.rank(a) - s.rank(b) })
	}
	return all
}

// rank returns how late a line about a failure is shown: 0 first.
func (s *sheet) rank(i int) int {
	line := strings.TrimSpace(s.lines[i])
	word, _, _ := strings.Cut(line, " ")
	switch {
	case strings.HasPrefix(line, "E  "), strings.Contains(line, "_test.go:"), strings.HasPrefix(line, "panic: "):
		return 0
	case strings.Contains(line, " panicked at "), i > 0 && panicsAbove(s.lines[i-1]):
		return 0
	case saysValue(line), strings.HasSuffix(word, "Error:"), strings.HasSuffix(word, "Exception:"), strings.HasSuffix(word, "Failure:"), word == "AssertionError":
		return 0
	case strings.HasPrefix(line, "assert "), strings.HasPrefix(line, "> "), strings.HasPrefix(line, "at "):
		return 2 // of the source
	}
	return 1
}

// panicsAbove reports whether a line is the one of Rust above what a panic says.
func panicsAbove(line string) bool {
	return strings.HasPrefix(line, "thread '") && strings.Contains(line, " panicked at ") && strings.HasSuffix(line, ":")
}

// saysValue reports whether a line says what was expected or what came instead, as jest, cargo and
// TAP print it.
func saysValue(line string) bool {
	line = strings.ToLower(strings.TrimSpace(line))
	return slices.ContainsFunc([]string{"expected:", "received:", "actual:", "left:", "right:", "error:", "message:", "got:", "want:"}, func(word string) bool {
		return strings.HasPrefix(line, word)
	})
}

// failureName returns the name of what failed in a line that names it, without what the runner puts
// around it and the file or group that it is in.
func failureName(line string) string {
	name := strings.Trim(strings.TrimSpace(line), "_-=●✕✖✗× \t")
	for _, mark := range []string{"RUN ", "NAME ", "FAILED ", "FAIL: ", "FAIL ", "ERROR: ", "ERROR ", "test ", "not ok "} {
		name = strings.TrimSpace(strings.TrimPrefix(name, mark))
	}
	name, _, _ = strings.Cut(name, " ... ")
	if head, rest, ok := strings.Cut(name, " - "); ok {
		if strings.Trim(head, "0123456789") == "" { // "not ok 7 - adds prices"
			name = rest
		} else {
			name = head
		}
	}
	if rest, ok := cutNumber(name); ok {
		name = rest
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, " stdout"), " FAILED")
	if at := strings.Index(name, " FAILED "); at > 0 {
		name = name[:at]
	}
	if at := strings.LastIndex(name, " ("); at > 0 && strings.HasSuffix(name, ")") {
		name = name[:at]
	}
	for _, sep := range []string{" › ", " > ", "::"} {
		if at := strings.LastIndex(name, sep); at >= 0 {
			name = name[at+len(sep):]
		}
	}
	if !strings.ContainsAny(name, " /[") {
		name = name[strings.LastIndexByte(name, '.')+1:]
	}
	return strings.TrimSpace(name)
}

// cutNumber returns a name without the number before it: "1) refuses an empty cart".
func cutNumber(name string) (rest string, ok bool) {
	digits := len(name) - len(strings.TrimLeft(name, "0123456789"))
	rest, ok = strings.CutPrefix(name[digits:], ") ")
	return rest, ok && digits > 0
}

// FailureLine reports whether a line of a log names what failed, or tells what went wrong.
func FailureLine(line string) (names, tells bool) {
	c := classify(line)
	return c == className, c == classMessage
}
