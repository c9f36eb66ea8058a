package journal

import (
	"maps"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section"
)

// covered are the texts of the records that the pack shows.
func (b *zoner) covered() (out []string, whole map[int]bool, err error) {
	whole = map[int]bool{}
	at := *b.f
	at.N = b.z.at // records that came later do not count
	past := append(slices.Clip(b.before), b.z)
	for _, p := range at.pieces(b.m, past.folded()...) {
		switch {
		case p.Zone == InFolds:
			out = append(out, past.fold(p).Text)
		case p.Zone == InBlocks:
			for _, block := range past[p.Past].blocks {
				out = append(out, block.Text)
			}
		case !p.Omitted:
			r, err := b.mm.show(b.m, p, b.c)
			if err != nil {
				return nil, nil, err
			}
			out = append(out, r.text)
			whole[p.From] = r.how == ""
		}
	}
	return out, whole, nil
}

// Limits of the quotes from compacted records.
const (
	minQuotes   = 1500 // tokens available at any budget
	quotesShare = 150  // thousandths of the journal, if that is more than minQuotes
	boilerplate = 1000 // a result of fewer bytes is not quoted if it occurs at least three times
)

// lineSource is where a source of key lines is from.
type lineSource struct {
	at   int // the record's place
	part *digestPart
}

// as reports whether a line of s needs no head behind one of t.
func (s lineSource) as(t lineSource) bool {
	return s.at == t.at && (s.part == t.part || s.part.head == t.part.head)
}

// window is the first of the records that are looked at to choose key lines.
func (b *zoner) window() int { return windowOf(b.m, b.z.at) }

// windowOf returns the first of the records up to a place that are looked at together.
func windowOf(m record.Records, at int) int {
	first := at + 1
	for bytes := 0; first > 1 && at-first < WindowRecords; first-- {
		if bytes += int(m.At(first - 1).Len); bytes > windowBytes {
			break
		}
	}
	return first
}

// Outdated returns the places of records of which a later one, up to the place last, replaced all
// content: a file that was written or removed, or a field that a call set to another value.
func (mm *Memo) Outdated(m record.Records, last int) map[int]bool {
	first, kept := windowOf(m, last), &mm.outdated
	if kept.last == last {
		return kept.places
	}
	mm.digests.limit()
	if newest, ok := mm.digests.read(m, last); ok && kept.last > 0 && kept.last == last-1 && !newest.mayReplace() {
		kept.last = last
		maps.DeleteFunc(kept.places, func(at int, _ bool) bool { return at < first })
		return kept.places
	}
	var parts []lineSource
	unread := false
	for at := first; at <= last; at++ {
		one, ok := mm.digests.read(m, at)
		unread = unread || !ok
		for i := range one.parts {
			parts = append(parts, lineSource{at, &one.parts[i]})
		}
	}

	places := map[int]bool{}
	files := filesOf(m, parts)
	for i, s := range parts {
		alone := (i == 0 || parts[i-1].at != s.at) && (i+1 == len(parts) || parts[i+1].at != s.at)
		if _, all := files.gone(i, s); all && alone {
			places[s.at] = true
		}
	}
	if *kept = (outdated{}); !unread {
		*kept = outdated{last, places}
	}
	return places
}

// outdated caches the result of [Memo.Outdated] for the newest place.
type outdated struct {
	last   int // 0: the cache is empty
	places map[int]bool
}

// mayReplace reports whether a record may change which older records are outdated: it names a file,
// sets a field, or reports a failure, which cancels the effect of its call.
func (d *digest) mayReplace() bool {
	return slices.ContainsFunc(d.parts, func(p digestPart) bool { return p.file != "" || p.setting != nil || p.failed })
}

