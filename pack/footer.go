package pack

import (
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// goal gives the last block of a pack: how far the open todos are, what comes
// next, and the last request of the user when it stands far above. "" when
// there is nothing to say.
func (mm *memo) goal(todo string, m Records, f *fold, l limits) (string, error) {
	var b strings.Builder
	if done, all, next := progress(todo); all > 0 {
		fmt.Fprintf(&b, "Progress %d/%d.", done, all)
		if next != "" {
			b.WriteString(" Next: " + next)
		}
		b.WriteByte('\n')
	}
	quote, err := mm.lastRequest(m, f, l)
	if err != nil {
		return "", err
	}
	b.WriteString(quote)
	if b.Len() == 0 {
		return "", nil
	}
	return frame("goal", b.String()), nil
}

// progress reads the check boxes of a todo list.
func progress(todo string) (done, all int, next string) {
	for line := range strings.Lines(todo) {
		line = strings.TrimSpace(line)
		item, ok := strings.CutPrefix(line, "- [")
		if !ok {
			if item, ok = strings.CutPrefix(line, "* ["); !ok {
				continue
			}
		}
		switch mark, text, _ := strings.Cut(item, "]"); mark {
		case "x", "X":
			done++
			all++
		case " ", "":
			all++
			if next == "" {
				next, _ = compress.HeadTail(oneLine(text), 40, ctxabi.TodoFile)
				next = oneLine(next)
			}
		}
	}
	return done, all, next
}

// quoteWeight is how many tokens of the last request the footer repeats.
const quoteWeight = 80

// quote is what the footer repeats of one record.
type quote struct {
	line int
	text string
}

// lastRequest quotes the last user record when more than an eighth of the limit stands between it and the end.
func (mm *memo) lastRequest(m Records, f *fold, l limits) (string, error) {
	far := l.limit / 8
	if l.limit == 0 {
		far = capScale / 8
	}
	if f.last.line == 0 || f.total.weight-f.last.before.weight-int64(f.last.weight) < int64(far) || l.limit > 0 && l.footer < quoteWeight {
		return "", nil
	}
	if mm.quoted.line == f.last.line {
		return mm.quoted.text, nil
	}
	at := addressOf(m, f.last.line)
	text, err := mm.request(m, f.last.line)
	if err != nil {
		return "", err
	}
	text = strings.TrimSpace(text)
	if text != "" {
		text, _ = compress.Head(text, quoteWeight-20, at.path())
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r", "\n"), "\n", "\n> ")
		text = fmt.Sprintf("Last request of the user, message %s:\n> %s\n", at, text)
	}
	mm.quoted = quote{f.last.line, text}
	return text, nil
}
