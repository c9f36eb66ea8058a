package eval

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// line is what the figures see of one line of text. Equal lines are one.
type line struct {
	words   []int32 // in order
	set     []int32 // the distinct ones, sorted; of a line of a single word with those of the line before
	ids     []int32 // the identifiers among them, and the parts of those that have a colon
	heading bool    // begins a record or a block, and is no content of it
}

// reader makes lines of text. It knows each word and each line once.
type reader struct {
	numbers map[string]int32 // of words
	names   []string         // of numbers
	kinds   []kind
	lines   map[string]*line
	joined  map[[2]*line]*line
}

func newReader() *reader {
	return &reader{numbers: map[string]int32{}, lines: map[string]*line{}, joined: map[[2]*line]*line{}}
}

// number is the same for the same word.
func (r *reader) number(w string) int32 {
	n, ok := r.numbers[w]
	if !ok {
		n = int32(len(r.kinds))
		w = strings.Clone(w) // not all of the text it is from
		r.numbers[w], r.names = n, append(r.names, w)
		r.kinds = append(r.kinds, kindOf(w))
	}
	return n
}

func (r *reader) name(n int32) string { return r.names[n] }

// read returns the lines of a text that have words, with the arguments of calls unescaped.
func (r *reader) read(text string) []*line {
	var out []*line
	var before *line
	eachLine(unescapedCalls(text), func(s string) {
		l := r.one(s)
		if len(l.words) == 0 && !l.heading {
			return
		}
		if len(l.set) == 1 && before != nil && !l.heading {
			key := [2]*line{before, l}
			both := r.joined[key]
			if both == nil {
				both = &line{words: l.words, ids: l.ids, set: slices.Concat(before.set, l.set)}
				slices.Sort(both.set)
				both.set = slices.Compact(both.set)
				r.joined[key] = both
			}
			before = l
			out = append(out, both)
			return
		}
		before = l
		out = append(out, l)
	})
	return out
}

// eachLine calls emit with the lines of a text, those of quoted text too.
func eachLine(text string, emit func(string)) {
	for physical := range strings.SplitSeq(text, "\n") {
		for {
			s, rest, more := strings.Cut(physical, `\n`)
			emit(strings.TrimSuffix(s, `\r`))
			if !more {
				break
			}
			physical = rest
		}
	}
}

// one returns one line, which begins no other.
func (r *reader) one(s string) *line {
	if l, ok := r.lines[s]; ok {
		return l
	}
	l := &line{}
	content := withoutFraming(s)
	l.heading = strings.HasPrefix(s, "# Context Block: ") || strings.HasPrefix(s, "## ") && content != s
	eachWord(content, func(w string) {
		n := r.number(w)
		l.words = append(l.words, n)
		if r.kinds[n] != identifier {
			return
		}
		l.ids = append(l.ids, n)
		if !strings.Contains(w, ":") {
			return
		}
		for part := range strings.SplitSeq(w, ":") { // file:line is the file, too
			if part = trimWord(part); part != "" {
				if k := r.number(part); r.kinds[k] == identifier {
					l.ids = append(l.ids, k)
				}
			}
		}
	})
	l.set = slices.Clone(l.words)
	slices.Sort(l.set)
	l.set = slices.Compact(l.set)
	slices.Sort(l.ids)
	l.ids = slices.Compact(l.ids)
	r.lines[strings.Clone(s)] = l
	return l
}

var (
	recordHeading = lazy.Regexp(`^## e?\d+ `)
	callMark      = lazy.Regexp(`\[call e?\d+(\.\d+)?\] ?`)
)

// withoutFraming takes away the numbers that a pack gives to records and calls: they are nobody's identifiers.
func withoutFraming(s string) string {
	if strings.HasPrefix(s, "## ") {
		s = recordHeading().ReplaceAllString(s, "")
	}
	if strings.Contains(s, "[call ") {
		s = callMark().ReplaceAllString(s, "")
	}
	return s
}

// resembles reports whether l shows what o did: at least three fifths of its words, and not so much else that it is only a list.
func (l *line) resembles(o *line) bool {
	if l == o {
		return true
	}
	if len(l.set) > 4*len(o.set)+16 || len(l.set)*5 < len(o.set)*3 {
		return false
	}
	common, i, j := 0, 0, 0
	for i < len(l.set) && j < len(o.set) {
		switch a, b := l.set[i], o.set[j]; {
		case a == b:
			common++
			i++
			j++
		case a < b:
			i++
		default:
			j++
		}
	}
	return common*5 >= len(o.set)*3
}
