package journal

import (
	"fmt"
	"slices"
	"strings"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/finds"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section"
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
	saidMost     = 512 // newest messages considered; older ones need a rule or a change
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
	must  bool   // required: an earlier block shows a statement that it changed, or lacks its mark
	line  string // in the block; "": none yet

	wants func() bool // reports whether it demands something; nil for a reply
	keep  string      // parts that every line contains whole; see keeps
	words *saidWords  // whose parts these are, unless a change concerns the message; nil: of none
	order []int       // indices of parts by importance, for shortened lines; nil: not computed yet
}

// saidTokens contains the limits of the block of the user's words. A line is added only if the
// block stays within the limit for its kind of message.
type saidTokens struct {
	all  int // any message
	most int // messages with rules or changes
	must int // required messages
}

func (t saidTokens) less(n int) saidTokens { return saidTokens{t.all - n, t.most - n, t.must - n} }

// said builds the block of the user's words from b.list and b.missing. It returns the places of the
// quoted messages and sets b.unsaid to the number of the others. The Part is empty if nothing fits.
func (b *zoner) said(span ctxabi.Span, room saidTokens) (p Part, shown map[int]bool) {
	shown = map[int]bool{}
	heading := record.BlockHeading + "user's words (" + record.SourcesOf(b.m, span) + ")\n"
	n := b.c.CountCached(heading)
	list, missing := b.list, b.missing
	b.unsaid = len(list) + len(missing)
	if room = room.less(n); max(room.all, room.most, room.must) <= 0 || b.unsaid == 0 {
		return Part{}, shown
	}
	b.sayingLines(list, missing, room)
	b.dropUnpaired(list, saidCaps[0])

	text, last, rules := heading, "", 0
	for i := range slices.Backward(list) {
		if s := &list[i]; s.line != "" {
			if day := b.day(s.at); day != "" && day != last {
				text, last = text+day+":\n", day
			}
			text += s.line
			shown[s.at] = true
			b.unsaid--
		} else if s.rules != "" {
			rules++
		}
	}
	more := b.moreLine(list, missing)
	if b.c.CountCached(text+more) > n+max(room.all, room.most) && b.unsaid > 0 {
		more = fmt.Sprintf(moreCounted, b.unsaid)
	}
	if text += more; text == heading {
		return Part{}, shown
	}
	p = Part{Piece: Piece{Span: span, Kept: true, Zone: InSaid}, Text: text, MissingRules: rules}
	p.Tokens = b.c.CountCached(p.Text)
	return p, shown
}

// moreCounted replaces the result of moreLine if the places of the messages take too many tokens.
const moreCounted = "- %d more with content: " + ctxabi.RequestsFile + "\n"

// sayingLines sets the line of each message in list, which is sorted from newest to oldest. If not
// all fit, it leaves the lines of the lowest-ranked messages empty. It reserves the tokens of
// moreLine, which counts those and the missing messages.
func (b *zoner) sayingLines(list []saying, missing []int, room saidTokens) {
	for _, limit := range saidCaps {
		left := room.all
		for i := 0; i < len(list) && left >= 0; i++ {
			list[i].line = b.sayingLine(&list[i], limit)
			left -= b.c.CountCached(list[i].line)
		}
		if left < 0 {
			continue
		}
		if left >= b.c.CountCached(b.moreLine(list, missing)) {
			return
		}
	}

	// Not all fit: choose by rank, then give the chosen ones what is left.
	order, ranks := make([]*saying, len(list)), map[*saying]int{}
	for i := range list {
		order[i] = &list[i]
		order[i].line = ""
		ranks[order[i]] = order[i].rank(i)
	}
	slices.SortStableFunc(order, func(a, b *saying) int { return ranks[a] - ranks[b] })
	longest := b.c.CountCached(b.moreLine(list, missing))
	room.most = max(room.all, room.most)
	room.must = max(room.most, room.must+longest-b.c.CountCached(fmt.Sprintf(moreCounted, len(list)+len(missing))))
	used, misses := 0, 0
	for _, s := range order {
		limit := room.all
		switch {
		case s.must:
			limit = room.must
		case s.rules != "" || s.pair: // a mark in an earlier block may refer to the message
			limit = room.most
		}
		s.line = b.sayingLine(s, saidCaps[len(saidCaps)-1])
		n := used + b.c.CountCached(s.line)
		fits := n+longest <= limit
		if !fits && n <= limit && misses < maxMisses { // moreLine gets shorter with each new line
			fits = n+b.c.CountCached(b.moreLine(list, missing)) <= limit
			misses++
		}
		if fits {
			used = n
		} else {
			s.line = ""
		}
	}
	room.all -= b.c.CountCached(b.moreLine(list, missing))
	for _, s := range order {
		if s.line == "" {
			continue
		}
		n := b.c.CountCached(s.line)
		for _, limit := range saidCaps {
			line := b.sayingLine(s, limit)
			if grown := used + b.c.CountCached(line) - n; grown <= room.all {
				s.line, used = line, grown
				break
			}
		}
	}
}

