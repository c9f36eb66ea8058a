package journal

import (
	"fmt"
	"slices"
	"strings"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/finds"
	"github.com/ctxfs/ctxfs/pack/record"
)

// The user's words precede the conversation after a compaction, because they are the cheapest and
// most valuable part of a history. Each compacted message of the user that says something and that
// the pack does not show otherwise has a line, verbatim, without pastes and texts of programs. A
// short reply includes the question that it answers, and so does an answer to a question tool.
// Standing rules get tokens first, whatever their age, with statements that changed and their
// changes. If not all messages fit, they are shortened to whole sentences; then the newest stay,
// answers to question tools, and messages that demand something. The last line counts the messages
// that are missing and names where they are.

// Numbers of the block of the user's words.
const (
	saidMost     = 512 // messages of the user that are looked at; of older ones, those with rules
	saidNewest   = 3   // messages that stay before older ones that demand something
	saidAsked    = 48  // tokens of the question that a short reply answers
	saidNumbered = 8   // missing messages whose numbers the block lists
	askedBefore  = 16  // records before a reply among which the question is looked for
	lineTokens   = 12  // tokens of a line beside the words
)

// saidCaps are the tokens that one message may take: the first of these with which all fit, or the last.
var saidCaps = []int{400, 240, 160, 120, 90, 60, 40}

// saying is what a message of the user says.
type saying struct {
	at    int
	parts []string
	rules string // the standing rules among the parts; "": none
	asked string // of a short reply: what it answers
	cut   bool   // something that is pasted is left out
	reply bool   // to a question tool
	pair  bool   // it changed a statement, or has one that changed
	wants bool   // it demands something
	line  string // in the block; "": none yet
}

// said is the block of the user's words of the records of a span, in at most room tokens; messages
// with rules or changes may take up to most tokens together. covered are the texts that the pack
// shows. shown are the places of the messages that the block has.
func (b *zoner) said(span ctxabi.Span, room, most int, covered []string) (p Part, shown map[int]bool) {
	shown = map[int]bool{}
	heading := record.BlockHeading + "user's words (" + record.SourcesOf(b.m, span) + ")\n"
	n := b.c.CountCached(heading)
	list, missing := b.sayings(span, covered)
	if room -= n; room <= 0 || len(list)+len(missing) == 0 {
		return Part{}, shown
	}
	more := b.sayingLines(list, missing, room, max(room, most-n))
	if b.pair(list, saidCaps[0]) {
		more = b.moreLine(list, missing)
	}

	text, last, rules := heading, "", 0
	for i := range slices.Backward(list) {
		if s := &list[i]; s.line != "" {
			if day := b.day(s.at); day != "" && day != last {
				text, last = text+day+":\n", day
			}
			text += s.line
			shown[s.at] = true
		} else if s.rules != "" {
			rules++
		}
	}
	if text += more; text == heading {
		return Part{}, shown
	}
	p = Part{Piece: Piece{Span: span, Kept: true, Zone: InSaid}, Text: text, MissingRules: rules}
	p.Tokens = b.c.CountCached(p.Text)
	return p, shown
}

// sayingLines sets the lines of messages, of which list has the newest first, and returns the line
// that counts those without one and the missing ones. All lines fit into room tokens, or with
// those of rules and changes into most.
func (b *zoner) sayingLines(list []saying, missing []int, room, most int) (more string) {
	for _, limit := range saidCaps {
		left := room
		for i := 0; i < len(list) && left >= 0; i++ {
			list[i].line = b.sayingLine(&list[i], limit)
			left -= b.c.CountCached(list[i].line)
		}
		if more = b.moreLine(list, missing); left >= b.c.CountCached(more) {
			return more
		}
	}

	// Not all fit: choose by rank, then give the chosen ones what is left.
	order := make([]*saying, len(list))
	for i := range list {
		order[i] = &list[i]
		order[i].line = ""
	}
	rank := func(s *saying) int { return s.rank(slices.Index(order, s)) }
	ranks := map[*saying]int{}
	for _, s := range order {
		ranks[s] = rank(s)
	}
	slices.SortStableFunc(order, func(a, b *saying) int { return ranks[a] - ranks[b] })
	used := b.c.CountCached(b.moreLine(list, missing)) // the longest that it can be
	for _, s := range order {
		limit := room
		if s.rules != "" || s.pair { // a mark of an earlier block may name the change
			limit = most
		}
		line := b.sayingLine(s, saidCaps[len(saidCaps)-1])
		if n := b.c.CountCached(line); used+n <= limit {
			s.line = line
			used += n
		}
	}
	for _, s := range order {
		if s.line == "" {
			continue
		}
		n := b.c.CountCached(s.line)
		for _, limit := range saidCaps {
			line := b.sayingLine(s, limit)
			if grown := used + b.c.CountCached(line) - n; grown <= room {
				s.line, used = line, grown
				break
			}
		}
	}
	return b.moreLine(list, missing)
}

