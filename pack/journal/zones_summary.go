package journal

import (
	"slices"
	"strings"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Numbers of the summary.
const (
	gistTokens   = 40   // that a line takes about: so many stretches has the range
	gistLooked   = 3    // records of a stretch that are read, where they are older than those of key lines
	gistScanned  = 64   // records of such a stretch among which these are looked for
	failedPart   = 4    // failures take a quarter of the room at most
	failedWindow = 1024 // of the newest records, of which failures are told
	ownSummary   = 300  // thousandths of the room that the summarizer's text may take
)

// gist is what an assistant's record says, as a line of the summary.
type gist struct {
	at    int
	ends  bool // a turn: the user's message follows
	asked int  // the user's message that began the turn; 0: not known
	text  string
}

// summary is the block that says what was done, found and decided and what failed in the records of a span: in the words of the
// recipe's summarizer as far as these go, and by lines of their own of the records that left since. said are the messages of the user
// whose words the pack has.
func (b *zoner) summary(span ctxabi.Span, rooms zoneRules, said map[int]bool) Part {
	p := Part{Piece: Piece{Span: span, Kept: true, Zone: InSummary}, Text: record.BlockHeading + "summary (" + record.SourcesOf(b.m, span) + ")\n"}
	room, after := int(rooms.summary)-b.c.CountCached(p.Text), span.From-1
	if b.own != nil && b.own.To >= span.From {
		// It may take what key lines are to have, too: it is what somebody who knows wants to be told.
		own, most := b.c.CountCached(p.Text+b.own.Text), int(rooms.summary+rooms.lines)
		if own <= most {
			p.Text, p.Summarized, after = p.Text+b.own.Text, b.own.To, b.own.To
			room = min(int(rooms.summary), most-own)
		}
	}
	lines := b.derived(ctxabi.Span{From: after + 1, To: span.To}, room, said)
	if p.Summarized == 0 && len(lines) == 0 {
		return Part{}
	}
	p.Text += strings.Join(lines, "")
	p.Tokens = b.c.CountCached(p.Text)
	return p
}

// derived are the lines for the records of a span, spread over it, as many as there is room for, in their order.
func (b *zoner) derived(span ctxabi.Span, room int, said map[int]bool) []string {
	type note struct {
		at   int
		text string
	}
	var notes []note
	known := map[string]bool{}
	add := func(at int, text string, room *int) bool {
		if text = record.OneLine(text); known[text] {
			return true
		}
		line := "- " + text + " (" + record.AddressOf(b.m, at).Source() + ")\n"
		n := b.c.CountCached(line)
		if n > *room {
			return false
		}
		known[text] = true
		*room -= n
		notes = append(notes, note{at, line})
		return true
	}
	if b.z.From > 0 {
		span.To = min(span.To, b.z.From-1)
	}
	span.From = max(span.From, b.f.Lead.N+1)
	failed := room / failedPart
	for _, f := range b.failures(span) {
		before := failed
		if !add(f.at, f.text, &failed) {
			break
		}
		room -= before - failed
	}
	stretches := b.gists(span, max(1, room/gistTokens))
	// The best of each stretch, from the newest on; then the next best.
	for round := 0; round < 3; round++ {
		for _, list := range slices.Backward(stretches) {
			if round < len(list) {
				add(list[round].at, b.gistLine(&list[round], said), &room)
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

// gistLine is what a line says: of the end of a turn also what the user had asked.
func (b *zoner) gistLine(g *gist, said map[int]bool) string {
	switch {
	case !g.ends:
		return g.text
	case g.asked > 0 && (said[g.asked] || b.staysWhole(g.asked)):
		return "To [" + record.AddressOf(b.m, g.asked).String() + "]: " + g.text
	}
	return "Answered: " + g.text
}

// failureLine is a failed attempt that nothing made up for, and where it was.
type failureLine struct {
	at   int
	text string
}

// failures are the attempts of the newest records of a span that failed and that nothing made up for up to the compaction, newest first.
func (b *zoner) failures(span ctxabi.Span) (out []failureLine) {
	from := max(span.From, b.z.at-failedWindow+1)
	if from > span.To {
		return nil
	}
	var o Outcomes
	b.mm.TryAll(&o, b.m, from, b.z.at)
	for _, f := range slices.Backward(o.failing) {
		if at := f.places[len(f.places)-1]; at <= span.To {
			out = append(out, failureLine{at, "Failed: " + f.line})
		}
	}
	return out
}

// gists are what the assistant's records of a span say, in so many stretches of it, of each the best first: what ends a turn, and what
// says most. Of records that are older than those that key lines are chosen from, a few of each stretch are read.
func (b *zoner) gists(span ctxabi.Span, stretches int) [][]gist {
	n := span.To - span.From + 1
	if n <= 0 {
		return nil
	}
	stretches = min(stretches, n)
	window := b.window()
	out := make([][]gist, stretches)
	asked := 0
	for k := range out {
		from, to := span.From+n*k/stretches, span.From+n*(k+1)/stretches-1
		if from < window {
			from = max(from, to-gistScanned+1)
			asked = 0
		}
		var list []gist
		looked := 0
		for at := from; at <= to; at++ {
			e := b.m.At(at)
			if record.IsUser(e) {
				asked = at
				continue
			}
			if e.Role != ctxabi.Assistant {
				continue
			}
			ends := at == b.z.at || at < b.z.at && record.IsUser(b.m.At(at+1))
			if at < window {
				if !ends && to-at > 2*gistLooked || looked == gistLooked {
					continue
				}
				looked++
			}
			one, ok := b.mm.digests.of(b.m, at)
			b.unread = b.unread || !ok
			if one.gist != "" {
				list = append(list, gist{at, ends, asked, one.gist})
			}
		}
		slices.SortStableFunc(list, func(a, b gist) int {
			if a.ends != b.ends {
				if a.ends {
					return -1
				}
				return 1
			}
			if x, y := derived.Outcomes(a.text), derived.Outcomes(b.text); x != y {
				return y - x
			}
			return b.at - a.at
		})
		out[k] = list
	}
	return out
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

// maxOwn is how many tokens the summarizer may give where so many are left beside the records that are kept: three tenths of these, but
// not more than the summary and the key lines may have together.
func (r *Rules) maxOwn(room int64) int {
	z := r.zonesIn(room)
	return int(min(room*ownSummary/1000, z.summary+z.lines))
}
