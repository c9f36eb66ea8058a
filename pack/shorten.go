package pack

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/result"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// headAndTail is how a record is shortened that is no result of a tool.
const headAndTail = "head_tail"

// shown is what a record shows: its heading, and what stands below.
type shown struct {
	at      address
	heading string // with its newline
	parts   []shownPart
	alone   bool // nothing but content: it is fenced as a whole, if at all
	fenced  bool // something in it needs or has a fence
	results bool // it is what tools gave, to which native renderings give a place each
}

// shownPart is a line of framing and a content below it; both may be empty.
type shownPart struct {
	lead, content string
	fenced        bool // the content stands in a fence whatever it is
	result        bool // it is what a tool gave
	about         result.Hint
}

func (s *shown) add(lead, content string, result bool, about result.Hint) {
	s.parts = append(s.parts, shownPart{lead, content, len(s.parts) == 0 && s.fenced, result, about})
}

// text writes the parts, each content in a fence where it needs one.
func (s *shown) text() string {
	if s.alone {
		return s.parts[0].content
	}
	var c strings.Builder
	for _, p := range s.parts {
		c.WriteString(p.lead)
		writeContent(&c, p.content, p.fenced || needsFence(p.content))
	}
	return c.String()
}

// write gives it as it stands in pack.md, with at most body tokens below the heading (by weight; 0: all), and says how it was shortened.
func (s shown) write(body int) (text, how string) {
	var b strings.Builder
	b.WriteString(s.heading)
	whole := s.text()
	if body == 0 || len(whole)/128 <= body && ctxabi.Weight(whole) <= body {
		writeContent(&b, whole, s.alone && s.fenced)
		return b.String(), ""
	}
	how = s.shorten(body)
	short := s.text()
	if again, cut := compress.HeadTail(short, body, s.at.path()); cut {
		short = again
		if how == "" {
			how = headAndTail
		}
	}
	// What kept the whole in order may now be on one side of a cut only.
	writeContent(&b, short, s.fenced || unclosed(short))
	return b.String(), how
}

// shorten shortens the results among the parts, each by its kind, so that all of them may fit in body tokens:
// small ones stay whole, the others share what these leave.
func (s *shown) shorten(body int) (how string) {
	s.parts = slices.Clone(s.parts)
	left := body
	var results []int
	weights := make([]int, len(s.parts))
	for i, p := range s.parts {
		weights[i] = ctxabi.Weight(p.content)
		left -= ctxabi.Weight(p.lead)
		if p.result {
			results = append(results, i)
		} else {
			left -= weights[i]
		}
	}
	slices.SortStableFunc(results, func(a, b int) int { return weights[a] - weights[b] })
	for k, i := range results {
		share := left / (len(results) - k)
		if len(s.parts) > 1 {
			share -= 4 // fences and line ends
		}
		if share > 0 && weights[i] > share {
			p := &s.parts[i]
			kind := result.Recognise(p.content, p.about)
			short, used, cut := result.Shorten(p.content, kind, p.about, kind.Limit(share), s.at.path())
			if cut {
				p.content, how = short, string(used)
			}
		}
		left -= min(weights[i], max(0, share))
	}
	return how
}

// unclosed says whether shown leaves a fence open; marks of calls in it are our own.
func unclosed(shown string) bool {
	lines := strings.Split(shown, "\n")
	return needsFence(strings.Join(slices.DeleteFunc(lines, func(l string) bool {
		return likeFraming(strings.TrimLeft(l, " \t\r"))
	}), "\n"))
}
