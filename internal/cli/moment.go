package cli

import (
	"strconv"
	"strings"
	"time"
)

// Moment names one pack of a session: SESSION@POINT.
type Moment struct {
	Session string
	Point   string // "": now
}

// MomentHelp is the text about SESSION@POINT in the help of a verb.
const MomentHelp = `A pack is SESSION, the present one, or SESSION@POINT, where POINT is
  120                    a number: the pack of the first 120 messages
  2026-05-04T10:00:00Z   a time: the pack of the messages that were there then
  sha256-...             the id of a pack that was served (see context/packs.jsonl)
A pack of an earlier moment is made with today's files.`

// ParseSummary parses SESSION@summary.N, version N of a session's summary. ok is false for any
// other argument.
func ParseSummary(arg string) (session string, n int, ok bool) {
	session, digits, ok := strings.Cut(arg, "@summary.")
	n, err := strconv.Atoi(digits)
	return session, n, ok && err == nil && n > 0 && session != ""
}

// ParseMoment parses SESSION@POINT. A path may contain an @, so only a suffix without a slash is a
// point. A point of another form is wrong usage.
func ParseMoment(arg string) (Moment, error) {
	i := strings.LastIndexByte(arg, '@')
	if i < 0 || strings.Contains(arg[i:], "/") {
		return Moment{arg, ""}, nil
	}
	m := Moment{arg[:i], arg[i+1:]}
	if m.Session == "" {
		return m, Usagef("%q names no session", arg)
	}
	if _, err := strconv.Atoi(m.Point); err == nil || strings.HasPrefix(m.Point, "sha256-") {
		return m, nil
	}
	if _, err := time.Parse(time.RFC3339, m.Point); err != nil {
		return m, Usagef("%q is not a moment of a session.\n%s", m.Point, MomentHelp)
	}
	return m, nil
}