// moreLine counts the messages with content but without a line, and names where they are; "" for
// none.
func (b *zoner) moreLine(list []saying, missing []int) string {
	rules, others := []int{}, slices.Clip(missing)
	for i := range slices.Backward(list) {
		switch s := &list[i]; {
		case s.line != "":
		case s.rules != "":
			rules = append(rules, s.at)
		default:
			others = append(others, s.at)
		}
	}
	text := ""
	slices.Sort(others)
	for _, kind := range []struct {
		places []int
		what   string
	}{{rules, "with rules of the user"}, {others, "of the user with content"}} {
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
	case s.must:
		return -1
	case s.rules != "", s.pair:
		return 0
	case k < saidNewest, s.reply:
		return 1
	case s.wants():
		return 2
	}
	return 3
}

// sayings returns the user's messages in a span that say something and that the prompt does not
// show elsewhere, newest first. If a record shows a message in part, the result contains only the
// rules that it omits. Before the newest saidMost messages, the result contains only messages with
// rules or changes, and missing contains the places of the others and of repeated messages, sorted.
func (b *zoner) sayings(span ctxabi.Span) (list []saying, missing []int) {
	if b.f.Rules.without.Has(section.Requests) {
		return nil, nil
	}
	known, repeated := map[string]bool{}, []int{}
	add := func(at int, w *saidWords) {
		s := saying{at: at, parts: b.changed.marked(at, w.parts), rules: w.rules, cut: w.cut,
			reply: w.reply, pair: b.changed.pairs(at), must: b.lifts(at), keep: w.rules, wants: w.wants}
		if len(b.changed.by[at]) > 0 {
			keeps := slices.DeleteFunc(slices.Clone(w.parts), func(part string) bool { return !b.keeps(at, part) })
			s.keep = strings.Join(keeps, " ")
		}
		if b.isFolded(at) || b.staysWhole(at) {
			missing := b.missingRules(s.parts, w.parts)
			if len(missing) == 0 {
				return
			}
			s.parts = derived.Select(s.parts, func(i int) bool { return missing[i] })
			s.rules, s.cut = strings.Join(s.parts, " "), true
			s.keep = s.rules
		} else if !s.pair {
			s.words = w
		}
		if w.sense == derived.Reply {
			s.asked = b.askedBefore(at)
		}
		if text := strings.Join(s.parts, " ") + "\x00" + s.asked; !known[text] {
			known[text] = true
			list = append(list, s)
		} else {
			repeated = append(repeated, at)
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
	missing = append(b.olderSayings(ctxabi.Span{From: max(span.From, b.f.Lead.N+1), To: at}, add), repeated...)
	slices.Sort(missing)
	return append(list, b.again...), missing
}

// missingRules returns the indices of the rules among the parts of a message that no record of the
// prompt shows and that no later message changed. marked has the same parts with change marks.
func (b *zoner) missingRules(marked, parts []string) map[int]bool {
	missing := map[int]bool{}
	for i, part := range parts {
		if derived.IsRule(part) && marked[i] == part && !contains(b.records, part) {
			missing[i] = true
		}
	}
	return missing
}

// olderSayings calls add for each message in a span with rules or changes, newest first, and
// returns the places of the other messages that say something, oldest first. It does not read the
// middle of a very long history (see finds.GapBefore) and returns the places of all messages there.
func (b *zoner) olderSayings(span ctxabi.Span, add func(at int, w *saidWords)) (others []int) {
	gap := finds.GapBefore(b.z.at)
	for at := span.To; at >= span.From; at-- {
		switch {
		case !record.IsUser(b.m.At(at)):
			continue
		case at >= gap.From && at <= gap.To:
			others = append(others, at)
			continue
		}
		w, ok := b.mm.older[at]
		pair := b.changed.pairs(at)
		if !ok || pair && len(w.parts) == 0 {
			r, readable := b.excerpt(at)
			if !readable {
				continue
			}
			if w = saidBy(r); w.rules == "" && !pair { // later calls need only w.idle
				w = &saidWords{sense: w.sense, idle: !w.says()}
			}
			b.mm.older[at] = w
		}
		switch {
		case w.rules != "" || pair:
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
				order := func() []int { return derived.Order(parts, derived.IsRule) }
				short, _ := derived.Shorten(parts, order, saidAsked, b.c.CountCached)
				return short
			}
		}
	}
	return ""
}

// sayingLine formats a message as a line of about most tokens. The line is longer if s.keep alone
// takes more.
func (b *zoner) sayingLine(s *saying, most int) string {
	if s.keep != "" {
		most = max(most, b.c.CountCached(s.keep)+lineTokens)
	}
	text, cut := derived.Shorten(s.parts, func() []int {
		if s.order == nil && s.words != nil {
			s.order = s.words.inOrder()
		} else if s.order == nil {
			s.order = derived.Order(s.parts, func(part string) bool { return b.keeps(s.at, part) })
		}
		return s.order
	}, most, b.c.CountCached)
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

// keeps reports whether lines of the message at a place must contain a part whole. The part is a
// rule, or the message changed a statement and the part is a sentence that asks for a change.
func (b *zoner) keeps(at int, part string) bool {
	asks := func(ask derived.Statement) bool { return strings.HasPrefix(part, begins(ask.Text)) }
	return derived.IsRule(part) || len(b.changed.by[at]) > 0 && slices.ContainsFunc(b.notesFound.Asks, asks)
}
