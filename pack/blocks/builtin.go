package blocks

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/pack/record"
)

// What the built-in sources make of their files is pure text work: builtin_*.go
// and strategy.go hold one function each, which look at nothing but their
// arguments. blocks.go frames, counts and cuts what they give.
//
// Each that chooses takes fits, which says whether a text is within the
// source's cap (nil: everything is), and shows no more than that. It shows parts
// of files as they are, each below a line that names the path and, where it is not the whole, the lines:
//
//	knowledge/auth.md:12-20 (Auth > Token refresh)

// Selection is what a built-in source made of its files.
type Selection struct {
	Text  string     // ends in a newline; "" when there is nothing to show
	Used  []excerpt  // what stands in Text, in its order
	Notes []string   // for the report
	Parts []TextPart // that Text consists of, where pack.json names each
}

// TextPart is a part of a text that has a source of its own.
type TextPart struct {
	Path string // where the whole of it is
	Text string
	Cut  bool
}

// excerpt is a part of a file that a selection shows.
type excerpt struct {
	File     int // index among the files that the built-in was given
	From, To int // lines, 1-based, both included; 0, 0: the whole
}

// snippet is a part of a file that may be shown.
type snippet struct {
	excerpt
	path  string
	about string // what stands in parentheses behind the path, or ""
	text  string
}

// String is the snippet with the line that names it.
func (s *snippet) String() string {
	var b strings.Builder
	b.WriteString(record.OneLine(s.path))
	switch {
	case s.From > 0 && s.From == s.To:
		fmt.Fprintf(&b, ":%d", s.From)
	case s.From > 0:
		fmt.Fprintf(&b, ":%d-%d", s.From, s.To)
	}
	if s.about != "" {
		b.WriteString(" (" + record.OneLine(s.about) + ")")
	}
	b.WriteString("\n" + strings.TrimRight(s.text, "\r\n") + "\n")
	return b.String()
}

// head is the snippet's first n lines.
func (s *snippet) head(n, lines int) snippet {
	short := *s
	if n < lines {
		if short.From == 0 {
			short.From = 1
		}
		short.To = short.From + n - 1
		short.text = firstLines(s.text, n)
	}
	return short
}

func firstLines(text string, n int) string {
	end := 0
	for range n {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return text[:end]
}

// showSnippets puts as many snippets as fit one below the other, in their order. The
// last one is cut at a line where it does not fit whole.
func showSnippets(snippets []snippet, fits func(string) bool) (sel Selection) {
	for i := range snippets {
		s := &snippets[i]
		add := func(part snippet) string {
			if sel.Text == "" {
				return part.String()
			}
			return sel.Text + "\n" + part.String()
		}
		lines := strings.Count(strings.TrimRight(s.text, "\r\n"), "\n") + 1
		n := lines
		if text := add(*s); fits != nil && !fits(text) {
			n = mostThat(lines-1, func(n int) bool { return fits(add(s.head(n, lines))) })
			if n == 0 {
				sel.Notes = append(sel.Notes, fmt.Sprintf("%s is left out: no room", s.name()))
				continue
			}
			sel.Notes = append(sel.Notes, fmt.Sprintf("%s is cut after %d of %d lines", s.name(), n, lines))
		}
		part := s.head(n, lines)
		sel.Text = add(part)
		sel.Used = append(sel.Used, part.excerpt)
	}
	return sel
}

// name is the snippet's path and lines.
func (s *snippet) name() string {
	bare := snippet{excerpt: s.excerpt, path: s.path}
	return strings.TrimRight(bare.String(), "\n")
}

// mostThat returns the largest n from 0 to most for which ok holds; it holds for all below one for which it holds, and for 0.
func mostThat(most int, ok func(n int) bool) int {
	low := 0
	for low < most {
		middle := (low + most + 1) / 2
		if ok(middle) {
			low = middle
		} else {
			most = middle - 1
		}
	}
	return low
}

// usable returns the indices of the files that hold text, in the order of their paths.
func usable(files []File) (order []int) {
	for i := range files {
		f := &files[i]
		if f.Reason == "" && !f.Pending && len(bytes.TrimSpace(f.Data)) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(files[a].Path, files[b].Path) })
	return order
}

// NoCap is the cap of a source that may show all that it has.
const NoCap = math.MaxInt

// relevantShare is the part of the best score below which a part of a file is not relevant, however few there are.
const relevantShare = 0.25
