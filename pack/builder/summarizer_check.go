package builder

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

// citation is how a summary names records: messages:12, messages:12-18, events:7, messages:3,7-9.
var citation = lazy.Regexp(`\b(messages|events):(\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)`)

// maxCompared is how much of its input a summary is compared with, in bytes: what is more is larger than any summary.
const maxCompared = 64 << 10

// checkSummary checks what a summarizer gave for the records of m up to the place to, where it had before to go on from:
// the text as it stands in packs, or why it cannot stand there.
func checkSummary(m record.Records, before *journal.Summary, to, max int, text string, c *tokens.Counter) (_, reason string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", "it is empty"
	}
	text += "\n"
	if len(text) > maxCompared {
		return "", fmt.Sprintf("it has %d bytes, %d tokens are allowed", len(text), max)
	}
	n := c.Count(text)
	if n > max {
		return "", fmt.Sprintf("it has %d tokens, %d are allowed", n, max)
	}
	given, err := summaryInput(context.Background(), m, before, to, maxCompared)
	if err != nil {
		return "", fmt.Sprintf("its input cannot be read: %v", err)
	}
	if all := c.Count(string(given)); n >= all {
		return "", fmt.Sprintf("it has %d tokens, but its input has %d", n, all)
	}
	// Pins and records stand in the pack as they are, each in a block of its own: a summary must not pass for one, nor swallow one.
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
		if line = strings.TrimSpace(line); ctxabi.LikeFraming(line) {
			return "", fmt.Sprintf("a line of it looks like the framing of a pack: %.60q", line)
		}
	}
	if record.NeedsFence(text) {
		return "", "it leaves a code fence open"
	}
	return text, checkCitations(text, record.StretchOf(m, ctxabi.Span{From: 1, To: to}))
}

// checkCitations returns what is wrong with the records that a summary cites, of those it was given, or "".
func checkCitations(text string, given record.Stretch) string {
	found := citation().FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return "it cites no record; each statement needs its source, such as messages:12-18"
	}
	for _, f := range found {
		of := given.Messages
		if f[1] == "events" {
			of = given.Events
		}
		for _, one := range strings.Split(f[2], ",") {
			from, to, isRange := strings.Cut(one, "-")
			if !isRange {
				to = from
			}
			a, aerr := strconv.Atoi(from)
			z, zerr := strconv.Atoi(to)
			if aerr != nil || zerr != nil || a > z || a < of.From || z > of.To || of.From == 0 {
				return fmt.Sprintf("it cites %s:%s, which is not in its input", f[1], one)
			}
		}
	}
	return ""
}