// moreLine counts the messages without a line, of which the missing ones are older, and names
// where they are; "" for none.
func (b *zoner) moreLine(list []saying, missing []int) string {
	rules, others := []int{}, missing
	for i := range slices.Backward(list) {
		switch s := &list[i]; {
		case s.line != "":
		case s.rules != "":
			rules = append(rules, s.at)
		default:
			others = append(slices.Clip(others), s.at)
		}
	}
	text := ""
	for _, kind := range []struct {
		places []int
		what   string
	}{{rules, "with rules of the user"}, {others, "of the user"}} {
		n := len(kind.places)
		if n == 0 {
			continue
		}
		numbers, message := []string{}, "messages"
		if n == 1 {
			message = "message"
		}
		for _, at := range kind.places[max(0, n-saidNumbered):] {
			numbers = append(numbers, record.AddressOf(b.m, at).String())
		}
		if n > saidNumbered {
			numbers = append(numbers, "…")
		}
		text += fmt.Sprintf("- %d more %s %s: %s/%s\n", n, message, kind.what, ctxabi.LineDir, strings.Join(numbers, ", "))
	}
	return text
}

// rank is the place of the k-th newest message among those that stand first where room is short.
func (s *saying) rank(k int) int {
	switch {
	case s.rules != "", s.pair:
		return 0
	case k < saidNewest, s.reply:
		return 1
	case s.wants:
		return 2
	}
	return 3
}

// sayings are the messages of the user of a span that say something and that the pack does not
// show otherwise, newest first. Of a message that the pack shows in part they are the rules that
// it does not show. Of messages older than the newest saidMost they are those with rules; missing
// has the places of the others, oldest first.
func (b *zoner) sayings(span ctxabi.Span, covered []string) (list []saying, missing []int) {
	known := map[string]bool{}
	add := func(at int, w *saidWords) {
		s := saying{at: at, parts: b.changed.marked(at, w.parts), rules: w.rules, cut: w.cut,
			reply: w.reply, pair: b.changed.pairs(at), wants: derived.Demands(w.parts)}
		if b.isFolded(at) || b.staysWhole(at) {
			if s.parts = b.missingRules(s.parts, w.parts, covered); len(s.parts) == 0 {
				return
			}
			s.rules, s.cut = strings.Join(s.parts, " "), true
		}
		if w.sense == derived.Reply {
			s.asked = b.askedBefore(at)
		}
		if text := strings.Join(s.parts, " ") + "\x00" + s.asked; !known[text] {
			known[text] = true
			list = append(list, s)
		}
	}

	window, n := b.window(), b.notesFound // which supply replies before the window
	at, looked := span.To, 0
	for ; at >= span.From && at > b.f.Lead.N && looked < saidMost; at-- {
		e := b.m.At(at)
		mayReply := at >= window && record.IsResult(e) || n.Replied(record.AddressOf(b.m, at))
		if !record.IsUser(e) && !mayReply {
			continue
		}
		one, ok := b.mm.digests.of(b.m, at)
		if b.unread = b.unread || !ok; record.IsUser(e) || one.said != nil {
			looked++
		}
		if one.said.says() {
			add(at, one.said)
		}
	}
	missing = b.olderSayings(ctxabi.Span{From: max(span.From, b.f.Lead.N+1), To: at}, add)
	return append(list, b.again...), missing
}

// missingRules returns the rules among the parts of a message, with their marks, that covered texts
// do not have and that no later message changed.
func (b *zoner) missingRules(marked, parts, covered []string) (missing []string) {
	for i, part := range parts {
		if derived.IsRule(part) && marked[i] == part && !contains(covered, part) {
			missing = append(missing, part)
		}
	}
	return missing
}

// olderSayings calls add for the messages of a span with rules, newest first, and returns the
// places of the others that say something. It does not read the middle of a very long history (see
// finds.GapBefore): the messages there count as others.
func (b *zoner) olderSayings(span ctxabi.Span, add func(at int, w *saidWords)) (others []int) {
	gap := finds.GapBefore(b.z.at)
	var unread []record.Address
	for at := span.From; at <= span.To && b.mm.Fetch != nil; at++ {
		if record.IsUser(b.m.At(at)) && b.mm.older[at] == nil && (at < gap.From || at > gap.To) {
			unread = append(unread, record.AddressOf(b.m, at))
		}
	}
	if len(unread) > 0 {
		b.mm.Fetch(unread)
	}

	for at := span.To; at >= span.From; at-- {
		switch {
		case !record.IsUser(b.m.At(at)):
			continue
		case at >= gap.From && at <= gap.To:
			others = append(others, at)
			continue
		}
		w, ok := b.mm.older[at]
		if !ok {
			r, readable := b.excerpt(at)
			if !readable {
				continue
			}
			if w = saidBy(r); w.rules == "" { // nothing but that it says something is needed later
				w = &saidWords{sense: w.sense, idle: !w.says()}
			}
			b.mm.older[at] = w
		}
		switch {
		case w.rules != "":
			add(at, w)
		case !w.idle:
			others = append(others, at)
		}
	}
	slices.Reverse(others)
	return others
}

// contains reports whether one of texts has a sentence, whatever the white space of both.
func contains(texts []string, sentence string) bool {
	sentence = strings.Join(strings.Fields(sentence), " ")
	return slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(strings.Join(strings.Fields(text), " "), sentence)
	})
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

// sayingLine is the line of a message, in about most tokens; its rules are whole nevertheless.
func (b *zoner) sayingLine(s *saying, most int) string {
	if s.rules != "" {
		most = max(most, b.c.CountCached(s.rules)+lineTokens)
	}
	text, cut := derived.Shorten(s.parts, most, b.c.CountCached)
	a := record.AddressOf(b.m, s.at)
	line := "- [" + a.String() + "] " + record.OneLine(text)
	if s.asked != "" {
		line += ` (answering the assistant: "` + record.OneLine(s.asked) + `")`
	}
	if cut || s.cut {
		line += " · " + a.Path()
	}
	return line + "\n"
}
