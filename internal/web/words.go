package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/inspect"
)

// visible returns a text in which what would move, hide or turn other text is shown as a sign: control characters, and
// those that change the direction of writing. A session's records say what they like; they do not change the page.
func visible(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// breakable returns a path that a narrow window breaks after its slashes.
func breakable(path string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(visible(path)), "/", "/<wbr>"))
}

// hidden reports whether a letter is shown as a sign.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == 0x200d: // joins emoji
		return false
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r) || r == 0xfeff || r >= 0xe0000 && r <= 0xe007f
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(max(n, -n))
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if n < 0 {
		s = "−" + s
	}
	return s
}

// grouped returns a line as thousands writes it where it is a number, else as it is.
func grouped(line string) string {
	if n, err := strconv.Atoi(line); err == nil {
		return thousands(n)
	}
	return line
}

// count returns "1 message", "3,000 messages".
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return thousands(n) + " " + what
}

// short writes a number in at most four letters and a unit: 950, 12k, 1.2M.
func short(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 9950:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1000), ".0") + "k"
	case n < 999500:
		return fmt.Sprintf("%.0fk", float64(n)/1000)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "M"
}

// signed writes a difference.
func signed(n int) string {
	if n > 0 {
		return "+" + thousands(n)
	}
	return thousands(n)
}

// size writes bytes with a unit.
func size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	if i == 0 || f >= 10 {
		return fmt.Sprintf("%.0f %s", f, units[i])
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}

// percent writes a share of 1.
func percent(share float64) string {
	if share > 0 && share < 0.005 {
		return "< 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// ago writes how long something is past.
func ago(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case then.IsZero() || then.Unix() <= 0:
		return "never"
	case d < 10*time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// zoneWords are the zones of a conversation in words.
var zoneWords = map[inspect.Zone]string{
	inspect.Full: "in full", inspect.Shortened: "shortened", inspect.Kept: "kept", inspect.Folded: "folded", inspect.LeftOut: "left out", inspect.Absent: "not in it",
}

// placeWords returns where a record stands, in words.
func placeWords(p inspect.Place) string {
	switch {
	case p.Zone == inspect.LeftOut && p.How == "compacted":
		return "left out: a compaction took it out"
	case p.Zone == inspect.LeftOut && p.How == "left out":
		return "left out"
	}
	return p.String()
}

// reason returns an error in words, without paths that only repeat what was asked for.
func reason(err error) string {
	at, isPath := err.(*fs.PathError)
	own, isOwn := err.(*ctxabi.Error)
	switch {
	case errors.Is(err, errSuperseded):
		return "Another preview began, and only one is made at a time."
	case errors.Is(err, context.DeadlineExceeded):
		return "It took too long, and was given up."
	case isPath:
		return at.Err.Error()
	case isOwn && own.Why != "" && own.Err == nil:
		return sentence(own.Why)
	}
	return err.Error()
}

// sentence returns a text that begins with a capital and ends with a full stop.
func sentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[n:], ".") + "."
}

// failed is an error as a page shows it.
type failed struct {
	Title, Reason, Do string
}

// Unrun is why a command of a recipe has no output when somebody looks; [Config.Look] says so.
const Unrun = "a look runs no commands"

// shownError returns what a page says of an error, and what to do.
func shownError(err error) failed {
	f := failed{Title: "This cannot be shown", Reason: reason(err)}
	switch {
	case errors.Is(err, errSuperseded):
		f.Title = "Stopped"
	case errors.Is(err, ctxabi.ErrOverBudget):
		f.Title, f.Do = "There is no prompt at this budget", "What the recipe requires and what is pinned does not fit. Raise the budget, or take a pin away."
	case errors.Is(err, ctxabi.ErrNoData) && strings.Contains(err.Error(), Unrun):
		f.Title, f.Do = "This prompt is not made by looking", "A command of the recipe would have to run first. Whoever reads context/pack.md runs it; then it is shown here."
	case errors.Is(err, ctxabi.ErrNoData):
		f.Title, f.Do = "There is no prompt", "A source that the recipe requires is missing. context/pack.report.md names it."
	case errors.Is(err, errGone):
		f.Title, f.Reason, f.Do = "The mount is gone", sentence(f.Reason), "Mount it again with ctxfs mount; then the pages go on."
	case errors.Is(err, ctxabi.ErrNotFound):
		f.Title = "Not found"
	}
	return f
}

// functions are what templates call.
var functions = template.FuncMap{
	"visible": visible, "path": breakable, "thousands": thousands, "count": count, "short": short, "signed": signed, "size": size, "percent": percent,
	"ago":   func(t time.Time) string { return ago(time.Now(), t) },
	"stamp": func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") },
	"zone":  func(z inspect.Zone) string { return zoneWords[z] },
	"place": placeWords,
	"minus": func(a, b int) int { return a - b },
}
