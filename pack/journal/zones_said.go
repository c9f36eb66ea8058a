package journal

import (
	"slices"
	"strings"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// The user's words stand before the conversation once something was compacted: they are the cheapest and most valuable part of a
// history. All messages of the user that say something and that the pack does not show otherwise have a line each, word by word,
// without what programs put into them and without what is pasted; a short reply stands with the question that it answers. Long ones are
// shortened to whole sentences, the more the less room there is; when even that is too much, the newest stay.

// Numbers of the block of the user's words.
const (
	saidFew     = 330     // thousandths of the room of key lines that it may take, where there is little of it
	saidMany    = 480     // likewise, where there is much
	saidFrom    = 2000    // tokens of the journal's room up to which it is little
	saidScale   = 20      // of those above for each thousandth more
	saidMost    = 512     // messages of the user that are looked at
	saidScanned = 1 << 16 // records among which they are looked for
	saidAsked   = 48      // tokens of the question that a short reply answers
	askedBefore = 16      // records before a reply among which the question is looked for
)

// saidCaps are the tokens that one message may take: the first of these with which all fit, or the last.
var saidCaps = []int{400, 240, 160, 120, 90, 60, 40}

// saidShare is how many thousandths of the room of key lines the user's words may take in a journal of so much room: where there is
// little, what the agent works with is worth more.
func saidShare(room int64) int64 {
	return max(saidFew, min(saidMany, (room-saidFrom)/saidScale))
}

// saying is what a message of the user says.
type saying struct {
	at    int
	parts []string
	asked string // of a short reply: what it answers
	cut   bool   // something that is pasted is left out
}

// said is the block of the user's words of the records of a span, in at most room tokens. shown are the places of those that it has.
func (b *zoner) said(span ctxabi.Span, room int) (p Part, shown map[int]bool) {
	shown = map[int]bool{}
	heading := record.BlockHeading + "user's words (" + record.SourcesOf(b.m, span) + ")\n"
	room -= b.c.CountCached(heading)
	list := b.sayings(span, room)
	if len(list) == 0 {
		return Part{}, shown
	}
	var lines []string // newest first
	for i, most := range saidCaps {
		lines = lines[:0]
		left, fits := room, true
		for k := range list {
			line := b.sayingLine(&list[k], most)
			n := b.c.CountCached(line)
			if fits = n <= left; !fits {
				break
			}
			left -= n
			lines = append(lines, line)
		}
		if fits || i == len(saidCaps)-1 {
			break
		}
	}
	if len(lines) == 0 {
		return Part{}, shown
	}
	for k := range lines {
		shown[list[k].at] = true
	}
	slices.Reverse(lines)
	p = Part{Piece: Piece{Span: span, Kept: true, Zone: InSaid}, Text: heading + strings.Join(lines, "")}
	p.Tokens = b.c.CountCached(p.Text)
	return p, shown
}

// sayings are the messages of the user of a span that the pack does not show otherwise, newest first, as many as there may be room for.
func (b *zoner) sayings(span ctxabi.Span, room int) (list []saying) {
	known := map[string]bool{}
	for at, looked := span.To, 0; at >= span.From && at > b.f.Lead.N && span.To-at < saidScanned && looked < saidMost && len(list)*8 < room; at-- {
		if e := b.m.At(at); !record.IsUser(e) || b.staysWhole(at) || b.isFolded(at) {
			continue
		}
		looked++
		one, ok := b.mm.digests.of(b.m, at)
		b.unread = b.unread || !ok
		if w := one.said; w == nil || w.sense == derived.Idle || len(w.parts) == 0 || len(w.parts) == 1 && w.cut {
			continue
		}
		s := saying{at: at, parts: one.said.parts, cut: one.said.cut}
		text := strings.Join(s.parts, " ")
		if one.said.sense == derived.Reply {
			s.asked = b.askedBefore(at)
		}
		if text += "\x00" + s.asked; known[text] {
			continue
		}
		known[text] = true
		list = append(list, s)
	}
	return list
}

// isFolded reports whether the record at a place stands in a line of its own.
func (b *zoner) isFolded(at int) bool { return b.z.From > 0 && b.z.From <= at && at < b.z.boundary }

// askedBefore is the question of the assistant that the message at a place answers; "" where there is none.
func (b *zoner) askedBefore(at int) string {
	for q := at - 1; q > b.f.Lead.N && at-q <= askedBefore; q-- {
		switch e := b.m.At(q); {
		case record.IsUser(e):
			return ""
		case e.Role == ctxabi.Assistant:
			if r, ok := b.excerpt(q); ok && strings.TrimSpace(r.Text) != "" {
				parts, _ := derived.UserWords(derived.Question(r.Text, AnsweredBytes))
				short, _ := derived.Shorten(parts, saidAsked, b.c.CountCached)
				return short
			}
		}
	}
	return ""
}

// sayingLine is the line of a message, in about most tokens.
func (b *zoner) sayingLine(s *saying, most int) string {
	text, cut := derived.Shorten(s.parts, most, b.c.CountCached)
	a := record.AddressOf(b.m, s.at)
	line := "- [" + a.String() + "] " + record.OneLine(text)
	if s.asked != "" {
		line += " (to: " + record.OneLine(s.asked) + ")"
	}
	if cut || s.cut {
		line += " · " + a.Path()
	}
	return line + "\n"
}
