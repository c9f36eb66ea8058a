package result

import (
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
)

// resultFloor is the limit, in tokens, below which only the head and the tail of a result are
// shown.
const resultFloor = 48

// Shorten shortens the result of a tool, of the kind that [Recognise] returned, to limit. It returns
// a text within the limit unchanged, with cut == false, unless [Repeats] reports true. Otherwise
// short consists of lines of the text, or parts of long ones, in their order, and of lines that begin
// with "[" or "…": what replaces omitted lines, how often a line was repeated, and at the end the size
// of the omission and the path of the whole. Of KindHTML, the lines are those of the page's text. JSON
// stays JSON, and the note is a value in it.
//
// used is the kind by which the result was shortened: KindText if it turned out not to be of kind.
func Shorten(text string, kind Kind, about Hint, limit Limit, path string) (short string, used Kind, cut bool) {
	if limit.Holds(text) && !Repeats(text, kind) {
		return text, kind, false
	}
	clean := text
	if kind != KindBinary {
		if clean = WithoutData(text, path); clean != text && limit.Holds(clean) {
			return clean, kind, true
		}
		clean = Plain(clean)
	}
	if limit.Tokens >= resultFloor {
		r := result{text: clean, bytes: len(text), about: about, limit: limit, path: path}
		for _, k := range []Kind{kind, KindText} {
			if short, ok := r.shorten(k); ok && limit.Holds(short) && utf8.ValidString(short) {
				return short, k, true
			}
		}
	}
	if kind == KindBinary {
		clean = Plain(text)
	}
	if limit.Holds(clean) {
		clean = compress.JoinLeftOut(clean, compress.LeftOut(0, len(text)-len(clean), path), "")
	}
	return HeadTail(clean, limit, path), KindText, true
}

// HeadTail returns [compress.HeadTail] of a text with as much of its ends as limit has room for.
func HeadTail(text string, limit Limit, path string) (short string) {
	for tokens := limit.Tokens; ; tokens = tokens * 3 / 4 {
		if short, _ = compress.HeadTail(text, tokens, path); tokens < 2 || limit.Holds(short) {
			break
		}
	}
	return short
}

// result is one result that is being shortened.
type result struct {
	text  string // without control sequences
	bytes int    // before these were taken out
	about Hint
	limit Limit
	path  string
}

// shorten shows the result as one of kind k; ok is false if it is none, or if the limit is too small.
func (r *result) shorten(k Kind) (short string, ok bool) {
	switch k {
	case KindBinary:
		return r.binary()
	case KindJSON:
		return r.json()
	case KindHTML:
		return r.html()
	}
	return r.lines(k, "")
}
