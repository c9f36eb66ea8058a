package record

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/result"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// HeadAndTail is how a record is shortened that is no result of a tool.
const HeadAndTail = "head_tail"

// Rendering is what a record shows: its heading, and what stands below.
type Rendering struct {
	At      Address
	heading string // with its newline
	Parts   []RenderingPart
	Alone   bool // nothing but content: it is fenced as a whole, if at all
	Fenced  bool // something in it needs or has a fence
	Results bool // it is what tools gave, to which native renderings give a place each

	Count func(text string) int // counts the tokens that it may take; nil: ctxabi.Weight
}

// RenderingPart is a line of framing and a content below it; both may be empty.
type RenderingPart struct {
	lead, Content string
	Fenced        bool // the content stands in a fence whatever it is
	Result        bool // it is what a tool gave
	About         result.Hint
	Call          string // the reference of a call, whose arguments Content is; "": it is no call
}

func (s *Rendering) add(lead, content string, result bool, about result.Hint) {
	s.Parts = append(s.Parts, RenderingPart{lead: lead, Content: ctxabi.EscapeMarks(content),
		Fenced: len(s.Parts) == 0 && s.Fenced, Result: result, About: about})
}

// addCall adds a call behind a line of framing.
func (s *Rendering) addCall(lead, ref, name, arguments string) {
	arguments = ctxabi.EscapeMarks(arguments)
	s.Fenced = WriteCall(&strings.Builder{}, ref, name, arguments) || s.Fenced
	s.Parts = append(s.Parts, RenderingPart{lead: lead, Content: arguments, About: result.Hint{Tool: name}, Call: ref})
}

// text writes the parts, each content in a fence where it needs one.
func (s *Rendering) text() string {
	if s.Alone {
		return s.Parts[0].Content
	}
	var c strings.Builder
	for _, p := range s.Parts {
		c.WriteString(p.lead)
		if p.Call != "" {
			WriteCall(&c, p.Call, p.About.Tool, p.Content)
			continue
		}
		WriteContent(&c, p.Content, p.Fenced || NeedsFence(p.Content))
	}
	return c.String()
}

// Write returns it as it stands in pack.md, with at most body tokens below the heading (by s.Count; 0:
// all), and how it was shortened. What weighs no more than body stands whole, unless body is not 0 and it is a log that repeats a
// few patterns.
func (s Rendering) Write(body int) (text, how string) {
	text, how, _ = s.WriteCalls(body)
	return text, how
}

// WriteCalls is Write and returns, if nothing but arguments of calls was shortened, those of each call; "" for one that stands whole.
func (s Rendering) WriteCalls(body int) (text, how string, arguments []string) {
	var b strings.Builder
	b.WriteString(s.heading)
	whole := s.text()
	if body == 0 || compress.Fits(whole, body) && !s.repeats() {
		WriteContent(&b, whole, s.Alone && s.Fenced)
		return b.String(), "", nil
	}
	limit, parts := s.limit(body), s.Parts
	how, arguments = s.shorten(body)
	short := s.text()
	for less := body * 7 / 8; how == byArguments && less > body/2 && !limit.Holds(short); less = less * 7 / 8 {
		s.Parts = parts // weights of parts add up only nearly
		how, arguments = s.shorten(less)
		short = s.text()
	}
	if !limit.Holds(short) {
		short, arguments = result.HeadTail(short, limit, s.At.Path()), nil
		if how == "" || how == byArguments {
			how = HeadAndTail
		}
	}
	if how == "" {
		WriteContent(&b, whole, s.Alone && s.Fenced)
		return b.String(), "", nil
	}
	// What kept the whole in order may now be on one side of a cut only.
	WriteContent(&b, short, s.Fenced || unclosed(short))
	return b.String(), how, arguments
}

// byArguments is how a record is shortened of which only arguments of calls were.
const byArguments = "arguments"

// limit returns the limit of so many tokens.
func (s *Rendering) limit(tokens int) result.Limit {
	return result.Limit{Tokens: tokens, Count: s.Count}
}

// shorten shortens the results among the parts, each by its kind, and the arguments of calls, so that all of them may fit in body
// tokens: small ones stay whole, the others share what these leave. arguments are those of the calls if no result was shortened.
func (s *Rendering) shorten(body int) (how string, arguments []string) {
	s.Parts = slices.Clone(s.Parts)
	left := body
	var long []int
	weights := make([]int, len(s.Parts))
	for i, p := range s.Parts {
		weights[i] = ctxabi.Weight(p.Content)
		left -= ctxabi.Weight(p.lead)
		if p.Result || p.Call != "" {
			long = append(long, i)
		} else {
			left -= weights[i]
		}
	}
	slices.SortStableFunc(long, func(a, b int) int { return weights[a] - weights[b] })

	instead := map[int]string{}
	for k, i := range long {
		share := left / (len(long) - k)
		if len(s.Parts) > 1 {
			share -= 4 // fences and line ends
		}
		switch p := &s.Parts[i]; {
		case share <= 0:
		case p.Call != "":
			if short, cut := toolcall.Shortened(p.Content, share-callFrame, s.At.Path()); cut {
				p.Content, instead[i], how = short, short, cmp.Or(how, byArguments)
			}
		default:
			kind := result.Recognise(p.Content, p.About)
			if weights[i] <= share && !result.Repeats(p.Content, kind) {
				break
			}
			if short, used, cut := result.Shorten(p.Content, kind, p.About, s.limit(share), s.At.Path()); cut {
				p.Content, how = short, string(used)
			}
		}
		left -= min(weights[i], max(0, share))
	}
	if how != byArguments {
		return how, nil
	}
	for i, p := range s.Parts {
		if p.Call != "" {
			arguments = append(arguments, instead[i])
		}
	}
	return how, arguments
}

// callFrame is about how many tokens the line of a call has beside its arguments.
const callFrame = 12

// repeats reports whether a result among the parts is a log that is shorter if its repeated lines are counted.
func (s *Rendering) repeats() bool {
	return slices.ContainsFunc(s.Parts, func(p RenderingPart) bool {
		return p.Result && result.Repeats(p.Content, result.Recognise(p.Content, p.About))
	})
}

// unclosed reports whether shown leaves a fence open; marks of calls in it are our own.
func unclosed(shown string) bool {
	lines := strings.Split(shown, "\n")
	return NeedsFence(strings.Join(slices.DeleteFunc(lines, func(l string) bool {
		return ctxabi.LikeFraming(strings.TrimLeft(l, " \t\r"))
	}), "\n"))
}