// keyLines is the block of old lines, in at most room tokens: of all records behind the boundary, also of those that earlier generations
// took there, since what matters of them changes. covered are the texts that the pack shows beside them, whole the records among these
// that stand there in full.
func (b *zoner) keyLines(room int, covered []string, whole map[int]bool) Part {
	first := b.window()
	span := ctxabi.Span{From: first, To: b.z.at}
	if span.From > span.To || b.f.Rules.without.Has(section.Quotes) {
		return Part{}
	}
	d := &b.mm.digests
	d.limit() // not between two of these: their numbers are compared
	var parts []lineSource
	for at := first; at <= b.z.at; at++ {
		one, ok := d.read(b.m, at)
		b.unread = b.unread || !ok
		for i := range one.parts {
			parts = append(parts, lineSource{at, &one.parts[i]})
		}
	}
	same := map[string]int{} // occurrences of each short result without a file
	for _, s := range parts {
		if text := s.part.Text(); s.part.file == "" && len(text) < boilerplate {
			same[text]++
		}
	}
	sources := make([]compress.Source, len(parts))
	files := filesOf(b.m, parts)
	for i, s := range parts {
		sources[i] = compress.Source{Digest: s.part.Digest, Age: b.z.at - s.at, Tool: s.part.head != "" &&
			b.m.At(s.at).Role != ctxabi.Assistant &&
			s.part.head != "user", User: s.part.head == "user", Shown: whole[s.at] || len(b.changed.of[s.at]) > 0}
		if !sources[i].Shown {
			sources[i].Gone, sources[i].Shown = files.gone(i, s)
			sources[i].Shown = sources[i].Shown || sources[i].Tool && (s.part.acknowledges() || same[s.part.Text()] > 2)
		}
	}
	hideRestated(parts, sources)
	heading := record.BlockHeading + "key lines (" + record.SourcesOf(b.m, span) + ")\n"
	room = min(room, b.quotesLimit()) - b.c.CountCached(heading)
	ends, taken := b.conclusions(parts, max(first, b.z.from), whole, room/2)
	room -= taken
	for _, l := range ends {
		covered = append(covered, l.Text)
	}
	named := map[int]bool{}
	for _, l := range ends {
		named[l.Source] = true
	}
	chosen := d.words.KeyLines(sources, covered, room, func(lines []compress.KeyLine, left int) int {
		n, source := 0, lines[0].Source
		for i, l := range lines {
			n += b.c.CountCached(b.keyLine(parts[source], l, named[source] || i > 0))
		}
		named[source] = named[source] || n <= left
		return n
	})
	chosen = append(chosen, ends...)
	if len(chosen) == 0 {
		return Part{}
	}
	// What a report ends with stands behind what else there is of it.
	slices.SortStableFunc(chosen, func(a, b compress.KeyLine) int { return a.Source - b.Source })
	var text strings.Builder
	text.WriteString(heading)
	for i, l := range chosen {
		text.WriteString(b.keyLine(parts[l.Source], l, i > 0 && parts[chosen[i-1].Source].as(parts[l.Source])))
	}
	p := Part{Piece: Piece{Span: span, Kept: true, Zone: InLines}, Text: text.String()}
	p.Tokens = b.c.CountCached(p.Text)
	return p
}

// hideRestated marks lines of the assistant as outdated if later records state all their subjects
// again.
func hideRestated(parts []lineSource, sources []compress.Source) {
	var later []derived.Subject
	for i, s := range slices.Backward(parts) {
		if len(s.part.states) == 0 {
			continue
		}
		known, gone := slices.Clip(later), sources[i].Gone
		sources[i].Gone = func(n int32) bool {
			return gone != nil && gone(n) || derived.Restated(s.part.states[n], known)
		}
		for _, subjects := range s.part.states {
			later = append(later, subjects...)
		}
	}
}

// quotesLimit returns the tokens that this generation may quote: the limit for all quotes minus the
// blocks of earlier generations.
func (b *zoner) quotesLimit() int {
	limit := max(minQuotes, int(b.f.Rules.room)*quotesShare/1000)
	for _, z := range b.before {
		for _, p := range z.blocks {
			if p.Zone == InLines {
				limit -= p.Tokens
			}
		}
	}
	return limit
}

