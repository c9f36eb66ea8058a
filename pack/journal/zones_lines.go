package journal

import (
	"maps"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
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
			for _, block := range past[p.past].blocks {
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

// keyLines is the block of old lines.
func (b *zoner) keyLines(room int, covered []string, whole map[int]bool) Part {
	first := b.z.at + 1
	for bytes := 0; first > 1 && b.z.at-first < WindowRecords; first-- {
		if bytes += int(b.m.At(first - 1).Len); bytes > windowBytes {
			break
		}
	}
	var sources []compress.Source
	reports := map[int]string{} // of other agents, by place
	for at := first; at <= b.z.at; at++ {
		r, _ := b.excerpt(at)
		sources = append(sources, compress.Source{Text: r.Whole(), Age: b.z.at - at, Tool: r.Result, Shown: whole[at]})
		if r.Result && !whole[at] && compress.IsSubAgent(r.Name) {
			reports[at] = r.Text
		}
	}
	span := ctxabi.Span{From: first, To: b.z.at}
	if span.From > span.To {
		return Part{}
	}
	heading := record.BlockHeading + "key lines (" + record.SourcesOf(b.m, span) + ")\n"
	room -= b.c.CountCached(heading)
	// A line stands below the number of its record, which is not said twice but where the line could be taken for framing.
	line := func(l compress.KeyLine, known bool) string {
		if known && strings.IndexByte("#[`~", l.Text[0]) < 0 {
			return " " + l.Text + "\n"
		}
		return "[" + record.AddressOf(b.m, first+l.Source).String() + "] " + l.Text + "\n"
	}
	named := map[int]bool{}
	ends, taken := b.conclusions(reports, room/2, func(l string, i int) string { return line(compress.KeyLine{Source: i - first, Text: l}, false) })
	room -= taken
	for at, lines := range ends {
		named[at-first] = true
		covered = append(covered, strings.Join(lines, "\n"))
	}
	chosen := compress.KeyLines(sources, covered, room, func(l compress.KeyLine, left int) int {
		n := b.c.CountCached(line(l, named[l.Source]))
		named[l.Source] = named[l.Source] || n <= left
		return n
	})
	for at, lines := range ends {
		for _, text := range lines {
			chosen = append(chosen, compress.KeyLine{Source: at - first, Text: text})
		}
	}
	if len(chosen) == 0 {
		return Part{}
	}
	// What a report ends with stands behind what else there is of it.
	slices.SortStableFunc(chosen, func(a, b compress.KeyLine) int { return a.Source - b.Source })
	var text strings.Builder
	text.WriteString(heading)
	for i, l := range chosen {
		text.WriteString(line(l, i > 0 && chosen[i-1].Source == l.Source))
	}
	p := Part{Piece: Piece{Span: span, Kept: true, Zone: InLines}, Text: text.String()}
	p.Tokens = b.c.CountCached(p.Text)
	return p
}

// conclusions returns what the reports of other agents end with that stand behind the boundary and are shown in no other way, by place: the newest for
// as many tokens as there is room for. Listings in a report name much and would take its place otherwise.
func (b *zoner) conclusions(reports map[int]string, room int, line func(text string, at int) string) (ends map[int][]string, taken int) {
	ends = map[int][]string{}
	until := b.z.boundary
	if b.z.From > 0 {
		until = b.z.From
	}
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(reports))) {
		if at >= until || at < b.z.from {
			continue
		}
		lines, n := compress.ConclusionLines(reports[at], 2*record.FoldedResult), 0
		for _, text := range lines {
			n += b.c.CountCached(line(text, at))
		}
		if n > room-taken {
			break
		}
		ends[at], taken = lines, taken+n
	}
	return ends, taken
}
