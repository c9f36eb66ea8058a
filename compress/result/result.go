package result

import (
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Kind is what a tool's result is made of, which decides how it is shortened.
type Kind string

const (
	KindSearch  Kind = "search"  // titles and snippets, of the web or of a knowledge base
	KindMatches Kind = "matches" // lines that were found, with their files
	KindFile    Kind = "file"    // a file that was read
	KindLog     Kind = "log"     // what a command, a build or a test run printed
	KindJSON    Kind = "json"    // a response of an API
	KindDiff    Kind = "diff"
	KindTable   Kind = "table"   // rows below a header
	KindListing Kind = "listing" // paths, or the entries of directories
	KindHTML    Kind = "html"
	KindBinary  Kind = "binary" // bytes, or base64 of them
	KindText    Kind = "text"   // all else
)

// Hint is what is known of the call that a result answers; any of it may be empty.
type Hint struct {
	Tool    string // the tool's name
	Args    string // its arguments as they were written, mostly JSON
	IsError bool
}

// Limit is the most that a shortened text may be.
type Limit struct {
	Tokens int // by ctxabi.Weight
	Chars  int // Unicode code points; 0: any number
}

// Limit gives the limit of a result of kind k where the most generous kind may show that many tokens:
// search results four characters a token, command output three, files and responses two.
func (k Kind) Limit(tokens int) Limit {
	switch k {
	case KindSearch, KindMatches:
		return Limit{tokens, 4 * tokens}
	case KindFile, KindJSON:
		return Limit{tokens, 2 * tokens}
	}
	return Limit{tokens, 3 * tokens}
}

// of is the limit in the unit of a sheet: tokens, or where the characters are scarcer as many of these as make a token.
func (l Limit) of(s string) int {
	w := ctxabi.Weight(s)
	if l.Chars > 0 {
		w = max(w, (utf8.RuneCountInString(s)*l.Tokens+l.Chars-1)/l.Chars)
	}
	return w
}

// holds says whether s is within the limit.
func (l Limit) holds(s string) bool {
	if l.Chars > 0 && len(s)/utf8.UTFMax > l.Chars {
		return false
	}
	return compress.Fits(s, l.Tokens) && (l.Chars == 0 || utf8.RuneCountInString(s) <= l.Chars)
}

// resultFloor is the limit, in tokens, below which a result is only shown head and tail.
const resultFloor = 48

// Shorten shortens the result of a tool, of the kind that [Recognise] found, to limit. A text within the limit comes back as it is
// with cut == false. Otherwise what is shown are lines of it as they stand there, in their order, and
// lines of Result's own, which begin with one of "[" and "…": what was found of them, how often a line came again, and at the
// end how much is left out and the path that gives all of it. What is not one of either is
// a part of a line, or, of kinds json and html and of a search's response in JSON, a value or text of the source or its beginning. JSON stays JSON, and its note is a value in it.
// used is the kind by which it was shortened: KindText where the text turned out to be none of kind.
func Shorten(text string, kind Kind, about Hint, limit Limit, path string) (short string, used Kind, cut bool) {
	if limit.holds(text) {
		return text, kind, false
	}
	clean := text
	if kind != KindBinary {
		clean = plainText(text)
	}
	if limit.Tokens >= resultFloor {
		r := result{text: clean, bytes: len(text), about: about, limit: limit, path: path}
		for _, k := range []Kind{kind, KindText} {
			if short, ok := r.shorten(k); ok && limit.holds(short) && utf8.ValidString(short) {
				return short, k, true
			}
		}
	}
	if kind == KindBinary {
		clean = plainText(text)
	}
	for tokens := limit.Tokens; ; tokens = tokens * 3 / 4 {
		short, cut = compress.HeadTail(clean, tokens, path)
		if !cut {
			short = compress.JoinLeftOut(clean, compress.LeftOut(0, len(text)-len(clean), path), "")
		}
		if limit.holds(short) || tokens < 2 {
			return short, KindText, true
		}
	}
}

// result is one result that is being shortened.
type result struct {
	text  string // without control sequences
	bytes int    // before these were taken out
	about Hint
	limit Limit
	path  string
}

func (r *result) shorten(k Kind) (short string, ok bool) {
	switch k {
	case KindBinary:
		return r.binary()
	case KindJSON:
		return r.json()
	case KindHTML:
		return r.html()
	case KindSearch:
		if start := strings.TrimSpace(r.text[:min(len(r.text), sniffed)]); mayBeJSON(start) && isJSON(r.text) {
			return r.jsonSearch()
		}
		return r.search()
	case KindMatches:
		return r.matches()
	case KindFile:
		return r.file()
	case KindLog:
		return r.log()
	case KindDiff:
		return r.diff()
	case KindTable:
		return r.table()
	case KindListing:
		return r.listing()
	}
	return r.prose()
}

// plainText is text without what only a terminal shows: ANSI sequences, characters that were overwritten
// after a carriage return or by backspaces, other control characters. It is valid UTF-8.
func plainText(text string) string {
	if !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == utf8.RuneError || c == 0x7f }) {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	out := make([]byte, 0, len(text))
	begin := 0 // of the line, in out
	for at := 0; at < len(text); {
		switch c := text[at]; {
		case c == 0x1b:
			at += escape(text[at:])
			continue
		case c == '\n':
			out = append(out, c)
			begin = len(out)
		case c == '\r':
			rest := text[at:]
			if skip := len(rest) - len(strings.TrimLeft(rest, "\r")); skip < len(rest) && rest[skip] != '\n' {
				out = out[:begin]
			}
		case c == '\b':
			_, size := utf8.DecodeLastRune(out[begin:])
			out = out[:len(out)-size]
		case c >= ' ' && c != 0x7f || c == '\t':
			out = append(out, c)
		}
		at++
	}
	return string(out)
}

// escape gives the length of the control sequence that s begins with.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[': // CSI: parameters, then one letter
		for i := 2; i < len(s) && i < 64; i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] >= 0x7f {
				return i
			}
		}
		return 2
	case ']': // OSC: up to BEL or ESC \
		for i := 2; i < len(s) && i < 4096 && s[i] != '\n'; i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return 2
	}
	if s[1] >= 0x20 && s[1] < 0x7f {
		if strings.IndexByte("()*+#%", s[1]) >= 0 && len(s) > 2 && s[2] > 0x20 && s[2] < 0x7f {
			return 3
		}
		return 2
	}
	return 1
}
