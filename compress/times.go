package compress

import (
	"strings"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// TimeMark stands in a text where [LiftTimes] took a time out of it.
const TimeMark = "[time: at the end of the prompt]"

const (
	weekday = `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*`
	month   = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*`
	clock   = `\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm]\b)?`
	zone    = `(?: ?(?:Z\b|[A-Z]{2,5}\b|[+-]\d{2}:?\d{2}\b))?`
)

// labelledTime matches a word that announces the present time or, at the beginning of a line, a
// time at all, and no more than 24 characters behind it a time: ISO 8601, what date(1) prints,
// RFC 2822, a time of day, or seconds or milliseconds since 1970.
var labelledTime = lazy.Regexp(`(?im:\b(?:current(?:ly| date(?: and time)?| time)?|(?:local|system) time|now|today(?:'s date)?|as of|generated(?: at| on)?|last updated)\b|^[ \t#*-]*(?:date|time|timestamp|it is)\b)([^\n0-9]{0,24}?)((?:` + strings.Join([]string{
	`\d{4}-\d{2}-\d{2}(?:[T ]` + clock + zone + `)?`,
	weekday + `,? ` + month + ` {1,2}\d{1,2},? ` + clock + zone + `(?: \d{4}` + zone + `)?`,
	weekday + `,? \d{1,2} ` + month + ` \d{4}(?:,? ` + clock + zone + `)?`,
	weekday + `,? ` + month + ` \d{1,2},? \d{4}(?:,? ` + clock + zone + `)?`,
	clock + zone,
	`1\d{9}(?:\d{3})?\b`,
}, "|") + `))`)

// mostLifted is how many lines of a text may announce the present time. A text with more is
// about times, as a log is.
const mostLifted = 2

// LiftTimes takes out of text the times that its lines announce as the present one ("Current
// time: …", "As of …"), so that the rest does not change by itself. It returns the text with a
// [TimeMark] in the place of each, and the lines that had one as they were, two at most. It
// returns text itself and nil if there is no such line, or more than two.
func LiftTimes(text string) (still string, lines []string) {
	if !labelledTime().MatchString(text) {
		return text, nil
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		at := labelledTime().FindAllStringSubmatchIndex(line, -1)
		if at == nil {
			b.WriteString(line)
			continue
		}
		from := 0
		for _, m := range at {
			b.WriteString(line[from:m[4]] + TimeMark)
			from = m[5]
		}
		b.WriteString(line[from:])
		if lines = append(lines, strings.TrimSpace(line)); len(lines) > mostLifted {
			return text, nil
		}
	}
	return b.String(), lines
}
