package journal

import (
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section"
)

// minState is the number of tokens below which there is no block of files and runs.
const minState = 32

// told returns the lines of all blocks of files and runs, oldest first.
func (p Past) told() (lines []string) {
	for _, z := range p {
		for _, part := range z.blocks {
			if part.Zone != InState {
				continue
			}
			for line := range strings.Lines(part.Text) {
				if text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "- "); ok {
					lines = append(lines, text)
				}
			}
		}
	}
	return lines
}

// sectionsUpTo returns the sections of the records up to a position. They begin where those of the
// present generation do; before the first compaction, a window before that position.
func (mm *Memo) sectionsUpTo(m record.Records, f *Fold, at int) (*section.State, error) {
	major := at
	if len(f.past) > 0 {
		major = f.past[0].Compacted
		last := f.past[len(f.past)-1].Compacted
		if from := section.From(major); last < at && mm.states.Len(from, at) < last {
			if s, err := mm.states.At(mm.Context, m, from, last); err != nil { // the zones ask for it next
				return s, err
			}
		}
	}
	return mm.states.At(mm.Context, m, section.From(major), at)
}

// ChangedSince returns the entries of files and runs whose state is newer than the newest one in the
// blocks of f's generations, in at most room tokens. It returns ctxabi.ErrIO if a record cannot be
// read.
func (mm *Memo) ChangedSince(m record.Records, f *Fold, c *tokens.Counter, room int) (lines []string, err error) {
	past, err := mm.Zones(m, f, c)
	if err != nil || len(past) == 0 {
		return nil, err
	}
	told := past.told()
	if len(told) == 0 {
		return nil, nil
	}
	now, err := mm.sectionsUpTo(m, f, m.Len())
	if err != nil {
		return nil, err
	}
	in := section.Input{Where: addressIn(m), Count: func(text string) int { return c.CountCached(text) + 2 }, Room: room, Told: told, OnlyTold: true}
	return now.Lines(in), nil
}

// addressIn returns the function that names positions of m as the prompt does.
func addressIn(m record.Records) func(at int) string {
	return func(at int) string { return record.AddressOf(m, at).String() }
}

// state returns the block of files and runs, in at most room tokens. Calls that act outside of the
// workspace may take more on top, because their results are in no file.
func (b *zoner) state(room, more int) Part {
	heading := record.BlockHeading + "files and runs (as of " + record.AddressOf(b.m, b.z.at).Source() + ")\n"
	if room -= b.c.CountCached(heading); room < minState {
		return Part{}
	}
	since := 0
	if len(b.before) > 0 {
		since = b.before[len(b.before)-1].at
	}
	in := section.Input{Where: addressIn(b.m), Room: room, More: more, Told: b.before.told(), Since: since,
		Without: b.f.Rules.without}
	in.Count = func(text string) int { return b.c.CountCached("- " + text + "\n") }
	lines := b.sections.Lines(in)
	if len(lines) == 0 {
		return Part{}
	}
	p := Part{Piece: Piece{Span: ctxabi.Span{From: b.sections.From() + 1, To: b.z.at}, Kept: true, Zone: InState}}
	p.Text = heading + "- " + strings.Join(lines, "\n- ") + "\n"
	p.Tokens = b.c.CountCached(p.Text)
	return p
}
