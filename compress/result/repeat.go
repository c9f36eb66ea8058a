package result

import (
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Numbers of [Repeat].
const (
	repeatShare = 600       // thousandths of the bytes that must be the same
	repeatText  = 700       // thousandths of the bytes that may be shown
	repeatEdits = 400       // lines that came or went, at most
	repeatBytes = 512 << 10 // a longer content is only known as a repeat when it is one exactly
)

// Repeat shows a content that repeats an earlier one, which its reader has before him: a
// reference, and what is new. name is how the reader knows the earlier one, path where the whole
// of new stands, kind what new was recognised as.
//
//	[the same as 41 above: 212 lines, 8123 bytes, all of it in context/line/57.txt]
//
// If some of it differs, the lines that are new follow as they stand there, under their numbers
// and those that they stand for, with "…" for what is the same. In a log, lines that differ in a
// time or an address are the same, in a file with numbered lines those that differ in their
// number; the reference tells that. JSON stays JSON: the fields and items that are new are
// shown.
//
// ok is false if less than 60 % of new is the same, or if text would not be clearly shorter.
func Repeat(old, new string, kind Kind, name, path string) (text string, ok bool) {
	r := repeat{old: old, new: new, bytes: len(new), kind: kind, name: name, path: path}
	json := len(new) <= repeatBytes && isJSON(new) && strings.ContainsAny(new[:min(1, len(new))], "{[")
	switch {
	case old == new:
		text = r.reference("the same as "+name+" above", "")
		if json {
			text = "[" + quote(text[1:len(text)-1]) + "]"
		}
	case len(old) > repeatBytes || len(new) > repeatBytes:
		return "", false
	case json:
		text = r.json()
	default:
		r.old, r.new = plainText(old), plainText(new)
		if text = r.part(); text == "" {
			text = r.lines()
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

// reference returns the line for what it is the same as. some is how much of it: "209 of ".
func (r *repeat) reference(what, some string) string {
	lines := strings.Count(strings.TrimSuffix(r.new, "\n"), "\n") + 1
	s := "s"
	if lines == 1 {
		s = ""
	}
	return fmt.Sprintf("[%s: %s%d line%s, %d bytes, all of it in %s]", what, some, lines, s, r.bytes, r.path)
}

// part returns the reference if new is whole lines of old, read again; else "".
func (r *repeat) part() string {
	old, new := "\n"+strings.TrimSuffix(r.old, "\n")+"\n", "\n"+strings.TrimSuffix(r.new, "\n")+"\n"
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

// lines returns the reference and the lines that old does not have; "" if new is too different.
func (r *repeat) lines() string {
	a, b := splitLines(r.old), splitLines(r.new)
	key, but := r.keyOf(a, b)
	of, ok := matchLines(a, b, key, repeatEdits)
	if !ok {
		return ""
	}
	same, bytes, exact := 0, 0, true
	for i, at := range of {
		if at >= 0 {
			same++
			bytes += len(b[i]) + 1
			exact = exact && a[at] == b[i]
		}
	}
	if bytes*1000 < len(r.new)*repeatShare {
		return ""
	}
	if exact {
		but = ""
	}
	if same == len(b) && same == len(a) {
		return r.reference("the same as "+r.name+" above"+but, "")
	}
	var w strings.Builder
	w.WriteString(r.reference("mostly the same as "+r.name+" above"+but, fmt.Sprintf("%d of ", same)))
	shown, next := 0, 0 // of b: up to which line it is told; of a
	for i := 0; i <= len(b); {
		j := i
		for j < len(b) && of[j] < 0 {
			j++
		}
		until := len(a)
		if j < len(b) {
			until = of[j]
		}
		if j > i || until > next {
			if i > shown {
				w.WriteString("\n…")
			}
			w.WriteByte('\n')
			gone := ""
			if until > next {
				gone = span(next+1, until) + " of " + r.name
			}
			switch {
			case j == i:
				w.WriteString("[" + gone + " gone]")
			case gone == "":
				w.WriteString("[" + span(i+1, j) + " new]")
			default:
				w.WriteString("[" + span(i+1, j) + " for " + gone + "]")
			}
			for _, line := range b[i:j] {
				w.WriteByte('\n')
				w.WriteString(line)
			}
			shown = j
		}
		if j == len(b) {
			break
		}
		next = of[j] + 1
		i = j + 1
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

var (
	// What differs from one run to the next: moments, how long something took, addresses.
	volatile = lazy.Regexp(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d([.,]\d+)?\b|\b\d+(\.\d+)?\s?(ns|µs|us|ms|s|secs?|seconds)\b|\b0x[0-9a-fA-F]{6,}\b`)
	numbered = lazy.Regexp(`^\s*\d+(:|\t|\s*[|→│])`)
)

// keyOf returns what makes two lines the same, and in which words lines of one key may differ.
func (r *repeat) keyOf(a, b []string) (key func(string) string, but string) {
	count := func(lines []string) (n int) {
		for _, l := range lines {
			if numbered().MatchString(l) {
				n++
			}
		}
		return n
	}
	if r.kind != KindLog && count(b)*10 >= len(b)*9 && count(a)*10 >= len(a)*9 {
		return func(l string) string { return numbered().ReplaceAllString(l, "") }, " but for the numbers of lines"
	}
	if r.kind == KindLog {
		return func(l string) string {
			if !strings.ContainsAny(l, "0123456789") {
				return l
			}
			if c := classify(l); c == classMessage || c == classDetail {
				return l // how long it waited may be why it failed
			}
			return volatile().ReplaceAllString(l, "0")
		}, " but for times"
	}
	return func(l string) string { return l }, ""
}
