package ctxabi

import (
	"strconv"
	"strings"
)

// Span is an inclusive range of 1-based record numbers.
type Span struct{ From, To int }

// String returns "12" or "12-18".
func (s Span) String() string {
	if s.From == s.To {
		return strconv.Itoa(s.From)
	}
	return strconv.Itoa(s.From) + "-" + strconv.Itoa(s.To)
}

// Len is the number of records in s.
func (s Span) Len() int { return s.To - s.From + 1 }

// ParseSpan reads "12" or "12-18". It returns ErrMalformed for anything else.
func ParseSpan(t string) (Span, error) {
	a, b, ranged := strings.Cut(t, "-")
	from, ok := parseLine(a)
	to := from
	if ok && ranged {
		to, ok = parseLine(b)
	}
	if !ok || to < from {
		return Span{}, E("parse", "", ErrMalformed, "%q is not a range of records like 12 or 12-18", t)
	}
	return Span{from, to}, nil
}

func parseLine(s string) (int, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != s {
		return 0, false
	}
	return int(n), true
}

// Source is where a thing comes from: "messages:12-18", "messages:tail:40",
// "events:991", "events:ev-991", "user:latest", "tool:<id>", "swap:<id>". A
// scheme that ctxfs does not know is kept as it stands.
type Source struct {
	Scheme string // "messages", "events", "user", "tool", "swap", or any other
	Span   Span   // when Kind is ByRange
	Tail   int    // when Kind is ByTail: the last so many records
	ID     string // when Kind is ByID: an event's own id, "latest", a tool call's id, ...
	Kind   SourceKind
	Text   string // what was parsed, unchanged
}

// SourceKind is which field of a Source holds its address.
type SourceKind int

// The kinds of source.
const (
	Opaque SourceKind = iota // an unknown scheme, or no scheme at all
	ByRange
	ByTail
	ByID
)

// ParseSource reads a source string. It fails only where a known scheme has a
// malformed address; anything else is Opaque.
func ParseSource(t string) (Source, error) {
	src := Source{Text: t}
	scheme, rest, ok := strings.Cut(t, ":")
	if !ok {
		return src, nil
	}
	src.Scheme = scheme
	bad := func() (Source, error) {
		return Source{}, E("parse", "", ErrMalformed, "%q is not a source like messages:12-18 or messages:tail:40", t)
	}
	switch scheme {
	case "messages", "events":
		if n, isTail := strings.CutPrefix(rest, "tail:"); isTail {
			if src.Tail, ok = parseLine(n); !ok {
				return bad()
			}
			src.Kind = ByTail
			return src, nil
		}
		if span, err := ParseSpan(rest); err == nil {
			src.Span, src.Kind = span, ByRange
			return src, nil
		}
		if scheme == "messages" || rest == "" {
			return bad()
		}
		src.ID, src.Kind = rest, ByID
	case "user", "tool", "swap":
		if rest == "" {
			return bad()
		}
		src.ID, src.Kind = rest, ByID
	}
	return src, nil
}
