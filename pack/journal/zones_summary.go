package journal

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section"
)

// Limits of the derived sentences. The span is divided into stretches of equal length.
const (
	gistTokens   = 80 // tokens per stretch
	gistScanned  = 64 // newest conclusions of a stretch that are considered
	minWorth     = 3  // least worth of the sentence that represents a stretch, unless it ends a turn
	endsWorth    = 4  // additional worth of a sentence in the last record of a turn
	answersWorth = 4  // likewise, of the best sentence of a turn that a quoted question began
	maxMisses    = 8  // sentences that may fail to fit before the selection stops
)

// derivedHeading precedes the derived sentences.
const derivedHeading = "Each as of its message:\n"

// gist is a conclusion of the assistant in the history of a compaction.
type gist struct {
	section.Conclusion
	ends bool // a turn: the user's message follows
}

// summary builds the block of a generation about actions, findings, and decisions in a span: the
// delivered version, then derived lines for the records after its range in rooms.summary tokens.
// said contains the places of the user's messages that the prompt quotes. The Part is empty if
// there are no derived lines and no version covers a record.
func (b *zoner) summary(span ctxabi.Span, rooms zoneRules, said map[int]bool) Part {
	p := Part{Piece: Piece{Span: span, Kept: true, Zone: InSummary}, Text: record.BlockHeading + "summary (" + record.SourcesOf(b.m, span) + ")\n"}
	room, after := int(rooms.summary), max(span.From-1, b.z.covers)
	heading := b.c.CountCached(p.Text)
	if text, cut := b.delivered(int(rooms.own) - heading); text == "" {
		room -= heading
	} else {
		p.Text, p.Version, p.VersionCut = p.Text+text, b.own.N, cut
		b.own.tokens = int64(b.c.CountCached(p.Text))
		fromLines := int(rooms.lines) * olderFromLines / 1000
		older := b.older(room*olderShare/1000 + fromLines)
		p.Text += older
		room -= max(0, b.c.CountCached(older)-fromLines)
	}

	lines := b.derived(ctxabi.Span{From: after + 1, To: span.To}, room-b.c.CountCached(derivedHeading), said)
	if len(lines) > 0 {
		p.Text += derivedHeading
	} else if p.Version == 0 {
		return Part{}
	}
	p.Text += strings.Join(lines, "")
	p.Tokens = b.c.CountCached(p.Text)
	return p
}

// ownBlock returns how many of the rooms.own tokens the delivered version takes with its heading.
func (b *zoner) ownBlock(rooms *zoneRules) int64 {
	heading := int64(b.c.CountCached(record.BlockHeading + "summary (" +
		record.SourcesOf(b.m, ctxabi.Span{From: b.f.from, To: b.z.boundary - 1}) + ")\n"))
	text, _ := b.delivered(int(rooms.own - heading))
	if text == "" {
		return 0
	}
	return min(rooms.own, heading+int64(b.c.CountCached(text))+1)
}

// delivered formats the delivered version in at most room tokens: a line with its number, writer,
// and range, then its text, then its check lines. cut is true if the text is truncated. delivered
// returns "" if there is no version or if not even the frame fits.
func (b *zoner) delivered(room int) (text string, cut bool) {
	if b.own.Summary == nil || b.own.Text == "" {
		return "", false
	}
	span := ctxabi.Span{From: 1, To: b.own.To}
	head := fmt.Sprintf("Version %d, by %s", b.own.N, SummaryWriter(b.own.Writer))
	if b.own.To > 0 {
		head += ", of " + record.SourcesOf(b.m, span)
	}
	head += ":\n"
	tail := b.own.checks
	limit := min(b.f.Rules.SummaryLimit(), room-b.c.CountCached(head+tail))
	if limit <= 0 {
		return "", false
	}
	text, cut = cutSummary(ctxabi.Escape(b.own.Text), ctxabi.SummaryPath(b.own.N), limit, b.c.CountCached)
	if record.NeedsFence(text) { // the text leaves a code fence open
		var b strings.Builder
		record.WriteContent(&b, text, true)
		text = b.String()
	}
	return head + text + tail, cut
}

// derived are the lines for the records of a span, spread over it, as many as there is room for, in their order.
func (b *zoner) derived(span ctxabi.Span, room int, said map[int]bool) []string {
	if b.f.Rules.without.Has(section.Conclusions) {
		return nil
	}
	if b.z.From > 0 {
		span.To = min(span.To, b.z.From-1)
	}
	span.From = max(span.From, b.f.Lead.N+1)
	l := summaryLines{b: b, room: room, known: map[string]bool{}}
	stretches := b.gists(span, max(1, l.room/gistTokens))
	var rest []point
	// The best of each stretch, from the newest on; then the best of all.
	for _, list := range slices.Backward(stretches) {
		for i := range list {
			g := &list[i]
			others := 0
			for k, p := range g.Points {
				if i == 0 && k == g.Best() && (g.ends || p.Worth >= minWorth) {
					l.add(g.At, b.leadIn(g, said), p.Text, p.N, l.room)
					continue
				}
				worth := p.Worth - others // each further sentence of a record says less
				others++
				if g.ends {
					worth += endsWorth
				}
				if k == g.Best() && said[g.Asked] && b.isQuestion(g.Asked) {
					worth += answersWorth
				}
				rest = append(rest, point{g, p.Text, p.N, worth})
			}
		}
	}
	slices.SortStableFunc(rest, func(a, b point) int { return b.worth - a.worth })
	misses := 0
	for _, p := range rest {
		if misses < maxMisses && !l.add(p.of.At, b.leadIn(p.of, said), p.text, p.number, l.room) {
			misses++
		}
	}
	return l.lines()
}

