package result

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Numbers of [Repeat].
const (
	repeatShare = 600       // thousandths of the bytes that must be the same
	repeatText  = 700       // thousandths of the bytes that may be shown
	repeatBytes = 512 << 10 // a longer content is only compared as a whole
)

// Repeat shows a content that repeats an earlier one of the same prompt: a reference, and what is
// new. name is how the prompt names the earlier one, path names the whole of new, and kind is the
// kind of new.
//
//	[the same as 41 above: 212 lines, 8123 bytes, all of it in context/line/57.txt]
//
// If some lines differ, the new ones follow, each run below its numbers and those of the lines that
// it replaces, with "…" for equal lines. JSON is compared in its indented form. In a log, lines
// that differ in a time or an address are equal, and in a file with numbered lines those that
// differ in their number; the reference says so.
//
// ok is false if less than 60 % of new is the same, or if text would not be clearly shorter.
func Repeat(old, new string, kind Kind, name, path string) (text string, ok bool) {
	r := repeat{old: old, new: new, bytes: len(new), kind: kind, name: name, path: path}
	switch {
	case old == new:
		text = r.reference("the same as "+name+" above", "")
	case len(old) > repeatBytes || len(new) > repeatBytes:
		return "", false
	case mayBeJSON(new) && isJSON(new):
		if !isJSON(old) {
			return "", false
		}
		r.old, r.new = gjson.Get(old, "@pretty").Raw, gjson.Get(new, "@pretty").Raw
		text = r.lines(" as indented JSON")
	default:
		r.old, r.new = Plain(old), Plain(new)
		if text = r.part(); text == "" {
			text = r.lines("")
		}
	}
	return text, text != "" && len(text)*1000 <= len(new)*repeatText
}

type repeat struct {
	old, new   string
	bytes      int // of new as it was given
	kind       Kind
	name, path string
}

// reference returns the line that names what new repeats. some is how much of it: "209 of ".
func (r *repeat) reference(what, some string) string {
	lines := strings.Count(strings.TrimSuffix(r.new, "\n"), "\n") + 1
	s := "s"
	if lines == 1 {
		s = ""
	}
	return fmt.Sprintf("[%s: %s%d line%s, %d bytes, all of it in %s]", what, some, lines, s, r.bytes, r.path)
}

// part returns the reference if new is a run of whole lines of old, else "".
func (r *repeat) part() string {
	old := "\n" + strings.TrimSuffix(r.old, "\n") + "\n"
	new := "\n" + strings.TrimSuffix(r.new, "\n") + "\n"
	at := strings.Index(old, new)
	switch {
	case at < 0:
		return ""
	case len(old) == len(new):
		return r.reference("the same as "+r.name+" above", "")
	}
	first := strings.Count(old[:at], "\n") + 1
	return r.reference(fmt.Sprintf("the same as %s of %s above", span(first, first+strings.Count(new, "\n")-2), r.name), "")
}

// span returns a name for lines, by their numbers.
func span(from, to int) string {
	if from == to {
		return fmt.Sprintf("line %d", from)
	}
	return fmt.Sprintf("lines %d-%d", from, to)
}

// lines returns the reference, followed by how, and the lines that old does not have; "" if new is
// too different.
func (r *repeat) lines(how string) string {
	a, b := splitLines(r.old), splitLines(r.new)
	key, but := r.keyOf(a, b)
	of := matchLines(a, b, key)
	same, size, exact := 0, 0, true
	for i, at := range of {
		if at >= 0 {
			same++
			size += len(b[i]) + 1
			exact = exact && a[at] == b[i]
		}
	}
	if !exact {
		how = but
	}
	switch {
	case size*1000 < len(r.new)*repeatShare:
		return ""
	case same == len(b) && same == len(a):
		return r.reference("the same as "+r.name+" above"+how, "")
	}

	var w strings.Builder
	w.WriteString(r.reference("mostly the same as "+r.name+" above"+how, fmt.Sprintf("%d of ", same)))
	shown := 0 // end of the last run of new lines
	for i, next := 0, 0; i <= len(b); {
		j := i
		for j < len(b) && of[j] < 0 {
			j++
		}
		until := len(a)
		if j < len(b) {
			until = of[j]
		}
		gone := ""
		if until > next {
			gone = span(next+1, until) + " of " + r.name
		}
		if j > i || gone != "" {
			if i > shown {
				w.WriteString("\n…")
			}
			switch {
			case j == i:
				gone += " gone"
			case gone == "":
				gone = span(i+1, j) + " new"
			default:
				gone = span(i+1, j) + " for " + gone
			}
			w.WriteString("\n[" + gone + "]")
			for _, line := range b[i:j] {
				w.WriteString("\n" + line)
			}
			shown = j
		}
		next, i = until+1, j+1
	}
	if shown < len(b) {
		w.WriteString("\n…")
	}
	return w.String()
}

// splitLines returns the lines of a text without their ends.
func splitLines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// matchLines returns, for each line of b, the index of the line of a with the same key that it
// repeats, or -1. Indexes ascend.
func matchLines(a, b []string, key func(string) string) []int {
	keyed := func(lines []string) []byte {
		var out bytes.Buffer
		for _, line := range lines {
			out.WriteString(key(line) + "\n")
		}
		return out.Bytes()
	}
	of := make([]int, len(b))
	x, y := 0, 0
	equal := func(end int) {
		for ; y < end; x, y = x+1, y+1 {
			of[y] = x
		}
	}
	for n, line := range splitLines(string(diff.Diff("", keyed(a), "", keyed(b)))) {
		switch {
		case n < 3 || line == "": // the heads of both texts
		case line[0] == '@':
			var old, oldLines, new int
			fmt.Sscanf(line, "@@ -%d,%d +%d", &old, &oldLines, &new)
			equal(new - 1)
		case line[0] == '-':
			x++
		case line[0] == '+':
			of[y] = -1
			y++
		default:
			equal(y + 1)
		}
	}
	equal(len(b))
	return of
}

var (
	// What differs from one run to the next: moments, how long something took, addresses.
	volatile = lazy.Regexp(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d([.,]\d+)?\b|\b\d+(\.\d+)?\s?(ns|µs|us|ms|s|secs?|seconds)\b|\b0x[0-9a-fA-F]{6,}\b`)
	numbered = lazy.Regexp(`^\s*\d+(:|\t|\s*[|→│])`)
)

// keyOf returns the key by which lines are equal, and what may differ between lines of one key.
func (r *repeat) keyOf(a, b []string) (key func(string) string, but string) {
	if r.kind == KindLog {
		return func(l string) string {
			if c := classify(l); c == classMessage || c == classDetail {
				return l // how long it waited may be why it failed
			}
			return volatile().ReplaceAllString(l, "0")
		}, " but for times"
	}
	if share(a, numbered().MatchString) > 0.9 && share(b, numbered().MatchString) > 0.9 {
		return func(l string) string { return numbered().ReplaceAllString(l, "") }, " but for the numbers of lines"
	}
	return func(l string) string { return l }, ""
}
