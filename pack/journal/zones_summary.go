package journal

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// summary is the block that says what was asked, concluded and what failed: in the words of the recipe's summarizer as
// far as these go, and by lines of their own of the records that left since.
func (b *zoner) summary(rooms zoneRules) Part {
	span := ctxabi.Span{From: b.f.from, To: b.z.boundary - 1}
	p := Part{Piece: Piece{Span: span, Kept: true, Zone: InSummary}, Text: record.BlockHeading + "summary (" + record.SourcesOf(b.m, span) + ")\n"}
	room, after := int(rooms.summary)-b.c.CountCached(p.Text), b.f.from-1
	if b.own != nil {
		// It may take what key lines are to have, too: it is what somebody who knows wants to be told.
		own, most := b.c.CountCached(p.Text+b.own.Text), int(rooms.summary+rooms.lines)
		if own <= most {
			p.Text, p.Summarized, after = p.Text+b.own.Text, b.own.To, b.own.To
			room = min(int(rooms.summary), most-own)
		}
	}
	lines := b.derived(after, room)
	if p.Summarized == 0 && len(lines) == 0 {
		return Part{}
	}
	p.Text += strings.Join(lines, "")
	p.Tokens = b.c.CountCached(p.Text)
	return p
}

// derived are the lines for the records after the place after, as many as there is room for, in their order.
func (b *zoner) derived(after, room int) []string {
	type note struct {
		at   int
		text string
	}
	var notes []note // newest first
	add := func(at int, what, text string) bool {
		if text == "" {
			return true
		}
		line := "- " + what + ": " + record.OneLine(text) + " (" + record.AddressOf(b.m, at).Source() + ")\n"
		n := b.c.CountCached(line)
		if n > room {
			return false
		}
		room -= n
		notes = append(notes, note{at, line})
		return true
	}
	folded := b.z.boundary
	if b.z.From > 0 {
		folded = b.z.From
	}
	requests := b.f.SettledRequests
	for i := len(requests) - 1; i >= 0; i-- {
		q := requests[i]
		if q.answer > after && q.answer < folded {
			r, _ := b.excerpt(q.answer)
			if !add(q.answer, "Answered", compress.Sentence(r.Text, 200)) {
				break
			}
		}
		if q.user > after && q.user < folded && !b.staysWhole(q.user) {
			r, _ := b.excerpt(q.user)
			if !add(q.user, "Asked", compress.Sentence(r.Text, 200)) {
				break
			}
		}
	}
	known := map[string]bool{}
	for at := folded - 1; at > max(b.f.Lead.N, folded-256, after) && room > 24; at-- {
		if b.m.At(at).Len > record.LongText {
			continue
		}
		r, _ := b.excerpt(at)
		what, text := "", ""
		switch {
		case r.Result:
			line := compress.Fold(compress.Clip(r.Text, 4096), 30)
			if r.Failed || compress.TellsFailure(line) {
				what, text = "Failed", line
			}
		case b.m.At(at).Role == ctxabi.Assistant:
			what, text = "Concluded", compress.Decision(r.Text, 200)
		}
		if text != "" && !known[text] {
			known[text] = true
			if !add(at, what, text) {
				break
			}
		}
	}
	slices.SortStableFunc(notes, func(a, b note) int { return a.at - b.at })
	var lines []string
	for _, n := range notes {
		lines = append(lines, n.text)
	}
	return lines
}

// SummaryFor returns the summary that enters at the last major compaction of f, or nil.
func (mm *Memo) SummaryFor(f *Fold) *Summary {
	if len(f.past) == 0 {
		return nil
	}
	if n := mm.summaryAt(f.past[0].Compacted, f.past[0].Boundary()); n > 0 {
		return &mm.Summaries[n-1]
	}
	return nil
}

// summaryAt returns the number of a summary as Fold.summary does.
func (mm *Memo) summaryAt(compacted, boundary int) int {
	for i := range slices.Backward(mm.Summaries) {
		if s := &mm.Summaries[i]; s.After < compacted && s.To < boundary {
			return i + 1
		}
	}
	return 0
}

// OwnSummary is how many tokens the summarizer may give for what is behind the boundary; 0: the journal has no summary.
func (f *Fold) OwnSummary() int {
	if f.Boundary() == 1 || f.Rules.zones.all() == 0 {
		return 0
	}
	return f.Rules.maxOwn(f.Rules.room - f.settled().keptRecords(1, f.starts[0]))
}

// maxOwn is how many tokens the summarizer may give where so many are left beside the records that are kept: the room of
// the derived summary and a quarter of that of key lines, but no more than maxSummary.
func (r *Rules) maxOwn(room int64) int {
	z := r.zonesIn(room)
	return int(min(MaxSummary, z.summary+z.lines/4))
}