// dropRestated removes each point whose subjects points of later records state again, and each gist
// without points. The records are in their order.
func dropRestated(stretches [][]gist) {
	var later []derived.Subject
	for k, list := range slices.Backward(stretches) {
		for i, g := range slices.Backward(list) {
			var own []derived.Subject
			list[i].Points = nil // the section keeps its own
			for _, p := range g.Points {
				if subjects := derived.Subjects(p.Text); !derived.Restated(subjects, later) {
					list[i].Points, own = append(list[i].Points, p), append(own, subjects...)
				}
			}
			later = append(later, own...)
		}
		stretches[k] = slices.DeleteFunc(list, func(g gist) bool { return len(g.Points) == 0 })
	}
}

// point is a sentence that the summary may have.
type point struct {
	of     *gist
	text   string
	number int // among those of its record
	worth  int
}

// summaryLines are the lines of a summary: one for each record, with what of it stands there.
type summaryLines struct {
	b     *zoner
	room  int // tokens
	known map[string]bool
	list  []summaryLine
}

// summaryLine is what a summary says of one record.
type summaryLine struct {
	at    int
	lead  string // before the first sentence
	parts []linePart
}

// linePart is a sentence of a record, and its number there.
type linePart struct {
	number int
	text   string
}

// add adds a sentence of a record if at most room tokens are enough; it reports whether it stands there.
func (l *summaryLines) add(at int, lead, text string, number, room int) bool {
	if text = record.OneLine(text); l.known[text] {
		return true
	}
	i := slices.IndexFunc(l.list, func(s summaryLine) bool { return s.at == at && s.lead == lead })
	n := 0
	if i < 0 {
		n = l.b.c.CountCached("- " + lead + between(nil, linePart{number, text}) + text + l.cited(at))
	} else {
		n = l.b.c.CountCached(" … " + text)
	}
	if n > room {
		return false
	}
	if i < 0 {
		i = len(l.list)
		l.list = append(l.list, summaryLine{at: at, lead: lead})
	}
	l.list[i].parts = append(l.list[i].parts, linePart{number, text})
	l.known[text] = true
	l.room -= n
	return true
}

func (l *summaryLines) cited(at int) string {
	return " (" + record.AddressOf(l.b.m, at).Source() + ")\n"
}

// lines are those of the records, in their order.
func (l *summaryLines) lines() (out []string) {
	slices.SortStableFunc(l.list, func(a, b summaryLine) int { return a.at - b.at })
	for _, s := range l.list {
		slices.SortStableFunc(s.parts, func(a, b linePart) int { return a.number - b.number })
		text := s.lead
		for i, p := range s.parts {
			text += between(s.parts[:i], p) + p.text
		}
		out = append(out, "- "+text+l.cited(s.at))
	}
	return out
}

// isQuestion reports whether the user's message at a place asks something.
func (b *zoner) isQuestion(at int) bool {
	w := b.sections.Message(at)
	return w != nil && strings.ContainsAny(strings.Join(w.Parts, " "), "?？")
}

// between returns what separates a sentence of a record from those before it in a line.
func between(before []linePart, p linePart) string {
	switch n := len(before); {
	case n == 0 && p.number > 0 && derived.RefersBack(p.text):
		return "… "
	case n == 0:
		return ""
	case strings.HasPrefix(p.text, "…") || strings.HasSuffix(before[n-1].text, "…"):
		return " "
	case p.number > before[n-1].number+1:
		return " … "
	case !strings.HasSuffix(before[n-1].text, ";") && !derived.EndsSentence(before[n-1].text):
		return "; "
	}
	return " "
}

// leadIn is what stands before the sentences of a record: at the end of a turn also what the user had asked.
func (b *zoner) leadIn(g *gist, said map[int]bool) string {
	switch {
	case !g.ends:
		return ""
	case g.Asked > 0 && (said[g.Asked] || b.staysWhole(g.Asked)):
		return "To [" + record.AddressOf(b.m, g.Asked).String() + "]: "
	}
	return "Answered: "
}

// gists returns the conclusions of a span in stretches of equal length, in each the best first: one
// that ends a turn, then the most worthy.
func (b *zoner) gists(span ctxabi.Span, stretches int) [][]gist {
	n := span.To - span.From + 1
	if n <= 0 {
		return nil
	}
	out := make([][]gist, min(stretches, n))
	for _, one := range b.sections.Conclusions() {
		if at := one.At; at >= span.From && at <= span.To {
			k := (at - span.From) * len(out) / n
			ends := at == b.z.at || at < b.z.at && record.IsUser(b.m.At(at+1))
			out[k] = append(out[k], gist{one, ends})
		}
	}
	for k, list := range out {
		out[k] = list[max(0, len(list)-gistScanned):]
	}
	dropRestated(out)

	rank := func(g *gist) int {
		worth := g.Points[g.Best()].Worth
		if g.ends {
			worth += math.MaxInt32
		}
		return worth
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b gist) int { return cmp.Or(rank(&b)-rank(&a), b.At-a.At) })
	}
	return out
}
