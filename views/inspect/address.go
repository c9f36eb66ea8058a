package inspect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Address is a record: by its number in messages.jsonl, or in events.jsonl.
type Address struct {
	Event bool
	N     int
}

// String is "messages:57" or "events:12".
func (a Address) String() string { return fmt.Sprintf("%s:%d", scheme(a.Event), a.N) }

// Mark is how pack.md calls the record: "57", "e12".
func (a Address) Mark() string {
	if a.Event {
		return "e" + strconv.Itoa(a.N)
	}
	return strconv.Itoa(a.N)
}

// Path is where the record stands as it was written; with ".txt" behind it, decoded.
func (a Address) Path() string { return ctxabi.LineDir + "/" + a.Mark() }

// MarshalText makes an address a string in JSON.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

func scheme(event bool) string {
	if event {
		return "events"
	}
	return "messages"
}

// ParseRecords reads "messages:57", "events:12", "57", "e12", or a range like "messages:57-60", "57-60" or "e3-e7". ok is false for what names
// no records at all, which may be the id of a block. It returns an error for a range that begins as one and is none.
func ParseRecords(text string) (event bool, span ctxabi.Span, ok bool, err error) {
	rest := text
	if s, found := strings.CutPrefix(text, "messages:"); found {
		rest = s
	} else if s, found := strings.CutPrefix(text, "events:"); found {
		event, rest = true, strings.ReplaceAll(s, "e", "")
	} else if mark, found := parseMarks(text); found {
		return mark.event, mark.span, true, nil
	} else {
		if text != "" && strings.Trim(text, "0123456789-") == "" {
			_, err = ctxabi.ParseSpan(text)
			return false, span, true, err
		}
		return false, span, false, nil
	}
	span, err = ctxabi.ParseSpan(rest)
	return event, span, true, err
}

// marks are records as pack.md calls them.
type marks struct {
	event bool
	span  ctxabi.Span
}

// parseMarks reads "12", "12-18", "e3" or "e3-e7".
func parseMarks(text string) (m marks, ok bool) {
	if strings.HasPrefix(text, "e") {
		from, to, ranged := strings.Cut(text, "-")
		if m.event = true; ranged && !strings.HasPrefix(to, "e") {
			return marks{}, false
		}
		text = strings.TrimPrefix(from, "e")
		if ranged {
			text += "-" + strings.TrimPrefix(to, "e")
		}
	}
	span, err := ctxabi.ParseSpan(text)
	m.span = span
	return m, err == nil
}