// keyLine is a line as it stands there: below the number of its record and what that is, which is not said twice but where the line
// could be taken for framing.
func (b *zoner) keyLine(s lineSource, l compress.KeyLine, known bool) string {
	if known && strings.IndexByte("#[`~", l.Text[0]) < 0 {
		return " " + l.Text + "\n"
	}
	head := record.AddressOf(b.m, s.at).String()
	if s.part.head != "" && !known {
		head += " " + s.part.head
	}
	return "[" + head + "] " + l.Text + "\n"
}

// fileHistory is what happened to the files that calls name, as far as it makes older lines of them untrue.
type fileHistory struct {
	replaced map[int]bool // calls that set what a later call sets to another value, or failed to write a file

	whole   map[string]int           // the last source that shows all of the file
	removed map[string]map[int32]int // the last source whose call took a line out of it
}

// filesOf reads what the sources say of files, in their order.
func filesOf(m record.Records, sources []lineSource) fileHistory {
	h := fileHistory{map[int]bool{}, map[string]int{}, map[string]map[int32]int{}}
	var settings []int
	failed := map[int]bool{} // calls, by place
	for _, s := range sources {
		if s.part.failed {
			failed[int(m.At(s.at).CallOf)] = true
		}
	}
	for i, s := range sources {
		p := s.part
		if p.setting != nil && !failed[s.at] {
			for _, k := range settings {
				h.replaced[k] = h.replaced[k] || p.setting.Replaces(sources[k].part.setting)
			}
			settings = append(settings, i)
		}
		isCall := m.At(s.at).Role == ctxabi.Assistant
		writes := p.use == derived.FileWrites || p.use == derived.FileChanges
		h.replaced[i] = h.replaced[i] || isCall && writes && failed[s.at]
		if p.file == "" || isCall && failed[s.at] {
			continue
		}
		switch {
		case p.whole, isCall && p.use == derived.FileRemoves:
			h.whole[p.file] = i
			delete(h.removed, p.file)
		case len(p.removed) > 0:
			if h.removed[p.file] == nil {
				h.removed[p.file] = map[int32]int{}
			}
			for _, n := range p.removed {
				h.removed[p.file][n] = i
			}
		}
	}
	return h
}

// gone returns which lines of source i, if it tells of a file, a later one has made untrue; all reports that all of them are.
func (h *fileHistory) gone(i int, s lineSource) (gone func(int32) bool, all bool) {
	if s.part.file == "" || h.replaced[i] {
		return nil, h.replaced[i]
	}
	if i < h.whole[s.part.file] {
		return nil, true // what still holds stands in the later one
	}
	removed := h.removed[s.part.file]
	if removed == nil {
		return nil, false
	}
	return func(n int32) bool { return removed[n] > i }, false
}

// conclusions returns what the reports of other agents end with that stand behind the boundary from a place on and are shown in no
// other way: the newest for as many tokens as there is room for. Listings in a report name much and would take its place otherwise.
func (b *zoner) conclusions(sources []lineSource, from int, whole map[int]bool, room int) (ends []compress.KeyLine, taken int) {
	until := b.z.boundary
	if b.z.From > 0 {
		until = b.z.From
	}
	for i, s := range slices.Backward(sources) {
		if !s.part.report || s.at < from || s.at >= until || whole[s.at] {
			continue
		}
		var lines []compress.KeyLine
		n := 0
		for _, text := range compress.ConclusionLines(s.part.Text(), 2*record.FoldedResult) {
			l := compress.KeyLine{Source: i, Text: text}
			lines = append(lines, l)
			n += b.c.CountCached(b.keyLine(s, l, false))
		}
		if n > room-taken {
			break
		}
		ends, taken = append(ends, lines...), taken+n
	}
	return ends, taken
}
