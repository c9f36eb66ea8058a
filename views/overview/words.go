package overview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode"

	"github.com/ctxfs/ctxfs/internal/figures"
	"github.com/ctxfs/ctxfs/views/inspect"
)

// Visible returns a text with a sign in place of each character that would move, hide or turn other text: control
// characters, and those that change the direction of writing. So no record of a session changes the page around it.
func Visible(text string) string {
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

// OneLine returns the beginning of a text on one line, at most n letters, without control characters.
func OneLine(text string, n int) string {
	if len(text) > 16*n {
		text = string(Whole([]byte(text[:16*n])))
	}
	text = strings.Join(strings.Fields(Visible(text)), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// Short writes a number in at most four letters and a unit: 950, 12k, 1.2M.
func Short(n int) string {
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

// Percent writes a share of 1.
func Percent(share float64) string {
	if share > 0 && share < 0.005 {
		return "< 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// Ago writes how long something is past.
func Ago(now, then time.Time) string {
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

// Reason returns an error in words, without paths that only repeat what was asked for.
func Reason(err error) string {
	at, isPath := err.(*fs.PathError)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "It took too long, and was given up."
	case isPath:
		return at.Err.Error()
	}
	return err.Error()
}

var sparks = []rune("▁▂▃▄▅▆▇█")

// Sparkline draws values from 0 to most in at most width columns: where there are more, each column is the mean of some.
func Sparkline(values []float64, most float64, width int) string {
	if width < 1 || len(values) == 0 {
		return ""
	}
	columns := min(width, len(values))
	var b strings.Builder
	for i := range columns {
		from, to := i*len(values)/columns, (i+1)*len(values)/columns
		sum := 0.0
		for _, v := range values[from:to] {
			sum += v
		}
		level := 0
		if most > 0 {
			level = int(sum / float64(to-from) / most * float64(len(sparks)))
		}
		b.WriteRune(sparks[max(0, min(level, len(sparks)-1))])
	}
	return b.String()
}

// Used describes the token usage that a provider reported for a session, one line each, and
// compares it with packs. read reports whether a program has read a pack of the session.
func Used(r *inspect.Recorded, read bool) []string {
	line := fmt.Sprintf("%s: %s input tokens", figures.Count(r.Records, "record"), figures.Thousands(r.All))
	if r.Caches > 0 {
		line += fmt.Sprintf(", %s of them (%.1f %%) read from the cache", figures.Thousands(r.CacheRead), 100*r.AllShare())
	}
	if r.Output > 0 {
		line += fmt.Sprintf("; %s output tokens", figures.Thousands(r.Output))
	}
	lines := []string{line}
	switch {
	case r.Matched == 0 && !read:
		return lines
	case r.Matched == 0:
		return append(lines, "not compared with packs: too few of the records came after a pack that was read")
	}
	lines = append(lines, figures.Count(r.Matched, "record")+" matched, each with the pack that was opened last before it",
		fmt.Sprintf("input tokens: recorded %s, counted in packs %s; calibration %.3f", figures.Thousands(r.Input), figures.Thousands(r.Counted), r.Calibration))
	if r.Cached == 0 {
		return append(lines, "no record mentions a cache")
	}
	return append(lines, fmt.Sprintf("read from the cache: recorded %.1f %%, predicted %.1f %%; difference %+.1f points", 100*r.Share, 100*r.Predicted, 100*r.Difference))
}
