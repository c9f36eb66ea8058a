package pack

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// summary is the block that says what was asked, concluded and what failed.
func (b *zoner) summary(room int) part {
	span := ctxabi.Span{From: 1, To: b.z.boundary - 1}
	heading := blockHeading + "summary (" + sourcesOf(b.m, span) + ")\n"
	room -= b.c.CountCached(heading)
	type note struct {
		at   int
		text string
	}
	var notes []note // newest first
	add := func(at int, what, text string) bool {
		if text == "" {
			return true
		}
		line := "- " + what + ": " + oneLine(text) + " (" + addressOf(b.m, at).source() + ")\n"
		n := b.c.CountCached(line)
		if n > room {
			return false
		}
		room -= n
		notes = append(notes, note{at, line})
		return true
	}
	folded := b.z.boundary
	if b.z.from > 0 {
		folded = b.z.from
	}
	requests := b.f.settledRequests
	for i := len(requests) - 1; i >= 0; i-- {
		q := requests[i]
		if q.answer > 0 && q.answer < folded {
			r, _ := b.said(q.answer)
			if !add(q.answer, "Answered", compress.Sentence(r.text, 200)) {
				break
			}
		}
		if q.user < folded && !b.isKept(q.user) {
			r, _ := b.said(q.user)
			if !add(q.user, "Asked", compress.Sentence(r.text, 200)) {
				break
			}
		}
	}
	known := map[string]bool{}
	for at := folded - 1; at > max(b.f.leadLen, folded-256) && room > 24; at-- {
		if b.m.At(at).Len > longText {
			continue
		}
		r, _ := b.said(at)
		what, text := "", ""
		switch {
		case r.result:
			line := compress.Fold(compress.Clip(r.text, 4096), 30)
			if r.failed || compress.TellsFailure(line) {
				what, text = "Failed", line
			}
		case b.m.At(at).Role == ctxabi.Assistant:
			what, text = "Concluded", compress.Decision(r.text, 200)
		}
		if text != "" && !known[text] {
			known[text] = true
			if !add(at, what, text) {
				break
			}
		}
	}
	if len(notes) == 0 {
		return part{}
	}
	var text strings.Builder
	text.WriteString(heading)
	slices.SortStableFunc(notes, func(a, b note) int { return a.at - b.at })
	for _, n := range notes {
		text.WriteString(n.text)
	}
	p := part{piece: piece{Span: span, kept: true, zone: inSummary}, text: text.String()}
	p.tokens = b.c.CountCached(p.text)
	return p
}
