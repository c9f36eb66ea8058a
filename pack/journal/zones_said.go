package journal

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
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
	maxAlike     = 2   // newest messages that differ in numbers only; older ones get tokens last
	saidNumbered = 8   // missing messages whose numbers the block lists
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

	keep    string           // parts that every line contains whole; see keeps
	message *section.Message // whose parts these are, unless a change concerns it; nil: of none
}

// saidTokens contains the limits of the block of the user's words. A line is added only if the
// block stays within the limit for its kind of message.
type saidTokens struct {
	all  int // any message
	most int // messages with rules or changes
	must int // required messages
}

func (t saidTokens) less(n int) saidTokens { return saidTokens{t.all - n, t.most - n, t.must - n} }

// said builds the block of the user's words from b.words. It returns the places of the
// quoted messages and sets b.words.unsaid to the number of the others. The Part is empty if nothing fits.
func (b *zoner) said(span ctxabi.Span, room saidTokens) (p Part, shown map[int]bool) {
	shown = map[int]bool{}
	heading := record.BlockHeading + "user's words (" + record.SourcesOf(b.m, span) + ")\n"
	n := b.c.CountCached(heading)
	list, missing := b.words.list, b.words.missing
	b.words.unsaid = len(list) + len(missing)
	if room = room.less(n); max(room.all, room.most, room.must) <= 0 || b.words.unsaid == 0 {
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
			b.words.unsaid--
		} else if s.rules != "" {
			rules++
		}
	}
	more := b.moreLine(list, missing)
	if b.c.CountCached(text+more) > n+max(room.all, room.most) && b.words.unsaid > 0 {
		more = fmt.Sprintf(moreCounted, b.words.unsaid)
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
	alike := map[string]int{}
	for i := range list {
		order[i] = &list[i]
		order[i].line = ""
		ranks[order[i]] = order[i].rank(i)

		form := formOf(list[i].parts)
		if alike[form]++; alike[form] > maxAlike && ranks[order[i]] > 1 {
			ranks[order[i]] = 4
		}
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

// rank returns the priority of the k-th newest message, the most important one first. Messages that
// repeat later ones have 4.
func (s *saying) rank(k int) int {
	switch {
	case s.must:
		return -1
	case s.rules != "", s.pair:
		return 0
	case k < saidNewest, s.reply:
		return 1
	case derived.Demands(s.parts):
		return 2
	}
	return 3
}

// formOf joins the parts of a message with 0 in place of each number.
func formOf(parts []string) string {
	var form strings.Builder
	inNumber := false
	for _, r := range strings.Join(parts, " ") {
		if isDigit := unicode.IsDigit(r); !isDigit {
			form.WriteRune(r)
			inNumber = false
		} else if !inNumber {
			form.WriteByte('0')
			inNumber = true
		}
	}
	return form.String()
}

// sayings returns the user's messages in a span that say something and that the prompt does not
// show elsewhere, newest first. If a record shows a message in part, the result contains only the
// rules that it omits. Before the newest saidMost messages, the result contains only messages with
// rules or changes, and missing contains the places of the others and of repeated messages, sorted.
func (b *zoner) sayings(span ctxabi.Span) (list []saying, missing []int) {
	if b.f.Rules.without.Has(section.Requests) {
		return nil, nil
	}
	span.From = max(span.From, b.f.Lead.N+1)
	for at := max(span.From, section.First+1); at <= min(span.To, b.sections.From()); at++ {
		if record.IsUser(b.m.At(at)) { // the section does not contain it
			missing = append(missing, at)
		}
	}
	known, looked := map[string]bool{}, 0
	for _, w := range slices.Backward(b.sections.Messages()) {
		if w.At < span.From || w.At > span.To {
			continue
		}
		looked++
		if isOld := looked > saidMost; isOld && w.Rules == "" && !b.changed.pairs(w.At) || !isOld && !w.Says() {
			if w.Says() {
				missing = append(missing, w.At)
			}
			continue
		}
		s, ok := b.saying(w)
		switch text := strings.Join(s.parts, " ") + "\x00" + s.asked; {
		case !ok:
		case known[text]:
			missing = append(missing, w.At)
		default:
			known[text] = true
			list = append(list, s)
		}
	}
	slices.Sort(missing)
	return append(list, b.words.again...), missing
}

// saying returns what the block may quote of a message; ok is false if the prompt shows all of it
// elsewhere.
func (b *zoner) saying(w *section.Message) (s saying, ok bool) {
	at := w.At
	s = saying{at: at, parts: b.changed.marked(at, w.Parts), rules: w.Rules, cut: w.Cut,
		reply: w.Reply, pair: b.changed.pairs(at), must: b.lifts(at), keep: w.Rules}
	if len(b.changed.by[at]) > 0 {
		keeps := slices.DeleteFunc(slices.Clone(w.Parts), func(part string) bool { return !b.keeps(at, part) })
		s.keep = strings.Join(keeps, " ")
	}
	if b.isFolded(at) || b.staysWhole(at) {
		missing := b.missingRules(s.parts, w.Parts)
		if len(missing) == 0 {
			return s, false
		}
		s.parts = derived.Select(s.parts, func(i int) bool { return missing[i] })
		s.rules, s.cut = strings.Join(s.parts, " "), true
		s.keep = s.rules
	} else if !s.pair {
		s.message = w
	}
	if parts, _ := derived.UserWords(w.Asked); len(parts) > 0 {
		order := func() []int { return derived.Order(parts, derived.IsRule) }
		s.asked, _ = derived.Shorten(parts, order, saidAsked, b.c.CountCached)
	}
	return s, true
}

// missingRules returns the indices of the rules among the parts of a message that no record of the
// prompt shows and that no later message changed. marked has the same parts with change marks.
func (b *zoner) missingRules(marked, parts []string) map[int]bool {
	missing := map[int]bool{}
	for i, part := range parts {
		if derived.IsRule(part) && marked[i] == part && !contains(b.words.records, part) {
			missing[i] = true
		}
	}
	return missing
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

// sayingLine formats a message as a line of about most tokens. The line is longer if s.keep alone
// takes more.
func (b *zoner) sayingLine(s *saying, most int) string {
	if s.keep != "" {
		most = max(most, b.c.CountCached(s.keep)+lineTokens)
	}
	text, cut := derived.Shorten(s.parts, func() []int {
		if s.message != nil {
			return s.message.Order()
		}
		return derived.Order(s.parts, func(part string) bool { return b.keeps(s.at, part) })
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
	return derived.IsRule(part) || len(b.changed.by[at]) > 0 && slices.ContainsFunc(b.facts.Asks(), asks)
}
