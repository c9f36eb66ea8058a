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
// shortened to whole sentences, the more the less room there is; when even that is too much, the newest stay, and before others those
// that demand something.

// Numbers of the block of the user's words.
const (
	saidMost    = 512     // messages of the user that are looked at
	saidScanned = 1 << 16 // records among which they are looked for
	saidNewest  = 3       // messages that stand there before older ones that demand something
	saidMisses  = 8       // messages that do not fit, before no other is tried
	saidAsked   = 48      // tokens of the question that a short reply answers
	askedBefore = 16      // records before a reply among which the question is looked for
)

// saidCaps are the tokens that one message may take: the first of these with which all fit, or the last.
var saidCaps = []int{400, 240, 160, 120, 90, 60, 40}

// saying is what a message of the user says.
type saying struct {
	at    int
	parts []string
	asked string // of a short reply: what it answers
	cut   bool   // something that is pasted is left out
	pair  bool   // it changed a statement, or has one that changed
	wants bool   // it demands something
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
	lines := b.sayingLines(list, room)
	if b.pair(list, lines, saidCaps[0]); len(lines) == 0 {
		return Part{}, shown
	}
	text := ""
	for k, line := range slices.Backward(lines) {
		if line != "" {
			text += line
			shown[list[k].at] = true
		}
	}
	if text == "" {
		return Part{}, shown
	}
	p = Part{Piece: Piece{Span: span, Kept: true, Zone: InSaid}, Text: heading + text}
	p.Tokens = b.c.CountCached(p.Text)
	return p, shown
}

// sayingLines are the lines of messages, in their order, as long as all of them fit into room tokens. Where they do not, not even
// shortened, the newest stand, then those of the others that demand something, then the rest, the newest first; "" stands for one that
// is left out.
func (b *zoner) sayingLines(list []saying, room int) []string {
	lines := make([]string, len(list))
	order := make([]int, len(list))
	for k := range order {
		order[k] = k
	}
	for i, most := range saidCaps {
		last := i == len(saidCaps)-1
		if last {
			slices.SortStableFunc(order, func(a, b int) int { return list[a].rank(a) - list[b].rank(b) })
		}
		left, misses := room, 0
		for _, k := range order {
			lines[k] = ""
			if misses > saidMisses {
				continue
			}
			line := b.sayingLine(&list[k], most)
			n := b.c.CountCached(line)
			if n > left {
				if misses++; !last {
					break
				}
				continue
			}
			left -= n
			lines[k] = line
		}
		if misses == 0 {
			break
		}
	}
	return lines
}

// rank is the place of the k-th newest message among those that stand first where room is short.
func (s *saying) rank(k int) int {
	switch {
	case s.pair:
		return 0
	case k < saidNewest:
		return 1
	case s.wants:
		return 2
	}
	return 3
}

// sayings are the messages of the user of a span that the pack does not show otherwise, newest first, as many as there may be room for,
// and of older ones those that demand something.
func (b *zoner) sayings(span ctxabi.Span, room int) (list []saying) {
	known := map[string]bool{}
	window, n := b.window(), b.notesFound // which supply replies before the window
	for at, looked := span.To, 0; at >= span.From && at > b.f.Lead.N && span.To-at < saidScanned && looked < saidMost; at-- {
		e := b.m.At(at)
		mayReply := at >= window && record.IsResult(e) || n.Replied(record.AddressOf(b.m, at))
		if !record.IsUser(e) && !mayReply || b.staysWhole(at) || b.isFolded(at) {
			continue
		}
		one, ok := b.mm.digests.of(b.m, at)
		if b.unread = b.unread || !ok; record.IsUser(e) || one.said != nil {
			looked++
		}
		w := one.said
		if w == nil || w.sense == derived.Idle || len(w.parts) == 0 || len(w.parts) == 1 && w.cut {
			continue
		}
		wants := derived.Demands(w.parts)
		if len(list)*8 >= room && !wants && !b.changed.pairs(at) {
			continue
		}
		s := saying{at: at, parts: b.changed.marked(at, w.parts), cut: w.cut, pair: b.changed.pairs(at), wants: wants}
		text := strings.Join(s.parts, " ")
		if w.sense == derived.Reply {
			s.asked = b.askedBefore(at)
		}
		if text += "\x00" + s.asked; known[text] {
			continue
		}
		known[text] = true
		list = append(list, s)
	}
	return append(list, b.again...)
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
