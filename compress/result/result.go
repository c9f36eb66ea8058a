package result

import (
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
)

// resultFloor is the limit, in tokens, below which only the head and the tail of a result are
// shown.
const resultFloor = 48

// Shorten shortens the result of a tool, of the kind that [Recognise] found, to limit. It
// returns a text within the limit as it is, with cut == false. Otherwise short holds lines of
// the text as they stand there, in their order, and lines of its own, which begin with one of
// "[" and "…": what was found in them, how often a line came again, and at the end how much is
// left out and the path where all of it stands. Any other line is a part of a line of the text
// or, of kinds json and html and of a search's response in JSON, a value or words of it. JSON
// stays JSON, and its note is a value in it.
//
// used is the kind by which it was shortened: KindText where the text turned out to be none of
// kind.
func Shorten(text string, kind Kind, about Hint, limit Limit, path string) (short string, used Kind, cut bool) {
	if limit.Holds(text) && !Repeats(text, kind) {
		return text, kind, false
	}
	clean := text
	if kind != KindBinary {
		if clean = WithoutData(text, path); clean != text && limit.Holds(clean) {
			return clean, kind, true
		}
		clean = plainText(clean)
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
		clean = plainText(text)
	}
	if limit.Holds(clean) {
		clean = compress.JoinLeftOut(clean, compress.LeftOut(0, len(text)-len(clean), path), "")
	}
	return HeadTail(clean, limit, path), KindText, true
}

// HeadTail returns [compress.HeadTail] of a text with as much of its ends as limit has room for.
func HeadTail(text string, limit Limit, path string) (short string) {
	tokens := limit.Tokens
	for short, _ = compress.HeadTail(text, tokens, path); tokens >= 2 && !limit.Holds(short); short, _ = compress.HeadTail(text, tokens, path) {
		tokens = tokens * 3 / 4
	}
	for range 2 { // what weighs so many tokens may be fewer
		used := limit.of(short)
		if used*fullFrom > limit.Tokens*(fullFrom-1) {
			break
		}
		if tokens = tokens * limit.Tokens / max(1, used); compress.Fits(text, tokens) {
			break
		}
		more, _ := compress.HeadTail(text, tokens, path)
		if !limit.Holds(more) {
			break
		}
		short = more
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
